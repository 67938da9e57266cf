import { isPlain } from '../../wire/fragment-cost.js';
import type { Frame } from '../../wire/frame.js';
import { Fifo } from '../../wire/fifo.js';
import { chargeOf, chargeOfPart } from '../../wire/held-bytes.js';
import { encodedPartOf } from '../../wire/outgoing.js';
import type { OutgoingFrame } from '../../wire/outgoing.js';
import type { Slicer } from '../../wire/slicer.js';

/** Returns a frame's slices, or `null` if the frame fits one message. */
export type Cut = (frame: OutgoingFrame) => Slicer | null;

interface Waiting {
  readonly frame: OutgoingFrame;
  /** Bytes of the frame that have not left. */
  bytes: number;
}

/** One stream's unsent frames. Some slices of the front frame may already have left. */
export class StreamQueue {
  readonly #rest = new Fifo<Waiting>();
  /** `null` if all frames have left. */
  #front: Waiting | null;
  #slices: Slicer | null;
  #bytes: number;

  /** @param slices the slices of the first frame, if it has been cut already */
  constructor(first: OutgoingFrame, slices: Slicer | null) {
    const front = weighed(first);
    this.#front = front;
    this.#slices = slices;
    this.#bytes = front.bytes;
  }

  /** Unsent bytes of payload. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many frames of a non-empty queue have not left whole. */
  get frames(): number {
    return 1 + this.#rest.length;
  }

  get empty(): boolean {
    return this.#front === null;
  }

  /** Whether some slices of the front frame have left, and others have not. */
  get cutting(): boolean {
    return this.#slices?.inProgress === true;
  }

  /** Whether the front frame is an open of which no slice has left. */
  get unopened(): boolean {
    return !this.cutting && this.#front?.frame.type === 'open';
  }

  /** The front frame, which leaves next or has left in part. */
  get front(): OutgoingFrame {
    return this.#atFront().frame;
  }

  /** Adds a frame to a non-empty queue. Returns the bytes that the frame counts for. */
  append(frame: OutgoingFrame): number {
    const waiting = weighed(frame);
    this.#rest.push(waiting);
    this.#bytes += waiting.bytes;
    return waiting.bytes;
  }

  /**
   * Takes the next whole frame, or the next slice of a frame.
   *
   * @throws errors of the codec; ProtocolError for a frame that cannot be cut; TypeError if the queue is {@link empty}
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

  /** Takes all frames. Returns a partly sent frame whole. */
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

/** Returns the charge of a slice. A plain slice has as many bytes as units, and needs no measuring. */
function chargeOfSlice(slice: Frame): number {
  const part = encodedPartOf(slice);
  return typeof part === 'string' && isPlain(slice) ? chargeOf(part.length) : chargeOfPart(part);
}

function weighed(frame: OutgoingFrame): Waiting {
  return { frame, bytes: chargeOfPart(encodedPartOf(frame)) };
}
