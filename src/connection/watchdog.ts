import { Subscription, noop } from 'rxjs';
import type { Transport } from '../transport/transport.js';
import { atLeast, readOptions } from '../util/check.js';
import type { Options } from '../util/check.js';
import { STEADY_CLOCK, Watch, restTimer, steadyNow } from '../util/time.js';
import type { Clock } from '../util/time.js';
import type { EncodedFrame } from '../wire/shared.js';
import type { ReadBackpressure } from './budget.js';
import type { Connection } from './connection.js';
import { FragmentWatch } from './fragment-watch.js';
import { SOCKET_FULL_BYTES } from './outbound.js';

/** When a connection is probed and when it is given up, in ms. */
export interface Keepalive {
  /** Silence before a ping is sent, in ms. At least 1. Default 20 000. */
  readonly idleMs?: number | undefined;
  /**
   * Silence after that ping before the connection is terminated, in ms, counted from when an answer is due: up to 11 s later behind a slice.
   * At least 1. Default 10 000.
   */
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

/** A probe after waking waits this long, in ms: a phone reaches its network sooner, and its user waits no longer. */
const WAKING_MS = 2_500;

/** The most bytes that merely pass through a socket, and the most ms that they take. More bytes or more time mean a full socket. */
const PASSING_BYTES = 16 * 1024;
const PASSING_MS = 100;

/**
 * Dates when the socket last took bytes of this side. No platform has an event for that, so each sample compares the bytes that the socket
 * holds with the sample before. A name that ends in `ReadTime` is a time on the clock that stands still while reading is paused.
 */
export class WriteProgress {
  /** Bytes sent to the socket, and bytes that the socket held, at the last sample. */
  #sentBytes: number;
  #heldBytes = 0;
  /** Bytes of probes. A socket that takes them proves nothing. */
  #probeBytes = 0;
  #sentAt = 0;
  #sentAtReadTime = 0;
  #tookAt = 0;
  #tookAtReadTime = 0;
  /** Whether the last sample saw the socket hold bytes back. The kernel is then full, and only the remote makes room. */
  #heldBack = false;
  #lookedAtReadTime = 0;
  #drainedAtReadTime = 0;

  constructor(
    private readonly transport: Transport,
    private readonly reading: ReadBackpressure,
  ) {
    this.#sentBytes = transport.sentBytes;
  }

  /** The socket is open. It counts as having taken everything so far. */
  begin(): void {
    this.#sentAt = this.#tookAt = steadyNow();
    this.#sentAtReadTime = this.#tookAtReadTime = this.#lookedAtReadTime = this.#drainedAtReadTime = this.reading.at(this.#sentAt);
  }

  /** The socket has accepted a message. */
  sent(now: number): void {
    this.#sentAt = now;
    this.#sentAtReadTime = this.reading.at(this.#sentAt);
  }

  /** Sends a probe, such as the ping of the keepalive. A socket that takes a probe proves nothing about the remote. */
  sendProbe(send: () => void): void {
    this.#look();
    send();
    // A socket that holds the probe counts its header too.
    this.#probeBytes = Math.max(this.transport.sentBytes - this.#sentBytes, this.transport.bufferedAmount - this.#heldBytes);
  }

  /** Samples the socket. Returns when the socket last took bytes, as far as samples show. */
  tookAt(): number {
    this.#look();
    return this.#tookAt;
  }

  /** Samples the socket. Returns {@link tookAt} on the clock that stands still while reading is paused. */
  tookAtReadTime(): number {
    this.#look();
    return this.#tookAtReadTime;
  }

  /**
   * Samples the socket. Returns when the remote has provably taken bytes, on the same clock. Only a socket that held bytes back proves
   * anything about the remote: the kernel below has room for megabytes.
   */
  drainedAtReadTime(): number {
    this.#look();
    return this.#drainedAtReadTime;
  }

