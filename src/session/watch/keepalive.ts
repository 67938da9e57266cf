import { Subscription } from 'rxjs';
import { atLeast } from '../../wire/check.js';
import { readOptions } from '../../util/check.js';
import type { Options } from '../../util/check.js';
import { restTimer } from '../base/patient-timer.js';
import type { Clock } from '../base/clock.js';

/** When a connection is probed and when it is given up, in ms. */
export interface Keepalive {
  /** Silence before a ping is sent, in ms. At least 1. Default 20 000. */
  readonly idleMs?: number | undefined;
  /** Silence after that ping before the connection is terminated, in ms. At least 1. Default 10 000. */
  readonly timeoutMs?: number | undefined;
}

/** {@link Keepalive} with every time set. */
export interface KeepaliveTimes {
  readonly idleMs: number;
  readonly timeoutMs: number;
}

/** Declares the times of {@link Keepalive}. */
export const KEEPALIVE: Options<Keepalive, KeepaliveTimes> = {
  idleMs: [atLeast(1), 20_000],
  timeoutMs: [atLeast(1), 10_000],
};

/** The defaults of {@link Keepalive}. */
export const DEFAULT_KEEPALIVE: KeepaliveTimes = readOptions(KEEPALIVE, {});

/** The parts of a connection that its keepalive reads and calls. */
export interface KeepaliveHost {
  /** A clock that stands still while this side does not read. */
  readonly clock: Clock;
  /** When the last sign of life came: a received frame, or a full socket that took bytes it had held back. */
  lastSignOfLifeAt(): number;
  /** When the slowest line that a session waits for would bring the next answer. */
  answerDueAt(): number;
  /** Sends a ping. */
  probe(): void;
  /** Terminates the connection. */
  terminate(): void;
}

/**
 * Probes a connection after `idleMs` of silence and terminates the connection `timeoutMs` later. Any sign of life in between is an answer.
 * At most one probe and one timer exist at a time.
 */
export class KeepaliveTimer {
  #watching = false;
  #timer = Subscription.EMPTY;
  /** When the last probe was sent; `null` once its answer was noticed. */
  #probedAt: number | null = null;

  constructor(
    private readonly times: KeepaliveTimes,
    private readonly host: KeepaliveHost,
  ) {}

  start(): void {
    this.#watching = true;
    this.#awaitSilence();
  }

  stop(): void {
    this.#watching = false;
    this.#timer.unsubscribe();
  }

  /** Asks for a sign of life at once: the page woke up, or the network came back. */
  probeNow(): void {
    const isProbing = this.#probedAt !== null && this.host.lastSignOfLifeAt() < this.#probedAt;
    if (this.#watching && !isProbing) this.#probe();
  }

  #awaitSilence(): void {
    this.#probedAt = null;
    const silence = this.host.clock.now() - this.host.lastSignOfLifeAt();
    if (silence >= this.times.idleMs) this.#probe();
    else
      this.#arm(this.times.idleMs - silence, this.times.idleMs, () => {
        this.#awaitSilence();
      });
  }

  #probe(): void {
    const probedAt = (this.#probedAt = this.host.clock.now());
    this.host.probe();
    this.#awaitLife(probedAt, this.times.timeoutMs);
  }

  #awaitLife(probedAt: number, ms: number): void {
    const { idleMs, timeoutMs } = this.times;
    // Idle time counts from the moment of the answer, so look for an answer before the time is up.
    this.#arm(Math.min(ms, idleMs), timeoutMs, (onTime) => {
      const remainingMs = Math.max(probedAt, this.host.answerDueAt()) + timeoutMs - this.host.clock.now();
      if (this.host.lastSignOfLifeAt() >= probedAt) this.#awaitSilence();
      else if (!onTime) this.#probe();
      else if (remainingMs > 0) this.#awaitLife(probedAt, remainingMs);
      else this.host.terminate();
    });
  }

  #arm(remainingMs: number, period: number, next: (onTime: boolean) => void): void {
    this.#timer.unsubscribe();
    // A probe may have ended the connection.
    if (this.#watching) this.#timer = restTimer(this.host.clock, remainingMs, period, next);
  }
}
