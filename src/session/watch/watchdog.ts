import { steadyNow } from '../../transport/steady-clock.js';
import type { Subscription } from 'rxjs';
import type { Message } from '../../wire/codec.js';
import { LazyMap } from '../../wire/lazy.js';
import type { Reassembly } from '../../wire/reassembly.js';
import { FragmentWatch } from './fragment-watch.js';
import { KeepaliveTimer } from './keepalive.js';
import type { KeepaliveTimes, KeepaliveHost } from './keepalive.js';
import { WriteProgress } from './write-progress.js';
import { SOCKET_FULL_BYTES } from '../send/pace.js';
import { restTimer } from '../base/patient-timer.js';
import { STEADY_CLOCK } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { WatchHost } from './watch-host.js';

/** How long a closing socket may show no movement before it is terminated, in ms. */
export const CLOSING_MS = 2_000;
/**
 * While a closing socket still has bytes to write, what is received counts as movement only until this long after it last took some, in
 * ms: longer than a remote that lags may stop reading. With {@link CLOSING_MS} these are the 10 s of C8.
 */
const RECEIVE_ONLY_MS = 8_000;

/** What is watched for: no movement for `ms` of a clock. */
interface Watch {
  readonly ms: number;
  readonly clock: Clock;
  readonly movedAt: () => number;
  /** Whether there is anything to see still. */
  readonly isPending: () => boolean;
  /** There has been no movement; `true` to look on. */
  readonly onStalled: () => boolean;
}

/**
 * Watches whether a connection moves. Movement is a frame received, or bytes of ours that the socket has taken; a sign of life, bytes
 * that the remote has made it take. So neither a slow upload nor a quiet peer is condemned, and a dead one is, whatever is sent to it.
 * Every watch has one timer at most, and none while there is nothing to see.
 */
export class Watchdog implements KeepaliveHost {
  readonly clock: Clock;
  readonly fragments: FragmentWatch;
  readonly #keepalive: KeepaliveTimer | null;
  readonly #writes: WriteProgress;
  /** Timers of the running watches. */
  readonly #timers = new LazyMap<'closing' | 'stall', Subscription>();
  readonly #stallFrom: number;
  #receivedAt: number;
  #stopped = false;

  constructor(
    private readonly host: WatchHost,
    keepalive: KeepaliveTimes | null,
  ) {
    const { transport, limits, reading } = host;
    this.clock = reading;
    this.fragments = new FragmentWatch(host);
    this.#writes = new WriteProgress(transport, reading);
    this.#receivedAt = reading.now();
    this.#stallFrom = Math.min(limits.stallBytes, SOCKET_FULL_BYTES);
    this.#keepalive = keepalive === null ? null : new KeepaliveTimer(keepalive, this);
  }

  /** The connection is read from here on, unless it has ended by then. */
  start(): void {
    if (!this.#stopped) this.#keepalive?.start();
  }

  /** A message has come in. */
  received(bytes: number): void {
    this.#receivedAt = this.clock.now();
    this.fragments.received(bytes);
    this.host.transit.received(bytes);
  }

  /** A message was given to the socket. */
  sent(message: Message): void {
    const { transit, transport, scheduler } = this.host;
    const now = steadyNow();
    this.#writes.sent(now);
    if (transport.holds(this.#stallFrom)) this.#watchStall();
    if (transit.sent(typeof message === 'string' ? message.length : message.byteLength, now)) scheduler.probe();
  }

  lastSignOfLifeAt(): number {
    return Math.max(this.#receivedAt, this.#writes.drainedAtReadTime());
  }

  answerDueAt(): number {
    return this.host.reading.at(this.host.transit.dueAt);
  }

  probe(): void {
    this.#writes.sendProbe(() => {
      this.host.control.probe();
    });
  }

  probeNow(): void {
    this.#keepalive?.probeNow();
  }

  giveUp(): void {
    this.host.transport.terminate('no sign of life');
  }

  /** The connection closes: the socket gets 2 s without movement, from when the next answer is due. */
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
  watchFragments(reassembly: Reassembly): void {
    if (!this.#stopped) this.fragments.begin(reassembly);
  }

  stop(): void {
    this.#stopped = true;
    this.#keepalive?.stop();
    this.fragments.stop();
    for (const timer of this.#timers.values()) timer.unsubscribe();
  }

  #closingMovedAt(): number {
    const { transport, scheduler, closing } = this.host;
    const isTaken = Math.max(transport.bufferedAmount, scheduler.backlog.bytes) === 0 && !closing.awaitsArrival;
    const tookAt = Math.max(this.#writes.tookAtReadTime(), this.answerDueAt());
    const movedAt = Math.max(this.#receivedAt, tookAt);
    return isTaken ? movedAt : Math.min(movedAt, tookAt + RECEIVE_ONLY_MS);
  }

  /** The socket is full: it is given `stallMs` to take a byte. */
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
        // A timer that came late has seen nothing: the whole time starts anew.
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
