import { checkedMessage, fragmentCostOf, fragmentCut, hasFragmentCost, markPlain } from './codec.js';
import type { Codec, FragmentCost, FragmentCut, Message, SliceCache } from './codec.js';
import { ProtocolError, violation } from './errors.js';
import { ABSENT, frameName } from './frame.js';
import type { CompleteFrame, Frame } from './frame.js';
import { codePointEnd, edgeBefore, encodedLength, fitsWithin } from './length.js';
import { OutgoingFrame, encodeFrame, isSmall } from './outgoing.js';

/** The frame to cut, its codec, and `cap`: the most bytes of one encoded fragment frame. */
export interface SliceSource {
  readonly frame: Frame;
  readonly encodedPayload: Message;
  readonly cap: number;
  readonly codec: Codec;
  /** `null` for a codec without `fragmentCost`. */
  readonly cost: FragmentCost | null;
  /** `null` for a payload whose slices no other frame has. */
  readonly cache: SliceCache | null;
  /** The id that errors name; `null` for a frame that is measured before its stream has an id. */
  readonly about: number | null;
}

/** The place of a slice among its siblings. The only slice of a payload is both first and last. */
export interface SlicePlace {
  readonly first: boolean;
  readonly last: boolean;
}

/**
 * The envelope of the slices at one place: its fields beside the fragment, and how much of the payload fits in it. Positions count UTF-16
 * units of text, or bytes. They stand on the edge of a unit: a code point or a byte.
 */
export class SliceForm {
  readonly #source: SliceSource;
  readonly #place: SlicePlace;
  // Bytes left for the fragment beside the envelope. The envelope is the same for every slice, so it is encoded once.
  #room: number | null = null;
  /** Bytes per unit in the slice that was encoded last. */
  #bytesPerUnit = 1;

  constructor(source: SliceSource, place: SlicePlace) {
    this.#source = source;
    this.#place = place;
  }

  /** Returns the fragment frame of this form around the slice from `from` to the end of a cut. */
  aroundCut(from: number, cut: FragmentCut): CompleteFrame {
    const { encodedPayload, codec } = this.#source;
    const slice = this.around(cut.fragment ?? encodedPayload.slice(from, cut.end));
    if (cut.plain) markPlain(slice, codec);
    cut.mark?.(slice);
    return slice;
  }

  /** Returns the fragment frame of this form around a slice. */
  around(fragment: Message): CompleteFrame {
    const { frame } = this.#source;
    const { first, last } = this.#place;
    return {
      type: frame.type,
      stream: frame.stream ?? null,
      payload: ABSENT,
      fragment,
      more: !last,
      headers: first ? (frame.headers ?? null) : null,
      end: last && (frame.end ?? false),
      trailers: last ? (frame.trailers ?? null) : null,
      code: frame.code ?? null,
      reason: frame.reason ?? null,
      nonce: frame.nonce ?? null,
      last_stream: frame.last_stream ?? null,
    };
  }

