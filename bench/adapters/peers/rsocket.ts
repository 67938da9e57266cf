import { once } from 'node:events';
import { JsonSerializers, RSocketClient, RSocketServer } from 'rsocket-core';
import { Flowable, Single } from 'rsocket-flowable';
import WebSocketClient from 'rsocket-websocket-client';
import WebSocketTransport from 'rsocket-websocket-server';
import { WebSocket, WebSocketServer } from 'ws';
import type { Adapter, StreamAsk } from '../../harness/adapter.js';
import { portOf } from '../port.js';

/** Items that the client asks for at a time. */
const CREDIT = 4_096;

function flow(items: Iterable<unknown> | null): Flowable<{ data: unknown }> {
  return new Flowable((subscriber) => {
    const iterator = items?.[Symbol.iterator]();
    let wanted = 0;
    let running = false;
    const run = (): void => {
      if (running || iterator === undefined) return;
      running = true;
      while (wanted > 0) {
        const { done, value } = iterator.next() as IteratorResult<unknown, undefined>;
        if (done === true) {
          wanted = -1;
          subscriber.onComplete();
          return;
        }
        wanted--;
        subscriber.onNext({ data: value });
      }
      running = false;
    };
    subscriber.onSubscribe({
      cancel: () => {
        wanted = -1;
      },
      request: (n) => {
        wanted += n;
        run();
      },
    });
  });
}

/** Requests are request/response, streams are request/stream with 4 096 items of credit. */
export const adapter: Adapter = {
  limits: () => ({}),
  async listen(service) {
    let made: WebSocketServer | undefined;
    const transport = new WebSocketTransport.default({ host: '127.0.0.1', port: 0, perMessageDeflate: false }, undefined, (options) => {
      made = new WebSocketServer(options);
      return made as never;
    });
    const server = new RSocketServer({
      serializers: JsonSerializers,
      transport,
      getRequestHandler: () => ({
        requestResponse: ({ data }) => Single.of({ data: service.answer(data) }),
        requestStream: ({ data }) => flow(service.items(data as StreamAsk)),
      }),
    });
    server.start();
    if (made === undefined) throw new Error('expected the server to listen at once');
    await once(made, 'listening');
    return {
      port: portOf(made.address()),
      close: () => {
        server.stop();
      },
    };
  },
  async connect(port) {
    const client = new RSocketClient({
      serializers: JsonSerializers,
      setup: { dataMimeType: 'application/json', metadataMimeType: 'application/json', keepAlive: 20_000, lifetime: 180_000 },
      transport: new WebSocketClient.default({
        url: `ws://127.0.0.1:${port}`,
        wsCreator: (url) => new WebSocket(url, { perMessageDeflate: false, maxPayload: 2 ** 30 }) as unknown as globalThis.WebSocket,
      }),
    });
    const socket = await client.connect();
    return {
      request: (data) =>
        new Promise((resolve, reject) => {
          socket.requestResponse({ data }).subscribe({
            onComplete: (payload) => {
              resolve(payload.data);
            },
            onError: reject,
          });
        }),
      stream: (data, sink) => {
        let wanted = CREDIT;
        let more: (n: number) => void = () => undefined;
        socket.requestStream({ data }).subscribe({
          onSubscribe: ({ request }) => {
            more = request;
            request(CREDIT);
          },
          onNext: ({ data: item }) => {
            sink.next(item);
            if (--wanted > CREDIT / 2) return;
            wanted += CREDIT / 2;
            more(CREDIT / 2);
          },
          onComplete: sink.complete,
          onError: sink.error,
        });
      },
      close: () => {
        client.close();
      },
    };
  },
};
