import { Subscription, asyncScheduler } from 'rxjs';
import type { Loss, Connection } from '../../connection/connection.js';
import { log, logger } from '../../logger.js';
import type { Absence } from '../../stream/stream-core.js';
import type { SocketClose } from '../../transport/transport.js';
import { currentContext } from '../../util/async-context.js';
import { checkBoolean, checkFunction, checkNumber } from '../../util/check.js';
import type { Options } from '../../util/check.js';
import { STEADY_CLOCK, patientTimer, steadyNow } from '../../util/time.js';
import { ResetCode } from '../../wire/codes.js';
import type { CloseReason } from '../../wire/codes.js';
import { StreamError } from '../../wire/errors.js';
import type { AnyMuxError } from '../../wire/errors.js';
import { isLoopback, shownAddress } from './address.js';
import type { ConnectOptions } from '../connect.js';
import { NEVER_OPEN } from '../core.js';
import type { PeerCore, SocketSource } from '../core.js';
import type { FailureFacts } from './backoff.js';
import { Dial } from './dial.js';
import type { DialHost, DialPlan, FailedDial } from './dial.js';

/** The options of a dial that every entry point has. */
export type DialOptions = Pick<ConnectOptions, 'connectTimeoutMs' | 'lazy' | 'idleCloseMs' | 'socket'>;

/** {@link DialOptions}, checked and with defaults. */
export interface ResolvedDial {
  readonly connectTimeoutMs: number;
  readonly lazy: boolean;
  readonly idleCloseMs: number;
  readonly socket: DialOptions['socket'];
}

/** Declares {@link DialOptions}. */
export const DIAL_OPTIONS: Options<DialOptions, ResolvedDial> = {
  connectTimeoutMs: [checkNumber, 10_000],
  lazy: [checkBoolean, false],
  idleCloseMs: [checkNumber, 0],
  socket: [checkFunction, undefined],
};

/** @throws TypeError for a time that only a lazy peer has */
export function checkIdle({ idleCloseMs, lazy }: ResolvedDial): void {
  if (idleCloseMs > 0 && !lazy) throw new TypeError('idleCloseMs: expected lazy: true beside it, got none');
}

/**
 * The dials since the last open socket. It logs the first dial that fails and the dial that opens again, and says why a call was never
 * sent.
 */
export class DialSeries {
  #address: string | null = null;
  #failed = 0;
  #last: { readonly close: SocketClose; readonly error: AnyMuxError } | null = null;

  constructor(
    private readonly core: Pick<PeerCore, 'setRemote'>,
    private readonly plan: Pick<DialPlan, 'url' | 'connectivity'>,
  ) {
    if (typeof plan.url !== 'function') this.#setAddress(String(plan.url));
  }

  /** The address of the last dial; `null` while a function has not returned one. */
  get address(): string | null {
    return this.#address;
  }

  /** Whether a dial would fail because there is no network. An address that is not known yet needs one. */
  get isOffline(): boolean {
    return this.plan.connectivity.offline && (this.#address === null || !isLoopback(this.#address));
  }

  get absence(): Absence {
    const why = this.#last === null ? '' : `; last dial: ${this.#last.close.reason || this.#last.error.message}`;
    return { reason: `no connection to ${this.#where()}${why}`, error: this.#last?.error ?? null };
  }

  dials(address: string): void {
    this.#setAddress(address);
    if (logger.isEnabledFor('debug')) log('debug', `dials ${this.#where()}`);
  }

  /** Called when a dial or its hello has failed. If no dial follows, it logs nothing, because the calls fail with that error. */
  failed(close: SocketClose, error: AnyMuxError, willRetry: boolean): void {
    this.#failed++;
    this.#last = { close, error };
    const what = error instanceof StreamError ? `the hello has failed: ${error.message}` : error.message;
    if (willRetry && this.#failed === 1) log('warn', `a dial failed, and more follow: ${what}`);
    else log('debug', `dial ${this.#failed} in a row failed: ${what}`);
  }

  opened(): void {
    if (this.#failed > 0)
      log('warn', `connected to ${this.#where()} after ${this.#failed} failed ${this.#failed === 1 ? 'dial' : 'dials'}`);
    else if (logger.isEnabledFor('debug')) log('debug', `connected to ${this.#where()}`);
    this.#failed = 0;
    this.#last = null;
  }

  #setAddress(address: string): void {
    if (address === this.#address) return;
    this.#address = address;
    this.core.setRemote(shownAddress(address));
  }

  #where(): string {
    return this.#address === null ? 'a server' : shownAddress(this.#address);
  }
}

/** Closes a socket on which no stream has been open for a while. A burst of short calls sets one timer. */
export class IdleClose {
  #timer = Subscription.EMPTY;
  #idleSince = 0;

  /** @param isIdle whether no stream is open now */
  constructor(
    private readonly idleMs: number,
    private readonly isIdle: () => boolean,
    private readonly close: () => void,
  ) {}

  /** No stream is open from now on. */
  begin(): void {
    this.#idleSince = STEADY_CLOCK.now();
    if (this.#timer.closed) this.#wait(this.idleMs);
  }

  stop(): void {
    this.#timer.unsubscribe();
  }

  #wait(ms: number): void {
    this.#timer = patientTimer(ms, () => {
      this.#timer = Subscription.EMPTY;
      if (!this.isIdle()) return;
      const remainingMs = this.#idleSince + this.idleMs - STEADY_CLOCK.now();
      if (remainingMs > 0) this.#wait(remainingMs);
      else this.close();
    });
  }
}

/**
 * Dials and sends the hello. With the reconnect helper it dials again, with full jitter after a loss. At a goaway it dials before the
 * socket ends, so that the replacement is open while the old socket drains.
 */
export class Dialer implements SocketSource, DialHost {
  readonly series: DialSeries;
  #phase: 'idle' | 'dialing' | 'greeting' | 'waiting' | 'open' | 'stopped' = 'idle';
  /** The newest connection, which takes streams or is about to. */
  #connection: Connection | null = null;
  #openedAt = 0;
  #sockets = 0;
  #last: CloseReason | null = null;
  #delayMs = 0;
  /** The error of the last dial, while an older socket still drains. */
  #dialError: AnyMuxError | null = null;
  /** The current dial, or the last one that failed; `null` once a socket is open. */
  #dial: Dial | null = null;
  /** The delay before the next dial, or the time until the open socket counts as stable. */
  #timer = Subscription.EMPTY;
  /** The reports of the platform about its network. A peer that never dials leaves no listener on its page. */
  #resumes = Subscription.EMPTY;
  /** Losses that are decided, but not followed yet. Streams fail in between, and their owners may close the peer. */
  #pendingLosses = 0;
  readonly #inContext = currentContext();
  readonly #idleClose: IdleClose | null = null;

