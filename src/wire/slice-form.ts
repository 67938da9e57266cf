import type { Codec, Message } from './codec.js';
import { fragmentCut, markPlain } from './fragment-cost.js';
import type { FragmentCost, FragmentCut } from './fragment-cost.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame, Frame } from './frame.js';
import { codePointEnd, edgeBefore, encodedLength } from './length.js';

/** What is cut, for whom, and how big a piece may be: `cap` in bytes of the encoded fragment frame. */
export interface SliceSource {
  readonly frame: Frame;
  readonly encodedPayload: Message;
  readonly cap: number;
  readonly codec: Codec;
  /** `null` where the codec does not say what its fragments cost. */
  readonly cost: FragmentCost | null;
}

/** Where a slice stands among its siblings; a payload of one slice is both. */
export interface SlicePlace {
  readonly first: boolean;
  readonly last: boolean;
}

/**
 * The envelope of the slices at one place: what it carries beside the fragment, and how much of the payload fits in it.
 * Positions count UTF-16 units of text or bytes, and stand on the edge of a unit: a code point or a byte.
 */
export class SliceForm {
  readonly #source: SliceSource;
  readonly #place: SlicePlace;
  // Bytes left for the fragment once the envelope is paid for; the envelope is the same for every slice, so it is encoded once.
  #room: number | null = null;
  /** What a unit took in the slice that was encoded last. */
  #bytesPerUnit = 1;

  constructor(source: SliceSource, place: SlicePlace) {
    this.#source = source;
    this.#place = place;
  }

  /** The fragment frame of this form around a slice. */
  around(fragment: Message, plain = false): CompleteFrame {
    const { frame } = this.#source;
    const { first, last } = this.#place;
    const slice = {
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
    if (plain) markPlain(slice, this.#source.codec);
    return slice;
  }

  /** Bytes of the encoded fragment frame around a slice. */
  bytesAround(fragment: Message): number {
    return encodedLength(this.#source.codec.encode(this.around(fragment)));
  }

  /** Everything from `from` on; `null` where it does not fit. */
  restFrom(from: number): FragmentCut | null {
    const { encodedPayload, cost } = this.#source;
    const end = payloadEnd(encodedPayload);
    if (cost === null) return this.#holdsRest(from, end) ? { end, plain: false } : null;
    // Each unit takes a byte or more: a rest that is longer than the room needs no look.
    if (end - from > this.#roomLeft()) return null;
    const cut = this.cutFrom(from);
    return cut.end === end ? cut : null;
  }

  /** The fullest slice from `from`; an empty one when not even one unit fits. */
  cutFrom(from: number): FragmentCut {
    const { encodedPayload, cost } = this.#source;
    return cost === null ? { end: this.#search(from), plain: false } : fragmentCut(encodedPayload, from, this.#roomLeft(), cost);
  }

  #roomLeft(): number {
    const { cap, encodedPayload } = this.#source;
    return (this.#room ??= cap - this.bytesAround(encodedPayload.slice(0, 0)));
  }

  /** Whether the rest fits, for a codec that does not say what fragments cost. Encodes no more of it than the first part that is too long. */
  #holdsRest(from: number, end: number): boolean {
    if (this.#roomLeft() < 0) return false;
    for (let units = Math.max(1, this.#unitsExpected() * MORE_THAN_EXPECTED); ; units *= 2) {
      const at = Math.min(unitEdge(this.#source.encodedPayload, from + Math.ceil(units)), end);
      if (!this.#fits(from, at)) return false;
      if (at === end) return true;
    }
  }

  /**
   * Finds the fullest slice for such a codec. Guesses twice by what units took before, then gallops until a slice that fits and one
   * that does not are known, then halves between them.
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

/** The position behind the last unit. */
export function payloadEnd(encoded: Message): number {
  return typeof encoded === 'string' ? encoded.length : encoded.byteLength;
}

/** The position behind the unit that starts at `at`. */
export function unitEnd(encoded: Message, at: number): number {
  return typeof encoded === 'string' ? codePointEnd(encoded, at) : at + 1;
}

/** The last edge of a unit at or before `at`. */
export function unitEdge(encoded: Message, at: number): number {
  return typeof encoded === 'string' ? edgeBefore(encoded, at) : at;
}

const MORE_THAN_EXPECTED = 1.25;
