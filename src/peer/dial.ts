import { Observable, TimeoutError } from 'rxjs';
import type { SocketClose, Transport } from '../transport/transport.js';
import { CloseCode } from '../wire/close-reason.js';
import { CodecMismatch, ConnectError, isMuxError } from '../wire/errors.js';
import type { AnyMuxError } from '../wire/errors.js';
import { connectError } from './connect-error.js';
import { messageOf } from './error-serializer.js';

/** Why a dial came to nothing. */
export interface DialFailed {
  readonly close: SocketClose;
  /** HTTP status of a refused handshake, where the platform shows it. */
  readonly status: number | null;
  readonly error: AnyMuxError;
}

/** A failed dial on its way through an Observable. */
class DialError extends Error {
  constructor(readonly failure: DialFailed) {
    super(failure.error.message);
  }
}

const HTTP_BAD_REQUEST = 400;

/** Emits the transport once it is open and has selected `protocol`; unsubscribing before ends the socket. */
export function opening(transport: Transport, protocol: string): Observable<Transport> {
  return new Observable((subscriber) => {
    let handedOver = false;
    subscriber.add(() => {
      if (!handedOver) transport.terminate('the dial was given up');
    });
    subscriber.add(
      transport.opened$.subscribe({
        complete() {
          const failure = failureOf(transport, protocol);
          if (failure !== null) {
            subscriber.error(new DialError(failure));
            return;
          }
          handedOver = true;
          subscriber.next(transport);
          subscriber.complete();
        },
      }),
    );
  });
}

/** What a dial, or a hello, failed with, as everybody is told of it. */
export function dialFailure(error: unknown, timeoutMs: number): DialFailed {
  if (error instanceof DialError) return error.failure;
  const reason = error instanceof TimeoutError ? `no connection within ${timeoutMs} ms` : messageOf(error);
  const close = { code: CloseCode.ABNORMAL, reason, wasClean: false };
  if (isMuxError(error)) return { close, status: null, error };
  return { close, status: null, error: new ConnectError(reason, { reason: { ...close, willRetry: false }, cause: error }) };
}

function failureOf(transport: Transport, protocol: string): DialFailed | null {
  const { closed, refusedStatus, opaque } = transport;
  if (closed !== null && refusedStatus !== HTTP_BAD_REQUEST) {
    return { close: closed, status: refusedStatus, error: connectError({ ...closed, willRetry: false }, refusedStatus, opaque) };
  }
  if (closed === null && transport.protocol === protocol) return null;
  const error = new CodecMismatch(protocol, transport.protocol);
  transport.close(CloseCode.POLICY, error.message);
  return { close: { code: CloseCode.POLICY, reason: error.message, wasClean: false }, status: refusedStatus, error };
}
