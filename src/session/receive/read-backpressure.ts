import type { Subscription } from 'rxjs';
import type { Clock } from '../base/clock.js';
import { patientTimer } from '../base/patient-timer.js';
import { steadyNow } from '../../transport/steady-clock.js';
import type { Transport } from '../../transport/transport.js';
import { LazySet } from '../../wire/lazy.js';

/**
 * Stops reading from the socket while a stream's consumer lags far behind, for `pauseMs` at the longest: a consumer that
 * never comes back may not hold up the other streams, and runs into `maxUnreadBytes` instead.
 *
 * As a clock it stands still meanwhile: the silence of a side that nobody listens to says nothing about it.
 */
export class ReadBackpressure implements Clock {
  readonly #blocking = new LazySet<object>();
  /** Streams that blocked for a whole `pauseMs`: they do not block again before they have caught up. */
  readonly #timedOut = new LazySet<object>();
  #pause: Subscription | null = null;
  #pausedAt = 0;
  #pausedMs = 0;
  #unstoppable = false;

  constructor(
    private readonly transport: Transport,
    private readonly pauseMs: number,
  ) {}

  get paused(): boolean {
    return this.#pause !== null;
  }

  now(): number {
    return this.at(steadyNow());
  }

  /** What this clock shows when the steady one shows `now`, in ms. */
  at(now: number): number {
    return (this.#pause === null ? now : Math.min(now, this.#pausedAt)) - this.#pausedMs;
  }

  /** A stream holds too much that nobody has read. */
  block(stream: object): void {
    if (this.#unstoppable || this.#blocking.has(stream) || this.#timedOut.has(stream)) return;
    this.#blocking.add(stream);
    if (this.paused) return;
    this.#pausedAt = steadyNow();
    this.transport.pause();
    this.#pause = patientTimer(this.pauseMs, () => {
      for (const late of this.#blocking) this.#timedOut.add(late);
      this.resume();
    });
  }

  /** A stream's consumer has caught up, or left. */
  unblock(stream: object): void {
    this.#timedOut.delete(stream);
    if (this.#blocking.delete(stream) && this.#blocking.size === 0) this.#read();
  }

  /** Reads on whatever the streams hold. */
  resume(): void {
    this.#blocking.clear();
    this.#read();
  }

  /** Reads on to the end: the closing handshake has to be seen. */
  readToEnd(): void {
    this.#unstoppable = true;
    this.resume();
  }

  #read(): void {
    if (this.#pause === null) return;
    this.#pause.unsubscribe();
    this.#pause = null;
    this.#pausedMs += steadyNow() - this.#pausedAt;
    this.transport.resume();
  }
}
