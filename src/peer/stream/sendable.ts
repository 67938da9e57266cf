import { log } from '../../logger.js';
import { aboutStream } from '../../wire/about-stream.js';
import { checkedMessage } from '../../wire/codec.js';
import type { Message } from '../../wire/codec.js';
import { checkFragmentable, fits, isSmall } from '../../wire/fragment.js';
import { ABSENT } from '../../wire/frame.js';
import type { Frame, Metadata } from '../../wire/frame.js';
import { OutgoingFrame } from '../../wire/outgoing.js';
import type { PeerCore } from '../core/peer-core.js';

/**
 * The payload of an open, encoded; `null` for `undefined`, which stands for none.
 *
 * @throws TypeError for a payload that the codec cannot represent
 */
export function encodedOpen({ codec }: PeerCore, value: unknown): Message | null {
  return value === undefined || value === ABSENT ? null : checkedMessage(codec, codec.encodePayload(value));
}

/**
 * The frame that opens a stream.
 *
 * @param encoded {@link encodedOpen} of the value
 * @throws ProtocolError for headers that do not fit a message
 */
export function openFrame(
  core: PeerCore,
  value: unknown,
  encoded: Message | null,
  headers: Readonly<Metadata> | null,
  end: boolean,
  id: number | null,
): OutgoingFrame {
  const payload = value === undefined ? ABSENT : value;
  const frame = new OutgoingFrame({ type: 'open', payload, headers, end, trailers: null }, encoded, core.codec);
  checkSendable(core, frame, encoded, id);
  return frame;
}

/** @throws ProtocolError when the frame cannot be sent however it is cut: its headers or trailers are too big */
export function checkSendable(core: PeerCore, frame: Frame, encodedPayload: Message | null, id: number | null): void {
  const { codec, lastSession, options } = core;
  const { maxFrameBytes } = options;
  if (isSmall(frame, encodedPayload, maxFrameBytes, codec)) return;
  // Measured with the id it will get; with the longest where no session says which.
  const numbered = { ...frame, stream: id ?? lastSession?.streams.nextId ?? Number.MAX_SAFE_INTEGER };
  if (!fits(numbered, encodedPayload, maxFrameBytes, codec)) checkFragmentable(numbered, encodedPayload, maxFrameBytes, codec);
}

/** Encodes the payload of a reset. Returns `null` where there is none, and, with a warning, where it cannot be sent. */
export function resetPayload(core: PeerCore, payload: unknown, id: number | null): Message | null {
  if (payload === undefined || payload === null) return null;
  try {
    const encoded = checkedMessage(core.codec, core.codec.encodePayload(payload));
    checkSendable(core, { type: 'reset', payload }, encoded, id);
    return encoded;
  } catch (error) {
    log('warn', aboutStream(id, 'the payload of a reset cannot be sent, and the reset goes without it'), error);
    return null;
  }
}
