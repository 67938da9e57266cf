import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { isObservable } from 'rxjs';
import { log } from '../logger.js';
import { checkObject, isError, oneLine, optionError, tagOf } from '../util/check.js';
import type { SparseLog } from './log.js';
import type { Refusal } from './mux-server.js';

/** An answer to an upgrade request in place of 101. */
interface HttpAnswer {
  readonly status: number;
  /** The body: one line of text for people. */
  readonly reason: string;
  /** Header lines in addition to the default ones; a line of the same name replaces the default. */
  readonly headers?: readonly HeaderLine[] | undefined;
}

export type HeaderLine = readonly [name: string, value: string];

/** Headers of every text that may quote a request: they stop browsers from rendering it as a page. */
export const PLAIN_TEXT = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' } as const;

/** When the dialer should try again after a 503, in seconds. */
export const RETRY_AFTER = '1';

/** Ignores errors of a socket that is not upgraded yet. Without a listener they would end the process. */
export function ignoreErrors(socket: Duplex): void {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

/**
 * Answers a request that will not be upgraded, and ends its connection. The caller already ignores the socket's errors. Returns `false`
 * if the dialer has left or another listener has answered.
 */
export function answerHttp(socket: Duplex, { status, reason, headers = [] }: HttpAnswer): boolean {
  if (!socket.writable) return false;
  const body = `${reason}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...withDefaults(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  // A half closed socket would stay open until the other side ends it.
  socket.once('finish', () => socket.destroy());
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]));
  return true;
}

function withDefaults(headers: readonly HeaderLine[]): readonly HeaderLine[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  return [...DEFAULT_HEADERS.filter(([name]) => !given.has(name.toLowerCase())), ...headers];
}

const DEFAULT_HEADERS: readonly HeaderLine[] = [...Object.entries(PLAIN_TEXT), ['Sec-WebSocket-Version', '13']];

function ignore(): void {
  // The socket ends too, and its end is all that callers need.
}

/**
 * Returns the lines of the HTTP headers of an option.
 *
 * @param option names the headers in errors
 * @throws TypeError for headers that Node would not send as they are
 */
export function headerLines(option: string, headers: OutgoingHttpHeaders): readonly HeaderLine[] {
  checkObject(option, headers);
  // The entries of `Headers` and of a Map are no properties, so Node would send none of them.
  if (Symbol.iterator in headers)
    throw new TypeError(
      `${option}: expected a plain object, got ${Object.prototype.toString.call(headers)}: pass Object.fromEntries(${option})`,
    );
  return Object.entries(headers).flatMap(([name, value]) => {
    validateHeaderName(name);
    return value === undefined ? [] : [value].flat().map((each): HeaderLine => [name, checkedValue(name, each)]);
  });
}

function checkedValue(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw optionError(name, 'a string or a number', value);
  const text = String(value);
  validateHeaderValue(name, text);
  return text;
}

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
class AnsweredRefusal implements Refusal {
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

/** Logs a refusal: at `warn`, or at `error` if the application failed. */
function noteRefusal(lines: SparseLog, refusal: Refusal, { status, cause, detail = '', thrown }: Objection): void {
  const line = `${String(refusal)}${detail}`;
  const periodMs = cause === 'origin' || cause === 'unjudged' ? SHORT_PERIOD_MS : PERIOD_MS;
  lines.note(`${status} ${cause}`, periodMs, (more) => {
    if (thrown === undefined) log('warn', `refused ${more === 0 ? 'an upgrade' : `${more} more, the last`}: ${line}`);
    else log('error', `an upgrade request could not be judged${more === 0 ? '' : `, the last of ${more} more`}`, thrown.error);
  });
}

/** The path of a request, without its query, which may hold a token. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

/** Refuses a request, and logs the refusal. Returns `false` if the socket has ended or was upgraded before. */
export function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  objection: Objection,
  lines: SparseLog,
  refused: (refusal: Refusal) => void,
): boolean {
  if (UPGRADED.has(socket) || !answerHttp(socket, objection)) return false;
  const refusal = new AnsweredRefusal(objection, request);
  noteRefusal(lines, refusal, objection);
  refused(refusal);
  return true;
}

/** Sockets that were upgraded here. They speak WebSocket, so an HTTP answer would be read as a frame. */
export const UPGRADED = new WeakSet<Duplex>();
