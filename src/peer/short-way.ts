import { BULK_FRAME_BYTES } from '../connection/bulk-window.js';
import type { Connection } from '../connection/connection.js';
import { logger } from '../logger.js';
import { ENDED } from '../stream/end.js';
import { freezeMetadata } from '../stream/metadata.js';
import { encodedPayload } from '../stream/payload.js';
import type { SharedPayload } from '../stream/payload.js';
import { sendable } from '../stream/sending.js';
import type { StreamCore } from '../stream/stream-core.js';
import { hasFragmentCost } from '../wire/codec.js';
import type { Frame, MetadataInput } from '../wire/frame.js';
import type { PeerCore } from './core.js';
import { Peer } from './peer.js';

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
  if (seesFrames(this) || stream.sealed || !outbound.passes(stream)) return false;
  const message = transport.dataEncoder?.(codec)(payload, encoded, Number(stream.id)) ?? null;
  if (message === null || message.byteLength > maxFrameBytes) return false;
  const bytes = message.part.byteLength;
  if (outbound.overflowsWith(stream, bytes)) return false;
  outbound.send({ frame: PLAIN_DATA, stream, message }, bytes);
  return true;
}

/**
 * Notifies a peer. The short way of a notification makes no stream, which would end as its open leaves. A notification goes it that is small,
 * leaves at once, and cannot fail to be encoded. No code may follow the calls of its peer.
 *
 * @throws the errors of `peer.notify`
 */
export function notify(peer: Peer, payload: unknown, headers?: MetadataInput): void {
  const core = Peer.core(peer);
  if (core === null || followsCalls(core) || !hasFragmentCost(core.codec)) peer.notify(payload, { headers });
  else {
    const encoded = encodedPayload(core.codec, payload);
    const copy = freezeMetadata(headers, core.codec);
    const frame = sendable(core, { type: 'open', payload: encoded.value, headers: copy, end: true }, encoded, null);
    const bytes = frame.roughBytes;
    const connection = freeConnection(core);
    if (connection === null || !frame.isSmall || bytes >= BULK_FRAME_BYTES) peer.notify(payload, { headers: copy ?? undefined });
    else {
      frame.stream = connection.takeId();
      connection.outbound.send({ frame, stream: null, message: null }, bytes);
      core.tally.ended(ENDED);
      if (connection.streams.size === 0) core.idle(connection, null);
    }
  }
}

/** Whether code sees the frames of a peer. */
function seesFrames({ hooks, sized }: PeerCore): boolean {
  return hooks.frames.entries.length > 0 || sized !== null || logger.isEnabledFor('debug');
}

/** Whether code follows the calls of a peer. */
function followsCalls({ hooks, tracer }: PeerCore): boolean {
  return tracer !== null || hooks.open.entries.length > 0 || hooks.calls.entries.length > 0;
}

/** Returns the connection over which a notification may leave now; `null` if it may have to wait, or if code follows the calls by now. */
function freeConnection(core: PeerCore): Connection | null {
  const { notifications, openConnection, waiting } = core;
  if (openConnection?.isExhausted !== false || followsCalls(core) || !waiting.empty || notifications.delays(openConnection)) return null;
  return openConnection.outbound.passes(null) ? openConnection : null;
}
