import { LazySet } from '../util/collections.js';
import type { Codec, Message } from '../wire/codec.js';
import type { ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/errors.js';
import type { Frame } from '../wire/frame.js';
import { encodedLength, truncateToBytes } from '../wire/length.js';
import { OutgoingFrame } from '../wire/outgoing.js';
import type { Connection } from './connection.js';

/** The bytes to which a reason is cut. */
const MAX_REASON_BYTES = 1024;
/** This cap fits the longest reason in any encoding, and leaves as much room again for the rest of the frame. */
const CAP_FOR_ANY_REASON = 16 * MAX_REASON_BYTES;

/**
 * Cuts the reason of a reset or goaway to 1 024 bytes, or to fewer if the cap is small. Returns `null` if no text is left.
 *
 * @param frame its frame without a reason
 * @param encodedPayload the frame's payload; its slices keep half of the room
 * @param cap the most bytes of one encoded message
 */
export function fittingReason(reason: string, frame: Frame, encodedPayload: Message | null, cap: number, codec: Codec): string | null {
  if (reason === '') return null;
  const text = truncateToBytes(reason, MAX_REASON_BYTES);
  if (cap >= CAP_FOR_ANY_REASON) return text;
  const form = encodedPayload === null ? frame : { ...frame, fragment: encodedPayload.slice(0, 0), more: true };
  const bytesWith = (part: string | null): number => encodedLength(codec.encode({ ...form, reason: part }));
  const bare = bytesWith(null);
  const room = encodedPayload === null ? cap : bare + (cap - bare) / 2;
  let fitting = '';
  for (let fits = 0, tooMuch = encodedLength(text) + 1; tooMuch - fits > 1;) {
    const bytes = Math.floor((fits + tooMuch) / 2);
    const part = truncateToBytes(text, bytes);
    if (bytesWith(part) > room) tooMuch = bytes;
    else {
      fits = bytes;
      fitting = part;
    }
  }
  return fitting === '' ? null : fitting;
}

/** The form of the messages of a connection. */
export interface MessageForm {
  readonly codec: Codec;
  /** The most bytes of one encoded message. */
  readonly maxFrameBytes: number;
}

/**
 * Makes a reset. Shortens the reason until the frame fits one message.
 *
 * @param encodedPayload the payload, encoded by this codec; `null` for none
 */
export function resetFrame(
  { codec, maxFrameBytes }: MessageForm,
  stream: number,
  code: ResetCode | null,
  reason: string,
  payload: unknown = null,
  encodedPayload: Message | null = null,
): OutgoingFrame {
  const bare = { type: 'reset', stream, code };
  const fitting = fittingReason(reason, bare, encodedPayload, maxFrameBytes, codec);
  return new OutgoingFrame({ ...bare, reason: fitting, payload }, encodedPayload, codec);
}

/** Makes a goaway, with a reason as in {@link resetFrame}. */
export function goawayFrame({ codec, maxFrameBytes }: MessageForm, code: ResetCode, lastStream: number, reason: string): OutgoingFrame {
  const bare = { type: 'goaway', code, last_stream: lastStream };
  return new OutgoingFrame({ ...bare, reason: fittingReason(reason, bare, null, maxFrameBytes, codec) }, null);
}

/** The most UTF-16 units of the nonces of all unsent pongs. */
const MAX_NONCE_UNITS = 1024 * 1024;

/**
 * The control frames that the remote alone causes: pongs, and resets of streams that this side does not hold. The connection ends if a
 * remote causes too many and does not read them.
 */
export class ControlReplies {
  readonly #unsent = new LazySet<Frame>();
  /** UTF-16 units of the nonces of unsent pongs. */
  #nonceUnits = 0;

  constructor(private readonly connection: Connection) {}

  pong(nonce: string | null): void {
    this.#send(new OutgoingFrame({ type: 'pong', nonce }, null));
  }

  /** Resets a stream that this side does not hold, with a code that overtakes. */
  reset(id: number, code: ResetCode, reason: string): void {
    this.#send(resetFrame(this.connection, id, code, reason));
  }

  /** Returns whether a frame is an unsent reply. */
  owes(frame: Frame): boolean {
    return this.#unsent.has(frame);
  }

  /** A frame has left. */
  sent(frame: Frame): void {
    if (this.#unsent.delete(frame)) this.#nonceUnits -= frame.nonce?.length ?? 0;
  }

  #send(frame: OutgoingFrame): void {
    const { maxControlFrames } = this.connection.limits;
    this.#unsent.add(frame);
    this.#nonceUnits += frame.nonce?.length ?? 0;
    this.connection.outbound.addAhead(frame);
    if (this.#nonceUnits > MAX_NONCE_UNITS) throw ConnectionFault.tooMuch(`more than ${MAX_NONCE_UNITS} characters of unread pongs`);
    if (this.#unsent.size > maxControlFrames)
      throw ConnectionFault.tooMuch(`more than ${maxControlFrames} unread answers (maxControlFrames)`);
  }
}
