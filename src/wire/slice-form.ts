import type { Codec, Message } from './codec.js';
import { fragmentCut, hasFragmentCost, markPlain } from './fragment-cost.js';
import type { FragmentCut } from './fragment-cost.js';
import { ABSENT } from './frame.js';
import type { CompleteFrame, Frame } from './frame.js';
import { codePointEnd, edgeBefore, encodedLength } from './length.js';

/** What is cut, for whom, and how big a piece may be: `cap` in bytes of the encoded fragment frame. */
export interface SliceSource {
  readonly frame: Frame;
  readonly encodedPayload: Message;
  readonly cap: number;
  readonly codec: Codec;
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
    if (plain) markPlain(slice);
    return slice;
  }

  /** Bytes of the encoded fragment frame around a slice. */
  bytesAround(fragment: Message): number {
    return encodedLength(this.#source.codec.encode(this.around(fragment)));
  }

  /** Everything from `from` on; `null` where it does not fit. */
  restFrom(from: number): FragmentCut | null {
    const { codec, encodedPayload } = this.#source;
    const end = payloadEnd(encodedPayload);
    // With a declared cost each unit takes a byte or more: a rest that is longer than the room needs no walk.
    const least = hasFragmentCost(codec) ? end - from : 0;
    if (least > this.#roomLeft()) return null;
    const cut = this.cutFrom(from);
    return cut.end === end ? cut : null;
  }

  /** The fullest slice from `from`; an empty one when not even one unit fits. */
  cutFrom(from: number): FragmentCut {
    const { codec, encodedPayload } = this.#source;
    const cut = fragmentCut(encodedPayload, from, this.#roomLeft());
    return hasFragmentCost(codec) ? cut : { end: this.#search(from, cut.end), plain: false };
  }

  #roomLeft(): number {
    const { cap, encodedPayload } = this.#source;
    return (this.#room ??= cap - this.bytesAround(encodedPayload.slice(0, 0)));
  }

  /**
   * Finds the same by encoding, for a codec whose costs are its own: gallops from the guess until a slice that fits and one
   * that does not are known, then halves between them. A codec that costs what the guess expects is encoded twice.
   */
  #search(from: number, guess: number): number {
    const { cap, encodedPayload } = this.#source;
    const end = payloadEnd(encodedPayload);
    let fitting = from;
    let tooFar = end + 1;
    let target = guess;
    for (let stride = 1; unitEnd(encodedPayload, fitting) < tooFar; stride *= 2) {
      const at = Math.max(unitEnd(encodedPayload, fitting), unitEdge(encodedPayload, Math.min(target, tooFar - 1)));
      if (this.bytesAround(encodedPayload.slice(from, at)) <= cap) {
        fitting = at;
        target = tooFar > end ? at + stride : Math.floor((fitting + tooFar) / 2);
      } else {
        tooFar = at;
        target = fitting === from ? at - stride : Math.floor((fitting + tooFar) / 2);
      }
    }
    return fitting;
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
