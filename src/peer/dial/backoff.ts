import { log } from '../../logger.js';
import { booleanOf } from '../../stream/promises.js';
import { isPage } from '../../transport/connectivity.js';
import type { SocketClose } from '../../transport/transport.js';
import { asGiven, checkFunction, checkNumber, readObject } from '../../util/check.js';
import type { Options } from '../../util/check.js';
import { LONGEST_TIMER_MS, STEADY_CLOCK } from '../../util/time.js';
import { CloseCode, ResetCode, browserCode } from '../../wire/codes.js';
import type { CloseReason } from '../../wire/codes.js';
import type { AnyMuxError, MuxError } from '../../wire/errors.js';
import { NoWebSocketError } from './address.js';
import { JITTER, fullJitter } from '../safe-retry.js';

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
   * CodecMismatch, and a platform without a WebSocket. So do a hello that `sessionRefused` refuses, a second expired one, and the 20th in a row
   * whose `onHello` fails (C15). A socket that the server closes within 1 s, before any message, is a failure and no connection. A goaway
   * within 1 s is a failure, too.
   * Default Infinity in a page, a worker and React Native. On Node, Deno and Bun 5 until the first connection, then Infinity.
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

const ATTEMPTS_BEFORE_SUCCESS = 5;
/** A server that has failed this number of hellos in a row accepts none. Fewer may be a database that restarts. */
const FAILED_HELLOS = 20;
const MAX_DELAY_MS = 5_000;
/** The delay after a limit of the server, and the longest `Retry-After`, unless `maxDelayMs` is set, in ms. */
const CALM_DELAY_MS = 30_000;
/** The clients of a restarting server come back within this time, spread at random, in ms. */
const RESTART_SPREAD_MS = 1_000;
/** A server may take this time to listen again after it has announced a restart, in ms. */
const RESTART_MS = 30_000;
/** A socket that ends in good order before this age has not lasted: its server may end every socket at once. In ms. */
const BRIEF_MS = 1_000;
/** Answers while a server is away: 502 to 504 of servers and proxies, and 521 to 523 of Cloudflare. */
const AWAY_STATUS: ReadonlySet<number> = new Set([502, 503, 504, 521, 522, 523]);
/** The longest random extra time after a `Retry-After`, as a fraction of it. */
const RETRY_AFTER_SPREAD = 0.5;
const FATAL_CODES: ReadonlySet<number> = orFromBrowsers(CloseCode.PROTOCOL_ERROR, CloseCode.WRONG_MESSAGE_KIND);
const FATAL_STATUS: ReadonlySet<number | null> = new Set([400, 401, 403]);
/** Close codes of a broken limit, for sockets whose goaway did not arrive. */
const CALMING_CODES: ReadonlySet<number> = orFromBrowsers(CloseCode.POLICY);

/** Facts about a failure besides its reason. */
export interface FailureFacts {
  /** HTTP status of a refused handshake, if the platform shows it. */
  readonly status?: number | null;
  readonly error: AnyMuxError | null;
  /** Code of the remote's goaway. Default none. */
  readonly announced?: ResetCode | null;
  /** Whether the platform reports no network. Then the server has not failed, and the failure counts as no attempt. */
  readonly offline: boolean;
  /** How long the socket was open, in ms; `null` for a dial, or a hello, that failed. */
  readonly openMs: number | null;
  /** Whether the socket has brought a message. Default `false`. */
  readonly heard?: boolean;
  /** `Retry-After` of a refused handshake, in ms, if the platform shows it. */
  readonly retryAfterMs?: number | null;
}

/**
 * Counts failures in a row and decides whether, and when, to dial again (D1, D2).
 *
 * An end in good order announces a restart. For {@link RESTART_MS} after it, failed dials neither grow the delay beyond
 * {@link RESTART_SPREAD_MS} nor end the dialing.
 */
export class Backoff {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly stableMs: number;
  readonly #calmDelayMs: number;
  readonly #maxAttempts: number | undefined;
  readonly #shouldRetry: (failure: DialFailure) => boolean;
  #failures = 0;
  /** Failures that doubled the delay. */
  #doublings = 0;
  /** When the server announced its restart; `null` once a socket has lasted. */
  #restartAt: number | null = null;
  /** Sockets that have opened, except those that the remote closed at once. */
  #connections = 0;
  /** Hellos in a row that the server has failed. */
  #failedHellos = 0;
  /** Whether the server has said that the session has expired, and has accepted no hello since. */
  expired = false;

  /** @throws TypeError naming the option */
  constructor(options: Reconnect) {
    const { minDelayMs, maxDelayMs, maxAttempts, stableMs, shouldRetry } = readObject(
      'reconnect',
      options,
      RECONNECT,
      'a boolean or an object',
    );
    if (maxDelayMs !== undefined) checkNumber('reconnect.maxDelayMs', maxDelayMs, minDelayMs);
    this.minDelayMs = minDelayMs;
    const longest = (byDefault: number): number => Math.min(maxDelayMs ?? Math.max(byDefault, minDelayMs), LONGEST_TIMER_MS);
    this.maxDelayMs = longest(MAX_DELAY_MS);
    this.stableMs = stableMs;
    this.#calmDelayMs = longest(CALM_DELAY_MS);
    this.#maxAttempts = maxAttempts ?? (isPage() ? Infinity : undefined);
    this.#shouldRetry = shouldRetry;
  }

