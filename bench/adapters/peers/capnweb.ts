import { once } from 'node:events';
import { newWebSocketRpcSession, RpcTarget } from 'capnweb';
import { WebSocket, WebSocketServer } from 'ws';
import type { Adapter, Needs, Service, StreamAsk } from '../../harness/adapter.js';
import { portOf } from '../port.js';

const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

function raised({ payloadBytes = 0 }: Needs): { maxMessageSize?: number } {
  return payloadBytes + 1_024 > DEFAULT_MAX_BYTES ? { maxMessageSize: payloadBytes + 1_024 } : {};
}

class Main extends RpcTarget {
  readonly #service: Service;

  constructor(service: Service) {
    super();
    this.#service = service;
  }

  answer(payload: unknown): unknown {
    return this.#service.answer(payload);
  }

  items(ask: StreamAsk): ReadableStream<unknown> {
    const items = this.#service.items(ask);
    if (items === null) return new ReadableStream();
    const iterator = items[Symbol.iterator]();
    return new ReadableStream({
      pull(controller) {
        const { done, value } = iterator.next() as IteratorResult<unknown, undefined>;
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
  }
}

// The library compares with constants of the platform's WebSocket, which Node 20 does not have.
globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;

/** Requests are calls, streams are calls that return a ReadableStream. */
export const adapter: Adapter = {
  limits: raised,
  async listen(service, needs) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    server.on('connection', (ws) => {
      newWebSocketRpcSession(ws as unknown as globalThis.WebSocket, new Main(service), { limits: raised(needs) });
    });
    await once(server, 'listening');
    return { port: portOf(server.address()), close: () => server.close() };
  },
  async connect(port, needs) {
    const ws = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    await once(ws, 'open');
    const main = newWebSocketRpcSession<Main>(ws as unknown as globalThis.WebSocket, undefined, { limits: raised(needs) });
    return {
      request: (payload) => Promise.resolve(main.answer(payload)),
      stream: (ask, sink) => {
        readAll(main.items(ask), sink.next).then(sink.complete, sink.error);
      },
      close: () => {
        ws.close();
      },
    };
  },
};

async function readAll(items: PromiseLike<ReadableStream<unknown>>, next: (item: unknown) => void): Promise<void> {
  const reader = (await items).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) next(read.value);
}
