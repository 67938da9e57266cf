import type { Excess, ReceiveBudget, Keeper } from './receive-budget.js';

/** The received bytes that one stream's consumer has not read yet, as its connection counts them. */
export interface UnreadBytes {
  /**
   * Counts a payload; returns the excess over a limit, or `null`.
   *
   * @param bytes the encoded length, which counts for the stream
   * @param weight the bytes of memory, which count for the connection; default `bytes`
   */
  keep(bytes: number, weight?: number): Excess | null;
  /** The consumer has read or dropped a counted payload. */
  read(bytes: number, weight?: number): void;
  /** The stream has received its last payload, and a consumer will still read the rest. */
  handOver(): void;
  /** Releases the unread bytes, unless {@link handOver} was called. Returns the counter to use from now on. */
  drop(): UnreadBytes;
}

/** Used once a stream has no consumer: counting would never be undone. */
export const UNCOUNTED: UnreadBytes = {
  keep: () => null,
  read: () => undefined,
  handOver: () => undefined,
  drop: () => UNCOUNTED,
};

export class CountedUnreadBytes implements UnreadBytes {
  #bytes = 0;
  #weight = 0;
  #isHandedOver = false;

  constructor(
    private readonly stream: Keeper,
    private readonly budget: ReceiveBudget,
  ) {}

  keep(bytes: number, weight = bytes): Excess | null {
    const excess = this.budget.keep(this.stream, this.#bytes + bytes, bytes, weight);
    if (excess !== null) return excess;
    this.#bytes += bytes;
    this.#weight += weight;
    return null;
  }

  read(bytes: number, weight = bytes): void {
    this.#bytes -= bytes;
    this.#weight -= weight;
    this.budget.read(this.stream, this.#bytes, bytes, weight);
  }

  handOver(): void {
    this.#isHandedOver = true;
  }

  drop(): UnreadBytes {
    if (this.#isHandedOver) return this;
    this.read(this.#bytes, this.#weight);
    return UNCOUNTED;
  }
}
