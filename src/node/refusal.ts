import type { IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import { log } from '../logger.js';
import { oneLine } from '../util/check.js';
import type { Refusal } from './mux-server.js';
import { SparseLog } from './sparse-log.js';
import type { HttpAnswer } from './upgrade.js';

/** Causes of a refusal. Refusals with the same cause share log lines. */
type Cause = 'codec' | 'draining' | 'handshake' | 'limit' | 'origin' | 'path' | 'time-out' | 'unjudged' | 'verify';

/** Why the server refuses an upgrade, and the answer it sends. */
export interface Objection extends HttpAnswer {
  readonly cause: Cause;
  /** Text that the log adds to the reason. */
  readonly detail?: string;
  /** Holds the error that the application threw. */
  readonly thrown?: { readonly error: unknown };
}

/** The log has one line a cause in this period, in ms. */
const PERIOD_MS = 60_000;
/** The period for causes that a developer fixes by trial and error: an origin, an error of `verify`. */
const SHORT_PERIOD_MS = 1_000;
/** The most characters of a reason in a line, since an application may choose the reason. */
const MOST_REASON = 400;

/** A {@link Refusal}. Its request is not enumerable, so that the headers are not printed or copied by accident. */
export class AnsweredRefusal implements Refusal {
  readonly status: number;
  readonly reason: string;
  declare readonly request: IncomingMessage;

  constructor({ status, reason }: HttpAnswer, request: IncomingMessage) {
    this.status = status;
    this.reason = reason;
    Object.defineProperty(this, 'request', { value: request });
  }

  toString(): string {
    return `${this.status} ${oneLine(pathOf(this.request))}: ${oneLine(this.reason, MOST_REASON)}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** Logs the refusals of one server: at `warn`, or at `error` if the application failed. */
export class RefusalLog {
  readonly #log = new SparseLog();

  note(refusal: Refusal, { status, cause, detail = '', thrown }: Objection): void {
    const line = `${String(refusal)}${detail}`;
    const periodMs = cause === 'origin' || cause === 'unjudged' ? SHORT_PERIOD_MS : PERIOD_MS;
    this.#log.note(`${status} ${cause}`, periodMs, (more) => {
      if (thrown === undefined) log('warn', `refused ${more === 0 ? 'an upgrade' : `${more} more, the last`}: ${line}`);
      else log('error', `an upgrade request could not be judged${more === 0 ? '' : `, the last of ${more} more`}`, thrown.error);
    });
  }

  /** Logs the counts now, because the server has closed. */
  close(): void {
    this.#log.close();
  }
}

/** The path of a request, without its query, which may hold a token. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}
