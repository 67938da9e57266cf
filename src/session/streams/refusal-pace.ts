import type { Subscription } from 'rxjs';
import { patientTimer } from '../base/patient-timer.js';
import { TokenBucket } from '../base/token-bucket.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';

/** Refused opens before reading rests. The burst covers the opens of honest callers that do not know yet that the server is full. */
export const REFUSED_OPENS = { burst: 4_000, perSecond: 5_000 };
/** Length of a rest, in ms. One read may bring some 2 000 opens, so a rest bounds them to 8 000 per second. */
export const REST_MS = 250;

/** Slows a remote after too many refused opens: stops reading its socket for a while. The remote breaks no rule, so its connection stays. */
export class RefusalPace {
  readonly #bucket = new TokenBucket(REFUSED_OPENS);
  #rest: Subscription | null = null;

  constructor(private readonly reading: Pick<ReadBackpressure, 'lag' | 'caughtUp'>) {}

  /** This side has refused an open. */
  count(): void {
    if (this.#bucket.take() || this.#rest !== null) return;
    this.#rest = patientTimer(REST_MS, () => {
      this.stop();
    });
    // Reading rests as for a stream that lags.
    this.reading.lag(this);
  }

  /** Ends the rest and resumes reading. */
  stop(): void {
    this.#rest?.unsubscribe();
    this.#rest = null;
    this.reading.caughtUp(this);
  }
}
