import type { Share } from '../base/share.js';
import { LazyMap } from '../../util/collections.js';
import { StreamIdsExhaustedError } from '../../wire/stream-errors.js';
import type { Holdings } from '../../stream/receiving.js';
import type { LiveStream } from '../../stream/stream-core.js';
import { StreamMap } from '../../connection/stream-map.js';

/** The live streams of one connection by id. It also tracks used ids, and the places of remote streams. */
export class StreamTable extends StreamMap<LiveStream> {
  #occupied = 0;
  /** Holdings of closed streams whose reset is not written yet. */
  readonly #resets = new LazyMap<number, Holdings>();
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

  /** The number of places that remote streams hold. */
  get occupied(): number {
    return this.#occupied;
  }

  /** The id of this side's next stream. Ids end at 2^53 − 1. */
  get nextId(): number {
    return this.#nextId;
  }

  get exhausted(): boolean {
    return !Number.isSafeInteger(this.#nextId);
  }

  /** Returns all streams, the unsent ones first: they keep their places ahead of streams that the owners of failed streams open. */
  unsentFirst(): LiveStream[] {
    const streams = this.values();
    return [...streams.filter(({ unsent }) => unsent), ...streams.filter(({ unsent }) => !unsent)];
  }

  /** Returns whether an id belongs to this side. Odd ids belong to the dialer. */
  owns(id: number): boolean {
    return (id % 2 === 1) === this.isDialer;
  }

  /** Returns whether this side has ever sent stream `id`, so that the remote may know it. */
  hasOpened(id: number): boolean {
    return id <= this.#highestSent;
  }

  /**
   * Takes {@link nextId} for a stream of this side.
   *
   * @throws StreamIdsExhaustedError if none is left
   */
  takeId(): number {
    if (this.exhausted) throw new StreamIdsExhaustedError('expected a free stream id, got none: this connection has used all of them');
    const id = this.#nextId;
    this.#nextId += 2;
    return id;
  }

  /** The open of this side's stream `id` has left, or its first slice. */
  opened(id: number): void {
    this.#highestSent = Math.max(this.#highestSent, id);
  }

  /** Takes a place for a remote stream. */
  takePlace(): void {
    this.#occupied++;
    this.share?.streamTaken();
  }

  /** Frees a place. */
  releasePlace(): void {
    this.#occupied--;
    this.share?.streamReleased();
  }

  /** A reset of stream `id` is queued. The stream keeps its place until the reset is written. */
  awaitReset(id: number, holdings: Holdings): void {
    holdings.awaitReset();
    this.#resets.set(id, holdings);
  }

  resetWritten(id: number): void {
    const holdings = this.#resets.get(id);
    if (holdings === undefined) return;
    this.#resets.delete(id);
    holdings.resetWritten();
  }

  /** Releases the places of all queued resets, because no reset will be written any more. */
  releaseResets(): void {
    for (const id of this.#resets.keys()) this.resetWritten(id);
  }
}
