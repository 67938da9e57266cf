import { Subscription } from 'rxjs';
import { STEADY_CLOCK } from '../../session/base/clock.js';
import { patientTimer } from '../../session/base/patient-timer.js';

/** Closes a socket on which no stream has been open for a while. A burst of short calls sets one timer. */
export class IdleClose {
  #timer = Subscription.EMPTY;
  #idleSince = 0;

  /** @param isIdle whether no stream is open now */
  constructor(
    private readonly idleMs: number,
    private readonly isIdle: () => boolean,
    private readonly close: () => void,
  ) {}

  /** No stream is open from now on. */
  begin(): void {
    this.#idleSince = STEADY_CLOCK.now();
    if (this.#timer.closed) this.#wait(this.idleMs);
  }

  stop(): void {
    this.#timer.unsubscribe();
  }

  #wait(ms: number): void {
    this.#timer = patientTimer(ms, () => {
      this.#timer = Subscription.EMPTY;
      if (!this.isIdle()) return;
      const remainingMs = this.#idleSince + this.idleMs - STEADY_CLOCK.now();
      if (remainingMs > 0) this.#wait(remainingMs);
      else this.close();
    });
  }
}
