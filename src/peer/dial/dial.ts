import { Subscription, asyncScheduler } from 'rxjs';
import type { Session } from '../../connection/connection.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import { steadyNow } from '../../util/time.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { ResetCode } from '../../wire/codes.js';
import { CodecMismatch } from '../../wire/errors.js';
import { LONGEST_TIMER_MS } from '../../wire/longest-timer.js';
import { subprotocol } from '../../wire/subprotocol.js';
import { isThenable } from '../base/guard.js';
import type { PeerCore } from '../core.js';
import { closeMismatched } from './close-mismatched.js';
import { connectError } from './connect-error.js';
import type { DialContext, DialPlan, Greeting } from './dial-plan.js';
import type { DialSeries } from './dial-series.js';
import { NotInTime, failedWith, failureOf } from './failed-dial.js';
import type { FailedDial } from './failed-dial.js';

/** The dialer of a dial, which receives its reports. */
export interface DialHost {
  readonly series: Pick<DialSeries, 'address' | 'dials'>;
  /** The socket is open. Its session does not read yet. */
  connected(session: Session): void;
  /** The session accepts streams: the server has answered the hello, or there is no hello. */
  opened(session: Session): void;
  /** The dial has failed to open a socket. A hello that fails ends its session instead. */
  failed(dial: FailedDial): void;
}

/** One dial, up to the answer to its hello. */
export class Dial {
  /** The socket that is not open yet. */
  #opening: Transport | null = null;
  /** The session of the open socket; `null` before. */
  #session: Session | null = null;
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
   * Makes the session of a connecting socket while its handshake is under way, so that the first request need not wait for it. That is
   * two turns later, when the request for the upgrade has left. Returns the session, made now if it is not made yet.
   */
  #prepareSession(transport: Transport): () => Session {
    const step = this.#step;
    let session: Session | null = null;
    const sessionOf = (): Session => (session ??= this.core.sessionOver(transport));
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

  #connected(session: Session): void {
    const { greeting } = this.plan;
    this.#session = session;
    this.host.connected(session);
    if (greeting === null) this.host.opened(session);
    session.start();
    if (greeting !== null && !this.closed) this.#greet(session, greeting);
  }

  #greet(session: Session, greeting: Greeting): void {
    const { timeoutMs } = greeting;
    const begunAt = steadyNow();
    this.#begin(timeoutMs, 'a hello to send');
    this.#ask(greeting.make, (hello) => {
      // At least 1, because 0 means no limit.
      const restMs = timeoutMs === 0 ? 0 : Math.max(1, begunAt + timeoutMs - steadyNow());
      this.#begin();
      this.#step.add(
        greeting.send(this.core, session, hello, restMs).subscribe({
          complete: () => {
            this.host.opened(session);
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
    if (this.#session !== null) {
      this.#helloError = failure.error;
      this.#session.drain(0, ResetCode.NO_ERROR, '');
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
