import { checkFunction, checkNumber } from '../../wire/check.js';
import type { CloseReason } from '../../wire/close-reason.js';
import type { MuxError } from '../../wire/errors.js';
import { asGiven } from '../../util/check.js';
import type { Options } from '../../util/check.js';
import { JITTER } from '../base/full-jitter.js';

/** The failure of one socket or dial, for `shouldRetry` to judge. */
export interface DialFailure {
  /** Failures in a row, this one included. */
  readonly attempt: number;
  /** Why the socket ended, or the dial failed. */
  readonly reason: CloseReason;
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly status: number | null;
  /** The error of the dial or of its hello; `null` for a socket that was open. */
  readonly error: MuxError | null;
  /** Whether the peer would dial again without `shouldRetry`. */
  readonly willRetry: boolean;
}

/** Options of the reconnect helper. */
export interface Reconnect {
  /**
   * Longest first delay, in ms; a delay is random, and doubles with each failure. With 0 the peer dials a server that is down without a
   * pause. Default 500.
   */
  readonly minDelayMs?: number | undefined;
  /**
   * Longest delay, in ms. At least `minDelayMs`. Default 5 000; 30 000 if the server asks for more, by ENHANCE_YOUR_CALM, 1008 or
   * `Retry-After` (D1).
   */
  readonly maxDelayMs?: number | undefined;
  /**
   * Failures in a row before the peer stops dialing. A dial that fails while a server restarts does not end it (D2). These end it at once (D3),
   * unless `shouldRetry` says otherwise: the close codes 1002, 1003, 4002 and 4003, HTTP 400, 401 and 403, a goaway with PROTOCOL_ERROR, a
   * CodecMismatch, and a platform without a WebSocket. Default 5 until the first connection, then Infinity.
   */
  readonly maxAttempts?: number | undefined;
  /** How long a socket must last to count as stable, in ms. Default 10 000. */
  readonly stableMs?: number | undefined;
  /** Has the last word on each failure. Default `(failure) => failure.willRetry`. */
  readonly shouldRetry?: ((failure: DialFailure) => boolean) | undefined;
}

/** {@link Reconnect} with defaults. The defaults of `maxDelayMs` and `maxAttempts` depend on earlier failures. */
interface ResolvedReconnect {
  readonly minDelayMs: number;
  readonly maxDelayMs: number | undefined;
  readonly maxAttempts: number | undefined;
  readonly stableMs: number;
  readonly shouldRetry: (failure: DialFailure) => boolean;
}

/** Declares {@link Reconnect}. */
export const RECONNECT: Options<Reconnect, ResolvedReconnect> = {
  minDelayMs: [checkNumber, JITTER.minDelayMs],
  maxDelayMs: [asGiven, undefined],
  maxAttempts: [checkNumber, undefined],
  stableMs: [checkNumber, 10_000],
  shouldRetry: [checkFunction, (failure) => failure.willRetry],
};
