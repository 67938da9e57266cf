import { Observable } from 'rxjs';
import { then } from '../../rx/then.js';
import { abnormalClose } from '../../transport/transport.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import { isMuxError } from '../../wire/any-error.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { CodecMismatch, ConnectError } from '../../wire/errors.js';
import type { Attempt } from './attempt.js';
import { callPerDial, NotInTime, withTimeout } from './call-per-dial.js';
import { connectError } from './connect-error.js';
import { messageOf } from '../base/error-serializer.js';
import type { DialPlan } from './dial-plan.js';
import { closeMismatched } from './close-mismatched.js';

/** Why a dial failed. */
export interface FailedDial {
  readonly close: SocketClose;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly status: number | null;
  /** `Retry-After` of a refused handshake, in ms, if the platform shows it. */
  readonly retryAfterMs: number | null;
  readonly error: AnyMuxError;
}

/** Carries a failed dial through an Observable. */
class DialError extends Error {
  constructor(readonly failure: FailedDial) {
    super(failure.error.message);
  }
}

const HTTP_BAD_REQUEST = 400;

/**
 * Emits the transport once it is open and has selected the protocol. Errors if that takes longer than `connectTimeoutMs`. Unsubscribing
 * abandons the dial.
 */
export function openTransport({ url, open, connectTimeoutMs }: DialPlan, protocol: string, attempt: Attempt): Observable<Transport> {
  const openingAt = (given: string | URL): Observable<Transport> => {
    const address = String(given);
    return opening(() => open(address, protocol), protocol, address);
  };
  const transport$ = typeof url === 'function' ? then(callPerDial(url, attempt), openingAt) : openingAt(url);
  return withTimeout(transport$, connectTimeoutMs);
}

/** Converts an error of a dial or of its hello into the failure that the peer reports. */
export function failedDial(error: unknown, what: string, timeoutMs: number): FailedDial {
  if (error instanceof DialError) return error.failure;
  const reason = error instanceof NotInTime ? `expected ${what} within ${timeoutMs} ms, got none` : messageOf(error);
  const close = abnormalClose(reason);
  if (isMuxError(error)) return { close, status: null, retryAfterMs: null, error };
  return {
    close,
    status: null,
    retryAfterMs: null,
    error: new ConnectError(reason, { reason: { ...close, willRetry: false }, cause: error }),
  };
}

function opening(open: () => Transport, protocol: string, address: string): Observable<Transport> {
  return new Observable((subscriber) => {
    const transport = open();
    let decided = false;
    subscriber.add(() => {
      if (!decided) transport.terminate('the dial was given up');
    });
    subscriber.add(
      transport.opened$.subscribe({
        complete() {
          decided = true;
          const failure = failureOf(transport, protocol, address);
          if (failure === null) {
            subscriber.next(transport);
            subscriber.complete();
            return;
          }
          closeIfMismatched(transport, failure);
          subscriber.error(new DialError(failure));
        },
      }),
    );
  });
}

/** Returns the failure of a socket that has opened or has failed to open, or `null` if the socket is usable. */
function failureOf(transport: Transport, protocol: string, address: string): FailedDial | null {
  const { closed, refusedStatus, opaque, failure, retryAfterMs = null } = transport;
  const selected = closed === null ? transport.protocol : (transport.answeredProtocol ?? null);
  if (closed === null && selected === protocol) return null;
  if (refusedStatus !== HTTP_BAD_REQUEST && closed !== null && (selected === null || selected === protocol))
    return {
      close: closed,
      status: refusedStatus,
      retryAfterMs,
      error: connectError(closed, { address, status: refusedStatus, opaque, cause: failure }),
    };
  const error = new CodecMismatch(protocol, selected ?? '');
  return { close: { code: CloseCode.POLICY, reason: error.message, wasClean: false }, status: refusedStatus, retryAfterMs, error };
}

/** Closes the socket of a failed dial if it has another subprotocol (V7). */
function closeIfMismatched(transport: Transport, { error }: FailedDial): void {
  if (error instanceof CodecMismatch) closeMismatched(transport, error).subscribe();
}
