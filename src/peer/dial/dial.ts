import { Subscription, timer } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import type { Session } from '../../session/session.js';
import type { Transport } from '../../transport/transport.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { ResetCode } from '../../wire/reset-code.js';
import { subprotocol } from '../../wire/subprotocol.js';
import type { PeerCore } from '../core/peer-core.js';
import type { Attempt } from './attempt.js';
import { failedDial, openTransport } from './failed-dial.js';
import type { FailedDial } from './failed-dial.js';
import type { DialPlan } from './dial-plan.js';

/** Receives the reports of a dial. */
export interface DialReports {
  /** The dial begins to open a socket to `address`. */
  dials(address: string): void;
  /** The socket is open. Returns its session, which does not read yet. */
  connected(transport: Transport): Session;
  /** The session accepts streams: the server has answered the hello, or there is no hello. */
  opened(session: Session): void;
  /** The dial has failed to open a socket. A hello that fails ends its session instead. */
  failed(dial: FailedDial): void;
}

/** One dial, up to the answer to its hello. */
export class Dialing {
  #helloError: AnyMuxError | null = null;
  /** The current step: the dial, its hello, or the turn before its failure is reported. */
  #step = Subscription.EMPTY;

  constructor(
    private readonly core: PeerCore,
    private readonly plan: DialPlan,
    private readonly attempt: Attempt,
    private readonly reports: DialReports,
  ) {}

  /** The error of the hello, which says more than the close after it. */
  get helloError(): AnyMuxError | null {
    return this.#helloError;
  }

  start(): void {
    const { core, plan, attempt, reports } = this;
    const open = (address: string, protocol: string): Transport => {
      reports.dials(address);
      return plan.open(address, protocol);
    };
    this.#proceed(openTransport({ ...plan, open }, subprotocol(core.codec), attempt), {
      next: (transport) => {
        if (attempt.givenUp) transport.terminate();
        else this.#greet(reports.connected(transport));
      },
      error: (error: unknown) => {
        if (attempt.givenUp) return;
        // Report one timer turn later, so that an `onClose` registered right after `connect()` receives a synchronous failure.
        this.#proceed(timer(0), {
          next: () => {
            attempt.giveUp();
            reports.failed(failedDial(error, 'a connection', plan.connectTimeoutMs));
          },
        });
      },
    });
  }

  giveUp(): void {
    this.#step.unsubscribe();
    this.attempt.giveUp();
  }

  #greet(session: Session): void {
    const { core, attempt, reports } = this;
    const { greeting } = this.plan;
    if (greeting === null) {
      reports.opened(session);
      session.start();
      return;
    }
    session.start();
    if (attempt.givenUp) return;
    this.#proceed(greeting.exchange(core, session, attempt), {
      complete: () => {
        reports.opened(session);
      },
      error: (error: unknown) => {
        if (attempt.givenUp) return;
        this.#helloError = failedDial(error, 'a hello to send', greeting.timeoutMs).error;
        session.drain(0, ResetCode.NO_ERROR, '');
      },
    });
  }

  /** Starts the next step, and cancels the previous one. */
  #proceed<T>(source: Observable<T>, observer: Partial<Observer<T>>): void {
    this.#step.unsubscribe();
    const step = (this.#step = new Subscription());
    // A source that emits synchronously may have started the next step already. Then `step` is closed, and `add` unsubscribes.
    step.add(source.subscribe(observer));
  }
}
