import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { logger } from '../logger.js';
import type { PeerContext } from '../peer/options.js';
import { upgradeWs } from '../transport/ws.js';
import type { WsTransport } from '../transport/ws.js';
import { offersFirst } from '../wire/subprotocol.js';
import { originAllowed } from './origin.js';
import type { Origins } from './origin.js';

/** What `verify` finds: `true` or a context lets the peer in, `false` and 403 forbid, 401 asks for credentials. */
export type Verdict = boolean | 401 | 403 | PeerContext;

/** How an upgrade request is judged. */
export interface Gate {
  readonly protocol: string;
  /** Bytes of one received message at most. */
  readonly maxPayload: number;
  readonly verify?: ((request: IncomingMessage) => Verdict | Promise<Verdict>) | undefined;
  readonly origins?: Origins | undefined;
  /** Whether this server takes nobody any more. */
  readonly draining: boolean;
}

/** What became of an upgrade request. */
export interface Outcome {
  accepted(transport: WsTransport, context: PeerContext): void;
  refused(status: number, reason: string): void;
}

/**
 * Judges an upgrade before it happens, and answers: 101, or the HTTP status that says what is wrong. Nothing is upgraded
 * and then closed, because a dialer could not tell that from a lost connection.
 */
export function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, gate: Gate, outcome: Outcome): void {
  const refuse = (status: number, reason: string): void => {
    respond(socket, status, reason);
    outcome.refused(status, reason);
  };
  // Without a listener a socket that fails before it is upgraded would end the process.
  socket.on('error', ignore);
  const objection = objectionTo(request, gate);
  if (objection !== null) {
    refuse(objection.status, objection.reason);
    return;
  }
  const admit = (verdict: Verdict): void => {
    if (verdict === false || verdict === 401 || verdict === 403) {
      refuse(verdict === 401 ? 401 : 403, 'verify refused the request');
      return;
    }
    const context = verdict === true ? {} : (verdict as PeerContext);
    upgradeWs(
      request,
      socket,
      head,
      gate,
      (transport) => {
        outcome.accepted(transport, context);
      },
      (reason) => {
        refuse(400, reason);
      },
    );
  };
  Promise.resolve()
    .then(() => gate.verify?.(request) ?? true)
    .then(admit)
    .catch((error: unknown) => {
      logger.error('rxmux: verify failed', error);
      refuse(500, 'verify failed');
    });
}

/** Answers a request that will not be upgraded, and ends its connection. */
export function respond(socket: Duplex, status: number, reason: string): void {
  const body = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  if (!socket.destroyed) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function objectionTo(request: IncomingMessage, gate: Gate): { readonly status: number; readonly reason: string } | null {
  if (gate.draining) return { status: 503, reason: 'this server is going away' };
  const offered = request.headers['sec-websocket-protocol'];
  if (!offersFirst(offered, gate.protocol)) {
    return {
      status: 400,
      reason: `expected the subprotocol '${gate.protocol}' in first place, got ${offered === undefined ? 'none' : `'${offered}'`}`,
    };
  }
  if (originAllowed(request, gate.origins)) return null;
  logger.warn(`rxmux: refused a page from ${String(request.headers.origin)}; name it in the option 'origins' to let it in`);
  return { status: 403, reason: 'this origin is not allowed' };
}

function ignore(): void {
  // The end of the socket says it all.
}
