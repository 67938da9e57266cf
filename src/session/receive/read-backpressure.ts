import { Subscription } from 'rxjs';
import type { Clock } from '../base/clock.js';
import { patientTimer } from '../base/patient-timer.js';
import { steadyNow } from '../../util/time.js';
import type { Transport } from '../../transport/transport.js';
import { Brake } from './brake.js';

/**
 * Stops reading from the socket while a stream lags, for at most `pauseMs`.
 *
 * As a clock it stands still during a pause: a remote that this side does not read only seems silent.
 */
export class ReadBackpressure extends Brake implements Clock {
  #timer = Subscription.EMPTY;
  /** When the pause began; `Infinity` while there is none. */
  #pausedAt = Infinity;
  /** The length of all earlier pauses. */
  #pausedMs = 0;

  constructor(
    private readonly transport: Transport,
    pauseMs: number,
  ) {
    super(pauseMs);
  }

  get paused(): boolean {
    return this.#pausedAt < Infinity;
  }

  now(): number {
    return this.at(steadyNow());
  }

  /** Returns the time of this clock at `now` of the steady clock, in ms. */
  at(now: number): number {
    return Math.min(now, this.#pausedAt) - this.#pausedMs;
  }

  protected engage(): void {
    this.#pausedAt = steadyNow();
    this.transport.pause();
    this.#timer = patientTimer(this.pauseMs, () => {
      for (const stream of this.lagging.keys()) this.ignore(stream);
      this.release();
    });
  }

  protected release(): void {
    this.#timer.unsubscribe();
    this.#pausedMs += steadyNow() - this.#pausedAt;
    this.#pausedAt = Infinity;
    this.transport.resume();
  }
}
