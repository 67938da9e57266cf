import { checkedMessage, hasFragmentCost, markPlain, unpacked } from './codec.js';
import type { Codec, FragmentCost, Message } from './codec.js';
import { ProtocolError, violation } from './errors.js';
import { ABSENT, frameName } from './frame.js';
import type { CompleteFrame, Frame } from './frame.js';
import { codePointEnd, edgeBefore, encodedLength, fitsWithin } from './length.js';
import { OutgoingFrame, encodeFrame, isSmall } from './outgoing.js';

/** The longest slice that fits. */
export interface FragmentCut {
  /** The position at which it ends. */
  readonly end: number;
  /** Whether it is text in which each unit costs one byte: the codec writes it unchanged. */
  readonly plain: boolean;
  /** The slice, if several frames share it. */
  readonly fragment?: Message;
  /** Records that a fragment frame has the shared slice. */
  mark?(frame: Frame): void;
}

/** Keeps the slices of one payload for several frames. */
export interface SliceCache {
  /** Returns the slice from `from` that takes at most `budget` bytes. `cut` finds its end, if no frame has had this slice before. */
  slice(from: number, budget: number, cut: () => FragmentCut): FragmentCut;
}

/** Returns the cost of slices of a payload; `null` for a codec without `fragmentCost`. */
export function fragmentCostOf(encoded: Message, codec: Codec): FragmentCost | null {
  return hasFragmentCost(codec) ? (from, to) => codec.fragmentCost(encoded, from, to) : null;
}

/**
 * Returns the longest slice from `from` that costs at most `budget` bytes. It ends on the edge of a unit: a code point or a byte.
 *
 * It guesses the end by the cost of the part that it measured last. Each third guess halves the distance between a slice that fits and one
 * that does not, so costs that mislead do not matter.
 *
 * @param units the first guess
 * @param isDeclared whether the cost is the codec's `fragmentCost`. Then each unit costs at least one byte. The costs of neighbours in a
 *   text add up, so each part of a text is measured once.
 */
export function fragmentCut(
  encoded: Message,
  from: number,
  budget: number,
  cost: FragmentCost,
  units = budget,
  isDeclared = true,
): FragmentCut {
  const addsUp = isDeclared && typeof encoded === 'string';
  const tooMany = payloadEnd(encoded) + 1;
  let end = from;
  let spent = 0;
  let tooFar = tooMany;
  let target = from + units;
  for (let guesses = 1; ; guesses++) {
    if (isDeclared) tooFar = Math.min(tooFar, end + Math.max(budget - spent, 0) + 1);
    const next = unitEnd(encoded, end);
    if (next >= tooFar) return { end, plain: addsUp && spent === end - from };
    const at = Math.max(next, unitEdge(encoded, Math.floor(Math.min(target, tooFar - 1))));
    const bytes = addsUp ? spent + cost(end, at) : cost(from, at);
    const bytesPerUnit = Math.max(bytes - spent, 1) / (at - end);
    if (bytes > budget) tooFar = at;
    else {
      end = at;
      spent = bytes;
    }
    target = guesses % 3 === 0 && tooFar < tooMany ? (end + tooFar) / 2 : end + (budget - spent) / bytesPerUnit;
  }
}

/** Returns the position behind the last unit. */
export function payloadEnd(encoded: Message): number {
  return typeof encoded === 'string' ? encoded.length : encoded.byteLength;
}

/** Returns the position behind the unit that starts at `at`. */
export function unitEnd(encoded: Message, at: number): number {
  return typeof encoded === 'string' ? codePointEnd(encoded, at) : at + 1;
}

/** Returns the last edge of a unit at or before `at`. */
export function unitEdge(encoded: Message, at: number): number {
  return typeof encoded === 'string' ? edgeBefore(encoded, at) : at;
}

/**
 * Cuts one frame that is too big into fragment frames. Each call of {@link next} returns one, so a sender makes a slice only when its
 * turn comes. Each is as full as possible and encodes to at most `cap` bytes.
 *
 * Headers go on the first, `end` and trailers on the last, `more` on all but the last, every other field on all of them.
 *
 * @example
 * ```ts
 * class AtOnce implements SliceQueue {
 *   add: (frame: Frame) => void = () => undefined;
 *   start(cut: (frame: Frame) => Slicer | null, emit: (slice: Frame) => void): void {
 *     this.add = (frame) => {
 *       const slicer = cut(frame);
 *       if (slicer === null) emit(frame);
 *       else while (!slicer.done) emit(slicer.next());
 *     };
 *   }
 * }
 * frames$.pipe(fragment(codec, 65_536, new AtOnce())).subscribe((frame) => socket.send(codec.encode(frame)));
 * ```
 */
