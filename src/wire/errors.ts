import { aboutStream } from './about-stream.js';
import type { CloseReason } from './close-reason.js';
import { ResetCode, resetCodeName } from './reset-code.js';
import { isError } from './cross-realm.js';

interface MuxErrorOptions extends ErrorOptions {
  readonly retriable?: boolean | undefined;
}

/** What every error of this library has in common. Match on `code`, never on the text of a message. */
export abstract class MuxError extends Error {
  /** Short and stable, and different for every kind, so that it narrows {@link AnyMuxError}. */
  abstract readonly code: string;
  /**
   * Whether the same call may safely be made again: `true` only where the work provably never started, because the open
   * was never sent, the remote refused it, or its id is above the `last_stream` of a goaway.
   */
  readonly retriable: boolean;

  constructor(message: string, options: MuxErrorOptions = {}) {
    super(message, options);
    this.retriable = options.retriable ?? false;
  }
}

/** Input that breaks the rules of the wire: a malformed frame, undecodable bytes, an impossible split. */
export class ProtocolError extends MuxError {
  override readonly name = 'ProtocolError';
  readonly code = 'PROTOCOL';
}

/** A dial that failed. */
export class ConnectError extends MuxError {
  override readonly name = 'ConnectError';
  readonly code = 'CONNECT';
  /** HTTP status of a refused handshake where the platform shows it, else `null`. */
  readonly status: number | null;
  /** How the socket ended, or why there was none. */
  readonly reason: CloseReason | null;

  constructor(message: string, facts: { readonly status?: number | null; readonly reason?: CloseReason | null } & ErrorOptions = {}) {
    super(message, { ...facts, retriable: true });
    this.status = facts.status ?? null;
    this.reason = facts.reason ?? null;
  }
}

/** Something is wrong with the choice of codec. */
export class CodecError extends MuxError {
  override readonly name: string = 'CodecError';
  readonly code: 'CODEC' | 'CODEC_NOT_REGISTERED' | 'CODEC_MISMATCH' = 'CODEC';
}

/**
 * No codec is registered under the configured name. There is no fallback.
 *
 * @example
 * ```ts
 * getCodec('cbor');   // CodecNotRegistered { configured: 'cbor', available: ['json'] }
 * ```
 */
export class CodecNotRegistered extends CodecError {
  override readonly name = 'CodecNotRegistered';
  override readonly code = 'CODEC_NOT_REGISTERED';

  constructor(
    /** The name that was asked for. */
    readonly configured: string,
    /** The names that are registered, sorted. */
    readonly available: readonly string[],
  ) {
    super(
      `no codec is registered under '${configured}' (configured by VITE_MUX_CODEC, settings.codec or the codec option); ` +
        `registered: ${available.length > 0 ? available.join(', ') : 'none'}`,
    );
  }
}

/** The two ends of a socket do not speak the same subprotocol, hence not the same codec. */
export class CodecMismatch extends CodecError {
  override readonly name = 'CodecMismatch';
  override readonly code = 'CODEC_MISMATCH';

  constructor(
    /** The subprotocol this side offered. */
    readonly offered: string,
    /** The subprotocol the other side selected, or the empty string when it selected none or refused. */
    readonly selected: string,
    options?: ErrorOptions,
  ) {
    super(
      `expected the subprotocol '${offered}', got ${selected === '' ? 'none' : `'${selected}'`}: both ends must use the same codec`,
      options,
    );
  }
}

interface StreamErrorOptions extends MuxErrorOptions {
  readonly streamId?: number | null | undefined;
}

/** An error that ended, or concerns, one stream. */
export abstract class StreamError extends MuxError {
  /** The stream's id, or `null` when it never got one. */
  readonly streamId: number | null;

  constructor(message: string, options: StreamErrorOptions = {}) {
    super(aboutStream(options.streamId, message), options);
    this.streamId = options.streamId ?? null;
  }
}

