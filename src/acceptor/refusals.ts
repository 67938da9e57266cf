import { log } from '../logger.js';
import { oneLine } from '../util/check.js';
import type { Asked } from './origin.js';
import type { SparseLog } from './sparse-log.js';
import type { HttpAnswer, Objection } from './verdict.js';

/** An upgrade request with another answer than 101. It prints, and goes into JSON, as one line without headers. */
export interface RefusalOf<Q> {
  /** The HTTP status: 400, 401, 403, 404, 500, 503, or the one of `refuse` (V2, V6). */
  readonly status: number;
  /** The line of text in the answer, written for people. */
  readonly reason: string;
  /** The request, cookies included. It has been answered. */
  readonly request: Q;
  /** For example `404 /other: nothing answers at /other`. The path omits the query, which may hold a token. */
  toString(): string;
}

/** The log has one line a cause in this period, in ms. */
const PERIOD_MS = 60_000;
/** The period for causes that a developer fixes by trial and error: an origin, an error of `verify`. */
const SHORT_PERIOD_MS = 1_000;
/** The most characters of a reason in a line, since an application may choose the reason. */
const MOST_REASON = 400;

/** A {@link Refusal}. Its request is not enumerable, so that the headers are not printed or copied by accident. */
class AnsweredRefusal<Q> implements RefusalOf<Q> {
  readonly status: number;
  readonly reason: string;
  declare readonly request: Q;
  declare readonly path: string;

  constructor({ status, reason }: HttpAnswer, { request, path }: Asked<Q>) {
    this.status = status;
    this.reason = reason;
    Object.defineProperty(this, 'request', { value: request });
    Object.defineProperty(this, 'path', { value: path });
  }

  toString(): string {
    return `${this.status} ${oneLine(this.path)}: ${oneLine(this.reason, MOST_REASON)}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString();
  }
}

/** Logs the refusal of a request at `warn`, or at `error` if the application failed. Returns the refusal. */
export function refused<Q>(asked: Asked<Q>, objection: Objection, lines: SparseLog): RefusalOf<Q> {
  const { status, cause, detail = '', thrown } = objection;
  const refusal = new AnsweredRefusal(objection, asked);
  const line = `${String(refusal)}${detail}`;
  const periodMs = cause === 'origin' || cause === 'unjudged' ? SHORT_PERIOD_MS : PERIOD_MS;
  lines.note(`${status} ${cause}`, periodMs, (more) => {
    if (thrown === undefined) log('warn', `refused ${more === 0 ? 'an upgrade' : `${more} more, the last`}: ${line}`);
    else log('error', `an upgrade request could not be judged${more === 0 ? '' : `, the last of ${more} more`}`, thrown.error);
  });
  return refusal;
}
