import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { fromEvent, merge } from 'rxjs';
import type { Line } from 'rxmux/inspect';
import { WebSocket, WebSocketServer } from 'ws';
import { networkText } from '../output.js';
import { envelopeOf, rawCodec } from '../raw-codec.js';
import type { RawCodec } from '../raw-codec.js';

/** The bytes in one socket that stop the other one. */
const FULL_BYTES = 1_048_576;
/** Headers of one hop (RFC 9110, 7.6.1), which are for the proxy, and headers that each handshake has of its own. */
const OF_ONE_HOP =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-(connection|authenticate|authorization)|sec-websocket-.*)$/;
/** The close code of an end that named none. No peer may send it. */
const NO_CODE = 1005;
/** Close codes of an end that said nothing. No peer may send them. */
const LOST: ReadonlySet<number> = new Set([1006, 1015]);

/** Where a proxy passes connections on to. */
export interface ProxyTarget {
  readonly url: string;
  /** Headers of each handshake, beside the dialer's own. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Hears of the connections of a proxy, which are counted from 1. */
export interface ProxyObserver {
  /** @param codec the name of the codec that the target has chosen */
  opened(c: number, codec: string): void;
  /** Receives a message in one direction. */
  passed(line: Line, bytes: number): void;
  closed(c: number): void;
  /** The target has refused the connection, or could not be reached. */
  failed(c: number, why: string): void;
}

/** A handshake of a dialer, which waits for the target's answer. */
interface Handshake {
  readonly c: number;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The subprotocol and the header lines of a target's answer. */
interface Chosen {
  readonly protocol: string;
  readonly lines: readonly string[];
}

interface Connection {
  readonly c: number;
  readonly downstream: WebSocket;
  readonly upstream: WebSocket;
  readonly codec: RawCodec | null;
}

/** Passes each connection of a server on to a target, and reports each message. */
export class TapProxy {
  readonly #chosen = new WeakMap<IncomingMessage, Chosen>();
  readonly #upgrades = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 0,
    handleProtocols: (_, request) => this.#chosen.get(request)?.protocol ?? false,
  });
  #connections = 0;

  /** @param now the clock of the lines, in ms */
  constructor(
    private readonly target: ProxyTarget,
    private readonly now: () => number,
    private readonly observer: ProxyObserver,
  ) {
    this.#upgrades.on('headers', (lines, request) => lines.push(...(this.#chosen.get(request)?.lines ?? [])));
  }

