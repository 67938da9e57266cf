import { Subscription } from 'rxjs';
import { STEADY_CLOCK } from '../../session/base/clock.js';
import { patientTimer } from '../../session/base/patient-timer.js';
import type { Backoff } from './backoff.js';

/** How long the newest session has accepted streams. A session that lasts clears the count of failed dials (D2). */
export class Uptime {
  #since = 0;
  #stability = Subscription.EMPTY;

  constructor(private readonly backoff: Backoff | null) {}

  get ms(): number {
    return STEADY_CLOCK.now() - this.#since;
  }

  begin(): void {
    const { backoff } = this;
    this.#since = STEADY_CLOCK.now();
    if (backoff === null) return;
    backoff.connected();
    this.#stability = patientTimer(backoff.stableMs, () => {
      backoff.stable();
    });
  }

  /** The session accepts no more streams, or another session replaces it. */
  end(): void {
    this.#stability.unsubscribe();
  }
}
