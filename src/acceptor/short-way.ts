import type { PeerCore } from '../peer/core.js';
import type { SharedPayload } from '../stream/payload.js';
import type { StreamCore } from '../stream/stream-core.js';
import type { Frame } from '../wire/frame.js';

/** Stands for the frame of every message that goes the short way, where no code sees frames. */
const PLAIN_DATA: Frame = { type: 'data' };

/**
 * The short way of a shared payload, from its stream to the batch of its socket. No frame is made, and nothing is encoded but the head of
 * the message. Only a value goes it that leaves at once, from a stream that has sent one before, and while no code sees frames. Returns
 * whether the value has left.
 */
export function sendShared(this: PeerCore, stream: StreamCore, payload: SharedPayload): boolean {
  const connection = this.lastConnection;
  if (connection === null || connection !== stream.carrier) return false;
  const { codec, maxFrameBytes, outbound, transport } = connection;
  // The value's own code may send, observe, or end the stream.
  const encoded = payload.encodedBy(codec);
  if (this.seesFrames || stream.sealed || !outbound.passes(stream)) return false;
  const message = transport.dataEncoder?.(codec)(payload, encoded, Number(stream.id)) ?? null;
  if (message === null || message.byteLength > maxFrameBytes) return false;
  const bytes = message.part.byteLength;
  if (outbound.overflowsWith(stream, bytes)) return false;
  outbound.send({ frame: PLAIN_DATA, stream, message }, bytes);
  return true;
}
