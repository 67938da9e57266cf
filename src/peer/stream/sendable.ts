import { log } from '../../logger.js';
import { aboutStream } from '../../wire/about-stream.js';
import { checkedMessage } from '../../wire/codec.js';
import type { Message } from '../../wire/codec.js';
import { isSmall } from '../../wire/envelope-bound.js';
import { checkFragmentable, fits } from '../../wire/fragment.js';
import { ABSENT } from '../../wire/frame.js';
import type { Frame, Metadata } from '../../wire/frame.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import { encodedBy, valueOf } from './shared-payload.js';
import type { StreamHost } from './stream-host.js';

/** The parts of a host that decide whether a frame can be sent. */
export type SendHost = Pick<StreamHost, 'codec' | 'options' | 'nextStreamId'>;

/**
 * Returns the encoded payload of an open; `null` for `undefined`, which means none.
 *
 * @throws TypeError for a payload that the codec cannot represent
 */
export function encodedOpen({ codec }: SendHost, value: unknown): Message | null {
  return value === undefined || value === ABSENT ? null : encodedBy(codec, value);
}

/**
 * Returns the frame that opens a stream.
 *
 * @param encoded {@link encodedOpen} of the value
 * @throws ProtocolError for headers that do not fit a message
 */
export function openFrame(
  host: SendHost,
  value: unknown,
  encoded: Message | null,
  headers: Readonly<Metadata> | null,
  end: boolean,
  id: number | null,
): OutgoingFrame {
  const payload = value === undefined ? ABSENT : valueOf(value);
  const frame = new OutgoingFrame({ type: 'open', payload, headers, end, trailers: null }, encoded, host.codec, value);
  checkSendable(host, frame, encoded, id);
  return frame;
}

/** @throws ProtocolError if no cut can make the frame fit, because its headers or trailers are too big */
export function checkSendable(host: SendHost, frame: Frame, encodedPayload: Message | null, id: number | null): void {
  const { codec, options } = host;
  const { maxFrameBytes } = options;
  if (isSmall(frame, encodedPayload, maxFrameBytes, codec)) {
    if (frame instanceof OutgoingFrame) frame.foundSmall();
    return;
  }
  // Measure with the stream's future id, or with the longest id if no session knows it.
  const numbered = { ...frame, stream: id ?? host.nextStreamId ?? Number.MAX_SAFE_INTEGER };
  if (!fits(numbered, encodedPayload, maxFrameBytes, codec)) checkFragmentable(numbered, encodedPayload, maxFrameBytes, codec);
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
