import { Subscription, asyncScheduler } from 'rxjs';
import type { Loss, Connection } from '../../connection/connection.js';
import { log } from '../../logger.js';
import { isMarked } from '../../stream/hello-mark.js';
import type { Absence, StreamCore } from '../../stream/stream-core.js';
import { ALWAYS_ONLINE } from '../../transport/connectivity.js';
import type { Connectivity } from '../../transport/connectivity.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import { currentContext } from '../../util/async-context.js';
import type { AsyncContext } from '../../util/async-context.js';
import { isThenable } from '../../util/check.js';
import { LONGEST_TIMER_MS, patientTimer, steadyNow } from '../../util/time.js';
import { subprotocol } from '../../wire/codec.js';
import { CloseCode, ResetCode } from '../../wire/codes.js';
import type { CloseReason } from '../../wire/codes.js';
import { CodecMismatch, ConnectionFault, StreamError } from '../../wire/errors.js';
import type { AnyMuxError } from '../../wire/errors.js';
import { NEVER_OPEN } from '../core.js';
import type { PeerCore, SocketSource } from '../core.js';
import { sayHello } from '../hello.js';
import type { MakeHello } from '../hello.js';
import { isLoopback, shownAddress } from './address.js';
import type { Backoff, FailureFacts } from './backoff.js';
import { closeMismatched, connectError, failedWith, failureOf, notInTime } from './failure.js';
import type { FailedDial } from './failure.js';

/** An address, or a function that returns the address for each dial. */
export type ConnectUrl = string | URL | ((context: DialContext) => string | URL | Promise<string | URL>);

/** A dial, and the history of the dials before it. */
export interface DialContext {
  /** 1, 2, … since the last stable socket. */
  readonly attempt: number;
  /** The number of sockets that were open before this dial. */
  readonly reconnects: number;
  /** Why the last socket ended, or the last dial failed. */
  readonly last: CloseReason | null;
  /** Whether the server has said that the session has expired, or asks for a fresh hello: a token of your cache is of no use then. */
  readonly expired: boolean;
  /** Aborts when the peer abandons this dial. */
  readonly signal: AbortSignal;
}

/** How and where to dial. */
export interface DialPlan {
  readonly url: ConnectUrl;
  readonly open: (url: string, protocol: string) => Transport;
  /** `null` if the peer closes when its first socket ends. */
  readonly backoff: Backoff | null;
  /** Makes the first stream of every socket; `undefined` if calls are sent as soon as a socket is open. */
  readonly hello: MakeHello | undefined;
  /** How long the hello and its reply may take together, in ms; 0 is no limit. */
  readonly helloTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly lazy: boolean;
  /** How long a socket without an open stream stays, in ms; 0 is for ever. */
  readonly idleCloseMs: number;
  readonly connectivity: Connectivity;
}

/**
 * Dials and sends the hello. With the reconnect helper it dials again, with full jitter after a loss. At a goaway it dials before the
 * socket ends, so that the replacement is open while the old socket drains.
 */
export class Dialer implements SocketSource {
  #phase: 'idle' | 'dialing' | 'greeting' | 'waiting' | 'open' | 'stopped' = 'idle';
  /** The newest connection, which takes streams or is about to. */
  #connection: Connection | null = null;
  #openedAt = 0;
  #sockets = 0;
  #last: CloseReason | null = null;
  #delayMs = 0;
  /** The address of the last dial; `null` while a function has not returned one. */
  #address: string | null = null;
  /** The failed dials since the last open socket. */
  #failures = 0;
  #lastFailure: AnyMuxError | null = null;
  /** The reason of the last failed dial: its socket's, or its error's. */
  #why = '';
  /** The error of the last dial, while an older socket still drains. */
  #dialError: AnyMuxError | null = null;
  /** The error of the current dial's hello. It says more than the close of the socket. */
  #helloError: AnyMuxError | null = null;
  /** The current dial, up to the answer to its hello: closed once it has failed or was given up. */
  #dial = Subscription.EMPTY;
  /** The socket that is not open yet. */
  #opening: Transport | null = null;
  /** The delay before the next dial, the time limit of the current one, or the time until the open socket counts as stable. */
  #timer = Subscription.EMPTY;
  /** Until the socket has had no stream for long enough. */
  #idleTimer = Subscription.EMPTY;
  /** The events of the page. A peer that never dials leaves no listener on its page. */
  #listening = Subscription.EMPTY;
  /** Losses that are not followed yet. Streams fail in between, and their owners may close the peer. */
  #pendingLosses = 0;
  readonly #inContext: AsyncContext;

