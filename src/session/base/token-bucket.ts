import { steadyNow } from '../../transport/steady-clock.js';
import type { Rate } from '../../wire/limits.js';

/** A token bucket. A TestScheduler's time fills it too. */
export class TokenBucket {
  // Both are fractions later. `-0` is stored as one, so the engine never has to change the shape of a bucket: it gives up optimizing then.
  #tokens = -0;
  #filledAt = -0;

  constructor(private readonly rate: Rate) {
    this.#tokens = rate.burst;
  }

  /** Takes one token; `false` when there is none. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  get empty(): boolean {
    // Time only adds to what is there.
    if (this.#tokens < 1) this.#fill();
    return this.#tokens < 1;
  }

  /** Adds tokens that were earned in another way, up to the burst. */
  earn(tokens: number): void {
    this.#tokens = Math.min(this.rate.burst, this.#tokens + tokens);
  }

  #fill(): void {
    const now = steadyNow();
    // A test may set its virtual clock back.
    if (this.#tokens < this.rate.burst) this.earn((Math.max(0, now - this.#filledAt) / 1000) * this.rate.perSecond);
    this.#filledAt = now;
  }
}
