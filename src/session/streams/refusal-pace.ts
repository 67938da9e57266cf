import type { Subscription } from 'rxjs';
import { patientTimer } from '../base/patient-timer.js';
import { TokenBucket } from '../base/token-bucket.js';
import type { ReadBackpressure } from '../receive/read-backpressure.js';

/** Refused opens that are read without a rest. The burst covers what honest callers send before they learn of a full server. */
export const REFUSED_OPENS = { burst: 4_000, perSecond: 5_000 };
/** How long a rest lasts, in ms. One read may bring some 2 000 opens, so this bounds them to 8 000 per second. */
export const REST_MS = 250;

/** Slows a remote whose opens are refused too often: the socket is not read for a while. The remote breaks no rule, so nothing is cut. */
export class RefusalPace {
  readonly #bucket = new TokenBucket(REFUSED_OPENS);
  #rest: Subscription | null = null;

  constructor(private readonly reading: Pick<ReadBackpressure, 'block' | 'unblock'>) {}

  /** An open was refused. */
  count(): void {
    if (this.#bucket.take() || this.#rest !== null) return;
    this.#rest = patientTimer(REST_MS, () => {
      this.stop();
    });
    this.reading.block(this);
  }

  /** Reads on. */
  stop(): void {
    this.#rest?.unsubscribe();
    this.#rest = null;
    this.reading.unblock(this);
  }
}
