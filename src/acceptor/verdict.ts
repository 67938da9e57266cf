import { isObservable } from 'rxjs';
import type { PeerContext } from '../peer/options.js';
import { isError, optionError, tagOf } from '../util/check.js';

/** An answer to an upgrade request in place of 101. */
export interface HttpAnswer {
  readonly status: number;
  /** The body: one line of text for people. */
  readonly reason: string;
  /** Header lines in addition to the default ones; a line of the same name replaces the default. */
  readonly headers?: readonly HeaderLine[] | undefined;
}

export type HeaderLine = readonly [name: string, value: string];

/** Headers of every text that may quote a request: they stop browsers from rendering it as a page. */
export const PLAIN_TEXT = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' } as const;

const DEFAULT_HEADERS: readonly HeaderLine[] = [...Object.entries(PLAIN_TEXT), ['Sec-WebSocket-Version', '13']];

/** Adds the headers of every refusal, except those that an answer has itself. */
export function withDefaults(headers: readonly HeaderLine[]): readonly HeaderLine[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...DEFAULT_HEADERS.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
}

/** The verdict that `refuse` returns. */
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
 * The verdict of `verify` (V6). `true` or a context admits the peer. 401 asks for credentials, and `refuse` answers any other status.
 * Every other value answers 403.
 *
 * @example
 * ```ts
 * serve({ port: 8080, verify: ({ headers }) => headers.authorization === 'Bearer s3cret' || 401 });
 * // a dialer of Node without that header: ConnectError { status: 401 }
 * ```
 */
export type Verdict = boolean | 401 | 403 | UpgradeRefusal | (PeerContext & object);

/**
 * Makes the verdict that answers a status.
 *
 * @param lines returns the header lines, or throws
 * @throws TypeError for a status or a reason that is none, and what `lines` throws
 */
export function refusalOf(status: number, reason: string, lines: () => readonly HeaderLine[]): UpgradeRefusal {
  if (!isRefusalStatus(status)) throw optionError('status', 'an integer from 400 to 599', status);
  if (typeof reason !== 'string') throw optionError('reason', 'a string', reason);
  const headers = lines();
  for (const [name] of headers)
    if (FRAMING.includes(name.toLowerCase())) throw new TypeError(`headers: expected none that frames the answer, got ${name}`);
  const refusal: Branded = { status, reason, headers, [BRAND]: true };
  return refusal;
}

/** Headers that determine where the answer ends. */
const FRAMING = ['connection', 'content-length', 'transfer-encoding'];

/**
 * Returns the answer that `verify` chose by `refuse`, or `null` for a context.
 *
 * @throws the verdict where it is an error, and TypeError where it is no context
 */
export function answerOf(verdict: object): HttpAnswer | null {
  if (BRAND in verdict) return verdict as Branded;
  // None of these says yes: a query that finds no user returns an empty list, and an error may be returned in place of thrown.
  if (isError(verdict)) throw verdict;
  if (Array.isArray(verdict)) throw new TypeError('verify: expected an object for the context, got an array');
  if (isObservable(verdict)) throw new TypeError('verify: expected a promise, got an Observable: return firstValueFrom(…)');
  if ('next' in verdict && (Symbol.iterator in verdict || Symbol.asyncIterator in verdict))
    throw new TypeError('verify: expected an object for the context, got an iterator, such as a generator that has not run');
  const tag = tagOf(verdict);
  if (BOXES.has(tag)) throw new TypeError(`verify: expected a boolean or an object for the context, got an object around a ${tag}`);
  // A refusal in the wrong form must not let the dialer in.
  if ('headers' in verdict && 'status' in verdict && isRefusalStatus(verdict.status))
    throw new TypeError(`verify: expected refuse(${verdict.status}, headers), got an object with a status and headers`);
  return null;
}

/** Objects around a primitive, such as `Object(false)`, which is truthy. */
const BOXES = new Set(['Boolean', 'Number', 'String', 'BigInt', 'Symbol']);

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

function isRefusalStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;
}

/** Causes of a refusal. Refusals with the same cause share log lines. */
export type Cause = 'codec' | 'draining' | 'handshake' | 'limit' | 'origin' | 'path' | 'time-out' | 'unjudged' | 'verify';

/** Why the server refuses an upgrade, and the answer it sends. */
export interface Objection extends HttpAnswer {
  readonly cause: Cause;
  /** Text that the log adds to the reason. */
  readonly detail?: string;
  /** Holds the error that the application threw. */
  readonly thrown?: { readonly error: unknown };
}
