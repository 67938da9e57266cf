import { Observable, Subscription, asyncScheduler } from 'rxjs';
import type { Connection } from '../../connection/connection.js';
import { CLOSING_MS } from '../../connection/watchdog.js';
import { messageOf } from '../../stream/end.js';
import type { Connectivity } from '../../transport/connectivity.js';
import { abnormalClose } from '../../transport/transport.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import { isThenable } from '../../util/check.js';
import { LONGEST_TIMER_MS, steadyNow } from '../../util/time.js';
import { subprotocol } from '../../wire/codec.js';
import { CloseCode, ResetCode } from '../../wire/codes.js';
import type { CloseReason } from '../../wire/codes.js';
import { CodecMismatch, ConnectError, isMuxError } from '../../wire/errors.js';
import type { AnyMuxError } from '../../wire/errors.js';
import { shownAddress } from './address.js';
import type { PeerCore } from '../core.js';
import type { Hello, MakeHello } from '../hello.js';
import type { Backoff } from './backoff.js';
import type { DialSeries } from './dialer.js';

/**
 * Closes a socket that speaks another subprotocol (V7). Like any closing socket, it is terminated when nothing has moved for 2 s (C8).
 * Acts on subscription, and completes when the socket has ended.
 */
export function closeMismatched(transport: Transport, mismatch: CodecMismatch): Observable<never> {
  return new Observable((subscriber) => {
    const ended = (): void => {
      subscriber.complete();
    };
    let timer = Subscription.EMPTY;
    const wait = (): void => {
      timer.unsubscribe();
      timer = asyncScheduler.schedule(() => {
        transport.terminate('closing made no progress');
        ended();
      }, CLOSING_MS);
    };
    subscriber.add(() => {
      timer.unsubscribe();
    });
    transport.close(CloseCode.POLICY, mismatch.message);
    // A socket without a reader never sees the other side's close frame.
    subscriber.add(transport.messages$.subscribe({ next: wait, complete: ended }));
    if (!subscriber.closed) wait();
  });
}

const SUSPECTS =
  "; this platform does not say why: check the address, that both ends use the same codec, that the server allows this origin, and the proxies between; in Node import connect from 'rxmux/node', which says why";
/** The text of Node 22 for every failed dial. */
const SAYS_NOTHING = /non-101/;
const NO_UPGRADE = '; a proxy on the way may not pass upgrades: it has to forward the headers Upgrade and Connection';
const HTTP_UPGRADE_REQUIRED = 426;

/** Facts about a failed dial. */
export interface ConnectFacts {
  readonly address?: string | null;
  /** HTTP status of a refused handshake. */
  readonly status?: number | null;
  /** Whether the platform hides why the dial failed. */
  readonly opaque?: boolean;
  /** See {@link Transport.hint}. */
  readonly hint?: string | undefined;
  /** The error that the platform reported. */
  readonly cause?: unknown;
}

