import { timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { log } from '../logger.js';
import { steadyNow } from '../util/time.js';

/**
 * Why a broker did not do its work:
 *
 * - `BROKER_AWAY`: the connection or the server is down. Subscribers wait, and `publish` rejects: the message may be stored or not.
 * - `BROKER_MISSING`: the stream, its subject, or the feature of the server does not exist.
 * - `BROKER_FORBIDDEN`: the user of the connection lacks a permission.
 * - `BROKER_FULL`: a limit, the memory or the disk has no room.
 * - `BROKER_REFUSED`: the stream never takes this message: it is too large, or the stream is sealed. Another try fails too.
 * - `BROKER_CLOSED`: this program has closed its connection.
 * - `BROKER_FAILED`: every other answer of the broker.
 */
export type BrokerErrorCode =
  'BROKER_AWAY' | 'BROKER_MISSING' | 'BROKER_FORBIDDEN' | 'BROKER_FULL' | 'BROKER_REFUSED' | 'BROKER_CLOSED' | 'BROKER_FAILED';

/**
 * A broker refused, or did not answer. `cause` is the error of its client.
 *
 * @example
 * ```ts
 * try { await log.publish('hello'); }
 * catch (error) { if (error instanceof BrokerError && error.code === 'BROKER_FULL') console.log(error.message); }
 * // topic 'topics.chat' of stream 'TOPICS': NATS has no room: maximum bytes exceeded
 * ```
 */
export class BrokerError extends Error {
  /** The name of the class. */
  override readonly name = 'BrokerError';

  constructor(
    /** Why the broker did not do its work. */
    readonly code: BrokerErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Between two tries while a broker is away. */
const RETRY_MS = 250;

/** A topic without messages shows no answer of its broker. So a failure this long after the last one begins another outage. */
const FORGET_MS = 60_000;

/** Waits while a broker is away. The log shows the first failure of an outage. */
export class Outage {
  /** The time of the last failure. */
  #failedAt = -Infinity;

  /** The broker has answered. */
  over(): void {
    this.#failedAt = -Infinity;
  }

  /**
   * Emits when the broker may be asked again.
   *
   * @param text the error's text in the log
   * @throws `error` unless the broker is away
   */
  wait(error: BrokerError, text = error.message): Observable<unknown> {
    if (error.code !== 'BROKER_AWAY') throw error;
    const now = steadyNow();
    log(now - this.#failedAt < FORGET_MS ? 'debug' : 'warn', text);
    this.#failedAt = now;
    return timer(RETRY_MS);
  }
}
