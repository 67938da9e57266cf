import { noop } from 'rxjs';
import type { PeerServer } from '../acceptor/peer-server.js';
import { messageOf } from '../stream/end.js';
import { SocketState } from './handler-socket.js';
import { RequestServer } from './requests.js';
import type { ServeOptions } from './requests.js';

/** The part of a crossws `Peer` that this library uses. */
export interface CrosswsPeer {
  /** The `context` that the hook `upgrade` has returned. */
  readonly context: object;
  /** Bytes that were sent and have not left yet; 0 where the adapter does not know them. */
  readonly bufferedAmount?: number;
  /** Sends one message. */
  send(data: unknown): unknown;
  /** Begins the close handshake. */
  close(code?: number, reason?: string): void;
  /** Ends the socket without a handshake. */
  terminate(): void;
}

/** The part of a crossws `Message` that this library uses. */
export interface CrosswsMessage {
  /** Text or bytes, as the adapter received them. */
  readonly rawData: unknown;
  /** Returns the bytes of the message. */
  uint8Array(): Uint8Array;
}

/** Hooks of crossws. `defineWebSocketHandler` of Nitro and H3, and the option `hooks` of crossws, take them. */
export interface CrosswsHooks {
  /** Judges a request: returns the answer of a refused one, or the headers of an upgrade. */
  upgrade(request: Request): Promise<
    | Response
    | {
        /** Header lines of the answer. */
        headers: Record<string, string>;
        /** Becomes part of the peer's context. */
        context: Record<string, unknown>;
      }
  >;
  /** A socket has opened. */
  open(peer: CrosswsPeer): void;
  /** A message has arrived. */
  message(peer: CrosswsPeer, message: CrosswsMessage): void;
  /** The socket can take more. */
  drain(peer: CrosswsPeer): void;
  /** The socket has closed. */
  close(
    peer: CrosswsPeer,
    details: {
      /** The close code; missing where the socket has ended without one. */
      code?: number;
      /** The text of the close frame. */
      reason?: string;
    },
  ): void;
  /** The socket has failed. */
  error(peer: CrosswsPeer, error: unknown): void;
}

/** The peers of a server of crossws, Nitro or H3. */
export interface CrosswsMux extends PeerServer<Request> {
  /** The hooks of crossws. */
  readonly hooks: CrosswsHooks;
}

/** A request of srvx, which Nitro and H3 pass on: on Node it has the socket. */
interface NodeRequest extends Request {
  readonly runtime?: { readonly node?: { readonly req: { readonly socket: { on(event: 'error', listener: () => void): unknown } } } };
}

/** The key of a socket's state in the context, which other hooks may fill too. */
const KEY = 'rxmux';

class CrosswsMuxServer extends RequestServer implements CrosswsMux {
  readonly hooks: CrosswsHooks = {
    upgrade: async (request: NodeRequest) => {
      // crossws listens for no error before the socket is open. Unhandled, a reset by the dialer would end the process.
      request.runtime?.node?.req.socket.on('error', noop);
      const judged = await this.judge(request, null);
      if (judged instanceof Response) return judged;
      return { headers: { 'Sec-WebSocket-Protocol': this.protocol }, context: { [KEY]: new SocketState(this, judged) } };
    },
    open: (peer) => {
      const pass = (data: string | ArrayBuffer): boolean => {
        peer.send(data);
        return true;
      };
      stateOf(peer).open(peer, pass, () => peer.bufferedAmount ?? 0);
    },
    message: (peer, message) => {
      const { rawData } = message;
      stateOf(peer).transport?.heard(typeof rawData === 'string' ? rawData : message.uint8Array());
    },
    drain: (peer) => stateOf(peer).transport?.drained(),
    close: (peer, { code, reason }) => stateOf(peer).transport?.ended(code, reason),
    error: (peer, error) => {
      stateOf(peer).transport?.terminate(`the socket has failed: ${messageOf(error)}`);
    },
  };

  constructor(options: ServeOptions) {
    super(options, 'because crossws listens: pass it mux.hooks');
  }
}

function stateOf({ context }: CrosswsPeer): SocketState {
  const { [KEY]: state } = context as { readonly [KEY]?: unknown };
  if (state instanceof SocketState) return state;
  throw new TypeError('mux.hooks: expected a peer that its hook upgrade has admitted: pass all hooks to crossws');
}

/**
 * Serves peers over the sockets of crossws, which Nitro and H3 use. crossws listens and routes; this judges the upgrades (V2, V6), as
 * `serve` of `rxmux/node` does.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * const mux = serve({ handler: (payload, stream) => stream.reply(payload) });
 * export default defineWebSocketHandler(mux.hooks);   // Nitro: routes/mux.ts
 * // at a dialer of /mux: await peer.request('hi') returns 'hi'
 * ```
 */
export function serve(options: ServeOptions): CrosswsMux {
  return new CrosswsMuxServer(options);
}