/** Returns the error of a failed dial, as precise as the platform allows. */
export function connectError(
  close: SocketClose,
  { address = null, status = null, opaque = false, hint = '', cause }: ConnectFacts = {},
): ConnectError {
  const reason = { ...close, willRetry: false };
  // Without an address, only a server has a status: its own.
  const where = address === null ? 'this server' : shownAddress(address);
  if (status !== null) {
    const suspect = status === HTTP_UPGRADE_REQUIRED ? NO_UPGRADE : hint;
    return new ConnectError(`expected ${where} to accept the handshake, got HTTP ${status}${suspect}`, { status, reason });
  }
  const said = close.reason && ` ${close.reason}`;
  const suspects = opaque && (!said || SAYS_NOTHING.test(said)) ? SUSPECTS : hint;
  return new ConnectError(`the connection${address === null ? '' : ` to ${where}`} could not be opened (${close.code}${said})${suspects}`, {
    reason,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Why a dial failed. */
export interface FailedDial {
  readonly close: SocketClose;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly status: number | null;
  /** `Retry-After` of a refused handshake, in ms, if the platform shows it. */
  readonly retryAfterMs: number | null;
  readonly error: AnyMuxError;
}

/** A step of a dial has taken too long. */
export class NotInTime extends Error {
  override readonly name = 'TimeoutError';

  constructor(what: string, ms: number, cause = '') {
    super(`expected ${what} within ${ms} ms, got none${cause && `: ${cause}`}`);
  }
}

/** Converts an error of a dial or of its hello into the failure that the peer reports. */
export function failedWith(error: unknown): FailedDial {
  const close = abnormalClose(messageOf(error));
  return {
    close,
    status: null,
    retryAfterMs: null,
    error: isMuxError(error) ? error : new ConnectError(close.reason, { reason: { ...close, willRetry: false }, cause: error }),
  };
}

/** Returns the failure of a socket that has opened or has failed to open, or `null` if the socket is usable. */
export function failureOf(transport: Transport, protocol: string, address: string): FailedDial | null {
  const { closed, refusedStatus, opaque, hint, failure, retryAfterMs = null } = transport;
  const selected = closed === null ? transport.protocol : (transport.answeredProtocol ?? null);
  if (closed === null && selected === protocol) return null;
  if (closed !== null && (selected === null || selected === protocol))
    return {
      close: closed,
      status: refusedStatus,
      retryAfterMs,
      error: connectError(closed, { address, status: refusedStatus, opaque, hint, cause: failure }),
    };
  const error = new CodecMismatch(protocol, selected ?? '');
  return { close: { code: CloseCode.POLICY, reason: error.message, wasClean: false }, status: refusedStatus, retryAfterMs, error };
}

/** The dialer of a dial, which receives its reports. */
export interface DialHost {
  readonly series: Pick<DialSeries, 'address' | 'dials'>;
  /** The socket is open. Its connection does not read yet. */
  connected(connection: Connection): void;
  /** The connection accepts streams: the server has answered the hello, or there is no hello. */
  opened(connection: Connection): void;
  /** The dial has failed to open a socket. A hello that fails ends its connection instead. */
  failed(dial: FailedDial): void;
}

/** One dial, up to the answer to its hello. */
export class Dial {
  /** The socket that is not open yet. */
  #opening: Transport | null = null;
  /** The connection of the open socket; `null` before. */
  #connection: Connection | null = null;
  #helloError: AnyMuxError | null = null;
  /** Everything that the dial holds. The end of the dial releases it. */
  readonly #life = new Subscription();
  /** The current step: the address and its socket, the hello, or the turn before a failure is reported. */
  #step = Subscription.EMPTY;
  readonly #context: DialContext;

  constructor(
    private readonly core: PeerCore,
    private readonly plan: DialPlan,
    history: Omit<DialContext, 'signal'>,
    private readonly host: DialHost,
  ) {
    this.#context = contextOf(history, this.#life);
  }

  get closed(): boolean {
    return this.#life.closed;
  }

  close(): void {
    this.#life.unsubscribe();
  }

  /** The error of a dial whose socket has ended. The error of its hello says more than the close. */
  errorAfter(close: SocketClose): AnyMuxError {
    return this.#helloError ?? connectError(close, { address: this.host.series.address });
  }

  start(): void {
    const { url, connectTimeoutMs } = this.plan;
    this.#begin(connectTimeoutMs, 'a connection');
    this.#ask(typeof url === 'function' ? url : () => url, (address) => {
      this.#open(String(address));
    });
  }

  /** Opens a socket, which the end of the step abandons. */
  #open(address: string): void {
    const step = this.#step;
    const protocol = subprotocol(this.core.codec);
    this.host.series.dials(address);
    const transport = (this.#opening = this.plan.open(address, protocol));
    const sessionOf = this.#prepareSession(transport);
    step.add(() => {
      if (this.#opening === transport) transport.terminate('the dial was given up');
    });
    step.add(
      transport.opened$.subscribe({
        complete: () => {
          if (step.closed) return;
          this.#opening = null;
          step.unsubscribe();
          const failure = failureOf(transport, protocol, address);
          if (failure === null) this.#connected(sessionOf());
          else this.#refused(transport, failure);
        },
      }),
    );
  }

  /**
   * Makes the connection of a connecting socket while its handshake is under way, so that the first request need not wait for it. That is
   * two turns later, when the request for the upgrade has left. Returns the connection, made now if it is not made yet.
   */
  #prepareSession(transport: Transport): () => Connection {
    const step = this.#step;
    let connection: Connection | null = null;
    const sessionOf = (): Connection => (connection ??= this.core.connectionOver(transport));
    transport.turn(() => {
      transport.turn(() => {
        if (!step.closed) sessionOf();
      });
    });
    return sessionOf;
  }

  #refused(transport: Transport, failure: FailedDial): void {
    if (failure.error instanceof CodecMismatch) closeMismatched(transport, failure.error).subscribe();
    this.#fail(failure);
  }

  #connected(connection: Connection): void {
    const { greeting } = this.plan;
    this.#connection = connection;
    this.host.connected(connection);
    if (greeting === null) this.host.opened(connection);
    connection.start();
    if (greeting !== null && !this.closed) this.#greet(connection, greeting);
  }

  #greet(connection: Connection, greeting: Greeting): void {
    const { timeoutMs } = greeting;
    const begunAt = steadyNow();
    this.#begin(timeoutMs, 'a hello to send');
    this.#ask(greeting.make, (hello) => {
      // At least 1, because 0 means no limit.
      const restMs = timeoutMs === 0 ? 0 : Math.max(1, begunAt + timeoutMs - steadyNow());
      this.#begin();
      this.#step.add(
        greeting.send(this.core, connection, hello, restMs).subscribe({
          complete: () => {
            this.host.opened(connection);
          },
          error: this.#failWith,
        }),
      );
    });
  }

  /** Begins the next step. It fails if it lasts for `ms`; 0, and times that no timer can count, set no limit. */
  #begin(ms = 0, what = ''): void {
    this.#step.unsubscribe();
    this.#step = new Subscription();
    this.#life.add(this.#step);
    if (ms <= 0 || ms > LONGEST_TIMER_MS) return;
    this.#step.add(
      asyncScheduler.schedule(() => {
        this.#failWith(new NotInTime(what, ms, this.#opening?.awaits));
      }, ms),
    );
  }

  /** Calls a function of the user's, and continues with its result. The step fails if the function, or what continues, throws. */
  #ask<T>(make: (context: DialContext) => T | PromiseLike<T>, next: (value: T) => void): void {
    const step = this.#step;
    const made = (value: T): void => {
      if (!step.closed) next(value);
    };
    const failed = (error: unknown): void => {
      if (!step.closed) this.#failWith(error);
    };
    try {
      const result = make(this.#context);
      // A plain value continues at once, so that virtual time stays virtual.
      if (isThenable(result)) void Promise.resolve(result).then(made).catch(failed);
      else made(result);
    } catch (error) {
      failed(error);
    }
  }

  readonly #failWith = (error: unknown): void => {
    this.#fail(failedWith(error));
  };

  #fail(failure: FailedDial): void {
    if (this.closed) return;
    this.#begin();
    if (this.#connection !== null) {
      this.#helloError = failure.error;
      this.#connection.drain(0, ResetCode.NO_ERROR, '');
      return;
    }
    // Report one timer turn later, so that an `onClose` registered right after `connect()` receives a synchronous failure.
    this.#step.add(
      asyncScheduler.schedule(() => {
        this.close();
        this.host.failed(failure);
      }),
    );
  }
}