  // Each sample starts afresh. Bytes that the socket adds to messages then hide only the movement between two samples.
  #look(): void {
    const { bufferedAmount, sentBytes } = this.transport;
    const taken = sentBytes - this.#sentBytes + this.#heldBytes - bufferedAmount;
    const isEmpty = bufferedAmount === 0;
    const now = steadyNow();
    const readTime = this.reading.at(now);
    if (taken > this.#probeBytes) {
      this.#tookAt = isEmpty ? this.#sentAt : now;
      this.#tookAtReadTime = isEmpty ? this.#sentAtReadTime : readTime;
      // An empty socket drained at some time since the last sample. Take the earliest, so that liveness is never overstated.
      if (this.#heldBack) this.#drainedAtReadTime = isEmpty ? this.#lookedAtReadTime : readTime;
    }
    if (taken > 0) this.#probeBytes = isEmpty ? 0 : Math.max(0, this.#probeBytes - taken);
    this.#heldBack = bufferedAmount > PASSING_BYTES || (!isEmpty && now - this.#sentAt > PASSING_MS);
    this.#lookedAtReadTime = readTime;
    this.#sentBytes = sentBytes;
    this.#heldBytes = bufferedAmount;
  }
}

/** After this time without movement, in ms, a closing socket is terminated. */
export const CLOSING_MS = 2_000;
/**
 * Time after a closing socket last took bytes, in ms. While the socket has more bytes to write, received frames count as movement only
 * within this time. A lagging remote may stop reading for less than this time. With {@link CLOSING_MS} it makes the 10 s of C8.
 */
const RECEIVE_ONLY_MS = 8_000;

/**
 * Watches whether a connection moves. Movement is a received frame, or bytes of this side that the socket has taken. A sign of life is a
 * received frame, or bytes that the socket took because the remote made room. So a slow upload and a quiet peer survive. A dead peer does
 * not, even while this side sends. Every watch holds at most one timer, and no timer while no movement is expected.
 *
 * The keepalive probes a connection after `idleMs` of silence and terminates the connection `timeoutMs` later. Any sign of life in between
 * is an answer. At most one probe exists at a time.
 */
export class Watchdog {
  /** A clock that stands still while this side does not read. */
  readonly clock: Clock;
  readonly fragments: FragmentWatch;
  readonly #writes: WriteProgress;
  readonly #stallFrom: number;
  /** The watches of a closing socket and of a full one, which begin on demand. */
  #closing: Watch | null = null;
  #stall: Watch | null = null;
  /** When the last message came in; 0 before the first one. */
  #receivedAt = 0;
  #phase: 'new' | 'started' | 'stopped' = 'new';
  #keepalive = Subscription.EMPTY;
  /** When the last probe of the keepalive was sent; `null` once its answer was noticed. */
  #probedAt: number | null = null;
  /** How long the last probe may wait for an answer, in ms. */
  #answerMs = 0;

  /** @param times `null`: the connection is never probed */
  constructor(
    private readonly connection: Connection,
    private readonly times: KeepaliveTimes | null,
  ) {
    const { transport, limits, reading } = connection;
    this.clock = reading;
    this.fragments = new FragmentWatch(connection);
    this.#writes = new WriteProgress(transport, reading);
    this.#stallFrom = Math.min(limits.stallBytes, SOCKET_FULL_BYTES);
  }

