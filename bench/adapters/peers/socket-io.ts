import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import type { Adapter, Needs, Sink, StreamAsk } from '../../harness/adapter.js';
import { portOf } from '../port.js';
import { pushItems } from '../push.js';

const DEFAULT_MAX_BYTES = 1e6;

function raised({ payloadBytes = 0 }: Needs): { maxHttpBufferSize?: number } {
  return payloadBytes + 1_024 > DEFAULT_MAX_BYTES ? { maxHttpBufferSize: payloadBytes + 1_024 } : {};
}

/** Requests are emits with an acknowledgement, streams are pushed as events. */
export const adapter: Adapter = {
  limits: raised,
  async listen(service, needs) {
    const http = createServer();
    const server = new Server(http, { transports: ['websocket'], ...raised(needs) });
    service.onFeed((value) => server.to('feed').emit('feed', value));
    server.on('connection', (socket) => {
      socket.on('subscribe', () => socket.join('feed'));
      socket.on('ask', (payload: unknown, reply: (answer: unknown) => void) => {
        reply(service.answer(payload));
      });
      const live = new Map<number, StreamAsk>();
      socket.on('stream', (id: number, ask: StreamAsk) => {
        const items = service.items(ask);
        live.set(id, ask);
        if (items === null) return;
        pushItems(
          items,
          socket.request.socket,
          (item) => socket.emit('item', id, item),
          () => {
            live.delete(id);
            socket.emit('end', id);
          },
        );
      });
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return { port: portOf(http.address()), close: () => server.close() };
  },
  async connect(port) {
    const socket = io(`ws://127.0.0.1:${port}`, { transports: ['websocket'], reconnection: false, forceNew: true });
    const streams = new Map<number, Sink>();
    let last = 0;
    socket.on('item', (id: number, item: unknown) => streams.get(id)?.next(item));
    socket.on('end', (id: number) => {
      streams.get(id)?.complete();
      streams.delete(id);
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('connect_error', reject);
    });
    return {
      request: (payload) =>
        new Promise((resolve) => {
          socket.emit('ask', payload, resolve);
        }),
      stream: (ask, sink) => {
        if (ask.feed === true) {
          socket.on('feed', sink.next);
          socket.emit('subscribe');
          return;
        }
        const id = ++last;
        streams.set(id, sink);
        socket.emit('stream', id, ask);
      },
      close: () => void socket.close(),
    };
  },
};
