import { steadyNow } from '../steady-clock.js';

/** How long one read may go on before other sockets and timers have a turn, in ms. */
const SHARE_MS = 10;
/** The clock is looked at after the first message of a read, then after as many as before again, and after so many at most. */
const MOST_BETWEEN_LOOKS = 8;

/** The share of a turn of the event loop that one read has for its messages. The first is not timed: most reads bring only one. */
export class ReadShare {
  /** `-0` is stored as a fraction, as times are. */
  #startedAt = -0;
  #count = 0;
  #nextLook = 1;
  #isSpent = false;

  /** A read begins. */
  begin(): void {
    this.#count = 0;
    this.#nextLook = 1;
    this.#isSpent = false;
  }

  /** Counts a message that others follow in this read. Returns whether the share is spent, so that those wait for another turn. */
  count(): boolean {
    if (++this.#count === this.#nextLook) this.#look();
    return this.#isSpent;
  }

  #look(): void {
    const now = steadyNow();
    if (this.#count === 1) this.#startedAt = now;
    this.#nextLook += Math.min(this.#count, MOST_BETWEEN_LOOKS);
    this.#isSpent ||= now - this.#startedAt >= SHARE_MS;
  }
}
