import type { Share } from '../base/share.js';
import { LazyMap } from '../../wire/lazy.js';
import type { LiveStream } from './live-stream.js';
import { StreamSlot } from './stream-slot.js';
import { StreamMap } from './stream-map.js';

/** The live streams of one connection, by id, and what is known of other ids. */
export class StreamTable extends StreamMap<LiveStream> {
  #occupied = 0;
  /** Slots of closed streams whose reset is still to be written. */
  readonly #resets = new LazyMap<number, StreamSlot>();
  #nextId: number;
  #highestSent = 0;

  constructor(
    private readonly isDialer: boolean,
    firstId: number,
    private readonly share: Share | null = null,
  ) {
    super();
    this.#nextId = firstId;
  }

  /** Places taken by remote-opened streams. */
  get occupied(): number {
    return this.#occupied;
  }

  /** The id that the next stream of this side gets; above 2^53 − 1 there is none. */
  get nextId(): number {
    return this.#nextId;
  }

  get exhausted(): boolean {
    return !Number.isSafeInteger(this.#nextId);
  }

  /** Whether an id is one of this side's: odd ids are the dialer's. */
  owns(id: number): boolean {
    return (id % 2 === 1) === this.isDialer;
  }

  /** Whether the remote may know this side's stream `id`, now or ever. */
  hasOpened(id: number): boolean {
    return id <= this.#highestSent;
  }

  add(stream: LiveStream): void {
    this.set(stream.id, stream);
    if (stream.local) this.#nextId += 2;
  }

  /** The open of this side's stream `id` has left, or its first slice. */
  opened(id: number): void {
    this.#highestSent = Math.max(this.#highestSent, id);
  }

  /** A place for a stream of the remote's. */
  takeSlot(): StreamSlot {
    this.#occupied++;
    this.share?.streamTaken();
    return new StreamSlot(this);
  }

  /** A place is free again. */
  releaseSlot(): void {
    this.#occupied--;
    this.share?.streamReleased();
  }

  /** A reset of stream `id` is on its way, and keeps the stream's place until it is written. */
  awaitReset(id: number, place: StreamSlot): void {
    place.awaitReset();
    this.#resets.set(id, place);
  }

  resetWritten(id: number): void {
    this.#resets.get(id)?.resetWritten();
    this.#resets.delete(id);
  }

  /** No reset is written any more. */
  clearResets(): void {
    for (const id of this.#resets.keys()) this.resetWritten(id);
  }
}
