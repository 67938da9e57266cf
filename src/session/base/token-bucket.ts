import { steadyNow } from '../../util/time.js';
import type { Rate } from '../../wire/limits.js';

/** A token bucket. The virtual time of a TestScheduler fills it too. */
export class TokenBucket {
  // Both hold fractions later. The engine stores `-0` as a fraction too, so a bucket never changes its shape, which would end optimization.
  #tokens = -0;
  #filledAt = -0;

  constructor(private readonly rate: Rate) {
    this.#tokens = rate.burst;
  }

  /** Takes one token; returns `false` if the bucket is empty. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  get empty(): boolean {
    // Time only adds tokens, so a bucket with one needs no fill.
    if (this.#tokens < 1) this.#fill();
    return this.#tokens < 1;
  }

  /** Adds tokens earned in another way than by time, up to the burst. */
  earn(tokens: number): void {
    this.#tokens = Math.min(this.rate.burst, this.#tokens + tokens);
  }

  #fill(): void {
    const now = steadyNow();
    // A test may turn its virtual clock back.
    if (this.#tokens < this.rate.burst) this.earn((Math.max(0, now - this.#filledAt) / 1000) * this.rate.perSecond);
    this.#filledAt = now;
  }
}
