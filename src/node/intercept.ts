import type { EventEmitter } from 'node:events';
import type { OutgoingHttpHeaders, Server as HttpServer, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { SparseLog } from '../acceptor/sparse-log.js';
import { PLAIN_TEXT } from '../acceptor/verdict.js';
import type { HttpAnswer } from '../acceptor/verdict.js';
import { log } from '../logger.js';
import { answerHttp } from './refusal.js';

/**
 * Shows each event of a server to `take` before the server's listeners, which do not receive an event that `take` has taken. Returns a
 * function that undoes this.
 */
export function intercept(server: EventEmitter, take: (event: string | symbol, args: readonly unknown[]) => boolean): () => void {
  const own = Object.getOwnPropertyDescriptor(server, 'emit');
  // Looked up at each event: a tool may replace the method of all servers later.
  const before = (): Pick<EventEmitter, 'emit'> =>
    own === undefined ? (Object.getPrototypeOf(server) as EventEmitter) : { emit: own.value as EventEmitter['emit'] };
  let isOn = true;
  const emitting = (event: string | symbol, ...args: unknown[]): boolean =>
    (isOn && take(event, args)) || before().emit.call(server, event, ...args);
  server.emit = emitting;
  return () => {
    isOn = false;
    // A later wrapper still calls this one.
    if (server.emit !== emitting) return;
    if (own === undefined) Reflect.deleteProperty(server, 'emit');
    else Object.defineProperty(server, 'emit', own);
  };
}

/** Answers an ordinary request with a line of text. */
export function answerOrdinary(response: ServerResponse, { status, reason, headers = [] }: HttpAnswer, own: OutgoingHttpHeaders): void {
  response.writeHead(status, { ...PLAIN_TEXT, ...own, ...Object.fromEntries(headers) }).end(`${reason}\n`);
}

/** Version 1 of the PROXY protocol is a line of text. Version 2 begins with a line break, which no request has before its method. */
const PROXY_HEADERS = ['PROXY ', '\r\n\r\n\0\r\nQUIT\n'];
/** Says how a proxy passes on the client's address without a PROXY header. */
export const INSTEAD_OF_PROXY_HEADER =
  "rxmux reads no PROXY protocol. Add X-Forwarded-For at the proxy (HAProxy: 'option forwardfor', no 'send-proxy'), and set trustProxy";
const PERIOD_MS = 60_000;

/** Names the PROXY protocol to a proxy that speaks it, and in the log. To Node's parser it is any bad request. */
export function nameProxyHeaders(server: HttpServer | HttpsServer, lines: SparseLog): void {
  intercept(server, (event, args) => {
    if (event !== 'clientError') return false;
    const [{ rawPacket }, socket] = args as [{ readonly rawPacket?: Buffer }, Duplex];
    if (!beginsWithProxyHeader(rawPacket)) return false;
    lines.note('PROXY protocol', PERIOD_MS, (more) => {
      log('warn', `refused ${more === 0 ? 'a connection' : `${more} more`} with a PROXY header: ${INSTEAD_OF_PROXY_HEADER}`);
    });
    answerHttp(socket, { status: 400, reason: 'this server does not read the PROXY protocol' });
    return true;
  });
}

function beginsWithProxyHeader(packet: Buffer | undefined): boolean {
  return PROXY_HEADERS.some((header) => packet?.subarray(0, header.length).equals(Buffer.from(header, 'latin1')) === true);
}