  /** Takes the handshakes of a server from here on. */
  serve(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#dial({ c: ++this.#connections, request, socket, head });
    });
  }

  #dial(handshake: Handshake): void {
    handshake.socket.on('error', () => undefined);
    try {
      this.#relay(handshake, dialled(this.target, handshake.request));
    } catch (error) {
      // `ws` does not dial with a wrong offer of subprotocols.
      this.#refuse(handshake, (error as Error).message, '400 Bad Request');
    }
  }

  /** Answers the dialer as the target does. */
  #relay(handshake: Handshake, upstream: WebSocket): void {
    const { socket } = handshake;
    const leaving = merge(fromEvent(socket, 'end'), fromEvent(socket, 'close')).subscribe(() => {
      socket.destroy();
      upstream.terminate();
    });
    let lines: readonly string[] = [];
    upstream.on('upgrade', ({ headers }) => (lines = linesOf(headers)));
    upstream.on('unexpected-response', (_, answer) => {
      this.#passRefusal(handshake, answer);
    });
    upstream.on('error', (error) => {
      if (!leaving.closed) this.#refuse(handshake, networkText(error), '502 Bad Gateway');
    });
    upstream.on('open', () => {
      // A message of the target waits until the dialer is there.
      upstream.pause();
      void rawCodec(codecOf(upstream)).then((codec) => {
        leaving.unsubscribe();
        this.#accept(handshake, upstream, codec, lines);
      });
    });
  }

  /** Reports a refusal, unless the dialer has left or heard of one. */
  #refuse({ c, socket }: Handshake, why: string, status: string): void {
    if (!socket.writable) return;
    this.observer.failed(c, why);
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }

  /** Passes on the answer of a target that refuses: why, and when to come again, are in its headers and its body. */
  #passRefusal({ c, socket }: Handshake, answer: IncomingMessage): void {
    if (!socket.writable) return;
    const { statusCode, statusMessage, headers } = answer;
    this.observer.failed(c, `HTTP ${statusCode}`);
    const head = [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...linesOf(headers), 'Connection: close'];
    socket.write(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
    answer.on('error', () => socket.destroy());
    answer.pipe(socket);
  }

  #accept(handshake: Handshake, upstream: WebSocket, codec: RawCodec | null, lines: readonly string[]): void {
    if (upstream.readyState !== WebSocket.OPEN) {
      this.#refuse(handshake, 'it closed the connection', '502 Bad Gateway');
      return;
    }
    const { c, request, socket, head } = handshake;
    this.#chosen.set(request, { protocol: upstream.protocol, lines });
    this.#upgrades.handleUpgrade(request, socket, head, (downstream) => {
      this.#join({ c, downstream, upstream, codec });
      upstream.resume();
    });
    // The dialer has left, or `ws` has refused its handshake.
    if (upstream.isPaused) upstream.terminate();
  }

  /** Passes messages on in both directions, and reports them. */
  #join({ c, downstream, upstream, codec }: Connection): void {
    const { observer, now } = this;
    const seen =
      (d: Line['d']) =>
      (data: Buffer, isBinary: boolean): void => {
        const f = codec === null ? null : envelopeOf(codec, data, isBinary);
        observer.passed({ v: 1, t: Math.round(now()), c, d, f }, data.byteLength);
      };
    observer.opened(c, codecOf(upstream));
    downstream.on('close', () => {
      observer.closed(c);
    });
    pass(downstream, upstream, seen('>'));
    pass(upstream, downstream, seen('<'));
  }
}

function codecOf({ protocol }: WebSocket): string {
  return protocol.replace(/^mux\.v1\./, '');
}

function dialled({ url, headers }: ProxyTarget, request: IncomingMessage): WebSocket {
  // A handshake has no body.
  const own = passedOn(request.headers).filter(([name]) => name !== 'content-length');
  const given = { ...Object.fromEntries(own), ...headers };
  return new WebSocket(addressed(url, request.url), offerOf(request), { headers: given, perMessageDeflate: false, maxPayload: 0 });
}

/** Returns the address of the target with the path and the query that the dialer asks for. Without one, it has the target's. */
function addressed(target: string, asked = '/'): URL {
  const url = new URL(target);
  const { pathname, search } = new URL(asked.startsWith('/') ? `ws://tap${asked}` : asked);
  if (pathname !== '/') url.pathname = pathname;
  if (search !== '') url.search = search;
  return url;
}

function offerOf({ headers }: IncomingMessage): string[] {
  const offer = (headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim());
  return offer.filter((value) => value !== '');
}

/** Returns the headers that a proxy passes on, without those that `Connection` names. */
function passedOn(headers: IncomingHttpHeaders): [name: string, value: string | string[]][] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()));
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || OF_ONE_HOP.test(name) || named.has(name) ? [] : [[name, value]],
  );
}

function linesOf(headers: IncomingHttpHeaders): readonly string[] {
  return passedOn(headers).flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}`));
}

/** Passes messages and the close on, and stops reading while the other socket is full. */
function pass(from: WebSocket, to: WebSocket, see: (data: Buffer, isBinary: boolean) => void): void {
  from.on('message', (data: Buffer, binary: boolean) => {
    see(data, binary);
    to.send(data, { binary }, () => {
      if (from.isPaused && to.bufferedAmount < FULL_BYTES) from.resume();
    });
    if (to.bufferedAmount >= FULL_BYTES) from.pause();
  });
  from.on('close', (code: number, reason: Buffer) => {
    if (LOST.has(code)) to.terminate();
    else if (code === NO_CODE) to.close();
    else to.close(code, reason);
  });
  from.on('error', () => undefined);
}
