import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';
import type { RawData } from 'ws';
import type { Adapter, Listener, Service, StreamAsk } from '../harness/adapter.js';
import { FEED, FloorClient } from './floor-client.js';
import type { FloorMessage } from './floor-client.js';
import { portOf } from './port.js';
import { pushItems } from './push.js';

/** Far above the payloads of any workload: the floors check nothing. */
export const MAX_PAYLOAD = 2 ** 30;

export interface FloorCodec {
  readonly encode: (message: FloorMessage) => string | Uint8Array;
  readonly decode: (data: Buffer) => FloorMessage;
}

/** A floor: one message for each payload, no checks, no headers, no corking. */
export function floor(codec: FloorCodec): Adapter {
  const { encode, decode } = codec;
  return {
    limits: () => ({}),
    listen: (service) => serveFloor(codec, service),
    async connect(port) {
      const ws = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false, maxPayload: MAX_PAYLOAD });
      const client = new FloorClient(
        (message) => ws.send(encode(message)),
        () => ws.close(),
      );
      ws.on('message', (data: RawData) => {
        client.receive(decode(data as Buffer));
      });
      await once(ws, 'open');
      return client;
    },
  };
}

/** The server of the floors. */
export async function serveFloor({ encode, decode }: FloorCodec, service: Service): Promise<Listener> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, maxPayload: MAX_PAYLOAD });
  const subscribers = new Set<WebSocket>();
  service.onFeed((value) => {
    const message = encode({ id: FEED, payload: value });
    for (const ws of subscribers) ws.send(message);
  });
  server.on('connection', (ws, request) => {
    const live = new Map<number, StreamAsk>();
    ws.on('message', (data: RawData) => {
      const { id, payload, items, stop } = decode(data as Buffer);
      if (stop === true) {
        live.delete(id);
        return;
      }
      if (items === undefined) {
        ws.send(encode({ id, payload: service.answer(payload) }));
        return;
      }
      if (items.feed === true) {
        subscribers.add(ws);
        ws.on('close', () => subscribers.delete(ws));
        return;
      }
      const made = service.items(items);
      live.set(id, items);
      if (made === null) return;
      pushItems(
        made,
        request.socket,
        (item) => {
          ws.send(encode({ id, payload: item }));
        },
        () => {
          live.delete(id);
          ws.send(encode({ id, end: true }));
        },
      );
    });
  });
  await once(server, 'listening');
  return { port: portOf(server.address()), close: () => server.close() };
}
