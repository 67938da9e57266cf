import { steadyNow } from '../../util/time.js';

/** How long one read may go on before other sockets and timers have a turn, in ms. */
const SHARE_MS = 10;
/**
 * The most messages between two readings of the clock. The first reading follows the first message; then the distance doubles up to
 * this.
 */
const MOST_BETWEEN_LOOKS = 8;

/**
 * The time that one read may spend on its messages in a turn of the event loop. The first message is not timed, since most reads bring
 * only one.
 */
export class ReadShare {
  /** Starts as `-0`, which V8 stores as a double, as it stores times. */
  #startedAt = -0;
  #count = 0;
  #nextLook = 1;
  #isSpent = false;

  /** Begins a read. */
  begin(): void {
    this.#count = 0;
    this.#nextLook = 1;
    this.#isSpent = false;
  }

  /**
   * Counts a message that other messages of this read follow. Returns whether the share is spent, so that they must wait for another
   * turn.
   */
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