  constructor(
    private readonly core: PeerCore,
    private readonly plan: DialPlan,
  ) {
    this.series = new DialSeries(core, plan);
    if (plan.idleCloseMs > 0)
      this.#idleClose = new IdleClose(
        plan.idleCloseMs,
        () => this.#phase === 'open' && this.#connection?.streams.size === 0,
        this.#closeIdle.bind(this),
      );
  }

  get absence(): Absence {
    return this.series.absence;
  }

  get expectsSocket(): boolean {
    return this.#phase !== 'stopped' && (this.#phase !== 'open' || this.plan.backoff !== null);
  }

  start(): void {
    if (!this.plan.lazy) this.ensureDialing();
  }

  ensureDialing(): void {
    if (this.#phase !== 'idle') return;
    this.#resumes = this.plan.connectivity.resumes$.subscribe((resume) => {
      this.core.probe();
      // A page that becomes visible does not cut a delay short: the delay protects the server.
      if (resume === 'network') this.dialNow();
    });
    this.#begin();
  }

  dialNow(): void {
    if (this.#phase === 'waiting') this.#begin();
  }

  goneAway(connection: Connection, code: ResetCode): void {
    const { backoff } = this.plan;
    // After a goaway with an error, wait for the socket to end: `lost()` then decides.
    if (connection === this.#connection && code === ResetCode.NO_ERROR && backoff !== null && this.#phase === 'open')
      this.#wait(backoff.goneAway(this.#openMs()));
  }

  replace(): boolean {
    const { backoff } = this.plan;
    if (backoff === null) return false;
    if (this.#phase === 'open') {
      // Wait before sending the goaway, because an observer of it may close the peer.
      this.#wait(backoff.spread());
      // This side's ids are used up (S1), so the old socket drains without a deadline.
      this.core.openConnection?.drain(Infinity, ResetCode.NO_ERROR, '');
    }
    return true;
  }

  idle(connection: Connection): void {
    if (connection === this.#connection) this.#idleClose?.begin();
  }

  lost(connection: Connection, close: SocketClose): Loss {
    if (connection !== this.#connection) return this.#lostReplaced(close);
    this.#connection = null;
    if (this.#phase === 'idle' || this.#phase === 'dialing' || this.#phase === 'waiting') return this.#lostReplaced(close);
    this.#dial?.close();
    const error = this.#phase === 'greeting' ? (this.#dial?.errorAfter(close) ?? null) : null;
    const heard = connection.flood.receivedBytes > 0;
    return this.#decide(close, { status: null, retryAfterMs: null, announced: connection.goawayCode, error, heard });
  }

  stop(): void {
    if (this.#phase === 'stopped') return;
    this.#halt();
    const reason = { ...(this.#last ?? NEVER_OPEN), willRetry: false };
    if (this.core.connections.size === 0 && this.#pendingLosses === 0) this.core.finish(reason, null);
    else if (this.core.openConnection === null) this.core.waiting.failAll({ how: 'lost', reason }, null);
  }

  // Reports of the current dial

  connected(connection: Connection): void {
    this.#connection = connection;
    this.#phase = 'greeting';
    this.core.adopt(connection);
  }

  opened(connection: Connection): void {
    if (this.#phase !== 'greeting') return;
    this.#phase = 'open';
    this.#dial = null;
    this.series.opened();
    this.#awaitStability();
    this.core.ready(connection, this.#sockets++);
    this.idle(connection);
  }

  failed({ close, ...facts }: FailedDial): void {
    this.core.ended(this.#decide(close, { ...facts, announced: null, heard: false }));
  }

  /** How long the newest connection has accepted streams. */
  #openMs(): number {
    return steadyNow() - this.#openedAt;
  }

  /** A connection that lasts clears the count of failed dials (D2). */
  #awaitStability(): void {
    const { backoff } = this.plan;
    this.#openedAt = steadyNow();
    if (backoff === null) return;
    backoff.connected();
    this.#timer = patientTimer(backoff.stableMs, () => {
      backoff.stable();
    });
  }

  /** The number of the current dial, or of the next one. */
  #nextAttempt(): number {
    return (this.plan.backoff?.failures ?? 0) + 1;
  }

  /** Dials in the async context of `connect()`, whichever call triggers the dial: a socket reads in the context that opens it. */
  #begin(): void {
    this.#inContext(() => {
      this.#phase = 'dialing';
      const history = { attempt: this.#nextAttempt(), reconnects: this.#sockets, last: this.#last };
      const dial = (this.#dial = new Dial(this.core, this.plan, history, this));
      this.#report();
      // An observer of the status may have closed the peer.
      if (dial.closed) return;
      this.#timer.unsubscribe();
      dial.start();
    });
  }

  /** Ends a socket that no call needs. The next call dials another. */
  #closeIdle(): void {
    this.#phase = 'idle';
    this.#resumes.unsubscribe();
    this.#timer.unsubscribe();
    this.core.openConnection?.drain(0, ResetCode.NO_ERROR, 'idle');
  }

  /** Decides what follows the end of a socket or a failed dial. */
  #decide(close: SocketClose, known: Omit<FailureFacts, 'offline' | 'openMs'>): Loss {
    const { backoff } = this.plan;
    const facts = { ...known, offline: this.series.isOffline, openMs: known.error === null ? this.#openMs() : null };
    const isWanted = this.#phase !== 'stopped' && backoff?.failed(close, facts) === true;
    // `shouldRetry` is user code and may have closed the peer.
    const retried = isWanted && this.#phase !== 'stopped' ? backoff : null;
    const reason = (this.#last = { ...close, willRetry: retried !== null });
    this.#phase = retried === null ? 'stopped' : 'waiting';
    if (facts.error !== null) this.series.failed(close, facts.error, reason.willRetry);
    return this.#loss(reason, () => {
      if (this.#phase === 'stopped') this.#finish(reason, facts.error);
      else if (this.#phase === 'waiting' && retried !== null) this.#wait(retried.delay(close.code, facts));
    });
  }

  /** Called when a socket has ended whose replacement is open or on its way. */
  #lostReplaced(close: SocketClose): Loss {
    const reason = { ...close, willRetry: this.#phase !== 'stopped' };
    return this.#loss(reason, () => {
      this.#last = reason;
      if (this.#phase === 'stopped') this.#finish(reason, null);
      else this.#report();
    });
  }

  #loss(reason: CloseReason, follow: () => void): Loss {
    this.#pendingLosses++;
    return {
      reason,
      follow: () => {
        this.#pendingLosses--;
        follow();
      },
    };
  }

  /** Stops dialing. Sockets that still drain keep their time. */
  #finish(reason: CloseReason, error: AnyMuxError | null): void {
    this.#halt();
    this.#dialError ??= error;
    if (this.core.connections.size === 0) this.core.finish({ ...reason, willRetry: false }, this.#dialError);
    else this.core.waiting.failAll({ how: 'lost', reason }, error);
  }

  #halt(): void {
    this.#phase = 'stopped';
    this.#resumes.unsubscribe();
    this.#timer.unsubscribe();
    this.#idleClose?.stop();
    this.#dial?.close();
  }

  #wait(delayMs: number): void {
    this.#phase = 'waiting';
    this.#delayMs = delayMs;
    this.#timer.unsubscribe();
    this.#report();
    // An observer of the status may have closed the peer, or dialed.
    if (this.#phase !== 'waiting') return;
    this.#timer = asyncScheduler.schedule(() => {
      this.#begin();
    }, delayMs);
  }

  #report(): void {
    const last = this.#last;
    const attempt = this.#nextAttempt();
    if (this.#phase === 'idle' || this.#phase === 'dialing' || this.#phase === 'greeting')
      this.core.report({ state: 'connecting', attempt, last });
    else if (this.#phase === 'waiting' && last !== null)
      this.core.report({ state: 'waiting', attempt, delayMs: this.#delayMs, last, offline: this.series.isOffline });
  }
}
