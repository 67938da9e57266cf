import { Subscription, timer } from 'rxjs';
import type { Observable, Observer } from 'rxjs';
import type { Session } from '../../session/session.js';
import type { Transport } from '../../transport/transport.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { ResetCode } from '../../wire/reset-code.js';
import { subprotocol } from '../../wire/subprotocol.js';
import type { PeerCore } from '../core/peer-core.js';
import type { Attempt } from './attempt.js';
import { failedDial, openTransport } from './dial.js';
import type { FailedDial } from './dial.js';
import type { DialPlan } from './dial-plan.js';
import { exchangeHello } from './hello.js';

/** Whom a dial reports to. */
export interface DialReports {
  /** An address is dialed. */
  dials(address: string): void;
  /** The socket is open. Returns its session, which does not read yet. */
  connected(transport: Transport): Session;
  /** The session takes streams: the server has answered the hello, or there is none. */
  opened(session: Session): void;
  /** No socket has opened. A hello that fails ends its session, and is not reported here. */
  failed(dial: FailedDial): void;
}

/** One dial, up to the answer to its hello. */
export class Dialing {
  #helloError: AnyMuxError | null = null;
  /** The dial, its hello, or the turn before its failure is reported. */
  #step = Subscription.EMPTY;

  constructor(
    private readonly core: PeerCore,
    private readonly plan: DialPlan,
    private readonly attempt: Attempt,
    private readonly reports: DialReports,
  ) {}

  /** What the hello failed with, which says more than the close after it. */
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
        // One timer turn later, so that an `onClose` registered right after `connect()` hears of a dial that failed synchronously.
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
    const { hello, helloTimeoutMs } = this.plan;
    if (hello === undefined) {
      reports.opened(session);
      session.start();
      return;
    }
    session.start();
    if (attempt.givenUp) return;
    this.#proceed(exchangeHello(core, session, hello, attempt, helloTimeoutMs), {
      complete: () => {
        reports.opened(session);
      },
      error: (error: unknown) => {
        if (attempt.givenUp) return;
        this.#helloError = failedDial(error, 'a hello to send', helloTimeoutMs).error;
        session.drain(0, ResetCode.NO_ERROR, '');
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
}