  constructor(
    private readonly core: PeerCore,
    private readonly plan: DialPlan,
  ) {
    // A peer with one dial starts it in `connect()` itself.
    this.#inContext = plan.lazy || plan.backoff !== null ? currentContext() : (task) => task();
    if (typeof plan.url !== 'function') this.#setAddress(String(plan.url));
  }

  get absence(): Absence {
    const error = this.#lastFailure;
    return { reason: `no connection to ${this.#where()}${error === null ? '' : `; last dial: ${this.#why}`}`, error };
  }

  get remedy(): string {
    return this.plan.backoff === null ? ', and no reconnect was asked for' : '';
  }

  get expectsSocket(): boolean {
    return this.#phase !== 'stopped' && (this.#phase !== 'open' || this.plan.backoff !== null);
  }

  start(): void {
    if (!this.plan.lazy) this.ensureDialing();
  }

  ensureDialing(): void {
    if (this.#phase !== 'idle') return;
    const { connectivity } = this.plan;
    if (connectivity !== ALWAYS_ONLINE)
      this.#listening = connectivity.events$.subscribe((event) => {
        if (event === 'pagehide') this.#leave();
        else {
          this.core.probe();
          // A page that becomes visible does not cut a delay short: the delay protects the server.
          if (event === 'online' || event === 'pageshow') this.dialNow();
        }
      });
    this.#begin();
  }

  /**
   * The page enters the back/forward cache, where it can send nothing, and from where it may never return. Its socket would keep the server's
   * producers at work. A peer that may not dial again leaves its socket to the browser, which may load the page anew.
   */
  #leave(): void {
    const { backoff } = this.plan;
    if (backoff === null || this.#phase === 'idle') return;
    this.#dial.unsubscribe();
    // Before the goaway, because an observer of it may close the peer.
    this.#wait(backoff.spread());
    for (const connection of this.core.connections)
      connection.fail(new ConnectionFault('the page was left', ResetCode.NO_ERROR, CloseCode.GOING_AWAY));
  }

  dialNow(): void {
    if (this.#phase === 'waiting') this.#begin();
  }

  goneAway(connection: Connection, code: ResetCode): void {
    const { backoff } = this.plan;
    // After a goaway with an error, wait for the socket to end: `lost()` then decides.
    if (connection === this.#connection && code === ResetCode.NO_ERROR && backoff !== null && this.#phase === 'open') {
      const delayMs = backoff.goneAway(this.#openMs());
      if (delayMs !== null) this.#wait(delayMs);
    }
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

  /** Ends a socket that no call needs, once no stream has been open for a while. The next call dials another. */
  idle(connection: Connection, last: StreamCore | null): void {
    const { idleCloseMs } = this.plan;
    if (connection !== this.#connection || idleCloseMs === 0) return;
    // A fresh hello, or the question for it, is no use of the socket.
    if (last !== null && isMarked(last) && !this.#idleTimer.closed) return;
    this.#idleTimer.unsubscribe();
    this.#idleTimer = patientTimer(idleCloseMs, () => {
      this.#idleTimer = Subscription.EMPTY;
      if (this.#phase !== 'open' || this.#connection?.streams.size !== 0) return;
      this.#phase = 'idle';
      this.#listening.unsubscribe();
      this.#timer.unsubscribe();
      this.core.openConnection?.drain(0, ResetCode.NO_ERROR, 'idle');
    });
  }

  lost(connection: Connection, close: SocketClose): Loss {
    // First: `shouldRetry`, and a listener of the dial's signal, may close the peer.
    this.#pendingLosses++;
    if (connection !== this.#connection) return this.#lostReplaced(close);
    this.#connection = null;
    if (this.#phase === 'idle' || this.#phase === 'dialing' || this.#phase === 'waiting') return this.#lostReplaced(close);
    this.#dial.unsubscribe();
    const error = this.#phase === 'greeting' ? (this.#helloError ?? connectError(close, { address: this.#address })) : null;
    const heard = connection.flood.receivedBytes > 0;
    return this.#decide(close, { announced: connection.goawayCode, error, heard });
  }

  stop(): void {
    if (this.#phase !== 'stopped') this.#finish(this.#last ?? NEVER_OPEN, null, this.#pendingLosses === 0);
  }

  // One dial: the address and its socket, then the hello

  /** Dials in the async context of `connect()`, whichever call triggers the dial: a socket reads in the context that opens it. */
  #begin(): void {
    this.#inContext(() => {
      this.#phase = 'dialing';
      this.#helloError = null;
      const dial = (this.#dial = new Subscription());
      const expired = this.plan.backoff?.expired ?? false;
      const context = contextOf({ attempt: this.#nextAttempt(), reconnects: this.#sockets, last: this.#last, expired }, dial);
      this.#report();
      // An observer of the status may have closed the peer.
      if (dial.closed) return;
      const { url, connectTimeoutMs } = this.plan;
      this.#limit(dial, connectTimeoutMs, 'a connection');
      this.#ask(dial, typeof url === 'function' ? url : () => url, context, (address) => {
        this.#open(dial, context, String(address));
      });
    });
  }

  /** The current step of a dial fails if it lasts for `ms`; 0, and times that no timer can count, set no limit. */
  #limit(dial: Subscription, ms: number, what: string): void {
    this.#timer.unsubscribe();
    if (ms <= 0 || ms > LONGEST_TIMER_MS) return;
    this.#timer = asyncScheduler.schedule(() => {
      this.#fail(dial, failedWith(notInTime(what, ms, this.#opening?.awaits)));
    }, ms);
  }

  /** Calls a function of the user's, and continues with its result. The dial fails if the function, or what continues, throws. */
  #ask<T>(dial: Subscription, make: (context: DialContext) => T | PromiseLike<T>, context: DialContext, next: (value: T) => void): void {
    const made = (value: T): void => {
      if (!dial.closed) next(value);
    };
    const failed = (error: unknown): void => {
      this.#fail(dial, failedWith(error));
    };
    try {
      const result = make(context);
      // A plain value continues at once, so that virtual time stays virtual.
      if (isThenable(result)) void Promise.resolve(result).then(made).catch(failed);
      else made(result);
    } catch (error) {
      failed(error);
    }
  }

  /**
   * Opens a socket, which the end of the dial terminates. Its connection is made while the handshake is under way, so that the first request
   * need not wait for it: two turns later, when the request for the upgrade has left.
   */
  #open(dial: Subscription, context: DialContext, address: string): void {
    const { core } = this;
    const protocol = subprotocol(core.codec);
    this.#setAddress(address);
    log('debug', `dials ${this.#where()}`);
    const transport = (this.#opening = this.plan.open(address, protocol));
    let connection: Connection | null = null;
    const sessionOf = (): Connection => (connection ??= core.connectionOver(transport));
    transport.turn(() => {
      transport.turn(() => {
        if (!dial.closed) sessionOf();
      });
    });
    dial.add(() => {
      if (this.#opening === transport) transport.terminate('the dial was given up');
    });
    transport.opened$.subscribe({
      complete: () => {
        if (dial.closed) return;
        this.#opening = null;
        this.#timer.unsubscribe();
        const failure = failureOf(transport, protocol, address);
        if (failure === null) this.#connected(dial, context, sessionOf());
        else {
          if (failure.error instanceof CodecMismatch) closeMismatched(transport, failure.error);
          this.#fail(dial, failure);
        }
      },
    });
  }

  /** The socket is open. Its connection does not read yet. */
  #connected(dial: Subscription, context: DialContext, connection: Connection): void {
    const { hello, helloTimeoutMs } = this.plan;
    this.#connection = connection;
    this.#phase = 'greeting';
    this.core.adopt(connection);
    if (hello === undefined) this.#opened(connection);
    connection.start();
    if (hello === undefined || dial.closed) return;
    const begunAt = steadyNow();
    this.#limit(dial, helloTimeoutMs, 'a hello to send');
    this.#ask(dial, hello, context, (made) => {
      this.#timer.unsubscribe();
      // At least 1, because 0 means no limit.
      const restMs = helloTimeoutMs === 0 ? 0 : Math.max(1, begunAt + helloTimeoutMs - steadyNow());
      const answered = (): void => {
        if (!dial.closed) this.#opened(connection);
      };
      sayHello(this.core, connection, made, restMs, answered, (error) => {
        this.#fail(dial, failedWith(error));
      });
    });
  }

