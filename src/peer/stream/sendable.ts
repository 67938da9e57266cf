import { log } from '../../logger.js';
import { aboutStream } from '../../wire/about-stream.js';
import { checkedMessage } from '../../wire/codec.js';
import type { Message } from '../../wire/codec.js';
import { isSmall } from '../../wire/envelope-bound.js';
import { checkFragmentable, fits } from '../../wire/fragment.js';
import type { Frame } from '../../wire/frame.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import type { EncodedPayload } from './encoded-payload.js';
import type { StreamHost } from './stream-host.js';

/** The parts of a host that decide whether a frame can be sent. */
export type SendHost = Pick<StreamHost, 'codec' | 'options' | 'nextStreamId'>;

/**
 * Returns a frame to send, whose fields hold the value of the payload. The id is `null` before the stream has one.
 *
 * @throws ProtocolError if no cut can make the frame fit, because its headers or trailers are too big
 */
export function sendable(host: SendHost, frame: Frame, { source, encoded }: EncodedPayload, id: number | null): OutgoingFrame {
  return new OutgoingFrame(frame, encoded, host.codec, source, checkSendable(host, frame, encoded, id));
}

/** Returns whether a frame surely fits one message, under any id. */
function checkSendable(host: SendHost, frame: Frame, encodedPayload: Message | null, id: number | null): boolean {
  const { codec, options } = host;
  const { maxFrameBytes } = options;
  if (isSmall(frame, encodedPayload, maxFrameBytes, codec)) return true;
  // Measure with the stream's future id, or with the longest id if no session knows it.
  const numbered = { ...frame, stream: id ?? host.nextStreamId ?? Number.MAX_SAFE_INTEGER };
  if (!fits(numbered, encodedPayload, maxFrameBytes, codec)) checkFragmentable(numbered, encodedPayload, maxFrameBytes, codec);
  return false;
}

/** Encodes the payload of a reset. Returns `null` if there is no payload, or, with a warning, if it cannot be sent. */
export function resetPayload(host: SendHost, payload: unknown, id: number | null): Message | null {
  if (payload === undefined || payload === null) return null;
  try {
    const encoded = checkedMessage(host.codec, host.codec.encodePayload(payload));
    checkSendable(host, { type: 'reset', payload }, encoded, id);
    return encoded;
  } catch (error) {
    log('warn', aboutStream(id, 'the payload of a reset cannot be sent, and the reset goes without it'), error);
    return null;
  }
}
