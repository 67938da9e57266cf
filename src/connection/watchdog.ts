import { noop } from 'rxjs';
import type { Subscription } from 'rxjs';
import { STEADY_CLOCK } from '../session/base/clock.js';
import type { Clock } from '../session/base/clock.js';
import { restTimer } from '../session/base/patient-timer.js';
import { SOCKET_FULL_BYTES } from '../session/send/pace.js';
import { KeepaliveTimer } from '../session/watch/keepalive.js';
import type { KeepaliveHost, KeepaliveTimes } from '../session/watch/keepalive.js';
import type { WatchHost } from '../session/watch/watch-host.js';
import { WriteProgress } from '../session/watch/write-progress.js';
import { LazyMap } from '../util/collections.js';
import { steadyNow } from '../util/time.js';
import type { Message } from '../wire/codec.js';
import type { SplitMessage } from '../wire/split-message.js';
import { FragmentWatch } from './fragment-watch.js';

/** A closing socket is terminated after so many ms without movement. */
export const CLOSING_MS = 2_000;
/**
 * Time after a closing socket last took bytes, in ms. While the socket has more bytes to write, received frames count as movement only
 * within this time. A lagging remote may stop reading for less than this time. With {@link CLOSING_MS} it makes the 10 s of C8.
 */
const RECEIVE_ONLY_MS = 8_000;

/** Waits for a stall: no movement for `ms` on `clock`. */
interface Watch {
  readonly ms: number;
  readonly clock: Clock;
  readonly movedAt: () => number;
  /** Returns whether movement is still expected. */
  readonly isPending: () => boolean;
  /** Called after a stall. Returns `true` to go on watching. */
  readonly onStalled: () => boolean;
}

/**
 * Watches whether a connection moves. Movement is a received frame, or bytes of this side that the socket has taken. A sign of life is a
 * received frame, or bytes that the socket took because the remote made room. So a slow upload and a quiet peer survive. A dead peer does
 * not, even while this side sends. Every watch holds at most one timer, and no timer while no movement is expected.
 */
export class Watchdog implements KeepaliveHost {
  readonly clock: Clock;
  readonly fragments: FragmentWatch;
  readonly #keepalive: KeepaliveTimer | null;
  readonly #writes: WriteProgress;
  /** Timers of the running watches. */
  readonly #timers = new LazyMap<'closing' | 'stall', Subscription>();
  readonly #stallFrom: number;
  /** When the last message came in; 0 before the first one. */
  #receivedAt = 0;
  #stopped = false;

  constructor(
    private readonly host: WatchHost,
    keepalive: KeepaliveTimes | null,
  ) {
    const { transport, limits, reading } = host;
    this.clock = reading;
    this.fragments = new FragmentWatch(host);
    this.#writes = new WriteProgress(transport, reading);
    this.#stallFrom = Math.min(limits.stallBytes, SOCKET_FULL_BYTES);
    this.#keepalive = keepalive === null ? null : new KeepaliveTimer(keepalive, this);
  }

  /** Reading begins now, unless the connection has already ended. */
  start(): void {
    if (this.#stopped) return;
    this.#writes.begin();
    this.#keepalive?.start();
  }

  /** A message has come in. */
  received(bytes: number): void {
    this.#receivedAt = this.clock.now();
    this.fragments.received(bytes);
    this.host.transit.received(bytes);
  }

  /** The socket has accepted a message. */
  sent(message: Message | SplitMessage): void {
    const { transit, transport, scheduler } = this.host;
    const now = steadyNow();
    this.#writes.sent(now);
    if (transport.holds(this.#stallFrom)) this.#watchStall();
    if (transit.sent(typeof message === 'string' ? message.length : message.byteLength, now, scheduler.bulk.isLast)) this.#probeArrival();
  }

  lastSignOfLifeAt(): number {
    return Math.max(this.#receivedAt, this.#writes.drainedAtReadTime());
  }

  answerDueAt(): number {
    return this.host.reading.at(this.host.transit.dueAt);
  }

  probe(): void {
    const { transit, control } = this.host;
    // The ping may come behind much data. Its pong is then due once a slow line has carried that data.
    const isBehindData = transit.needsMark;
    this.#writes.sendProbe(() => {
      if (isBehindData) this.#probeArrival();
      else control.probe();
    });
  }

  probeNow(): void {
    this.#keepalive?.probeNow();
  }

  terminate(): void {
    this.host.transport.terminate('no sign of life');
  }

  /** Terminates a closing socket after 2 s without movement, counted from when the next answer is due. */
  watchClosing(): void {
    this.#watch('closing', () => ({
      ms: CLOSING_MS,
      clock: this.clock,
      movedAt: () => this.#closingMovedAt(),
      isPending: () => true,
      onStalled: () => {
        if (this.host.closing.arrivalMissed()) return true;
        this.host.transport.terminate('closing made no progress');
        return false;
      },
    }));
  }

  /** A fragment has come in, and more are to follow. */
  watchFragments(): void {
    if (!this.#stopped) this.fragments.begin();
  }

  stop(): void {
    this.#stopped = true;
    this.#keepalive?.stop();
    this.fragments.stop();
    for (const timer of this.#timers.values()) timer.unsubscribe();
  }

  /**
   * Sends a ping whose pong shows that all earlier frames have arrived. Only a ping right behind bulk counts for the window. A
   * receiver that holds back the pongs of bulk may answer any other ping.
   */
  #probeArrival(): void {
    const { scheduler, transit } = this.host;
    const window = scheduler.bulk.windowOfLast(transit.unmarkedLength);
    if (window === null) transit.ping(noop);
    else window.probe();
  }

  #closingMovedAt(): number {
    const { transport, scheduler, closing } = this.host;
    const isTaken = Math.max(transport.bufferedAmount, scheduler.backlog.bytes) === 0 && !closing.awaitsArrival;
    const tookAt = Math.max(this.#writes.tookAtReadTime(), this.answerDueAt());
    const movedAt = Math.max(this.#receivedAt, tookAt);
    return isTaken ? movedAt : Math.min(movedAt, tookAt + RECEIVE_ONLY_MS);
  }

  /** Watches a full socket, which must take a byte within `stallMs`. */
  #watchStall(): void {
    this.#watch('stall', () => {
      const { transport, limits, scheduler, transit } = this.host;
      return {
        ms: limits.stallMs,
        clock: STEADY_CLOCK,
        movedAt: () => Math.max(this.#writes.tookAt(), transit.arrivedAt),
        isPending: () => transport.bufferedAmount > 0,
        onStalled: () => {
          if (transport.bufferedAmount + scheduler.backlog.bytes < limits.stallBytes) return true;
          transport.terminate('slow consumer');
          return false;
        },
      };
    });
  }

  #watch(what: 'closing' | 'stall', begin: () => Watch): void {
    if (this.#stopped || this.#timers.has(what)) return;
    const { ms, clock, movedAt, isPending, onStalled } = begin();
    let since = clock.now();
    const look = (): void => {
      const remainingMs = Math.max(since, movedAt()) + ms - clock.now();
      const timer = restTimer(clock, remainingMs, ms, (onTime) => {
        // A late timer proves nothing about the remote: start the whole period again.
        if (!onTime) since = clock.now();
        const hasMoved = Math.max(since, movedAt()) + ms > clock.now();
        if (isPending() && (hasMoved || onStalled())) {
          if (!hasMoved) since = clock.now();
          look();
        } else this.#timers.delete(what);
      });
      this.#timers.set(what, timer);
    };
    look();
  }
}
