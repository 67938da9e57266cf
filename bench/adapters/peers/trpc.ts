import { once } from 'node:events';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { WebSocket, WebSocketServer } from 'ws';
import type { Adapter, Service, StreamAsk } from '../../harness/adapter.js';
import { portOf } from '../port.js';

const { procedure, router } = initTRPC.create();

function routerOf(service: Service) {
  return router({
    answer: procedure.input((payload: unknown) => payload).query(({ input }) => service.answer(input)),
    items: procedure
      .input((ask: unknown) => ask as StreamAsk)
      .subscription(async function* ({ input, signal }) {
        const items = service.items(input);
        if (items !== null) yield* items;
        else await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      }),
  });
}

/** Requests are queries, streams are subscriptions over an async generator. */
export const adapter: Adapter = {
  limits: () => ({}),
  async listen(service) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    applyWSSHandler({ wss: server, router: routerOf(service) });
    await once(server, 'listening');
    return { port: portOf(server.address()), close: () => server.close() };
  },
  async connect(port) {
    let opened = (): void => undefined;
    const open = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const socket = createWSClient({
      url: `ws://127.0.0.1:${port}`,
      WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
      onOpen: () => {
        opened();
      },
    });
    const client = createTRPCClient<ReturnType<typeof routerOf>>({ links: [wsLink({ client: socket })] });
    await open;
    return {
      request: (payload) => client.answer.query(payload),
      stream: (ask, { next, error, complete }) => {
        client.items.subscribe(ask, { onData: next, onError: error, onComplete: complete });
      },
      close: () => socket.close(),
    };
  },
};
