import { isError } from '../util/check.js';
import { CloseCode, ResetCode, resetCodeName } from './codes.js';
import type { CloseReason } from './codes.js';

/** Options of an error. */
export interface MuxErrorOptions extends ErrorOptions {
  /** Whether the caller may make the same call again. Default `false`. */
  readonly retriable?: boolean | undefined;
}

/** The base of every error of this library. Match on `code`, never on the text of a message. */
export abstract class MuxError extends Error {
  /**
   * Short, stable, and different for every kind of error, so that it narrows an `AnyMuxError`. Each code has a page with its causes:
   * `docs/errors/REFUSED.md` of the package, for example, which is `/errors/REFUSED` on the site.
   */
  abstract readonly code: string;
  /** The name of the class. It narrows an `AnyMuxError`, too. */
  declare readonly name: string;
  /**
   * Whether the caller may safely make the same call again. `true` only if the work provably never started: the open was never sent, the
   * remote refused it, or its id is above the `last_stream` of a goaway.
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
  /** The HTTP status of a refused handshake if the platform shows it, else `null`. */
  readonly status: number | null;
  /** How the socket ended, or why there was no socket. */
  readonly reason: CloseReason | null;

  constructor(message: string, facts: { readonly status?: number | null; readonly reason?: CloseReason | null } & ErrorOptions = {}) {
    super(message, { ...facts, retriable: true });
    this.status = facts.status ?? null;
    this.reason = facts.reason ?? null;
  }
}

/** Returns the code of a close, and its reason if there is one. */
export function closeText({ code, reason }: Pick<CloseReason, 'code' | 'reason'>): string {
  return `${code} ${reason}`.trim();
}

/** The base of errors about the choice of codec. */
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
    /** The name that the caller asked for. */
    readonly configured: string,
    /** The registered names, sorted. */
    readonly available: readonly string[],
  ) {
    super(
      `no codec is registered under '${configured}' (configured by VITE_MUX_CODEC, settings.codec or the codec option); ` +
        `registered: ${available.length > 0 ? available.join(', ') : 'none'}`,
    );
  }
}

/** Begins the text of an acceptor that refuses an offer (V2). A subprotocol follows. */
export const OFFER_REFUSED = "expected the subprotocol '";

/** Whether an acceptor of rxmux refuses an offer with this text. */
export function refusesOffer(text: string): boolean {
  return text.startsWith(`${OFFER_REFUSED}mux.v`);
}

/** The two ends of a socket do not speak the same subprotocol, so they do not use the same codec. */
export class CodecMismatch extends CodecError {
  override readonly name = 'CodecMismatch';
  override readonly code = 'CODEC_MISMATCH';

  constructor(
    /** The subprotocol this side offered. */
    readonly offered: string,
    /** The subprotocol that the other side selected; the empty string if it selected none or refused. */
    readonly selected: string,
    options?: ErrorOptions,
  ) {
    super(`${OFFER_REFUSED}${offered}', got ${selected === '' ? 'none' : `'${selected}'`}: both ends must use the same codec`, options);
  }
}

/** Begins a message with the id of the stream that it is about. Returns the text alone if the stream has no id yet, or for a connection. */
export function aboutStream(stream: unknown, text: string): string {
  return typeof stream === 'number' ? `stream ${stream}: ${text}` : text;
}

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
 * The stream was definitely not processed. It is `retriable`, unless the peer itself has ended: no later call of that peer can work. `resetCode`
 * is `null` when a goaway or this side refused it.
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
    super(`refused${reason === '' ? '' : `: ${reason}`}`, { retriable: true, ...options });
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
    super(`connection lost (${closeText(reason)})`, options);
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

/** Every error of this library. Its `code` narrows it, and so does its `name`. */
export type AnyMuxError =
  | AnyStreamError
  | ProtocolError
  | ConnectError
  | CodecNotRegistered
  | CodecMismatch
  | (CodecError & {
      /** An error of a codec without a class of its own. */
      readonly code: 'CODEC';
      /** The name of the class. */
      readonly name: 'CodecError';
    });

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
 * Whether an error is one of this library's. Its `code` must be a code of {@link AnyMuxError}, and its `retriable` a boolean. So an error
 * of a second copy of the package passes too. An error of another library with a `retriable` of its own does not pass.
 *
 * @example
 * ```ts
 * try { await peer.request('sum'); }
 * catch (error) { if (isMuxError(error) && error.code === 'REMOTE') console.log(error.payload); }
 * ```
 */
export function isMuxError(error: unknown): error is AnyMuxError {
  const given = error as Partial<AnyMuxError>;
  return isError(error) && typeof given.code === 'string' && Object.hasOwn(CODES, given.code) && typeof given.retriable === 'boolean';
}

/**
 * Ends one stream: the fault that the receiver found, and the reset that answers it. The connection lives.
 *
 * @example
 * ```ts
 * of({ type: 'data', stream: 1, payload: 'x', more: true }).pipe(assemble(new JsonCodec())).subscribe(console.log);
 * // StreamFault { stream: 1, code: 1, reason: "expected a fragment beside 'more', got a payload" }
 * ```
 */
export class StreamFault {
  constructor(
    /** The id of the stream. */
    readonly stream: number,
    /** The code of the reset. */
    readonly code: ResetCode,
    /** The rule or the limit that the remote broke, for people. */
    readonly reason: string,
  ) {}
}

/** Ends the connection: framing or shared state is in doubt, or the connection exceeds a limit of its own. */
export class ConnectionFault extends ProtocolError {
  constructor(
    message: string,
    /** The code of the goaway that announces the end. */
    readonly resetCode: ResetCode = ResetCode.PROTOCOL_ERROR,
    /** The WebSocket close code that follows it. */
    readonly closeCode: number = CloseCode.PROTOCOL_ERROR,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** A limit that concerns the connection as a whole: goaway ENHANCE_YOUR_CALM, close 1008. */
  static tooMuch(reason: string): ConnectionFault {
    return new this(reason, ResetCode.ENHANCE_YOUR_CALM, CloseCode.POLICY);
  }
}

/** Returns a ProtocolError about one stream, or about the connection if `stream` is no id. The message starts with the id. */
export function violation(stream: unknown, text: string): ProtocolError {
  return new ProtocolError(aboutStream(stream, text));
}
