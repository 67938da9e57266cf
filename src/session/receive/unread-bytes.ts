import type { Excess, ReceiveBudget, Keeper } from './receive-budget.js';

/** What one stream's consumer has received and not come to yet, as its connection counts it. */
export interface UnreadBytes {
  /**
   * Counts a payload; returns what is over a limit, or `null`.
   *
   * @param bytes as it was encoded, which counts for its stream
   * @param weight what it takes in memory, which counts for its connection; default `bytes`
   */
  keep(bytes: number, weight?: number): Excess | null;
  /** A payload that was kept has been read or dropped. */
  read(bytes: number, weight?: number): void;
  /** Nothing more comes, and somebody still comes to the rest. */
  handOver(): void;
  /** Nobody comes to the rest, unless it was handed over. Gives what counts from here on. */
  drop(): UnreadBytes;
}

/** Of a stream that nobody works on: nothing would ever be given back. */
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
    const excess = this.budget.keep(this.stream, this.#bytes + bytes, weight);
    if (excess !== null) return excess;
    this.#bytes += bytes;
    this.#weight += weight;
    return null;
  }

  read(bytes: number, weight = bytes): void {
    this.#bytes -= bytes;
    this.#weight -= weight;
    this.budget.read(this.stream, this.#bytes, weight);
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
