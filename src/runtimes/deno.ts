import { NEVER, Subscription } from 'rxjs';
import type { PeerServer } from '../acceptor/peer-server.js';
import { messageOf } from '../stream/end.js';
import type { SocketLike } from '../transport/transport.js';
import { optionError } from '../util/check.js';
import { RequestServer } from './requests.js';
import type { ServeOptions } from './requests.js';
import { ServedTransport } from './served-transport.js';

/** The part of Deno's `ServeHandlerInfo` that this library uses. */
export interface DenoServeInfo {
  /** The other end of the connection: an object with `hostname`, unless it is a Unix socket. */
  readonly remoteAddr: object;
}

/** The peers of a server of Deno. */
export interface DenoMux extends PeerServer<Request> {
  /**
   * Answers a request in the handler of `Deno.serve`: upgrades it, or refuses it with the statuses of `serve`. An ordinary request gets 426,
   * and 503 while the server drains.
   */
  readonly fetch: (request: Request, info?: DenoServeInfo) => Promise<Response>;
}

/** The part of the namespace `Deno` that this library uses. */
interface DenoRuntime {
  upgradeWebSocket(request: Request, options: { protocol: string; idleTimeout: number }): { socket: SocketLike; response: Response };
}

/** Deno cannot end a connection whose remote does not answer the close, so it keeps its place until it has ended. */
class DenoTransport extends ServedTransport {
  readonly #held = new Subscription();

  constructor(socket: SocketLike, selected: string) {
    super(socket, selected);
    socket.addEventListener('close', () => {
      this.#held.unsubscribe();
    });
  }

  whenReleased(task: () => void): void {
    this.#held.add(task);
  }
}

class DenoMuxServer extends RequestServer implements DenoMux {
  constructor(options: ServeOptions) {
    super(options, 'because Deno.serve listens: pass it mux.fetch');
  }

  readonly fetch = async (request: Request, info?: DenoServeInfo): Promise<Response> => {
    const deno = denoRuntime();
    // Deno warns of each program that reads `request.signal`.
    const judged = await this.judge(request, addressIn(info), NEVER);
    if (judged instanceof Response) return judged;
    try {
      // The keepalive of the peers ends dead connections.
      const { socket, response } = deno.upgradeWebSocket(request, { protocol: this.protocol, idleTimeout: 0 });
      // Where the dialer leaves before, the socket never opens, and reports no end.
      socket.addEventListener('open', () => {
        this.take(judged, new DenoTransport(socket, this.protocol));
      });
      return response;
    } catch (error) {
      return this.fail(judged, messageOf(error));
    }
  };
}

function denoRuntime(): DenoRuntime {
  const { Deno: deno } = globalThis as { readonly Deno?: Partial<DenoRuntime> };
  if (typeof deno?.upgradeWebSocket !== 'function') throw optionError('Deno', 'a runtime with Deno.upgradeWebSocket', deno);
  return deno as DenoRuntime;
}

function addressIn(info: DenoServeInfo | undefined): string | null {
  const { remoteAddr = {} } = info ?? {};
  return 'hostname' in remoteAddr && typeof remoteAddr.hostname === 'string' ? remoteAddr.hostname : null;
}

/**
 * Serves peers over the sockets of a `Deno.serve` of yours. Deno listens and routes; this judges the upgrades (V2, V6), as `serve` of
 * `rxmux/node` does.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * const mux = serve({ handler: (payload, stream) => stream.reply(payload) });
 * const { addr } = Deno.serve({ port: 0 }, mux.fetch);
 * // at a dialer: await connect(`ws://localhost:${addr.port}`).request('hi') returns 'hi'
 * ```
 */
export function serve(options: ServeOptions): DenoMux {
  return new DenoMuxServer(options);
}
