import type { OutgoingHttpHeaders } from 'node:http';
import { isObservable } from 'rxjs';
import { optionError } from '../wire/check.js';
import { isError } from '../wire/cross-realm.js';
import type { HeaderLine, HttpAnswer } from './answer-http.js';
import { headerLines } from './header-lines.js';

/** The verdict that {@link refuse} returns. */
export interface UpgradeRefusal {
  /** The HTTP status, from 400 to 599. */
  readonly status: number;
  /** The line of text in the answer. */
  readonly reason: string;
  /** The header lines of the answer. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The default reason. It reveals nothing about the cause. */
export const REFUSED_BY_VERIFY = 'verify refused the request';

/**
 * Makes a verdict of `verify` that answers any HTTP status, with headers (V6).
 *
 * @param status an integer from 400 to 599
 * @param headers as for `response.writeHead` of Node; the library sets `Connection`, `Content-Length` and `Transfer-Encoding`
 * @param reason the body, a line of text for people. Default `verify refused the request`
 * @throws TypeError for another status, and for a header that HTTP cannot carry
 *
 * @example
 * ```ts
 * serve({ port: 8080, verify: ({ socket }) => hasRoom(socket.remoteAddress) || refuse(429, { 'Retry-After': 5 }) });
 * // a dialer of Node fails with ConnectError { status: 429 } while there is no room
 * ```
 */
export function refuse(status: number, headers: OutgoingHttpHeaders = {}, reason: string = REFUSED_BY_VERIFY): UpgradeRefusal {
  if (!isRefusalStatus(status)) throw optionError('status', 'an integer from 400 to 599', status);
  if (typeof reason !== 'string') throw optionError('reason', 'a string', reason);
  const refusal: Branded = { status, reason, headers: linesOf(headers), [BRAND]: true };
  return refusal;
}

/**
 * Returns the answer that `verify` chose by {@link refuse}, or `null` for a context.
 *
 * @throws the verdict where it is an error, and TypeError where it is no context
 */
export function answerOf(verdict: object): HttpAnswer | null {
  if (BRAND in verdict) return verdict as Branded;
  // None of these says yes: a query that finds no user returns an empty list, and an error may be returned in place of thrown.
  if (isError(verdict)) throw verdict;
  if (Array.isArray(verdict)) throw new TypeError('verify: expected an object for the context, got an array');
  if (isObservable(verdict)) throw new TypeError('verify: expected a promise, got an Observable: return firstValueFrom(…)');
  // A refusal in the wrong form must not let the dialer in.
  if ('headers' in verdict && 'status' in verdict && isRefusalStatus(verdict.status))
    throw new TypeError(`verify: expected refuse(${verdict.status}, headers), got an object with a status and headers`);
  return null;
}

/** Returns what `verify` has thrown, for the log: `refuse` works only where it is returned. */
export function errorOf(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null || !(BRAND in thrown)) return thrown;
  return new TypeError(`verify: expected refuse(${(thrown as Branded).status}) to be returned, got it thrown`);
}

/** Registered globally, so that every copy of this package recognizes a refusal of another copy and does not use it as a peer's context. */
const BRAND = Symbol.for('rxmux.refuse');

interface Branded extends UpgradeRefusal {
  readonly [BRAND]: true;
}

/** Headers that determine where the answer ends. */
const FRAMING = ['connection', 'content-length', 'transfer-encoding'];

function linesOf(headers: OutgoingHttpHeaders): readonly HeaderLine[] {
  const lines = headerLines('headers', headers);
  for (const [name] of lines)
    if (FRAMING.includes(name.toLowerCase())) throw new TypeError(`headers: expected none that frames the answer, got ${name}`);
  return lines;
}

function isRefusalStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;
}
