import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Asked } from '../acceptor/origin.js';
import { refused } from '../acceptor/refusals.js';
import type { SparseLog } from '../acceptor/sparse-log.js';
import { REFUSED_BY_VERIFY, refusalOf, withDefaults } from '../acceptor/verdict.js';
import type { HeaderLine, HttpAnswer, Objection, UpgradeRefusal } from '../acceptor/verdict.js';
import { checkObject, optionError } from '../util/check.js';
import type { Refusal } from './mux-server.js';

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
  return refusalOf(status, reason, () => headerLines('headers', headers));
}

/** The target of a request may be a whole address (RFC 9112 §3.2.2). */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\/[^/?]*/i;

/** The path of a request, without its query, which may hold a token. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(ADDRESS, '').split('?', 1)[0] || '/';
}

/** Reads the facts of a request of Node's server. */
export function askedBy(request: IncomingMessage): Asked<IncomingMessage> {
  const { origin, host, 'sec-websocket-protocol': offered } = request.headers;
  return { request, path: pathOf(request), offered, origin, host, remoteAddress: request.socket.remoteAddress };
}

/** Refuses a request, and logs the refusal. Returns `false` if the socket has ended or was upgraded before. */
export function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  objection: Objection,
  lines: SparseLog,
  seen: (refusal: Refusal) => void,
): boolean {
  if (UPGRADED.has(socket) || !answerHttp(socket, objection)) return false;
  seen(refused(askedBy(request), objection, lines));
  return true;
}

/** Sockets that were upgraded here. They speak WebSocket, so an HTTP answer would be read as a frame. */
export const UPGRADED = new WeakSet<Duplex>();
