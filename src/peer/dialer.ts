import { concatMap, defer, timeout, timer } from 'rxjs';
import type { Observable, Subscription } from 'rxjs';
import type { Session } from '../session/session.js';
import type { Surroundings } from '../transport/surroundings.js';
import type { SocketClose, Transport } from '../transport/transport.js';
import { CloseCode } from '../wire/close-reason.js';
import type { CloseReason } from '../wire/close-reason.js';
import type { AnyMuxError } from '../wire/errors.js';
import { ResetCode } from '../wire/reset-code.js';
import { subprotocol } from '../wire/subprotocol.js';
import type { Backoff } from './backoff.js';
import { connectError } from './connect-error.js';
import { dialFailure, opening } from './dial.js';
import type { DialFailed } from './dial.js';
import { settled } from './guard.js';
import { sayHello } from './hello.js';
import type { DialContext, Hello } from './hello.js';
import type { PeerCore } from './peer-core.js';
import type { SocketSource } from './socket-source.js';

/** An address, or a function that gives it for each dial. */
export type ConnectUrl = string | URL | ((context: DialContext) => string | URL | Promise<string | URL>);

/** How and where to dial. */
export interface DialPlan {
  readonly url: ConnectUrl;
  readonly open: (url: string, protocol: string) => Transport;
  /** `null`: the peer ends with its first socket. */
  readonly backoff: Backoff | null;
  readonly hello: ((context: DialContext) => Hello | Promise<Hello>) | undefined;
  readonly connectTimeoutMs: number;
  readonly helloTimeoutMs: number;
  readonly lazy: boolean;
  readonly surroundings: Surroundings;
}

/**
 * Dials, says hello, and with the reconnect helper dials again: after a loss with full jitter, and already at a goaway, so
 * that the replacement is there while the old socket drains.
 */
export class Dialer implements SocketSource {
  #phase: 'idle' | 'dialing' | 'waiting' | 'open' | 'stopped' = 'idle';
  /** The session made last: the one that takes streams, or is about to. */
  #session: Session | null = null;
  /** Whether that session's hello was answered. */
  #ready = false;
  #sockets = 0;
  #last: CloseReason | null = null;
  /** What a hello failed with, which says more than the close that follows. */
  #helloError: AnyMuxError | null = null;
  #abort = new AbortController();
  /** What goes on between two sockets: a dial, or the wait before it. */
  #next: Subscription | undefined;
  #stability: Subscription | undefined;
  readonly #surroundings: Subscription;
  #afterLoss: (reason: CloseReason) => void = () => undefined;

  constructor(
    private readonly core: PeerCore,
    private readonly plan: DialPlan,
  ) {
    this.#surroundings = plan.surroundings.wakes$.subscribe(() => {
      if (this.#phase === 'waiting') this.dialNow();
      else if (this.#phase === 'open') this.#session?.vigil.probeNow();
    });
  }

  get hopeful(): boolean {
    return this.#phase !== 'stopped' && (this.#phase !== 'open' || this.plan.backoff !== null);
  }

  start(): void {
    if (!this.plan.lazy) this.wake();
  }

