import type { PeerServer } from '../acceptor/peer-server.js';
import type { SocketLike } from '../transport/transport.js';
import { optionError } from '../util/check.js';
import { RequestServer } from './requests.js';
import type { ServeOptions } from './requests.js';
import { ServedTransport } from './served-transport.js';

/** The peers of a Durable Object, or of a Worker. */
export interface WorkerdMux extends PeerServer<Request> {
  /**
   * Answers a request in `fetch` of a Durable Object or of a Worker: upgrades it, or refuses it with the statuses of `serve`. An ordinary
   * request gets 426, and 503 while the server drains.
   */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** The server's end of a WebSocketPair. */
interface AcceptableSocket extends SocketLike {
  accept(options?: object): void;
}

class WorkerdMuxServer extends RequestServer implements WorkerdMux {
  constructor(options: ServeOptions) {
    super(options, 'because the runtime listens: call mux.fetch in the fetch of your Durable Object or Worker');
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const pair = webSocketPair();
    const judged = await this.judge(request, request.headers.get('cf-connecting-ip'));
    if (judged instanceof Response) return judged;
    const { 0: client, 1: server } = new pair();
    server.accept();
    this.take(judged, new ServedTransport(server, this.protocol));
    const init = { status: 101, webSocket: client, headers: { 'Sec-WebSocket-Protocol': this.protocol } };
    return new Response(null, init);
  };
}

function webSocketPair(): new () => { readonly 0: SocketLike; readonly 1: AcceptableSocket } {
  const { WebSocketPair: pair } = globalThis as { readonly WebSocketPair?: ReturnType<typeof webSocketPair> };
  if (typeof pair !== 'function') throw optionError('WebSocketPair', 'a runtime that has it, such as workerd', pair);
  return pair;
}

/**
 * Serves peers over the sockets of a Durable Object, or of a Worker. The runtime listens and routes; this judges the upgrades (V2, V6), as
 * `serve` of `rxmux/node` does. A peer of a plain Worker lives alone: only a Durable Object may use the sockets of several requests.
 *
 * @throws CodecNotRegistered, and TypeError for a bad option
 *
 * @example
 * ```ts
 * export class Room extends DurableObject {
 *   readonly mux = serve({ handler: (payload, stream) => stream.reply(payload) });
 *   override fetch(request: Request) {
 *     return this.mux.fetch(request);
 *   }
 * }
 * // at a dialer of the object: await peer.request('hi') returns 'hi'
 * ```
 */
export function serve(options: ServeOptions): WorkerdMux {
  return new WorkerdMuxServer(options);
}
