/** The part of a limit that is divided equally among the connections. */
const DIVIDED = 1 / 4;
/** Parts of a limit: from the first on, connections with more than their share wait; from the second on, they get no new streams. */
const WAITING = 1 / 2;
const REFUSING = 5 / 8;

/**
 * A quantity that several connections have together. The last quarter of its limit is for connections with less than an equal share of
 * that quarter.
 */
export class Quantity {
  used = 0;

  constructor(
    readonly max: number,
    private readonly connections: { readonly size: number },
  ) {}

  get isLimited(): boolean {
    return this.max < Infinity;
  }

  /** Whether new connections are refused. */
  get isNearlyUsed(): boolean {
    return this.used >= this.max * REFUSING;
  }

  /** Whether only connections with less than their share get more. */
  get isUsed(): boolean {
    return this.used >= this.max * (1 - DIVIDED);
  }

  /** Whether a connection that has `own` may have `more`. */
  admits(own: number, more: number): boolean {
    const after = this.used + more;
    return after <= this.max * (1 - DIVIDED) || (own + more <= this.#share() && after <= this.max);
  }

  /** Whether a connection that has `own` has to wait before it gets more. */
  mustWait(own: number): boolean {
    return this.used >= this.max * WAITING && own > this.#share();
  }

  /** Whether a connection that has `own` gets no new streams. */
  isRefused(own: number): boolean {
    return this.isNearlyUsed && own > this.#share();
  }

  #share(): number {
    return (this.max * DIVIDED) / this.connections.size;
  }
}