export class Slicer {
  readonly #cost: FragmentCost | null;
  readonly #end: number;
  #from = 0;
  #done = false;
  /** Bytes left for the fragment beside the envelope, by its place. The envelopes of one place are equal, so one of them is encoded. */
  readonly #rooms: (number | undefined)[] = [];
  /** The length of the last slice, as a guess for the next one. */
  #units: number | null = null;

  /**
   * Encodes nothing yet.
   *
   * @param encodedPayload the frame's payload as `codec.encodePayload` returned it. The frame's own payload is not read again.
   * @param cap the most bytes of one encoded fragment frame
   * @param cache keeps the slices for other frames with the same payload; default none
   * @param about the id that errors name; default the frame's id
   */
  constructor(
    private readonly frame: Frame,
    private readonly encodedPayload: Message,
    private readonly cap: number,
    private readonly codec: Codec,
    private readonly cache: SliceCache | null = null,
    private readonly about: number | null = frame.stream ?? null,
  ) {
    this.#cost = fragmentCostOf(encodedPayload, codec);
    this.#end = payloadEnd(encodedPayload);
  }

  /** Whether a slice was taken and more slices are left. */
  get inProgress(): boolean {
    return this.#from > 0 && !this.#done;
  }

  /** Whether the last slice was taken. */
  get done(): boolean {
    return this.#done;
  }