  wake(): void {
    if (this.#phase === 'idle') this.#dial();
  }

  dialNow(): void {
    if (this.#phase === 'waiting') this.#dial();
  }

  goneAway(session: Session): void {
    if (session === this.#session && this.#phase === 'open') this.replace();
  }

  replace(): boolean {
    const { backoff } = this.plan;
    if (backoff === null) return false;
    if (this.#phase === 'open') this.#wait(backoff.spread());
    return this.#phase !== 'stopped';
  }

  lost(session: Session, close: SocketClose, announced: ResetCode | null): CloseReason {
    if (session !== this.#session) return this.#lostInReplacement(close);
    this.#session = null;
    this.#stability?.unsubscribe();
    if (this.#ready && (this.#phase === 'dialing' || this.#phase === 'waiting')) return this.#lostInReplacement(close);
    const error = this.#ready ? null : (this.#helloError ?? connectError({ ...close, willRetry: false }, null, false));
    this.#helloError = null;
    return this.#failed({ close, status: null, error }, announced);
  }

  afterLoss(reason: CloseReason): void {
    this.#afterLoss(reason);
  }

  stop(): void {
    if (this.#phase === 'stopped') return;
    this.#phase = 'stopped';
    this.#surroundings.unsubscribe();
    this.#stability?.unsubscribe();
    this.#abort.abort();
    this.#next?.unsubscribe();
    if (this.core.sessions.size === 0)
      this.core.finish({ code: CloseCode.CLEAN, reason: 'closed before it was open', wasClean: false, willRetry: false }, null);
  }

  #dial(): void {
    const { plan } = this;
    this.#phase = 'dialing';
    this.#abort = new AbortController();
    const context: DialContext = {
      attempt: (plan.backoff?.failures ?? 0) + 1,
      reconnects: Math.max(0, this.#sockets - 1),
      last: this.#last,
      signal: this.#abort.signal,
    };
    this.core.report({ state: 'connecting', attempt: context.attempt, last: this.#last });
    const protocol = subprotocol(this.core.codec);
    const url$ = defer(() => settled(typeof plan.url === 'function' ? plan.url(context) : plan.url));
    const transport$ = url$.pipe(concatMap((url) => opening(plan.open(String(url), protocol), protocol)));
    this.#next?.unsubscribe();
    this.#next = limited(transport$, plan.connectTimeoutMs).subscribe({
      next: (transport) => {
        this.#adopt(transport, context);
      },
      error: (error: unknown) => {
        const failure = dialFailure(error, plan.connectTimeoutMs);
        const reason = this.#failed(failure, null);
        this.core.dialFailed(reason);
        this.#afterLoss(reason);
      },
    });
  }

  #adopt(transport: Transport, context: DialContext): void {
    const { hello } = this.plan;
    const session = this.core.adopt(transport);
    this.#session = session;
    this.#ready = false;
    if (hello === undefined) {
      this.#opened(session);
      session.start();
      return;
    }
    const refused = (error: unknown): void => {
      if (this.#session !== session || this.#helloError !== null) return;
      this.#helloError = dialFailure(error, this.plan.helloTimeoutMs).error;
      session.closing.drain(0, ResetCode.NO_ERROR, '');
    };
    session.start();
    this.#next = defer(() => settled(hello(context))).subscribe({
      next: (greeting) => {
        try {
          sayHello(
            this.core,
            session,
            greeting,
            this.plan.helloTimeoutMs,
            () => {
              this.#opened(session);
            },
            refused,
          );
        } catch (error) {
          refused(error);
        }
      },
      error: refused,
    });
  }

  #opened(session: Session): void {
    if (this.#session !== session || this.#phase === 'stopped') return;
    const { backoff } = this.plan;
    this.#phase = 'open';
    this.#ready = true;
    this.#sockets++;
    backoff?.connected();
    if (backoff !== null)
      this.#stability = timer(backoff.stableMs).subscribe(() => {
        backoff.stable();
      });
    this.core.ready(session, this.#sockets - 1);
  }

  /** Decides what follows a failure; gives the reason that everybody is told. */
  #failed(
    { close, status, error }: Omit<DialFailed, 'error'> & { readonly error: AnyMuxError | null },
    announced: ResetCode | null,
  ): CloseReason {
    const { backoff } = this.plan;
    const willRetry = this.#phase !== 'stopped' && backoff !== null && backoff.failed(close, { status, error, announced });
    const reason = { ...close, willRetry };
    this.#last = reason;
    if (willRetry) this.#phase = 'waiting';
    this.#afterLoss = () => {
      if (willRetry && this.#phase === 'waiting') this.#wait(backoff.delay(close.code, announced));
      else this.#giveUp(reason, error);
    };
    return reason;
  }

  /** A socket whose replacement is there, or on its way, has ended. */
  #lostInReplacement(close: SocketClose): CloseReason {
    const reason = { ...close, willRetry: this.#phase !== 'stopped' };
    this.#afterLoss = () => {
      if (this.#phase === 'stopped') this.#giveUp(reason, null);
      else if (this.#phase === 'dialing')
        this.core.report({ state: 'connecting', attempt: (this.plan.backoff?.failures ?? 0) + 1, last: reason });
    };
    return reason;
  }

  #giveUp(reason: CloseReason, error: AnyMuxError | null): void {
    if (this.core.sessions.size > 0) return;
    this.#phase = 'stopped';
    this.#surroundings.unsubscribe();
    this.core.finish({ ...reason, willRetry: false }, error);
  }

  #wait(delayMs: number): void {
    this.#phase = 'waiting';
    const { offline } = this.plan.surroundings;
    const attempt = (this.plan.backoff?.failures ?? 0) + 1;
    if (this.#last !== null) this.core.report({ state: 'waiting', attempt, delayMs, last: this.#last, offline });
    this.#next?.unsubscribe();
    // Without a network there is nothing to dial: the wake-up does it, and no attempt is spent.
    if (!offline)
      this.#next = timer(delayMs).subscribe(() => {
        this.#dial();
      });
  }
}

function limited<T>(source: Observable<T>, ms: number): Observable<T> {
  return ms > 0 && ms !== Infinity ? source.pipe(timeout({ first: ms })) : source;
}
