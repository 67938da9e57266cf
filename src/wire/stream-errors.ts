import { aboutStream } from './about-stream.js';
import type { CloseReason } from './close-reason.js';
import { MuxError } from './errors.js';
import type { MuxErrorOptions } from './errors.js';
import { ResetCode, resetCodeName } from './codes.js';

/** Options of an error about one stream. */
export interface StreamErrorOptions extends MuxErrorOptions {
  /** The id of the stream. Default `null`: it never got one. */
  readonly streamId?: number | null | undefined;
}

/** Options of a {@link DeadlineExceededError}. */
export interface DeadlineOptions extends StreamErrorOptions {
  /** Why the stream's open was never sent; `undefined` if it was sent. */
  readonly unsent?: string | undefined;
}

/** An error that ended one stream, or concerns it. */
export abstract class StreamError extends MuxError {
  /** The stream's id; `null` if it never got one. */
  readonly streamId: number | null;

  constructor(message: string, options: StreamErrorOptions = {}) {
    super(aboutStream(options.streamId, message), options);
    this.streamId = options.streamId ?? null;
  }
}

/**
 * A reset ended the stream. `stream.cause.by` names its sender: `'remote'`, `'user'` or `'library'`.
 *
 * The remote may have sent it, with any code but APPLICATION_ERROR and REFUSED, which have classes of their own. This side may have
 * called `reset(300)`, or used any code but CANCEL. Or the library reset the stream for a rule or a limit: such codes are PROTOCOL_ERROR,
 * PAYLOAD_TOO_LARGE and FLOW_CONTROL.
 *
 * A handler may throw one: the library sends it as that reset, unless its code is REFUSED (R2).
 *
 * @example
 * ```ts
 * peer.onStream(() => { throw new ResetError(300, 'quota used up', { limit: 10 }); });
 * // at the caller: ResetError { resetCode: 300, reason: 'quota used up', payload: { limit: 10 } }
 * ```
 */
export class ResetError extends StreamError {
  override readonly name = 'ResetError';
  readonly code = 'RESET';

  constructor(
    /** The code of the reset; `null` when it carried none. */
    readonly resetCode: ResetCode | null,
    /** The text beside the code; empty if there was none. */
    readonly reason: string = '',
    /** The payload of the reset, if any. */
    readonly payload: unknown = null,
    options?: StreamErrorOptions,
  ) {
    super(`reset with ${resetCodeName(resetCode)}${reason === '' ? '' : `: ${reason}`}`, options);
  }
}

/**
 * The remote's handler failed (APPLICATION_ERROR). The message is the reason text.
 *
 * @example
 * ```ts
 * peer.onStream(() => { throw new Error('no such seat'); });
 * // at the caller: RemoteError { reason: 'no such seat', payload: { name: 'Error', message: 'no such seat' } }
 * ```
 */
export class RemoteError extends StreamError {
  override readonly name = 'RemoteError';
  readonly code = 'REMOTE';
  /** The code of the reset. */
  readonly resetCode = ResetCode.APPLICATION_ERROR;

  constructor(
    /** The text beside the code; the same as `message`. */
    readonly reason: string,
    /** The value of the remote's error serializer; `null` if it sent none. */
    readonly payload: unknown,
    options: StreamErrorOptions = {},
  ) {
    super(reason, options);
    this.message = reason;
  }
}

/**
 * The stream was definitely not processed; always `retriable`. `resetCode` is `null` when a goaway or this side refused it.
 *
 * @example
 * ```ts
 * await peer.request('p');   // of a remote without a handler: RefusedError { reason: 'no handler took this stream: …', resetCode: 7 }
 * ```
 */
export class RefusedError extends StreamError {
  override readonly name = 'RefusedError';
  readonly code = 'REFUSED';

  constructor(
    /** The reason, for people; empty if there was none. */
    readonly reason: string,
    /** The code of the reset; `null` when a goaway or this side refused the stream. */
    readonly resetCode: typeof ResetCode.REFUSED | null = ResetCode.REFUSED,
    options: StreamErrorOptions = {},
  ) {
    super(`refused${reason === '' ? '' : `: ${reason}`}`, { ...options, retriable: true });
  }
}

/**
 * The time-out of a call of this side, or of its hello, ended the stream. `retriable` only if the stream's open was never sent. Then the
 * message says why, and the error of the last dial is the `cause`.
 *
 * @example
 * ```ts
 * await peer.request('p', { timeoutMs: 10 });   // DeadlineExceededError { timeoutMs: 10 }, where nothing comes back
 * ```
 */
export class DeadlineExceededError extends StreamError {
  override readonly name = 'DeadlineExceededError';
  readonly code = 'DEADLINE_EXCEEDED';

  constructor(
    /** The time-out that ran out, in ms. */
    readonly timeoutMs: number,
    options: DeadlineOptions = {},
  ) {
    const got = options.unsent === undefined ? 'got no end' : `but it was never sent: ${options.unsent}`;
    super(`expected the stream to end within ${timeoutMs} ms, ${got}`, { retriable: options.unsent !== undefined, ...options });
  }
}

/**
 * This side cancelled the stream, in one of these ways:
 *
 * - `reset()` with CANCEL, its default code
 * - unsubscribing
 * - an AbortSignal, whose reason is the `cause`
 * - closing the peer
 *
 * A CANCEL of the remote is a {@link ResetError}.
 *
 * @example
 * ```ts
 * await peer.request('p', { signal: AbortSignal.abort('left') });   // CancelledError { cause: 'left' }
 * ```
 */
export class CancelledError extends StreamError {
  override readonly name = 'CancelledError';
  readonly code = 'CANCELLED';
}

/**
 * The socket ended under the stream. `retriable` only if the stream's open was never sent.
 *
 * @example
 * ```ts
 * await peer.request('p');
 * // where the network goes away: ConnectionLostError { reason: { code: 1006, reason: '', wasClean: false, willRetry: false } }
 * ```
 */
export class ConnectionLostError extends StreamError {
  override readonly name = 'ConnectionLostError';
  readonly code = 'CONNECTION_LOST';

  constructor(
    /** Why the socket ended. */
    readonly reason: CloseReason,
    options?: StreamErrorOptions,
  ) {
    super(`connection lost (${reason.code}${reason.reason === '' ? '' : ` ${reason.reason}`})`, options);
  }
}

/** Too much was queued: opens waiting for a connection (then `retriable`), or the frames of a sender that ignores `send()`'s promise. */
export class QueueOverflowError extends StreamError {
  override readonly name = 'QueueOverflowError';
  readonly code = 'QUEUE_OVERFLOW';
}

/** This connection's stream ids are used up (2^53 − 1), and no reconnect helper can start a new connection. */
export class StreamIdsExhaustedError extends StreamError {
  override readonly name = 'StreamIdsExhaustedError';
  readonly code = 'IDS_EXHAUSTED';
}

/** Every error that can end a stream. */
export type AnyStreamError =
  | ResetError
  | RemoteError
  | RefusedError
  | DeadlineExceededError
  | CancelledError
  | ConnectionLostError
  | QueueOverflowError
  | StreamIdsExhaustedError;
