import type { Codec, Message } from '../../wire/codec.js';
import type { Frame } from '../../wire/frame.js';
import { encodedLength, truncateToBytes } from '../../wire/length.js';

/** A reason is cut to so many bytes. */
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