/**
 * A reset ended the stream. The remote's, unless its code is APPLICATION_ERROR or REFUSED, which have classes of their own; this
 * side's `reset(300)`, as with any code but CANCEL; and what the library resets for a rule or a limit, such as PROTOCOL_ERROR,
 * PAYLOAD_TOO_LARGE and FLOW_CONTROL. `stream.cause.by` tells whose it was: `'remote'`, `'user'` or `'library'`.
 *
 * A handler may throw one: it goes out as that reset, unless its code is REFUSED (R2).
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
    /** The text beside the code; empty when there was none. */
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
  readonly resetCode = ResetCode.APPLICATION_ERROR;

  constructor(
    /** The text beside the code; the same as `message`. */
    readonly reason: string,
    /** The value of the remote's error serializer, `null` when it sent none. */
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
 * await peer.request('p');   // of a remote without a handler: RefusedError { reason: 'nobody answers streams here', resetCode: 7 }
 * ```
 */
export class RefusedError extends StreamError {
  override readonly name = 'RefusedError';
  readonly code = 'REFUSED';

  constructor(
    /** Why, for people; empty when nothing was said. */
    readonly reason: string,
    readonly resetCode: typeof ResetCode.REFUSED | null = ResetCode.REFUSED,
    options: StreamErrorOptions = {},
  ) {
    super(`refused${reason === '' ? '' : `: ${reason}`}`, { ...options, retriable: true });
  }
}

/**
 * The time-out of a call of this side, or of its hello, ended the stream.
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
    options?: StreamErrorOptions,
  ) {
    super(`expected the stream to end within ${timeoutMs} ms, got no end`, options);
  }
}

/**
 * This side cancelled the stream: by `reset()` with CANCEL, its default code, by unsubscribing, by an AbortSignal (its reason is
 * the `cause`), or by closing the peer. A CANCEL of the remote is a {@link ResetError}.
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
 * The socket ended under the stream. `retriable` only when the stream's open had never been sent.
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

/** Too much was queued: opens waiting for a connection (then `retriable`), or a sender that ignores `send()`'s promise. */
export class QueueOverflowError extends StreamError {
  override readonly name = 'QueueOverflowError';
  readonly code = 'QUEUE_OVERFLOW';
}

/** This connection's stream ids are used up (2^53 − 1) and there is no reconnect helper to start a new one. */
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

/** Every error of this library; `code` narrows it, and so does `name`. */
export type AnyMuxError =
  | AnyStreamError
  | ProtocolError
  | ConnectError
  | CodecNotRegistered
  | CodecMismatch
  | (CodecError & { readonly code: 'CODEC'; readonly name: 'CodecError' });

const CODES: Readonly<Record<AnyMuxError['code'], true>> = {
  PROTOCOL: true,
  CONNECT: true,
  CODEC: true,
  CODEC_NOT_REGISTERED: true,
  CODEC_MISMATCH: true,
  RESET: true,
  REMOTE: true,
  REFUSED: true,
  DEADLINE_EXCEEDED: true,
  CANCELLED: true,
  CONNECTION_LOST: true,
  QUEUE_OVERFLOW: true,
  IDS_EXHAUSTED: true,
};

/**
 * Whether an error is one of this library's: by its `code`, one of those of {@link AnyMuxError}, and its `retriable`, so that it
 * holds for an error of a second copy of the package too. That another library calls an error of its own retriable does not make
 * it one.
 *
 * @example
 * ```ts
 * try { await peer.request('sum'); }
 * catch (error) { if (isMuxError(error) && error.code === 'REMOTE') show(error.payload); }
 * ```
 */
export function isMuxError(error: unknown): error is AnyMuxError {
  return (
    isError(error) &&
    'code' in error &&
    typeof error.code === 'string' &&
    Object.hasOwn(CODES, error.code) &&
    'retriable' in error &&
    typeof error.retriable === 'boolean'
  );
}
