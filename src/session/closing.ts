import { asyncScheduler, timer } from 'rxjs';
import type { Subscription } from 'rxjs';
import { CloseCode } from '../wire/close-reason.js';
import type { ConnectionFault } from '../wire/fault.js';
import { ResetCode } from '../wire/reset-code.js';
import { LONGEST_TIMER_MS } from './patient-timer.js';
import type { Session } from './session.js';

/** How long a remote that goes away with an error is left to close the socket itself, in ms. */
const ERROR_GOAWAY_MS = 1_000;

/**
 * The end of a connection from this side. In order: goaway; what was accepted is written out; live streams get until the
 * deadline; what is left is reset; the WebSocket closes. Each step follows from an event, none waits on a promise.
 */
export class Closing {
  #phase: 'open' | 'draining' | 'final' = 'open';
  #deadline = Infinity;
  #timer: Subscription | undefined;

  constructor(private readonly session: Session) {}

  /** Begins to close, or shortens the drain that is under way. */
  drain(drainMs: number, code: ResetCode, reason: string): void {
    const { session } = this;
    if (this.#phase === 'final') return;
    if (this.#phase === 'open') {
      this.#phase = 'draining';
      session.reading.stop();
      session.send(session.connection.farewell(code, reason));
    }
    const deadline = asyncScheduler.now() + drainMs;
    if (deadline < this.#deadline) this.#armDeadline(deadline, drainMs, reason);
    if (session.streams.size === 0) this.#finish(reason);
  }

  /** A stream has left the connection; behind the last one a draining socket closes. */
  streamLeft(): void {
    if (this.#phase === 'draining' && this.session.streams.size === 0) this.#finish('');
  }

  /** The connection cannot go on: what is queued is dropped, the remote is told why, and the socket closes. */
  fail(fault: ConnectionFault): void {
    const { session } = this;
    this.stop();
    this.#phase = 'final';
    session.reading.stop();
    session.scheduler.finish(session.connection.farewell(fault.resetCode, fault.message));
    this.#closeSocket(fault.closeCode, fault.message);
  }

  /** The remote goes away with an error: it gets a second to close the socket itself. */
  hurry(): void {
    this.stop();
    this.#timer = timer(ERROR_GOAWAY_MS).subscribe(() => {
      this.#closeSocket(CloseCode.CLEAN, '');
    });
  }

  stop(): void {
    this.#timer?.unsubscribe();
  }

  #armDeadline(deadline: number, drainMs: number, reason: string): void {
    this.#deadline = deadline;
    this.stop();
    if (drainMs <= 0) this.#finish(reason);
    else if (drainMs <= LONGEST_TIMER_MS)
      this.#timer = timer(drainMs).subscribe(() => {
        this.#finish(reason);
      });
  }

  #finish(reason: string): void {
    if (this.#phase === 'final') return;
    const { session } = this;
    this.#phase = 'final';
    this.stop();
    for (const stream of session.streams.all()) stream.seal();
    session.vigil.closing();
    session.scheduler.whenFlushed(() => {
      for (const stream of session.streams.all()) stream.reset('library', ResetCode.CANCEL, 'the connection is closing');
      session.scheduler.whenFlushed(() => {
        session.transport.close(CloseCode.CLEAN, reason);
      });
    });
  }

  #closeSocket(code: number, reason: string): void {
    this.session.transport.close(code, reason);
    this.session.vigil.closing();
  }
}