function contextOf(history: Omit<DialContext, 'signal'>, life: Subscription): DialContext {
  let controller: AbortController | null = null;
  return {
    ...history,
    // Create the controller only on demand: few callers use the signal, and an abort costs more than the rest of a dial's end.
    get signal() {
      if (controller === null) {
        const made = (controller = new AbortController());
        life.add(() => {
          made.abort();
        });
      }
      return controller.signal;
    },
  };
}

/** A dial, and the history of the dials before it. */
export interface DialContext {
  /** 1, 2, … since the last stable socket. */
  readonly attempt: number;
  /** The number of sockets that were open before this dial. */
  readonly reconnects: number;
  /** Why the last socket ended, or the last dial failed. */
  readonly last: CloseReason | null;
  /** Aborts when the peer abandons this dial. */
  readonly signal: AbortSignal;
}

/** The first stream of every socket. */
export interface Greeting {
  readonly make: MakeHello;
  /** How long the hello and its reply may take together, in ms; 0 is no limit. */
  readonly timeoutMs: number;
  /** Sends the hello on a new connection, and completes when it was answered. */
  send(core: PeerCore, connection: Connection, hello: Hello, timeoutMs: number): Observable<never>;
}

/** An address, or a function that returns the address for each dial. */
export type ConnectUrl = string | URL | ((context: DialContext) => string | URL | Promise<string | URL>);

/** How and where to dial. */
export interface DialPlan {
  readonly url: ConnectUrl;
  readonly open: (url: string, protocol: string) => Transport;
  /** `null` if the peer closes when its first socket ends. */
  readonly backoff: Backoff | null;
  /** `null` if calls are sent as soon as a socket is open. */
  readonly greeting: Greeting | null;
  readonly connectTimeoutMs: number;
  readonly lazy: boolean;
  /** How long a socket without an open stream stays, in ms; 0 is for ever. */
  readonly idleCloseMs: number;
  readonly connectivity: Connectivity;
}