  /**
   * Whether the first, a middle and the last envelope each leave room for the widest single unit. Then no slice can fail. Otherwise only
   * making all slices shows whether one fails.
   */
  get hasRoom(): boolean {
    const edge = unitEdge(this.encodedPayload, Math.min(WIDER_THAN_ANY_UNIT, this.#end));
    return edge > 0 && [FIRST, MIDDLE, LAST].every((place) => this.#bytesOf(0, edge, place) <= this.cap);
  }

  /**
   * Makes the next slice.
   *
   * @throws ProtocolError when the cap does not hold the envelope and the next unit, or the closing fragment even without payload.
   *   TypeError when {@link done}.
   */
  next(): CompleteFrame {
    if (this.#done) throw new TypeError('expected a slice to be left, got a slicer that is done');
    const from = this.#from;
    const place = from === 0 ? FIRST : MIDDLE;
    const rest = this.#restFrom(from, place | LAST);
    if (rest !== null) {
      this.#done = true;
      return this.#slice(from, rest, place | LAST);
    }
    if (from === this.#end) throw this.#tooBig('the closing fragment', `${this.#bytesOf(from, from, LAST)} without any payload`);
    const cut = this.#cutFrom(from, place);
    this.#units = cut.end - from;
    if (this.#units === 0)
      throw this.#tooBig('a fragment with one unit of the payload', this.#bytesOf(from, unitEnd(this.encodedPayload, from), place));
    this.#from = cut.end;
    return this.#slice(from, cut, place);
  }

  /** Returns everything from `from` on; `null` if it does not fit. */
  #restFrom(from: number, place: number): FragmentCut | null {
    const room = this.#roomAt(place);
    const end = this.#end;
    if (this.#cost !== null) {
      // Each unit takes at least one byte, so a rest longer than the room cannot fit.
      const cut = end - from > room ? null : this.#cutFrom(from, place);
      return cut?.end === end ? cut : null;
    }
    // Encodes parts of growing length, and stops at the first that is too long.
    for (let units = (this.#units ?? room) * MORE_THAN_EXPECTED; room >= 0; units *= 2) {
      const to = Math.min(unitEdge(this.encodedPayload, from + Math.max(Math.ceil(units), 1)), end);
      if (this.#bytesOf(from, to, place) > this.cap) break;
      if (to === end) return { end, plain: false };
    }
    return null;
  }

  /** Returns the fullest slice from `from`; an empty slice if not even one unit fits. */
  #cutFrom(from: number, place: number): FragmentCut {
    const { encodedPayload, cap } = this;
    const room = this.#roomAt(place);
    const guess = this.#units ?? room;
    const cost = this.#cost;
    if (cost === null) return fragmentCut(encodedPayload, from, room, (_, to) => room - cap + this.#bytesOf(from, to, place), guess, false);
    // A part that does not fit is measured again. So guess slightly less, unless each unit costs one byte.
    const cut = (): FragmentCut => fragmentCut(encodedPayload, from, room, cost, guess < room ? guess * LESS_THAN_EXPECTED : room);
    return this.cache?.slice(from, room, cut) ?? cut();
  }

  #roomAt(place: number): number {
    return (this.#rooms[place] ??= this.cap - this.#bytesOf(0, 0, place));
  }

  /** Returns the bytes of the encoded fragment frame around a slice. */
  #bytesOf(from: number, to: number, place: number): number {
    return encodedLength(this.codec.encode(this.#around(this.encodedPayload.slice(from, to), place)));
  }

  #slice(from: number, cut: FragmentCut, place: number): CompleteFrame {
    const slice = this.#around(cut.fragment ?? this.encodedPayload.slice(from, cut.end), place);
    if (cut.plain) markPlain(slice, this.codec);
    cut.mark?.(slice);
    return slice;
  }

  #around(fragment: Message, place: number): CompleteFrame {
    const { frame } = this;
    const isLast = place >= LAST;
    // Every field by its name, so that the compiler asks on which slices a new one goes.
    return {
      type: frame.type,
      stream: frame.stream ?? null,
      payload: ABSENT,
      fragment,
      more: !isLast,
      headers: (place & FIRST) === 0 ? null : (frame.headers ?? null),
      end: isLast && (frame.end ?? false),
      trailers: isLast ? (frame.trailers ?? null) : null,
      code: frame.code ?? null,
      reason: frame.reason ?? null,
      nonce: frame.nonce ?? null,
      last_stream: frame.last_stream ?? null,
    };
  }

  #tooBig(what: string, bytes: number | string): ProtocolError {
    const { frame, cap, about } = this;
    return violation(about, `expected ${what} of the ${frameName(frame.type)} to take at most ${cap} bytes, got ${bytes}`);
  }
}

/** The place of a slice among its siblings. The only slice of a payload is both first and last. */
const [MIDDLE, FIRST, LAST] = [0, 1, 2];
const MORE_THAN_EXPECTED = 1.25;
const LESS_THAN_EXPECTED = 0.98;

// Each unit takes at least one byte, so this many units take more than the widest one. That takes 4 bytes in JSON and some 12 in other
// codecs. A shorter payload is its own sample.
const WIDER_THAN_ANY_UNIT = 32;

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
 * @param about the id that errors name; `null` if the frame's id is a guess. Default the frame's id
 * @throws ProtocolError when {@link splitFrame} would
 */
export function checkFragmentable(
  frame: Frame,
  encodedPayload: Message | null,
  cap: number,
  codec: Codec,
  about = frame.stream ?? null,
): void {
  const slicer = newSlicer(frame, encodedPayload, cap, codec, about);
  if (slicer.hasRoom) return;
  while (!slicer.done) slicer.next();
}

/** @throws ProtocolError for a cap that is not an integer of at least 2 */
export function checkCap(cap: number): void {
  if (!Number.isInteger(cap) || cap < MIN_CAP) {
    throw new ProtocolError(`expected a cap that is an integer of at least ${MIN_CAP} bytes, got ${String(cap)}`);
  }
}

function newSlicer(frame: Frame, encodedPayload: Message | null, cap: number, codec: Codec, about = frame.stream ?? null): Slicer {
  if (encodedPayload !== null) return new Slicer(frame, encodedPayload, cap, codec, null, about);
  const bytes = encodedLength(codec.encode(frame));
  throw violation(about, `expected the ${frameName(frame.type)} to take at most ${cap} bytes, got ${bytes} and no payload to cut`);
}

// A fragment is never cut again.
function encodePayloadOf(frame: Frame, codec: Codec): Message | null {
  if (frame.payload === undefined || frame.payload === ABSENT || frame.fragment != null) return null;
  return unpacked(OutgoingFrame.encodedPayload(frame, codec)) ?? checkedMessage(codec, codec.encodePayload(frame.payload));
}

const MIN_CAP = 2;