  /** Reading begins now, unless the connection has already ended. */
  start(): void {
    if (this.#phase === 'stopped') return;
    this.#phase = 'started';
    this.#writes.begin();
    if (this.times !== null) this.#awaitSilence(this.times);
  }

  /** A message has come in. */
  received(bytes: number): void {
    this.#receivedAt = this.clock.now();
    this.fragments.received(bytes);
    this.connection.transit.received(bytes);
  }

  /** The socket has accepted a message. */
  sent(message: EncodedFrame): void {
    const { transit, transport, outbound } = this.connection;
    const now = steadyNow();
    this.#writes.sent(now);
    if (transport.holds(this.#stallFrom)) this.#watchStall();
    if (transit.sent(typeof message === 'string' ? message.length : message.byteLength, now, outbound.isLastBulk)) this.#probeArrival();
  }

  /** When the last sign of life came. */
  lastSignOfLifeAt(): number {
    return Math.max(this.#receivedAt, this.#writes.drainedAtReadTime());
  }

  /** Sends a ping. */
  probe(): void {
    const { transit, control } = this.connection;
    // The ping may come behind much data. Its pong is then due once a slow line has carried that data.
    const isBehindData = transit.needsMark;
    this.#writes.sendProbe(() => {
      if (isBehindData) this.#probeArrival();
      else control.probe();
    });
  }

  /** Asks for a sign of life at once, which is due soon: the page woke up, or the network came back. */
  probeNow(): void {
    const isProbing = this.#probedAt !== null && this.#answerMs <= WAKING_MS && this.lastSignOfLifeAt() < this.#probedAt;
    if (this.#phase === 'started' && this.times !== null && !isProbing) this.#keepAlive(this.times, WAKING_MS);
  }

  /** Terminates a closing socket after 2 s without movement, counted from when the next answer is due. */
  watchClosing(): void {
    const { clock, connection } = this;
    this.#closing ??= new Watch(
      clock,
      () => CLOSING_MS,
      () => this.#closingMovedAt(),
      () => true,
      () => {
        if (connection.closing.arrivalMissed()) return clock.now();
        connection.transport.terminate('closing made no progress');
        return null;
      },
    );
    if (this.#phase !== 'stopped') this.#closing.begin();
  }

  /** A fragment has come in, and more are to follow. */
  watchFragments(): void {
    if (this.#phase !== 'stopped') this.fragments.begin();
  }

  stop(): void {
    this.#phase = 'stopped';
    this.#keepalive.unsubscribe();
    for (const watch of [this.fragments, this.#closing, this.#stall]) watch?.stop();
  }

  #awaitSilence(times: KeepaliveTimes): void {
    this.#probedAt = null;
    const remainingMs = this.lastSignOfLifeAt() + times.idleMs - this.clock.now();
    if (remainingMs <= 0) this.#keepAlive(times);
    else
      this.#arm(remainingMs, times.idleMs, () => {
        this.#awaitSilence(times);
      });
  }

  #keepAlive(times: KeepaliveTimes, mostMs = Infinity): void {
    const probedAt = (this.#probedAt = this.clock.now());
    this.#answerMs = Math.min(times.timeoutMs, mostMs);
    this.probe();
    this.#awaitLife(probedAt, times, this.#answerMs);
  }

  #awaitLife(probedAt: number, times: KeepaliveTimes, ms: number): void {
    const { idleMs } = times;
    const timeoutMs = this.#answerMs;
    // Idle time counts from the moment of the answer, so look for an answer before the time is up.
    this.#arm(Math.min(ms, idleMs), timeoutMs, (onTime) => {
      const remainingMs = Math.max(probedAt, this.#answerDueAt()) + timeoutMs - this.clock.now();
      if (this.lastSignOfLifeAt() >= probedAt) this.#awaitSilence(times);
      else if (!onTime) this.#keepAlive(times, timeoutMs);
      else if (remainingMs > 0) this.#awaitLife(probedAt, times, remainingMs);
      else this.connection.transport.terminate('no sign of life');
    });
  }

  #arm(remainingMs: number, period: number, next: (onTime: boolean) => void): void {
    this.#keepalive.unsubscribe();
    // A probe may have ended the connection.
    if (this.#phase === 'started') this.#keepalive = restTimer(this.clock, remainingMs, period, next);
  }

  /** When the slowest line that a connection waits for would bring the next answer. */
  #answerDueAt(): number {
    return this.connection.reading.at(this.connection.transit.dueAt);
  }

  /**
   * Sends a ping whose pong shows that all earlier frames have arrived. Only a ping right behind bulk counts for the window. A
   * receiver that holds back the pongs of bulk may answer any other ping.
   */
  #probeArrival(): void {
    const { outbound, transit } = this.connection;
    const window = outbound.windowOfLast(transit.unmarkedLength);
    if (window === null) transit.ping(noop);
    else window.probe();
  }

  #closingMovedAt(): number {
    const { transport, outbound, phase } = this.connection;
    const isTaken = Math.max(transport.bufferedAmount, outbound.bytes) === 0 && phase !== 'arriving';
    const tookAt = Math.max(this.#writes.tookAtReadTime(), this.#answerDueAt());
    const movedAt = Math.max(this.#receivedAt, tookAt);
    return isTaken ? movedAt : Math.min(movedAt, tookAt + RECEIVE_ONLY_MS);
  }

  /** Watches a full socket, which must take a byte within `stallMs`. */
  #watchStall(): void {
    const { transport, limits, outbound, transit } = this.connection;
    this.#stall ??= new Watch(
      STEADY_CLOCK,
      () => limits.stallMs,
      () => Math.max(this.#writes.tookAt(), transit.arrivedAt),
      () => transport.bufferedAmount > 0,
      () => {
        if (transport.bufferedAmount + outbound.bytes < limits.stallBytes) return steadyNow();
        transport.terminate('slow consumer');
        return null;
      },
    );
    if (this.#phase !== 'stopped') this.#stall.begin();
  }
}
