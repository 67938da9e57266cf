import { isPlain } from '../../wire/fragment-cost.js';
import type { Frame } from '../../wire/frame.js';
import { Fifo } from '../../wire/fifo.js';
import { chargeOf, chargeOfPart } from '../../wire/held-bytes.js';
import { encodedPartOf } from '../../wire/outgoing.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import { payloadEnd } from '../../wire/slice-form.js';
import type { Slicer } from '../../wire/slicer.js';

/** A frame's slices, or `null` when it fits as it is. */
export type Cut = (frame: OutgoingFrame) => Slicer | null;

interface Waiting {
  readonly frame: OutgoingFrame;
  /** Bytes of it that have not left. */
  bytes: number;
}

/** One stream's frames that have not left yet; the one at the front may be in the middle of being cut. */
export class StreamQueue {
  readonly #rest = new Fifo<Waiting>();
  /** `null` when all has left. */
  #front: Waiting | null;
  #slices: Slicer | null;
  #bytes: number;

  /** @param slices those of the first frame, where it has been cut already */
  constructor(first: OutgoingFrame, slices: Slicer | null) {
    const front = weighed(first);
    this.#front = front;
    this.#slices = slices;
    this.#bytes = front.bytes;
  }

  /** Bytes of payload that have not left. */
  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#front === null;
  }

  /** Whether slices of the frame at the front have left, and others have not. */
  get cutting(): boolean {
    return this.#slices?.inProgress === true;
  }

  /** Whether it begins with an open of which nothing has left. */
  get unopened(): boolean {
    return !this.cutting && this.#front?.frame.type === 'open';
  }

  /** The frame whose turn it is, or that is being cut. */
  get front(): OutgoingFrame {
    return this.#atFront().frame;
  }

  /** Adds a frame to a queue that is not empty; gives the bytes it is counted with. */
  append(frame: OutgoingFrame): number {
    const waiting = weighed(frame);
    this.#rest.push(waiting);
    this.#bytes += waiting.bytes;
    return waiting.bytes;
  }

  /**
   * Takes what leaves next: a whole frame, or a slice of one.
   *
   * @throws what the codec throws, ProtocolError for a frame that cannot be cut, TypeError when {@link empty}
   */
  take(cut: Cut): Frame {
    const front = this.#atFront();
    const { frame } = front;
    this.#slices ??= cut(frame);
    const slice = this.#slices === null ? frame : this.#slices.next();
    if (this.#slices === null || this.#slices.done) this.#advance(front);
    else this.#charge(front, Math.min(front.bytes, chargeOfSlice(slice)));
    return slice;
  }

  /** Takes everything; a frame that is being cut is given whole. */
  takeAll(): OutgoingFrame[] {
    const frames = this.#front === null ? [] : [this.#front.frame];
    for (let next = this.#rest.shift(); next !== undefined; next = this.#rest.shift()) frames.push(next.frame);
    return frames;
  }

  #atFront(): Waiting {
    if (this.#front === null) throw new TypeError('expected a frame to be queued, got a queue that is empty');
    return this.#front;
  }

  #advance(front: Waiting): void {
    this.#charge(front, front.bytes);
    this.#slices = null;
    this.#front = this.#rest.shift() ?? null;
  }

  #charge(front: Waiting, bytes: number): void {
    front.bytes -= bytes;
    this.#bytes -= bytes;
  }
}

/** A plain slice has as many bytes as units, and need not be measured. */
function chargeOfSlice(slice: Frame): number {
  const part = encodedPartOf(slice);
  return typeof part === 'string' && isPlain(slice) ? chargeOf(part.length) : chargeOfPart(part);
}

function weighed(frame: OutgoingFrame): Waiting {
  return { frame, bytes: chargeOfPart(encodedPartOf(frame)) };
}

/** What a frame's payload takes, exact enough to share turns by: text is not measured for it. */
export function roughBytesOf(frame: Frame): number {
  return payloadEnd(encodedPartOf(frame) ?? '');
}
