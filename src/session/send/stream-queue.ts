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
  readonly #waiting = new Fifo<Waiting>();
  /** The slices of the front frame that have not left; `null` for a frame that is not cut. */
  #slices: Slicer | null = null;
  #bytes = 0;

  /** Unsent bytes of payload. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many frames have not left whole. */
  get frames(): number {
    return this.#waiting.length;
  }

  /** Whether the front frame is an open of which no slice has left. */
  get unopened(): boolean {
    return this.#slices?.inProgress !== true && this.front.type === 'open';
  }

  /**
   * The front frame, which leaves next or has left in part.
   *
   * @throws TypeError if the queue is empty
   */
  get front(): OutgoingFrame {
    return this.#front().frame;
  }

  /** Adds a frame. Returns the bytes that the frame counts for. */
  append(frame: OutgoingFrame): number {
    const bytes = chargeOfPart(encodedPartOf(frame));
    this.#waiting.push({ frame, bytes });
    this.#bytes += bytes;
    return bytes;
  }

  /**
   * Takes the next whole frame, or the next slice of a frame.
   *
   * @throws errors of the codec; ProtocolError for a frame that cannot be cut; TypeError if the queue is empty
   */
  take(cut: Cut): Frame {
    const front = this.#front();
    const { frame } = front;
    this.#slices ??= cut(frame);
    const slice = this.#slices === null ? frame : this.#slices.next();
    if (this.#slices === null || this.#slices.done) {
      this.#charge(front, front.bytes);
      this.#slices = null;
      this.#waiting.shift();
    } else this.#charge(front, Math.min(front.bytes, chargeOfSlice(slice)));
    return slice;
  }

  /** Takes all frames. Returns a partly sent frame whole. */
  takeAll(): OutgoingFrame[] {
    const frames: OutgoingFrame[] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) frames.push(next.frame);
    return frames;
  }

  #front(): Waiting {
    const front = this.#waiting.peek();
    if (front === undefined) throw new TypeError('expected a frame to be queued, got a queue that is empty');
    return front;
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