  /** The connection accepts streams: the server has answered the hello, or there is no hello. */
  #opened(connection: Connection): void {
    if (this.#phase !== 'greeting') return;
    this.#phase = 'open';
    this.#dial = Subscription.EMPTY;
    const failures = this.#failures;
    const after = failures > 0 ? ` after ${failures} failed ${failures === 1 ? 'dial' : 'dials'}` : '';
    log(after ? 'warn' : 'debug', `connected to ${this.#where()}${after}`);
    this.#failures = 0;
    this.#lastFailure = null;
    this.#openedAt = steadyNow();
    const { backoff } = this.plan;
    if (backoff !== null) {
      backoff.connected();
      // A connection that lasts clears the count of failed dials (D2).
      this.#timer = patientTimer(backoff.stableMs, () => {
        backoff.stable();
      });
    }
    this.core.ready(connection, this.#sockets++);
    this.idle(connection, null);
  }

  #fail(dial: Subscription, failure: FailedDial): void {
    if (dial.closed) return;
    this.#timer.unsubscribe();
    const isGreeting = this.#phase === 'greeting';
    if (isGreeting) this.#helloError = failure.error;
    dial.unsubscribe();
    if (isGreeting) this.#connection?.drain(0, ResetCode.NO_ERROR, '');
    // A listener of the dial's signal may have closed the peer.
    else if (this.#phase !== 'stopped') {
      const { close, ...facts } = failure;
      // Report one timer turn later, so that an `onClose` registered right after `connect()` receives a synchronous failure.
      this.#timer = asyncScheduler.schedule(() => {
        this.#pendingLosses++;
        this.core.ended(this.#decide(close, facts));
      });
    }
  }

  // Between the dials

  /** How long the newest connection has accepted streams. */
  #openMs(): number {
    return steadyNow() - this.#openedAt;
  }

  /** The number of the current dial, or of the next one. */
  #nextAttempt(): number {
    return (this.plan.backoff?.failures ?? 0) + 1;
  }

  /** Decides what follows the end of a socket or a failed dial. */
  #decide(close: SocketClose, known: Omit<FailureFacts, 'offline' | 'openMs'>): Loss {
    const { backoff } = this.plan;
    const { error } = known;
    const facts = { ...known, offline: this.#isOffline(), openMs: error === null ? this.#openMs() : null };
    const isWanted = this.#phase !== 'stopped' && backoff?.failed(close, facts) === true;
    // `shouldRetry` is user code and may have closed the peer.
    const retried = isWanted && this.#phase !== 'stopped' ? backoff : null;
    const willRetry = retried !== null;
    const reason = (this.#last = { ...close, willRetry });
    this.#phase = willRetry ? 'waiting' : 'stopped';
    if (error !== null) {
      this.#failures++;
      this.#lastFailure = error;
      this.#why = close.reason || error.message;
      const what = error instanceof StreamError ? `the hello has failed: ${error.message}` : error.message;
      // If no dial follows, the calls fail with this error.
      if (willRetry && this.#failures === 1) log('warn', `a dial failed, and more follow: ${what}`);
      else log('debug', `dial ${this.#failures} in a row failed: ${what}`);
    }
    return this.#loss(reason, () => {
      if (this.#phase === 'stopped') this.#finish(reason, error);
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
    return {
      reason,
      follow: () => {
        this.#pendingLosses--;
        follow();
      },
    };
  }

  /** Stops dialing. Sockets that still drain keep their time. `isLast`: no loss follows that ends the peer. */
  #finish(last: CloseReason, error: AnyMuxError | null, isLast = true): void {
    this.#phase = 'stopped';
    for (const held of [this.#listening, this.#timer, this.#idleTimer, this.#dial]) held.unsubscribe();
    this.#dialError ??= error;
    const reason = { ...last, willRetry: false };
    if (isLast && this.core.connections.length === 0) this.core.finish(reason, this.#dialError);
    else if (this.core.openConnection === null) this.core.waiting.failAll({ how: 'lost', reason }, error);
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
      this.core.report({ state: 'waiting', attempt, delayMs: this.#delayMs, last, offline: this.#isOffline() });
  }

  #setAddress(address: string): void {
    if (address === this.#address) return;
    this.#address = address;
    this.core.remote = shownAddress(address);
  }

  #where(): string {
    return this.#address === null ? 'a server' : shownAddress(this.#address);
  }

  /** Whether a dial would fail because there is no network. An address that is not known yet needs one. */
  #isOffline(): boolean {
    return this.plan.connectivity.offline && (this.#address === null || !isLoopback(this.#address));
  }
}

function contextOf(history: Omit<DialContext, 'signal'>, dial: Subscription): DialContext {
  let controller: AbortController | null = null;
  return {
    ...history,
    // Create the controller only on demand: few callers use the signal, and an abort costs more than the rest of a dial's end.
    get signal() {
      if (controller === null) {
        const made = (controller = new AbortController());
        dial.add(() => {
          made.abort();
        });
      }
      return controller.signal;
    },
  };
}
