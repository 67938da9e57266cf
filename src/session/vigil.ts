import { asyncScheduler, EMPTY, Subscription } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Transport } from '../transport/transport.js';
import type { Limits } from '../wire/limits.js';
import { KeepaliveTimer } from './keepalive.js';
import type { KeepaliveTimes, Line } from './keepalive.js';
import { patientTimer } from './patient-timer.js';
import type { Reading } from './reading.js';

/** How long a closing socket may show no movement before it is terminated, in ms. */
const CLOSING_MS = 2_000;

/** What a vigil is kept over. */
export interface Watched {
  readonly transport: Transport;
  readonly limits: Limits;
  readonly reading: Reading;
  /** Bytes that wait to be given to the socket. */
  unsentBytes(): number;
  ping(): void;
}

/**
 * Watches whether a connection moves. Movement is a frame received, or bytes of ours that the socket has taken, so neither
 * a slow upload nor a quiet peer is condemned. Every watch has one timer at most, and none while there is nothing to see.
 */
export class Vigil implements Line {
  readonly keepalive$: Observable<never>;
  readonly #keepalive: KeepaliveTimer | null;
  readonly #timers = new Subscription();
  #receivedAt = asyncScheduler.now();
  #sentAt = asyncScheduler.now();
  #sent = 0;
  #taken = 0;
  #takenAt = asyncScheduler.now();
  #stalling = false;
  #awaiting = false;

  constructor(
    private readonly watched: Watched,
    keepalive: KeepaliveTimes | null,
  ) {
    this.#keepalive = keepalive === null ? null : new KeepaliveTimer(keepalive, this);
    this.keepalive$ = this.#keepalive ?? EMPTY;
  }

  received(): void {
    this.#receivedAt = asyncScheduler.now();
  }

  sent(size: number): void {
    this.#sent += size;
    this.#sentAt = asyncScheduler.now();
  }

  get paused(): boolean {
    return this.watched.reading.paused;
  }

  lifeAt(): number {
    return Math.max(this.#receivedAt, this.#tookAt());
  }

  probe(): void {
    const before = this.#sent;
    this.watched.ping();
    // That the socket takes the ping itself says nothing about the other side.
    this.#taken += this.#sent - before;
  }

  probeNow(): void {
    this.#keepalive?.probeNow();
  }

  dead(): void {
    this.watched.transport.terminate('no sign of life');
  }

  /** The socket is full: it is given `stallMs` to take a byte. */
  full(): void {
    if (this.#stalling) return;
    this.#stalling = true;
    const { transport, limits } = this.watched;
    this.#whileStill(
      limits.stallMs,
      () => this.#tookAt(),
      () => transport.bufferedAmount + this.watched.unsentBytes() >= limits.stallBytes,
      () => {
        transport.terminate('slow consumer');
      },
      () => {
        this.#stalling = false;
      },
    );
  }

  /** The closing handshake is due: the socket is given 2 s without movement. */
  closing(): void {
    this.#whileStill(
      CLOSING_MS,
      () => this.lifeAt(),
      () => true,
      () => {
        this.watched.transport.terminate('closing made no progress');
      },
    );
  }

  /** Fragments are outstanding: the remote is given `reassemblyTimeoutMs` in which nothing at all arrives. */
  awaitFragments(outstanding: () => boolean, expired: () => void): void {
    if (this.#awaiting) return;
    this.#awaiting = true;
    this.#whileStill(
      this.watched.limits.reassemblyTimeoutMs,
      () => (this.paused ? asyncScheduler.now() : this.#receivedAt),
      outstanding,
      () => {
        this.#awaiting = false;
        expired();
      },
      () => {
        this.#awaiting = false;
      },
    );
  }

  stop(): void {
    this.#timers.unsubscribe();
  }

  /** Acts once there has been no movement for `ms`; stops looking when there is nothing `going` on any more. */
  #whileStill(ms: number, movedAt: () => number, going: () => boolean, still: () => void, over?: () => void): void {
    const started = asyncScheduler.now();
    const look = (): void => {
      const rest = Math.max(started, movedAt()) + ms - asyncScheduler.now();
      const timer = patientTimer(Math.max(1, rest)).subscribe(({ onTime }) => {
        this.#timers.remove(timer);
        if (!going()) over?.();
        else if (onTime && Math.max(started, movedAt()) + ms <= asyncScheduler.now()) still();
        else look();
      });
      this.#timers.add(timer);
    };
    look();
  }

  /** When the socket last took bytes of ours; noticed by looking, so no earlier than it was. */
  #tookAt(): number {
    const { bufferedAmount } = this.watched.transport;
    const taken = this.#sent - bufferedAmount;
    if (taken > this.#taken) {
      this.#taken = taken;
      this.#takenAt = bufferedAmount > 0 ? asyncScheduler.now() : this.#sentAt;
    }
    return this.#takenAt;
  }
}
