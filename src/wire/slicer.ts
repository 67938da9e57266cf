import type { Codec, Message } from './codec.js';
import type { ProtocolError } from './errors.js';
import { fragmentCostOf } from './fragment-cost.js';
import type { SliceCache } from './fragment-cost.js';
import { frameName } from './frame-types.js';
import type { CompleteFrame, Frame } from './frame.js';
import { payloadEnd, SliceForm, unitEdge, unitEnd } from './slice-form.js';
import type { SliceSource } from './slice-form.js';
import { violation } from './violation.js';

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
   */
  constructor(frame: Frame, encodedPayload: Message, cap: number, codec: Codec, cache: SliceCache | null = null) {
    const source = { frame, encodedPayload, cap, codec, cost: fragmentCostOf(encodedPayload, codec), cache };
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
    const { frame, cap } = this.#source;
    return violation(frame.stream, `expected ${what} of the ${frameName(frame.type)} to take at most ${cap} bytes, got ${bytes}`);
  }
}

// Each unit takes at least one byte, so this many units take more than the widest one. That takes 4 bytes in JSON and some 12 in other
// codecs. A shorter payload is its own sample.
const WIDER_THAN_ANY_UNIT = 32;
