import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { fromEvent, merge } from 'rxjs';
import type { Line } from 'rxmux/inspect';
import { WebSocket, WebSocketServer } from 'ws';
import { envelopeOf, rawCodec } from '../raw-codec.js';
import type { RawCodec } from '../raw-codec.js';

/** A socket that holds so many bytes stops the other one. */
const FULL_BYTES = 1_048_576;
/** Headers of one hop, which the proxy's own handshake makes anew. */
const OF_ONE_HOP = /^(host|connection|upgrade|sec-websocket-.*)$/;
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
  opened(c: number): void;
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

interface Connection {
  readonly c: number;
  readonly downstream: WebSocket;
  readonly upstream: WebSocket;
  readonly codec: RawCodec | null;
}

/** Passes each connection of a server on to a target, and reports each message. */
export class TapProxy {
  readonly #chosen = new WeakMap<IncomingMessage, string>();
  readonly #upgrades = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 0,
    handleProtocols: (_, request) => this.#chosen.get(request) ?? false,
  });
  #connections = 0;

  /** @param now the clock of the lines, in ms */
  constructor(
    private readonly target: ProxyTarget,
    private readonly now: () => number,
    private readonly observer: ProxyObserver,
  ) {}

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
    upstream.on('unexpected-response', (_, { statusCode, statusMessage }) => {
      this.#refuse(handshake, `HTTP ${statusCode}`, `${statusCode} ${statusMessage}`);
      upstream.terminate();
    });
    upstream.on('error', ({ message }) => {
      if (!leaving.closed) this.#refuse(handshake, message, '502 Bad Gateway');
    });
    upstream.on('open', () => {
      // A message of the target waits until the dialer is there.
      upstream.pause();
      void rawCodec(upstream.protocol.replace(/^mux\.v1\./, '')).then((codec) => {
        leaving.unsubscribe();
        this.#accept(handshake, upstream, codec);
      });
    });
  }

  /** Reports a refusal, unless the dialer has left or heard of one. */
  #refuse({ c, socket }: Handshake, why: string, status: string): void {
    if (!socket.writable) return;
    this.observer.failed(c, why);
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }

  #accept(handshake: Handshake, upstream: WebSocket, codec: RawCodec | null): void {
    if (upstream.readyState !== WebSocket.OPEN) {
      this.#refuse(handshake, 'it closed the connection', '502 Bad Gateway');
      return;
    }
    const { c, request, socket, head } = handshake;
    let isJoined = false;
    this.#chosen.set(request, upstream.protocol);
    this.#upgrades.handleUpgrade(request, socket, head, (downstream) => {
      this.#join({ c, downstream, upstream, codec });
      isJoined = true;
    });
    if (isJoined) upstream.resume();
    // The dialer has left, or `ws` has refused its handshake.
    else upstream.terminate();
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
    observer.opened(c);
    downstream.on('close', () => {
      observer.closed(c);
    });
    pass(downstream, upstream, seen('>'));
    pass(upstream, downstream, seen('<'));
  }
}

function dialled({ url, headers }: ProxyTarget, request: IncomingMessage): WebSocket {
  const given = { ...passedOn(request.headers), ...headers };
  return new WebSocket(url, offerOf(request), { headers: given, perMessageDeflate: false, maxPayload: 0 });
}

function offerOf({ headers }: IncomingMessage): string[] {
  const offer = (headers['sec-websocket-protocol'] ?? '').split(',').map((value) => value.trim());
  return offer.filter((value) => value !== '');
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (OF_ONE_HOP.test(name) ? [] : [[name, String(value)]])));
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
