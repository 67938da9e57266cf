import { asyncScheduler } from 'rxjs';
import type { Rate } from '../wire/limits.js';

/** A token bucket on the rxjs clock, so that a TestScheduler's time fills it too. */
export class TokenBucket {
  #tokens: number;
  #filledAt = 0;

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
    const now = asyncScheduler.now();
    // The clock of the wall may be set back; a bucket never loses tokens by it.
    if (this.#tokens < this.rate.burst) this.earn((Math.max(0, now - this.#filledAt) / 1000) * this.rate.perSecond);
    this.#filledAt = now;
  }
}
