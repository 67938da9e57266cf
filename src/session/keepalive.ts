import { asyncScheduler, Observable } from 'rxjs';
import type { Subscription } from 'rxjs';
import { patientTimer } from './patient-timer.js';

/** When a connection is probed and when it is given up, in ms. */
export interface Keepalive {
  /** Silence before a ping is sent. Default 20 000. */
  readonly idleMs?: number | undefined;
  /** Silence after that ping before the connection is terminated. Default 10 000. */
  readonly timeoutMs?: number | undefined;
}

/** {@link Keepalive} with every time set. */
export interface KeepaliveTimes {
  readonly idleMs: number;
  readonly timeoutMs: number;
}

/** The defaults of {@link Keepalive}. */
export const DEFAULT_KEEPALIVE: KeepaliveTimes = { idleMs: 20_000, timeoutMs: 10_000 };

/** What the keepalive sees and does of its connection. */
export interface Line {
  /** When the last sign of life came, on rxjs's clock: a frame received, or bytes of ours that the socket has taken. */
  lifeAt(): number;
  /** Whether this side has stopped reading; no silence counts then. */
  readonly paused: boolean;
  /** Sends a ping. */
  probe(): void;
  /** Gives the connection up. */
  dead(): void;
}

/**
 * Probes a connection after `idleMs` of silence and gives it up `timeoutMs` later. Any life in between is an answer. One
 * probe is under way at most, and one timer.
 */
export class KeepaliveTimer extends Observable<never> {
  #timer: Subscription | undefined;

  constructor(
    private readonly times: KeepaliveTimes,
    private readonly line: Line,
  ) {
    super(() => {
      this.#rest();
      return () => this.#timer?.unsubscribe();
    });
  }

  /** Asks for a sign of life at once: the page woke up, or the network came back. */
  probeNow(): void {
    if (this.#timer === undefined || this.#timer.closed) return;
    this.#probe();
  }

  #rest(): void {
    const silence = asyncScheduler.now() - this.line.lifeAt();
    if (this.line.paused || silence < this.times.idleMs) {
      this.#arm(Math.max(1, this.line.paused ? this.times.idleMs : this.times.idleMs - silence), () => {
        this.#rest();
      });
    } else this.#probe();
  }

  #probe(): void {
    const asked = asyncScheduler.now();
    this.line.probe();
    this.#arm(this.times.timeoutMs, (onTime) => {
      if (this.line.lifeAt() >= asked || this.line.paused) this.#rest();
      else if (onTime) this.line.dead();
      else this.#probe();
    });
  }

  #arm(ms: number, next: (onTime: boolean) => void): void {
    this.#timer?.unsubscribe();
    this.#timer = patientTimer(ms).subscribe(({ onTime }) => {
      next(onTime);
    });
  }
}
