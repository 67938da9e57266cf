import { checkedMessage } from './codec.js';
import type { Codec, Message } from './codec.js';
import { isSmall } from './envelope-bound.js';
import { ProtocolError } from './errors.js';
import { hasFragmentCost } from './fragment-cost.js';
import { frameName } from './frame-types.js';
import { ABSENT } from './frame.js';
import type { Frame } from './frame.js';
import { encodedLength, fitsWithin } from './length.js';
import { OutgoingFrame, encodeFrame } from './outgoing.js';
import { Slicer } from './slicer.js';
import { violation } from './violation.js';

/**
 * The largest encoded message a sender may emit, in bytes: 64 KiB. A constant of the protocol, neither negotiated nor
 * configurable; a receiver accepts any message up to this size.
 */
export const MAX_FRAME_BYTES = 65_536;

/**
 * Cuts a frame into fragment frames that each encode to at most `cap` bytes. Returns only the frame itself if it fits.
 *
 * A text payload is cut between code points, a binary one between bytes. Headers go on the first fragment, `end` and
 * trailers on the last, `more` on all but the last. Pure: mutates nothing.
 *
 * @param cap bytes, at least 2; defaults to {@link MAX_FRAME_BYTES}
 * @throws ProtocolError without a codec, or with a cap that is not an integer of at least 2. Also for a frame over the cap without a
 *   payload to cut. Also when the cap does not hold a fragment with one unit of payload, or the closing fragment. Also throws whatever
 *   the codec throws for a value that it cannot represent.
 *
 * @example
 * ```ts
 * splitFrame({ type: 'data', stream: 1, payload: 'abcdefghij', end: true }, 57, new JsonCodec());
 * // fragments '"abc', 'defgh' and 'ij"'
 * ```
 */
export function splitFrame(frame: Frame, cap: number = MAX_FRAME_BYTES, codec: Codec): Frame[] {
  const slicer = slicerFor(frame, cap, codec);
  if (slicer === null) return [frame];
  const slices: Frame[] = [];
  while (!slicer.done) slices.push(slicer.next());
  return slices;
}

/**
 * Cuts as {@link splitFrame} does, but cuts each fragment only on request; `null` for a frame that fits.
 *
 * @throws ProtocolError as {@link splitFrame} does; for a fragment that cannot be cut, only when its turn comes
 */
export function slicerFor(frame: Frame, cap: number, codec: Codec): Slicer | null {
  if ((codec as Codec | null | undefined) == null) throw new ProtocolError('expected a codec to cut frames with, got none');
  checkCap(cap);
  const encoded = encodePayloadOf(frame, codec);
  return fits(frame, encoded, cap, codec) ? null : newSlicer(frame, encoded, cap, codec);
}

/** Like {@link slicerFor}, for a frame that is being sent: its {@link isSmall} and the cap are trusted. */
export function slicerToSend(frame: Frame, cap: number, codec: Codec): Slicer | null {
  const encoded = encodePayloadOf(frame, codec);
  return isSmall(frame, encoded, cap, codec) || fits(frame, encoded, cap, codec) ? null : newSlicer(frame, encoded, cap, codec);
}

/**
 * Whether a whole frame encodes to at most `cap` bytes. The answer is exact. The frame is encoded only for a codec without
 * `fragmentCost`, or if the bound of the envelope is too close.
 *
 * @param encodedPayload the frame's payload as `codec.encodePayload` returned it, `null` when it has none
 */
export function fits(frame: Frame, encodedPayload: Message | null, cap: number, codec: Codec): boolean {
  if (hasFragmentCost(codec) && isSmall(frame, encodedPayload, cap, codec)) return true;
  if (encodedPayload !== null && !fitsWithin(encodedPayload, cap)) return false;
  // An outgoing frame has no `more`.
  const asGiven = encodedPayload === null || frame.more === true;
  return fitsWithin(asGiven ? codec.encode(frame) : encodeFrame(new OutgoingFrame(frame, encodedPayload, codec), codec), cap);
}

/**
 * Checks that a frame which does not {@link fits fit} can be cut. So a sender that makes slices one by one fails before the first has
 * left. Encodes three envelopes, and plans all cuts only if these are nearly as big as `cap`.
 *
 * @param encodedPayload the frame's payload as `codec.encodePayload` returned it, `null` when it has none
 * @throws ProtocolError when {@link splitFrame} would
 */
export function checkFragmentable(frame: Frame, encodedPayload: Message | null, cap: number, codec: Codec): void {
  const slicer = newSlicer(frame, encodedPayload, cap, codec);
  if (slicer.hasRoom) return;
  while (!slicer.done) slicer.next();
}

/** @throws ProtocolError for a cap that is not an integer of at least 2 */
export function checkCap(cap: number): void {
  if (!Number.isInteger(cap) || cap < MIN_CAP) {
    throw new ProtocolError(`expected a cap that is an integer of at least ${MIN_CAP} bytes, got ${String(cap)}`);
  }
}

function newSlicer(frame: Frame, encodedPayload: Message | null, cap: number, codec: Codec): Slicer {
  if (encodedPayload !== null) return new Slicer(frame, encodedPayload, cap, codec);
  const bytes = encodedLength(codec.encode(frame));
  throw violation(frame.stream, `expected the ${frameName(frame.type)} to take at most ${cap} bytes, got ${bytes} and no payload to cut`);
}

// A fragment is never cut again.
function encodePayloadOf(frame: Frame, codec: Codec): Message | null {
  if (frame.payload === undefined || frame.payload === ABSENT || frame.fragment != null) return null;
  return OutgoingFrame.encodedBy(codec, frame) ?? checkedMessage(codec, codec.encodePayload(frame.payload));
}

const MIN_CAP = 2;