  /** Returns the bytes of the encoded fragment frame around a slice. */
  bytesAround(fragment: Message): number {
    return encodedLength(this.#source.codec.encode(this.around(fragment)));
  }

  /** Returns everything from `from` on; `null` if it does not fit. */
  restFrom(from: number): FragmentCut | null {
    const { encodedPayload, cost } = this.#source;
    const end = payloadEnd(encodedPayload);
    if (cost === null) return this.#holdsRest(from, end) ? { end, plain: false } : null;
    // Each unit takes at least one byte, so a rest longer than the room cannot fit.
    if (end - from > this.#roomLeft()) return null;
    const cut = this.cutFrom(from);
    return cut.end === end ? cut : null;
  }

  /** Returns the fullest slice from `from`; an empty slice if not even one unit fits. */
  cutFrom(from: number): FragmentCut {
    const { encodedPayload, cost, cache } = this.#source;
    if (cost === null) return { end: this.#search(from), plain: false };
    const room = this.#roomLeft();
    const cut = (): FragmentCut => fragmentCut(encodedPayload, from, room, cost);
    return cache?.slice(from, room, cut) ?? cut();
  }

  #roomLeft(): number {
    const { cap, encodedPayload } = this.#source;
    return (this.#room ??= cap - this.bytesAround(encodedPayload.slice(0, 0)));
  }

  /**
   * Whether the rest fits, for a codec without `fragmentCost`. Encodes parts of growing length, and stops at the first that is too long.
   */
  #holdsRest(from: number, end: number): boolean {
    if (this.#roomLeft() < 0) return false;
    for (let units = Math.max(1, this.#unitsExpected() * MORE_THAN_EXPECTED); ; units *= 2) {
      const at = Math.min(unitEdge(this.#source.encodedPayload, from + Math.ceil(units)), end);
      if (!this.#fits(from, at)) return false;
      if (at === end) return true;
    }
  }

  /**
   * Finds the fullest slice for a codec without `fragmentCost`. It guesses twice by the earlier cost of units. Then it gallops until it
   * knows a slice that fits and one that does not. Then it halves the distance between them.
   */
  #search(from: number): number {
    const { encodedPayload } = this.#source;
    const end = payloadEnd(encodedPayload);
    let fitting = from;
    let tooFar = end + 1;
    let target = from + this.#unitsExpected();
    for (let stride = 0; unitEnd(encodedPayload, fitting) < tooFar; stride = Math.max(1, stride * 2)) {
      const at = Math.max(unitEnd(encodedPayload, fitting), unitEdge(encodedPayload, Math.min(Math.floor(target), tooFar - 1)));
      if (this.#fits(from, at)) fitting = at;
      else tooFar = at;
      if (stride === 0) target = from + this.#unitsExpected();
      else if (tooFar > end) target = at + stride;
      else target = fitting === from ? at - stride : (fitting + tooFar) / 2;
    }
    return fitting;
  }

  #fits(from: number, to: number): boolean {
    const { cap, encodedPayload } = this.#source;
    const bytes = this.bytesAround(encodedPayload.slice(from, to));
    this.#bytesPerUnit = Math.max(bytes - cap + this.#roomLeft(), 1) / Math.max(to - from, 1);
    return bytes <= cap;
  }

  #unitsExpected(): number {
    return this.#roomLeft() / this.#bytesPerUnit;
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

const MORE_THAN_EXPECTED = 1.25;

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
  readonly #source: SliceSource;
  readonly #forms: Readonly<Record<'only' | 'first' | 'middle' | 'last', SliceForm>>;
  #position = 0;
  #done = false;

  /**
   * Encodes nothing yet.
   *
   * @param encodedPayload the frame's payload as `codec.encodePayload` returned it. The frame's own payload is not read again.
   * @param cap the most bytes of one encoded fragment frame
   * @param cache keeps the slices for other frames with the same payload; default none
   * @param about the id that errors name; default the frame's id
   */
  constructor(
    frame: Frame,
    encodedPayload: Message,
    cap: number,
    codec: Codec,
    cache: SliceCache | null = null,
    about: number | null = frame.stream ?? null,
  ) {
    const source = { frame, encodedPayload, cap, codec, cost: fragmentCostOf(encodedPayload, codec), cache, about };
    this.#source = source;
    this.#forms = {
      only: new SliceForm(source, { first: true, last: true }),
      first: new SliceForm(source, { first: true, last: false }),
      middle: new SliceForm(source, { first: false, last: false }),
      last: new SliceForm(source, { first: false, last: true }),
    };
  }

  /** Whether a slice was taken and more slices are left. */
  get inProgress(): boolean {
    return this.#position > 0 && !this.#done;
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
    const { cap, encodedPayload } = this.#source;
    const { first, middle, last } = this.#forms;
    const sample = encodedPayload.slice(0, unitEdge(encodedPayload, WIDER_THAN_ANY_UNIT));
    return payloadEnd(sample) > 0 && [first, middle, last].every((form) => form.bytesAround(sample) <= cap);
  }

  /**
   * Makes the next slice.
   *
   * @throws ProtocolError when the cap does not hold the envelope and the next unit, or the closing fragment even without payload.
   *   TypeError when {@link done}.
   */
  next(): CompleteFrame {
    if (this.#done) throw new TypeError('expected a slice to be left, got a slicer that is done');
    const { encodedPayload } = this.#source;
    const from = this.#position;
    const end = payloadEnd(encodedPayload);
    const closing = from === 0 ? this.#forms.only : this.#forms.last;
    const rest = closing.restFrom(from);
    if (rest !== null) {
      this.#done = true;
      return closing.aroundCut(from, rest);
    }
    if (from === end) {
      throw this.#tooBig('the closing fragment', `${closing.bytesAround(encodedPayload.slice(end))} without any payload`);
    }
    const form = from === 0 ? this.#forms.first : this.#forms.middle;
    const cut = form.cutFrom(from);
    if (cut.end === from) {
      const unit = encodedPayload.slice(from, unitEnd(encodedPayload, from));
      throw this.#tooBig('a fragment with one unit of the payload', String(form.bytesAround(unit)));
    }
    this.#position = cut.end;
    return form.aroundCut(from, cut);
  }

  #tooBig(what: string, bytes: string): ProtocolError {
    const { frame, cap, about } = this.#source;
    return violation(about, `expected ${what} of the ${frameName(frame.type)} to take at most ${cap} bytes, got ${bytes}`);
  }
}

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
  return OutgoingFrame.encodedBy(codec, frame) ?? checkedMessage(codec, codec.encodePayload(frame.payload));
}

const MIN_CAP = 2;