  /** Failures in a row so far. */
  get failures(): number {
    return this.#failures;
  }

  /** Called when a socket has opened and its hello was answered. */
  connected(): void {
    this.#connections++;
    this.#failedHellos = 0;
    this.expired = false;
  }

  /** Called when a socket has become stable. */
  stable(): void {
    this.#failures = this.#doublings = 0;
    this.#restartAt = null;
  }

  /** Counts one failure; returns whether another dial follows it. */
  failed(reason: SocketClose, facts: FailureFacts): boolean {
    const isExcused = this.#isRestarting(facts);
    if (!facts.offline) this.#count(reason.code, facts, isExcused);
    if (wasTurnedAway(reason.code, facts)) this.#connections--;
    const budget = this.#maxAttempts ?? (this.#connections > 0 ? Infinity : ATTEMPTS_BEFORE_SUCCESS);
    const { status = null, error } = facts;
    let isRefused = false;
    if (error?.code === 'REMOTE') {
      const answer = (error.payload as { readonly name?: unknown } | null)?.name;
      isRefused = ++this.#failedHellos >= FAILED_HELLOS || answer === 'REFUSED' || (answer === 'EXPIRED' && this.expired);
      if (answer === 'EXPIRED') this.expired = true;
    }
    const fatal =
      isRefused ||
      facts.announced === ResetCode.PROTOCOL_ERROR ||
      FATAL_CODES.has(reason.code) ||
      FATAL_STATUS.has(status) ||
      error?.code === 'CODEC_MISMATCH' ||
      error?.cause instanceof NoWebSocketError;
    const willRetry = !fatal && (isExcused || this.#failures < budget);
    return this.#judged({
      attempt: this.#failures,
      reason: { ...reason, willRetry },
      status,
      error,
      willRetry,
    });
  }

  /** Returns the delay after the failure that was counted last, in ms. */
  delay(code: number, facts: FailureFacts): number {
    const { announced = null, offline, openMs, retryAfterMs = 0 } = facts;
    if (offline) return this.maxDelayMs;
    if (announced === ResetCode.ENHANCE_YOUR_CALM || (announced === null && CALMING_CODES.has(code))) return this.#calmDelayMs;
    if (isOrderly(code, announced) && hasLasted(openMs)) return this.spread();
    return Math.max(this.#jitter(), this.#after(retryAfterMs));
  }

  /**
   * Called when the remote goes away in good order and its socket drains, which is no failure for `shouldRetry`. Returns the delay
   * before the dial of the replacement, in ms; `null` for none, if this failure is the last one that the user allows.
   */
  goneAway(openMs: number): number | null {
    this.#restarts(openMs);
    if (hasLasted(openMs)) return this.spread();
    if (this.#failures + 1 >= (this.#maxAttempts ?? Infinity)) return null;
    this.#failures++;
    return this.#jitter();
  }

  /** Returns a delay that spreads the clients of a server that goes away in good order, in ms. */
  spread(): number {
    return Math.random() * Math.min(RESTART_SPREAD_MS, this.maxDelayMs);
  }

  #jitter(): number {
    return fullJitter(this.#doublings, this);
  }

  #after(retryAfterMs: number | null): number {
    return Math.min((retryAfterMs ?? 0) * (1 + RETRY_AFTER_SPREAD * Math.random()), this.#calmDelayMs);
  }

  #count(code: number, { announced, openMs }: FailureFacts, isExcused: boolean): void {
    this.#failures++;
    if (isOrderly(code, announced)) this.#restarts(openMs);
    else if (!isExcused || this.minDelayMs * 2 ** this.#doublings <= RESTART_SPREAD_MS) this.#doublings++;
  }

  /**
   * Counts an end in good order. An end right after the opening doubles the delay, so that a server that ends every socket is not
   * dialed without pause.
   */
  #restarts(openMs: number | null): void {
    if (hasLasted(openMs)) {
      this.#doublings = 0;
      this.#restartAt = STEADY_CLOCK.now();
    } else {
      this.#doublings++;
      this.#restartAt ??= STEADY_CLOCK.now();
    }
  }

  /** Whether a dial failed as dials of a restarting server do: without an HTTP status, or with one of {@link AWAY_STATUS}. */
  #isRestarting({ status = null, error, openMs }: FailureFacts): boolean {
    if (this.#restartAt === null || STEADY_CLOCK.now() - this.#restartAt >= RESTART_MS) return false;
    return openMs === null && error?.code === 'CONNECT' && (status === null || AWAY_STATUS.has(status));
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

/** Whether the remote ended a socket as a departing or restarting server does. */
function isOrderly(code: number, announced?: ResetCode | null): boolean {
  return announced === ResetCode.NO_ERROR || code === CloseCode.GOING_AWAY || code === CloseCode.RESTART;
}

function hasLasted(openMs: number | null): boolean {
  return openMs !== null && openMs >= BRIEF_MS;
}

/** Whether the remote has closed a socket right after its opening, without a message: a proxy may refuse a dialer so. */
function wasTurnedAway(code: number, { openMs, heard = false }: FailureFacts): boolean {
  return openMs !== null && openMs < BRIEF_MS && !heard && code !== CloseCode.ABNORMAL;
}
