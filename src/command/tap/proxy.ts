import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Line } from 'rxmux/inspect';
import { WebSocket, WebSocketServer } from 'ws';
import { rawCodec } from '../raw-codec.js';
import type { RawCodec } from '../raw-codec.js';

/** A socket that holds so many bytes stops the other one. */
const FULL_BYTES = 1_048_576;
/** Headers of one hop, which the proxy's own handshake makes anew. */
const OF_ONE_HOP = /^(host|connection|upgrade|sec-websocket-.*)$/;
/** Close codes that no peer may send. */
const NEVER_SENT: ReadonlySet<number> = new Set([1005, 1006, 1015]);

/** Hears of the connections of a proxy, which are counted from 1. */
export interface ProxyObserver {
  opened(c: number): void;
  /** Receives a message in one direction. */
  passed(line: Line, bytes: number): void;
  closed(c: number): void;
  /** The target has refused the connection, or could not be reached. */
  failed(c: number, why: string): void;
}

/** Passes each connection to `server` on to `target`, and reports each message. `now` is the clock of the lines, in ms. */
export function passOn(
  server: Server,
  target: string,
  headers: Readonly<Record<string, string>>,
  now: () => number,
  observer: ProxyObserver,
): void {
  const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 0 });
  let connections = 0;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const c = ++connections;
    const upstream = dialled(target, offerOf(request), { ...passedOn(request.headers), ...headers });
    const fail = (why: string, status: string): void => {
      observer.failed(c, why);
      if (!socket.destroyed) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    };
    socket.on('error', () => {
      upstream.terminate();
    });
    upstream.on('unexpected-response', (_, { statusCode, statusMessage }) => {
      fail(`HTTP ${statusCode}`, `${statusCode} ${statusMessage}`);
    });
    upstream.on('error', ({ message }) => {
      fail(message, '502 Bad Gateway');
    });
    upstream.on('open', () => {
      // A message of the target waits until the dialer is there.
      upstream.pause();
      void rawCodec(upstream.protocol.replace(/^mux\.v1\./, '')).then((codec) => {
        upgrades.options.handleProtocols = () => upstream.protocol;
        upgrades.handleUpgrade(request, socket, head, (downstream) => {
          join({ c, downstream, upstream, codec }, now, observer);
          upstream.resume();
        });
      });
    });
  });
}

interface Connection {
  readonly c: number;
  readonly downstream: WebSocket;
  readonly upstream: WebSocket;
  readonly codec: RawCodec | null;
}

/** Passes messages on in both directions, and reports them. */
function join({ c, downstream, upstream, codec }: Connection, now: () => number, observer: ProxyObserver): void {
  const see = (d: Line['d'], data: Buffer): void => {
    observer.passed({ v: 1, t: Math.round(now()), c, d, f: codec === null ? null : decoded(codec, data) }, data.byteLength);
  };
  observer.opened(c);
  downstream.on('close', () => {
    observer.closed(c);
  });
  pass(downstream, upstream, (data) => see('>', data));
  pass(upstream, downstream, (data) => see('<', data));
}

function offerOf({ headers }: IncomingMessage): readonly string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim());
}

function dialled(target: string, offer: readonly string[], headers: Readonly<Record<string, string>>): WebSocket {
  return new WebSocket(
    target,
    offer.filter((value) => value !== ''),
    { headers, perMessageDeflate: false, maxPayload: 0 },
  );
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (OF_ONE_HOP.test(name) ? [] : [[name, String(value)]])));
}

/** Passes messages and the close on, and stops reading while the other socket is full. */
function pass(from: WebSocket, to: WebSocket, see: (data: Buffer) => void): void {
  from.on('message', (data: Buffer, binary: boolean) => {
    see(data);
    to.send(data, { binary }, () => {
      if (from.isPaused && to.bufferedAmount < FULL_BYTES) from.resume();
    });
    if (to.bufferedAmount >= FULL_BYTES) from.pause();
  });
  from.on('close', (code: number, reason: Buffer) => {
    if (NEVER_SENT.has(code)) to.terminate();
    else to.close(code, reason);
  });
  from.on('error', () => undefined);
}

function decoded(codec: RawCodec, data: Buffer): Line['f'] {
  try {
    return codec.decode(codec.binary ? data : data.toString()) as Line['f'];
  } catch {
    return null;
  }
}
