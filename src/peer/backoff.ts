import { log } from '../logger.js';
import { fullJitter, JITTER } from './full-jitter.js';
import { LONGEST_TIMER_MS } from '../wire/longest-timer.js';
import { checkFunctions, checkNumber, checkObject } from '../wire/check.js';
import type { SocketClose } from '../transport/transport.js';
import { browserCode, CloseCode } from '../wire/close-reason.js';
import type { CloseReason } from '../wire/close-reason.js';
import { ResetCode } from '../wire/reset-code.js';
import type { AnyMuxError } from '../wire/any-error.js';
import type { MuxError } from '../wire/errors.js';
import { NoWebSocketError } from './connect-error.js';
import { booleanOf } from './guard.js';

/** What went wrong with one socket or dial, for `shouldRetry` to judge. */
export interface DialFailure {
  /** Failures in a row, this one included. */
  readonly attempt: number;
  /** Why the socket ended, or the dial failed. */
  readonly reason: CloseReason;
  /** HTTP status of a refused handshake, where the platform shows it. */
  readonly status: number | null;
  /** What the dial, or its hello, failed with; `null` for a socket that was open. */
  readonly error: MuxError | null;
  /** What would be done without `shouldRetry`. */
  readonly willRetry: boolean;
}

/** How the reconnect helper dials again. */
export interface Reconnect {
  /**
   * The first delay is random between 0 and this, in ms; it doubles with each failure. 0 stays 0, however many have failed: a
   * server that is down is then dialed without a pause. Default 500.
   */
  readonly minDelayMs?: number | undefined;
  /** What a delay is at most, in ms. Default 30 000. */
  readonly maxDelayMs?: number | undefined;
  /**
   * Failures in a row before giving up. Default 5 while never yet connected, then Infinity. Whatever it is, 1002, 1003, 4002, 4003, HTTP
   * 400, 401, 403, a goaway with PROTOCOL_ERROR, a CodecMismatch and a platform without a WebSocket end it (D3), unless `shouldRetry` says
   * otherwise.
   */
  readonly maxAttempts?: number | undefined;
  /** How long a socket must last to count as stable, in ms. Default 10 000. */
  readonly stableMs?: number | undefined;
  /** Has the last word on each failure. Default `(failure) => failure.willRetry`. */
  readonly shouldRetry?: ((failure: DialFailure) => boolean) | undefined;
}

const ATTEMPTS_BEFORE_SUCCESS = 5;
/** A server that restarts wants its clients back soon, though not all at once, in ms. */
const RESTART_SPREAD_MS = 1_000;
const FATAL_CODES: ReadonlySet<number> = orFromBrowsers(CloseCode.PROTOCOL_ERROR, CloseCode.WRONG_MESSAGE_KIND);
const FATAL_STATUS: ReadonlySet<number> = new Set([400, 401, 403]);
/** What a limit closes with, where its goaway was not seen. */
const CALMING_CODES: ReadonlySet<number> = orFromBrowsers(CloseCode.POLICY);

/** What is known of a failure besides its reason. */
export interface FailureFacts {
  readonly status: number | null;
  readonly error: AnyMuxError | null;
  /** Code of the remote's goaway; `null` when there was none. */
  readonly announced: ResetCode | null;
  /** Whether there was no network: nobody failed then, and no attempt is spent. */
  readonly offline: boolean;
}

/** Counts failures in a row and decides whether, and when, to dial again. */
export class Backoff {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly stableMs: number;
  readonly #maxAttempts: number | undefined;
  readonly #shouldRetry: (failure: DialFailure) => boolean;
  #failures = 0;
  #connected = false;

  /** @throws TypeError naming the option */
  constructor(options: Reconnect) {
    checkObject('reconnect', options, 'a boolean or an object');
    const { minDelayMs = JITTER.minDelayMs, maxDelayMs = JITTER.maxDelayMs, maxAttempts, stableMs = 10_000, shouldRetry } = options;
    checkFunctions({ 'reconnect.shouldRetry': shouldRetry });
    checkNumber('reconnect.minDelayMs', minDelayMs);
    checkNumber('reconnect.maxDelayMs', maxDelayMs, minDelayMs);
    checkNumber('reconnect.stableMs', stableMs);
    if (maxAttempts !== undefined) checkNumber('reconnect.maxAttempts', maxAttempts);
    this.minDelayMs = minDelayMs;
    this.maxDelayMs = maxDelayMs;
    this.stableMs = stableMs;
    this.#maxAttempts = maxAttempts;
    this.#shouldRetry = shouldRetry ?? ((failure) => failure.willRetry);
  }

  /** Failures in a row so far. */
  get failures(): number {
    return this.#failures;
  }

  /** A socket has opened, and its hello was answered. */
  connected(): void {
    this.#connected = true;
  }

  /** A socket has lasted. */
  stable(): void {
    this.#failures = 0;
  }

  /** Counts one failure; whether it is followed by another dial. */
  failed(reason: SocketClose, facts: FailureFacts): boolean {
    if (!facts.offline) this.#failures++;
    const budget = this.#maxAttempts ?? (this.#connected ? Infinity : ATTEMPTS_BEFORE_SUCCESS);
    const fatal =
      facts.announced === ResetCode.PROTOCOL_ERROR ||
      FATAL_CODES.has(reason.code) ||
      (facts.status !== null && FATAL_STATUS.has(facts.status)) ||
      facts.error?.code === 'CODEC_MISMATCH' ||
      facts.error?.cause instanceof NoWebSocketError;
    const willRetry = !fatal && this.#failures < budget;
    return this.#judged({
      attempt: this.#failures,
      reason: { ...reason, willRetry },
      status: facts.status,
      error: facts.error,
      willRetry,
    });
  }

  /** How long to wait before the next dial, in ms. */
  delay(code: number, announced: ResetCode | null): number {
    if (announced === ResetCode.ENHANCE_YOUR_CALM || (announced === null && CALMING_CODES.has(code)))
      return Math.min(this.maxDelayMs, LONGEST_TIMER_MS);
    if (announced === ResetCode.NO_ERROR || code === CloseCode.GOING_AWAY || code === CloseCode.RESTART) return this.spread();
    return fullJitter(this.#failures, this);
  }

  /** A delay that spreads the clients of a server that goes away in good order, in ms. */
  spread(): number {
    return Math.random() * Math.min(RESTART_SPREAD_MS, this.maxDelayMs);
  }

  #judged(failure: DialFailure): boolean {
    try {
      return booleanOf('shouldRetry', this.#shouldRetry(failure));
    } catch (error) {
      log('error', 'shouldRetry failed', error);
      return failure.willRetry;
    }
  }
}

function orFromBrowsers(...codes: readonly number[]): ReadonlySet<number> {
  return new Set([...codes, ...codes.map(browserCode)]);
}
