import { Subscription, asyncScheduler } from 'rxjs';
import { log } from '../logger.js';
import { LONGEST_TIMER_MS, steadyNow } from '../util/time.js';
import { CloseCode, ResetCode } from '../wire/codes.js';
import { ConnectionFault } from '../wire/errors.js';
import type { Connection } from './connection.js';

/** The time in ms that a remote has to close the socket itself, once it goes away with an error. */
const ERROR_GOAWAY_MS = 1_000;

/**
 * Ends a connection from this side, in five steps. It sends goaway, and writes out the accepted frames. Live streams may go on until the
 * deadline. Then it resets the remaining streams, and closes the WebSocket. Each step follows from an event; no step awaits a promise.
 */
export class Closing {
  #deadline = Infinity;
  #timer = Subscription.EMPTY;
  /** Text of the goaway and of the close frame. */
  #reason = '';

  constructor(private readonly connection: Connection) {}

  /** Begins to close, or shortens the current drain. */
  drain(drainMs: number, code: ResetCode, reason: string): void {
    const { connection } = this;
    if (connection.phase === 'open') {
      connection.phase = 'draining';
      this.#reason = reason;
      connection.budget.resume();
      connection.outbound.addAhead(connection.control.announceGoaway(code, reason));
      this.#refuseUndispatched();
    }
    if (connection.phase !== 'draining') return;
    this.#within(connection.streams.size === 0 ? 0 : drainMs, () => {
      this.finish();
    });
  }

  /** Fails the connection: sends nothing more but a goaway that names the fault, and closes the socket. */
  fail(error: unknown): void {
    const { connection } = this;
    const fault = faultOf(error);
    if (connection.phase === 'closed') return;
    // Announced first, so that no stream opens while the rest is undone.
    connection.control.goaway.announce();
    this.#stopReceiving();
    connection.outbound.stop(connection.control.announceGoaway(fault.resetCode, fault.message));
    connection.transport.close(fault.closeCode, fault.message);
  }

  /** The remote goes away with an error, and has one second to close the socket itself. */
  expectRemoteClose(): void {
    this.#within(ERROR_GOAWAY_MS, () => {
      this.#stopReceiving();
      this.connection.outbound.stop(null);
      this.connection.transport.close(CloseCode.CLEAN, '');
    });
  }

  /** The remote has not confirmed in time that it read everything. Returns whether the closing handshake waited for that, and begins now. */
  arrivalMissed(): boolean {
    const isAwaited = this.connection.phase === 'arriving';
    this.#shut();
    return isAwaited;
  }

  /** Stops, because the connection has failed or its socket has ended. */
  stop(): void {
    this.#timer.unsubscribe();
    this.connection.phase = 'closed';
  }

  /** Refuses the remote's streams above the announced `last_stream`. No handler runs for them, so the remote may open them elsewhere. */
  #refuseUndispatched(): void {
    const { streams, control } = this.connection;
    for (const stream of streams.values())
      if (!stream.local && control.goaway.refuses(Number(stream.id))) stream.reset('library', ResetCode.REFUSED, 'this side is going away');
  }

  /** Calls `act` in `ms`, unless an earlier deadline exists. */
  #within(ms: number, act: () => void): void {
    const deadline = steadyNow() + ms;
    if (deadline >= this.#deadline) return;
    this.#deadline = deadline;
    this.#timer.unsubscribe();
    if (ms <= 0) act();
    else if (ms <= LONGEST_TIMER_MS) this.#timer = asyncScheduler.schedule(act, ms);
  }

  /** Writes out the accepted frames, resets the remaining streams, and closes the WebSocket once the remote has read everything. */
  finish(): void {
    const { connection } = this;
    connection.phase = 'flushing';
    this.#timer.unsubscribe();
    for (const stream of connection.streams.values()) stream.advance('seal');
    connection.budget.stop();
    connection.watchdog.watchClosing();
    connection.outbound.whenFlushed(() => {
      for (const stream of connection.streams.values()) stream.reset('library', ResetCode.CANCEL, 'the connection is closing');
      connection.outbound.whenFlushed(() => {
        connection.phase = 'arriving';
        connection.transit.whenArrived(() => {
          this.#shut();
        });
      });
    });
  }

  // The closing handshake comes last: `ws` allows it 30 s and a browser one minute, however many bytes are on their way.
  #shut(): void {
    if (this.connection.phase !== 'arriving') return;
    this.connection.phase = 'shutting';
    this.connection.transport.close(CloseCode.CLEAN, this.#reason);
  }

  #stopReceiving(): void {
    this.stop();
    this.connection.budget.stop();
    this.connection.watchdog.watchClosing();
  }
}

/** Returns the fault that ends a connection. Logs any other error, because it is a mistake of this side. */
function faultOf(error: unknown): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  log('error', 'internal error, the connection is closed', error);
  return new ConnectionFault('internal error', ResetCode.INTERNAL_ERROR, CloseCode.INTERNAL, { cause: error });
}
