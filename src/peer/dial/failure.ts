import { Subscription, asyncScheduler } from 'rxjs';
import { CLOSING_MS } from '../../connection/watchdog.js';
import { messageOf } from '../../stream/end.js';
import { abnormalClose } from '../../transport/transport.js';
import type { SocketClose, Transport } from '../../transport/transport.js';
import { CloseCode } from '../../wire/codes.js';
import { CodecMismatch, ConnectError, closeText, isMuxError } from '../../wire/errors.js';
import type { AnyMuxError } from '../../wire/errors.js';
import { shownAddress } from './address.js';
import type { FailureFacts } from './backoff.js';

/**
 * Closes a socket that speaks another subprotocol (V7), and calls `ended` once the socket has ended. Like any closing socket, it is terminated
 * when nothing has moved for 2 s (C8).
 */
export function closeMismatched(transport: Transport, mismatch: CodecMismatch, ended?: () => void): void {
  let timer = Subscription.EMPTY;
  const wait = (): void => {
    timer.unsubscribe();
    timer = asyncScheduler.schedule(() => {
      transport.terminate('closing made no progress');
    }, CLOSING_MS);
  };
  transport.close(CloseCode.POLICY, mismatch.message);
  wait();
  // A socket without a reader never sees the other side's close frame.
  transport.messages$.subscribe({
    next: wait,
    complete: () => {
      timer.unsubscribe();
      ended?.();
    },
  });
}

const SUSPECTS =
  "; this platform does not say why: check the address, the codec of both ends, the server's origins and the proxies between, and use connect of 'rxmux/node' in Node";
/** The text of Node 22 for every failed dial. */
const SAYS_NOTHING = /non-101/;

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
  if (status !== null) return new ConnectError(`expected ${where} to accept the handshake, got HTTP ${status}${hint}`, { status, reason });
  const suspects = opaque && (!close.reason || SAYS_NOTHING.test(close.reason)) ? SUSPECTS : hint;
  return new ConnectError(`the connection${address === null ? '' : ` to ${where}`} could not be opened (${closeText(close)})${suspects}`, {
    reason,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Why a dial failed. */
export interface FailedDial extends Pick<FailureFacts, 'status' | 'retryAfterMs'> {
  readonly close: SocketClose;
  readonly error: AnyMuxError;
}

/** Returns the error of a step that has taken too long. */
export function notInTime(what: string, ms: number, cause = ''): Error {
  return Object.assign(new Error(`expected ${what} within ${ms} ms, got none${cause && `: ${cause}`}`), { name: 'TimeoutError' });
}

/** Converts an error of a dial or of its hello into the failure that the peer reports. */
export function failedWith(error: unknown): FailedDial {
  const close = abnormalClose(messageOf(error));
  return {
    close,
    error: isMuxError(error) ? error : new ConnectError(close.reason, { reason: { ...close, willRetry: false }, cause: error }),
  };
}

/** Returns the failure of a socket that has opened or has failed to open, or `null` if the socket is usable. */
export function failureOf(transport: Transport, protocol: string, address: string): FailedDial | null {
  const { closed } = transport;
  const selected = closed === null ? transport.protocol : (transport.answeredProtocol ?? null);
  if (closed === null && selected === protocol) return null;
  const { refusedStatus: status, retryAfterMs = null, opaque, hint, failure } = transport;
  if (closed !== null && (selected === null || selected === protocol))
    return { close: closed, status, retryAfterMs, error: connectError(closed, { address, status, opaque, hint, cause: failure }) };
  const error = new CodecMismatch(protocol, selected ?? '');
  return { close: { code: CloseCode.POLICY, reason: error.message, wasClean: false }, status, retryAfterMs, error };
}
