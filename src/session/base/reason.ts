import type { Codec, Message } from '../../wire/codec.js';
import type { Frame } from '../../wire/frame.js';
import { encodedLength, truncateToBytes } from '../../wire/length.js';

/** What a reason is cut to, in bytes. */
const MAX_REASON_BYTES = 1024;
/** A cap that leaves room for the longest reason, however a codec writes it, and as much for everything beside it. */
const CAP_FOR_ANY_REASON = 16 * MAX_REASON_BYTES;

/**
 * Cuts the reason of a reset or goaway to 1 024 bytes, and further where a small cap needs it; `null` when nothing is left.
 *
 * @param frame what it goes into, without a reason
 * @param encodedPayload the frame's payload; half of the room is then left for its slices
 * @param cap bytes of one encoded message at most
 */
export function fittingReason(reason: string, frame: Frame, encodedPayload: Message | null, cap: number, codec: Codec): string | null {
  const text = truncateToBytes(reason, MAX_REASON_BYTES);
  if (text === '') return null;
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
