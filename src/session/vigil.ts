import { Subscription } from 'rxjs';
import { KeepaliveTimer } from './keepalive.js';
import type { KeepaliveTimes, Line } from './keepalive.js';
import { Outflow } from './outflow.js';
import { SOCKET_FULL_BYTES } from './pace.js';
import { restTimer } from './patient-timer.js';
import { STEADY_CLOCK } from './reading.js';
import type { Clock } from './reading.js';
import type { Session } from './session.js';

/** How long a closing socket may show no movement before it is terminated, in ms. */
export const CLOSING_MS = 2_000;
/** How long what comes in counts as movement of a closing socket that takes nothing of what waits for it, in ms: longer than a side that lags stops reading. */
const CHAT_MS = 8_000;

/** What is watched for: no movement for `ms` of a clock. */
interface Watch {
  readonly ms: number;
  readonly clock: Clock;
  movedAt(): number;
  /** Whether there is anything to see still. */
  going(): boolean;
  /** There has been no movement; `true` to look on. */
  still(): boolean;
  over(): void;
}

/**
 * Watches whether a connection moves. Movement is a frame received, or bytes of ours that the socket has taken, so neither
 * a slow upload nor a quiet peer is condemned. Every watch has one timer at most, and none while there is nothing to see.
 */
export class Vigil implements Line {
  readonly #keepalive: KeepaliveTimer | null;
  readonly #outflow: Outflow;
  readonly #timers = new Subscription();
  readonly #stallFrom: number;
  #receivedAt: number;
  #stalling = false;
  #awaiting = false;
  #closing = false;

  constructor(
    private readonly session: Session,
    keepalive: KeepaliveTimes | null,
  ) {
    const { transport, limits, reading } = session;
    this.#outflow = new Outflow(transport, reading);
    this.#receivedAt = reading.now();
    this.#stallFrom = Math.min(limits.stallBytes, SOCKET_FULL_BYTES);
    this.#keepalive = keepalive === null ? null : new KeepaliveTimer(keepalive, this);
  }

  /** The connection is read from here on. */
  start(): void {
    this.#keepalive?.start();
  }

  /** A message has come in. */
  received(): void {
    this.#receivedAt = this.now();
  }

  /** A message of so many bytes was given to the socket. */
  sent(bytes: number): void {
    this.#outflow.sent(bytes);
    if (!this.#stalling && this.session.transport.bufferedAmount >= this.#stallFrom) this.#awaitOutflow();
  }

  now(): number {
    return this.session.reading.now();
  }

  get paused(): boolean {
    return this.session.reading.paused;
  }

  lifeAt(): number {
    return Math.max(this.#receivedAt, this.#outflow.tookAtHeard());
  }

  probe(): void {
    this.#outflow.sendMute(() => {
      this.session.connection.probe();
    });
  }

  probeNow(): void {
    this.#keepalive?.probeNow();
  }

  dead(): void {
    this.session.transport.terminate('no sign of life');
  }

  /** The closing handshake is due: the socket is given 2 s without movement. */
  closing(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#watch({
      ms: CLOSING_MS,
      clock: this.session.reading,
      movedAt: () => this.#closingMovedAt(),
      going: () => true,
      still: () => {
        this.session.transport.terminate('closing made no progress');
        return false;
      },
      over: () => undefined,
    });
  }

  /** Fragments are outstanding: the remote is given `reassemblyTimeoutMs` in which nothing at all arrives. */
  awaitFragments(outstanding: () => boolean, expired: () => void): void {
    if (this.#awaiting) return;
    this.#awaiting = true;
    this.#watch({
      ms: this.session.limits.reassemblyTimeoutMs,
      clock: this.session.reading,
      movedAt: () => this.#receivedAt,
      going: outstanding,
      still: () => {
        expired();
        return false;
      },
      over: () => {
        this.#awaiting = false;
      },
    });
  }

  stop(): void {
    this.#keepalive?.stop();
    this.#timers.unsubscribe();
  }

  #closingMovedAt(): number {
    const { transport, scheduler } = this.session;
    const isTaken = Math.max(transport.bufferedAmount, scheduler.backlog.bytes) === 0;
    return isTaken ? this.lifeAt() : Math.min(this.lifeAt(), this.#outflow.tookAtHeard() + CHAT_MS);
  }

  /** The socket is full: it is given `stallMs` to take a byte. */
  #awaitOutflow(): void {
    const { transport, limits } = this.session;
    this.#stalling = true;
    this.#watch({
      ms: limits.stallMs,
      clock: STEADY_CLOCK,
      movedAt: () => this.#outflow.tookAt(),
      going: () => transport.bufferedAmount > 0,
      still: () => {
        if (transport.bufferedAmount + this.session.scheduler.backlog.bytes < limits.stallBytes) return true;
        transport.terminate('slow consumer');
        return false;
      },
      over: () => {
        this.#stalling = false;
      },
    });
  }

  #watch(watch: Watch): void {
    const { ms, clock } = watch;
    let since = clock.now();
    const look = (): void => {
      const rest = Math.max(since, watch.movedAt()) + ms - clock.now();
      const timer = restTimer(clock, rest, ms, (onTime) => {
        this.#timers.remove(timer);
        // A timer that came late has seen nothing: the whole time starts anew.
        if (!onTime) since = clock.now();
        if (!watch.going()) watch.over();
        else if (Math.max(since, watch.movedAt()) + ms > clock.now()) look();
        else if (watch.still()) {
          since = clock.now();
          look();
        } else watch.over();
      });
      this.#timers.add(timer);
    };
    look();
  }
}
