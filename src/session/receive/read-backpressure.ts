import type { Subscription } from 'rxjs';
import type { Clock } from '../base/clock.js';
import { patientTimer } from '../base/patient-timer.js';
import { steadyNow } from '../../transport/steady-clock.js';
import type { Transport } from '../../transport/transport.js';
import { LazySet } from '../../wire/lazy.js';

/**
 * Stops reading from the socket while a stream's consumer lags far behind, for at most `pauseMs`. A consumer that never catches up must
 * not block the other streams; it reaches `maxUnreadBytes` instead.
 *
 * As a clock it stands still during a pause: a remote that this side does not read only seems silent.
 */
export class ReadBackpressure implements Clock {
  readonly #blocking = new LazySet<object>();
  /** Streams that blocked for a whole `pauseMs`. They block again only after they have caught up. */
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

  /** Returns the time of this clock at `now` of the steady clock, in ms. */
  at(now: number): number {
    return (this.#pause === null ? now : Math.min(now, this.#pausedAt)) - this.#pausedMs;
  }

  /** A stream holds too many unread bytes. */
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

  /** The consumer of a stream has caught up or left. */
  unblock(stream: object): void {
    this.#timedOut.delete(stream);
    if (this.#blocking.delete(stream) && this.#blocking.size === 0) this.#read();
  }

  /** Resumes reading, however many bytes the streams hold. */
  resume(): void {
    this.#blocking.clear();
    this.#read();
  }

  /** Resumes reading and never pauses again, because the session must see the closing handshake. */
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
