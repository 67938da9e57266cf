import { Subscription, timer } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import { STEADY_CLOCK } from '../../session/base/clock.js';
import { patientTimer } from '../../session/base/patient-timer.js';
import type { Session } from '../../session/session.js';
import type { Loss } from '../../session/base/session-owner.js';
import { currentContext } from '../../transport/async-context.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { ResetCode } from '../../wire/reset-code.js';
import { subprotocol } from '../../wire/subprotocol.js';
import { isLoopback } from './address.js';
import { Attempt } from './attempt.js';
import type { FailureFacts } from './backoff.js';
import { connectError } from './connect-error.js';
import { failedDial, openTransport } from './dial.js';
import type { DialPlan } from './dial-plan.js';
import { DialSeries } from './dial-series.js';
import { exchangeHello } from './hello.js';
import type { PeerCore } from '../core/peer-core.js';
import { NEVER_OPEN } from '../core/socket-source.js';
import type { SocketSource } from '../core/socket-source.js';
import type { Absence } from '../stream/stream-host.js';

/**
 * Dials, says hello, and with the reconnect helper dials again: after a loss with full jitter, and already at a goaway, so
 * that the replacement is there while the old socket drains.
 */
export class Dialer implements SocketSource {
  #phase: 'idle' | 'dialing' | 'greeting' | 'waiting' | 'open' | 'stopped' = 'idle';
  /** The session made last: the one that takes streams, or is about to. */
  #session: Session | null = null;
  #sockets = 0;
  #last: CloseReason | null = null;
  #delayMs = 0;
  /** What a hello failed with, which says more than the close after it. */
  #helloError: AnyMuxError | null = null;
  /** What the last dial failed with, while an older socket still drains. */
  #dialError: AnyMuxError | null = null;
  /** The dial under way, or the one that failed last; none once a socket is open. */
  #attempt: Attempt | null = null;
  /** What goes on between two sockets: a dial, the hello, or the wait before the next. */
  #step = Subscription.EMPTY;
  #stability = Subscription.EMPTY;
  readonly #inContext = currentContext();
  /** When the session took its first streams. */
  #openedAt = 0;
  readonly #series: DialSeries;
  /** From the first dial on: a peer that never dials leaves no listener on its page. */
  #resumes = Subscription.EMPTY;
  /** Losses decided whose `follow` has not run yet. */
  #pendingLosses = 0;

  constructor(
    private readonly core: PeerCore,
    private readonly plan: DialPlan,
  ) {
    this.#series = new DialSeries(plan.url);
  }

  get absence(): Absence {
    return this.#series.absence;
  }

  get expectsSocket(): boolean {
    return this.#phase !== 'stopped' && (this.#phase !== 'open' || this.plan.backoff !== null);
  }

  start(): void {
    if (!this.plan.lazy) this.ensureDialing();
  }

