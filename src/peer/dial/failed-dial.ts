import { abnormalClose } from '../../transport/transport.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import { CloseCode } from '../../wire/close-reason.js';
import { isMuxError } from '../../wire/any-error.js';
import type { AnyMuxError } from '../../wire/any-error.js';
import { CodecMismatch, ConnectError } from '../../wire/errors.js';
import { messageOf } from '../base/error-serializer.js';
import { connectError } from './connect-error.js';

/** Why a dial failed. */
export interface FailedDial {
  readonly close: SocketClose;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly status: number | null;
  /** `Retry-After` of a refused handshake, in ms, if the platform shows it. */
  readonly retryAfterMs: number | null;
  readonly error: AnyMuxError;
}

const HTTP_BAD_REQUEST = 400;

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
