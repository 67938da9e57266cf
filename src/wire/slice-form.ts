import type { Codec, Message } from './codec.js';
import { fragmentCut, markPlain } from './fragment-cost.js';
import type { FragmentCost, FragmentCut, SliceCache } from './fragment-cost.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame, Frame } from './frame.js';
import { codePointEnd, edgeBefore, encodedLength } from './length.js';

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
