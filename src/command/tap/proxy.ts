import { createServer } from 'node:http';
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

/** Returns a server that passes each connection on to `target`, and reports each message. */
export function proxyTo(target: string, headers: Readonly<Record<string, string>>, report: (line: Line) => void): Server {
  const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 0 });
  const began = performance.now();
  let connections = 0;
  return createServer().on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const c = ++connections;
    const offer = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim());
    const upstream = dialled(target, offer, { ...passedOn(request.headers), ...headers });
    socket.on('error', () => {
      upstream.terminate();
    });
    upstream.on('unexpected-response', (_, { statusCode, statusMessage }) => {
      socket.end(`HTTP/1.1 ${statusCode} ${statusMessage}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    });
    upstream.on('error', () => {
      if (!socket.destroyed) socket.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    });
    upstream.on('open', () => {
      void rawCodec(upstream.protocol.replace(/^mux\.v1\./, '')).then((codec) => {
        const see = (d: Line['d'], data: Buffer): void => {
          report({ v: 1, t: Math.round(performance.now() - began), c, d, f: codec === null ? null : decoded(codec, data) });
        };
        upgrades.options.handleProtocols = () => upstream.protocol;
        upgrades.handleUpgrade(request, socket, head, (downstream) => {
          pass(downstream, upstream, (data) => see('>', data));
          pass(upstream, downstream, (data) => see('<', data));
        });
      });
    });
  });
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
