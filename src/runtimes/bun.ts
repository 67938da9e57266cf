import type { PeerServer } from '../acceptor/peer-server.js';
import { optionError } from '../util/check.js';
import { SocketState } from './handler-socket.js';
import { RequestServer } from './requests.js';
import type { ServeOptions } from './requests.js';

/** The part of Bun's `Server` that this library uses. */
export interface BunServer {
  /** Upgrades a request, and passes `data` to the socket. Returns `false` for a request that is no valid handshake. */
  upgrade(
    request: Request,
    options: {
      /** Header lines of the answer. */
      headers: Record<string, string>;
      /** The `data` of the socket. */
      data: BunSocketData;
    },
  ): boolean;
  /** Returns the address of a request's connection. */
  requestIP(request: Request): {
    /** The address, without the port. */
    address: string;
  } | null;
}

/** The part of Bun's `ServerWebSocket` that this library uses. */
export interface BunSocket {
  /** The data that `mux.fetch` has passed to `server.upgrade`. */
  readonly data: BunSocketData;
  /** The form of arriving bytes. The library sets `'arraybuffer'`. */
  binaryType?: string | undefined;
  /** Returns the bytes that were sent, -1 if they wait, and 0 if they were dropped. */
  send(data: string | ArrayBuffer): number;
  /** Begins the close handshake. */
  close(code?: number, reason?: string): void;
  /** Ends the socket without a handshake. */
  terminate(): void;
  /** Returns the bytes that wait in the socket. */
  getBufferedAmount(): number;
}

/** The `data` of a socket that `mux.fetch` has upgraded. Sockets of your own have other data, without `rxmux`. */
export interface BunSocketData {
  /** The peer's state, for the handlers of `mux.websocket`. */
  readonly rxmux: object;
}

/** The option `websocket` of `Bun.serve`: the handlers of sockets, and how Bun treats their bytes. */
export interface BunWebSocketHandlers {
  /** A socket has opened. */
  open(ws: BunSocket): void;
  /** A message has arrived. */
  message(ws: BunSocket, message: string | ArrayBuffer | Uint8Array): void;
  /** The socket can take more. */
  drain(ws: BunSocket): void;
  /** The socket has closed. */
  close(ws: BunSocket, code: number, reason: string): void;
  /** Bytes of one received message at most: `limits.maxMessageBytes`, or 2 GiB less one byte. */
  readonly maxPayloadLength: number;
  /** Bytes that wait in one socket before Bun drops messages. The library waits for room long before: 2 GiB less one byte. */
  readonly backpressureLimit: number;
  /** 0: the keepalive of the peers ends dead connections. */
  readonly idleTimeout: number;
  /** `false`: the peers ping. */
  readonly sendPings: boolean;
  /** `false`: frames are not compressed. */
  readonly perMessageDeflate: boolean;
}

/** The peers of a server of Bun. */
export interface BunMux extends PeerServer<Request> {
  /**
   * Answers a request in the `fetch` of `Bun.serve`: upgrades it, or refuses it with the statuses of `serve`. An ordinary request gets 426,
   * and 503 while the server drains.
   *
   * @returns `undefined` for an upgraded request, as Bun expects
   */
  readonly fetch: (request: Request, server: BunServer) => Promise<Response | undefined>;
  /** Pass it to `Bun.serve` as `websocket`. */
  readonly websocket: BunWebSocketHandlers;
}

/** Bun keeps sizes as integers of 32 bits. */
const NO_LIMIT = 2 ** 31 - 1;

class BunMuxServer extends RequestServer implements BunMux {
  readonly websocket: BunWebSocketHandlers = {
    open: (ws) => {
      ws.binaryType = 'arraybuffer';
      stateOf(ws).open(
        ws,
        (data) => ws.send(data) !== 0,
        () => ws.getBufferedAmount(),
      );
    },
    message: (ws, message) => stateOf(ws).transport?.heard(message),
    drain: (ws) => stateOf(ws).transport?.drained(),
    close: (ws, code, reason) => stateOf(ws).transport?.ended(code, reason),
    maxPayloadLength: Math.floor(Math.min(this.maxMessageBytes, NO_LIMIT)),
    backpressureLimit: NO_LIMIT,
    idleTimeout: 0,
    sendPings: false,
    perMessageDeflate: false,
  };

  constructor(options: ServeOptions) {
    super(options, 'because Bun.serve listens: pass it mux.fetch and mux.websocket');
  }

  readonly fetch = async (request: Request, server: BunServer): Promise<Response | undefined> => {
    if (typeof (server as Partial<BunServer> | undefined)?.upgrade !== 'function')
      throw optionError('server', "Bun's server, the second argument of fetch", server);
    const judged = await this.judge(request, server.requestIP(request)?.address ?? null);
    if (judged instanceof Response) return judged;
    const headers = { 'Sec-WebSocket-Protocol': this.protocol };
    if (server.upgrade(request, { headers, data: { rxmux: new SocketState(this, judged) } })) return undefined;
    return this.fail(judged, 'expected a valid WebSocket handshake');
  };
}

/** One `Bun.serve` has one `websocket` for the sockets of all its muxes, so the state of a socket knows its mux. */
function stateOf({ data }: BunSocket): SocketState {
  const state = (data as Partial<BunSocketData> | undefined)?.rxmux;
  if (state instanceof SocketState) return state;
  throw new TypeError("mux.websocket: expected a socket that mux.fetch has upgraded: call it only where 'rxmux' in ws.data");
}

/**
 * Serves peers over the sockets of a `Bun.serve` of yours. Bun listens and routes; this judges the upgrades (V2, V6), as `serve` of
 * `rxmux/node` does.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * const mux = serve({ handler: (payload, stream) => stream.reply(payload) });
 * const { port } = Bun.serve({ port: 0, fetch: mux.fetch, websocket: mux.websocket });
 * // at a dialer: await connect(`ws://localhost:${port}`).request('hi') returns 'hi'
 * ```
 */
export function serve(options: ServeOptions): BunMux {
  return new BunMuxServer(options);
}