  ensureDialing(): void {
    if (this.#phase !== 'idle') return;
    this.#watchNetwork();
    this.#dial();
  }

  dialNow(): void {
    if (this.#phase === 'waiting') this.#dial();
  }

  goneAway(session: Session, code: ResetCode): void {
    const { backoff } = this.plan;
    // After a goaway with an error, wait for the socket to end: `lost()` decides then.
    if (session === this.#session && code === ResetCode.NO_ERROR && backoff !== null && this.#phase === 'open')
      this.#wait(backoff.goneAway(this.#openMs()));
  }

  replace(): boolean {
    const { backoff } = this.plan;
    if (backoff === null) return false;
    if (this.#phase === 'open') {
      // Before the goaway, whose observer may close the peer.
      this.#wait(backoff.spread());
      // This side's ids are used up (S1): the old socket drains without a deadline.
      this.core.openSession?.drain(Infinity, ResetCode.NO_ERROR, '');
    }
    return true;
  }

  lost(session: Session, close: SocketClose): Loss {
    if (session !== this.#session) return this.#lostReplaced(close);
    this.#session = null;
    this.#stability.unsubscribe();
    if (this.#phase === 'dialing' || this.#phase === 'waiting') return this.#lostReplaced(close);
    this.#attempt?.giveUp();
    const facts = { status: null, retryAfterMs: null, announced: session.goawayCode };
    if (this.#phase !== 'greeting') return this.#failed(close, { ...facts, error: null, openMs: this.#openMs() });
    const error = this.#helloError ?? connectError(close, { address: this.#series.address });
    return this.#failed(close, { ...facts, error, openMs: null });
  }

  stop(): void {
    if (this.#phase === 'stopped') return;
    this.#halt();
    const reason = { ...(this.#last ?? NEVER_OPEN), willRetry: false };
    if (this.core.sessions.size === 0 && this.#pendingLosses === 0) this.core.finish(reason, null);
    else if (this.core.openSession === null) this.core.openQueue.failAll({ how: 'lost', reason }, null);
  }

  /** How long the session has taken streams, in ms. */
  #openMs(): number {
    return STEADY_CLOCK.now() - this.#openedAt;
  }

  /** Whether a dial is in vain for want of a network. */
  #offline(): boolean {
    const { address } = this.#series;
    return this.plan.connectivity.offline && (address === null || !isLoopback(address));
  }

  #watchNetwork(): void {
    this.#resumes = this.plan.connectivity.resumes$.subscribe((resume) => {
      this.core.probe();
      // A page that becomes visible does not cut a delay short: the delay protects the server.
      if (resume === 'network') this.dialNow();
    });
  }

  /** The number of the dial under way, or of the next. */
  #nextAttempt(): number {
    return (this.plan.backoff?.failures ?? 0) + 1;
  }

  /** A socket reads in the async context that opens it: in that of `connect()`, whichever call makes it dial. */
  #dial(): void {
    this.#inContext(() => {
      this.#dialHere();
    });
  }

  #dialHere(): void {
    this.#phase = 'dialing';
    this.#stability.unsubscribe();
    const attempt = (this.#attempt = new Attempt(this.#nextAttempt(), this.#sockets, this.#last));
    this.#report();
    if (attempt.givenUp) return;
    const open = (address: string, protocol: string): Transport => {
      this.#series.dials(address);
      return this.plan.open(address, protocol);
    };
    this.#proceed(openTransport({ ...this.plan, open }, subprotocol(this.core.codec), attempt), {
      next: (transport) => {
        if (attempt.givenUp) transport.terminate();
        else this.#adopt(transport, attempt);
      },
      error: (error: unknown) => {
        if (attempt.givenUp) return;
        // One timer turn later, so that an `onClose` registered right after `connect()` hears of a dial that failed synchronously.
        this.#proceed(timer(0), {
          next: () => {
            attempt.giveUp();
            const { close, ...facts } = failedDial(error, 'a connection', this.plan.connectTimeoutMs);
            this.core.ended(this.#failed(close, { ...facts, announced: null, openMs: null }));
          },
        });
      },
    });
  }

  #adopt(transport: Transport, attempt: Attempt): void {
    const { hello, helloTimeoutMs } = this.plan;
    const session = this.core.adopt(transport);
    this.#session = session;
    this.#phase = 'greeting';
    this.#helloError = null;
    if (hello === undefined) {
      this.#opened(session);
      session.start();
      return;
    }
    session.start();
    if (attempt.givenUp) return;
    this.#proceed(exchangeHello(this.core, session, hello, attempt, helloTimeoutMs), {
      complete: () => {
        this.#opened(session);
      },
      error: (error: unknown) => {
        if (this.#session !== session) return;
        this.#helloError = failedDial(error, 'a hello to send', helloTimeoutMs).error;
        session.drain(0, ResetCode.NO_ERROR, '');
      },
    });
  }

  #opened(session: Session): void {
    if (this.#phase !== 'greeting') return;
    const { backoff } = this.plan;
    this.#phase = 'open';
    this.#openedAt = STEADY_CLOCK.now();
    this.#attempt = null;
    this.#series.opened();
    if (backoff !== null) {
      backoff.connected();
      this.#stability = patientTimer(backoff.stableMs, () => {
        backoff.stable();
      });
    }
    this.core.ready(session, this.#sockets++);
  }

  /** Decides what follows a failure. */
  #failed(close: SocketClose, known: Omit<FailureFacts, 'offline'>): Loss {
    const { backoff } = this.plan;
    const facts = { ...known, offline: this.#offline() };
    const isWanted = this.#phase !== 'stopped' && backoff?.failed(close, facts) === true;
    // `shouldRetry` is user code and may have closed the peer.
    const retried = isWanted && this.#phase !== 'stopped' ? backoff : null;
    const reason = (this.#last = { ...close, willRetry: retried !== null });
    this.#phase = retried === null ? 'stopped' : 'waiting';
    if (facts.error !== null) this.#series.failed(close, facts.error, reason.willRetry);
    return this.#loss(reason, () => {
      if (this.#phase === 'stopped') this.#giveUp(reason, facts.error);
      else if (this.#phase === 'waiting' && retried !== null) this.#wait(retried.delay(close.code, facts));
    });
  }

  /** A socket whose replacement is there, or on its way, has ended. */
  #lostReplaced(close: SocketClose): Loss {
    const reason = { ...close, willRetry: this.#phase !== 'stopped' };
    return this.#loss(reason, () => {
      this.#last = reason;
      if (this.#phase === 'stopped') this.#giveUp(reason, null);
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

  /** Dials no more. Sockets that still drain have their time. */
  #giveUp(reason: CloseReason, error: AnyMuxError | null): void {
    this.#halt();
    this.#dialError ??= error;
    if (this.core.sessions.size === 0) this.core.finish({ ...reason, willRetry: false }, this.#dialError);
    else this.core.openQueue.failAll({ how: 'lost', reason }, error);
  }

  #halt(): void {
    this.#phase = 'stopped';
    this.#resumes.unsubscribe();
    this.#stability.unsubscribe();
    this.#step.unsubscribe();
    this.#attempt?.giveUp();
  }

  #wait(delayMs: number): void {
    this.#phase = 'waiting';
    this.#delayMs = delayMs;
    this.#step.unsubscribe();
    this.#report();
    // An observer of the status may have closed the peer, or dialed.
    if (this.#phase !== 'waiting') return;
    this.#proceed(timer(delayMs), {
      next: () => {
        this.#dial();
      },
    });
  }

  /** Starts the next step and cancels the one before: there is at most one. */
  #proceed<T>(source: Observable<T>, observer: Partial<Observer<T>>): void {
    this.#step.unsubscribe();
    const step = (this.#step = new Subscription());
    // A source that emits synchronously may have started the next step already; this one is then closed, and `add` unsubscribes it.
    step.add(source.subscribe(observer));
  }

  #report(): void {
    const last = this.#last;
    const attempt = this.#nextAttempt();
    if (this.#phase === 'dialing' || this.#phase === 'greeting') this.core.report({ state: 'connecting', attempt, last });
    else if (this.#phase === 'waiting' && last !== null)
      this.core.report({ state: 'waiting', attempt, delayMs: this.#delayMs, last, offline: this.#offline() });
  }
}
