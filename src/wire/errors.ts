import type { CloseReason } from './close-reason.js';

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
    super(
      `expected the subprotocol '${offered}', got ${selected === '' ? 'none' : `'${selected}'`}: both ends must use the same codec`,
      options,
    );
  }
}
