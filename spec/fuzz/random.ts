/** A stream of numbers that one seed decides: a run can be made again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** An integer from 0 to below `bound`; 0 where there is none. */
  below(bound: number): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  /** Small numbers far more often than big ones, from 1 to at most `most`. */
  few(most: number): number {
    return 1 + this.below(Math.min(most, 2 ** this.below(Math.ceil(Math.log2(most + 1)) + 1)));
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}
