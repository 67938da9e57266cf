import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { RawData } from 'ws';
import type { Adapter, StreamAsk } from '../harness/adapter.js';
import { MAX_PAYLOAD } from './floor.js';
import { FloorClient } from './floor-client.js';
import { portOf } from './port.js';
import { pushItems } from './push.js';

/** The frames of rxmux that calls without headers need. */
interface BareFrame {
  readonly stream: number;
  readonly payload: unknown;
  readonly end?: true;
}

/**
 * The wire of rxmux, written by hand over corked sockets, and nothing else. It has no limits, deadlines, cancellation, headers
 * or checks, and it cuts nothing.
 */
export const adapter: Adapter = {
  limits: () => ({}),
  async listen(service) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, maxPayload: MAX_PAYLOAD });
    server.on('connection', (ws, { socket }) => {
      const send = corked(ws, socket);
      ws.on('message', (data: RawData) => {
        const { stream, payload } = JSON.parse((data as Buffer).toString()) as BareFrame;
        const ask = askOf(payload);
        if (ask === null) {
          send(`{"type":"data","stream":${stream},"end":true,"payload":${JSON.stringify(service.answer(payload))}}`);
          return;
        }
        const items = service.items(ask);
        if (items === null) return;
        pushItems(
          items,
          socket,
          (item) => {
            send(`{"type":"data","stream":${stream},"payload":${JSON.stringify(item)}}`);
          },
          () => {
            send(`{"type":"data","stream":${stream},"end":true}`);
          },
        );
      });
    });
    await once(server, 'listening');
    return { port: portOf(server.address()), close: () => server.close() };
  },
  async connect(port) {
    const ws = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false, maxPayload: MAX_PAYLOAD });
    const [[{ socket }]] = await Promise.all([once(ws, 'upgrade') as Promise<[{ socket: Socket }]>, once(ws, 'open')]);
    const send = corked(ws, socket);
    const client = new FloorClient(
      ({ id, payload, items }) => {
        const text = JSON.stringify(items === undefined ? payload : { stream: items });
        send(`{"type":"open","stream":${2 * id - 1},"end":true,"payload":${text}}`);
      },
      () => {
        ws.close();
      },
    );
    ws.on('message', (data: RawData) => {
      const { stream, payload, end } = JSON.parse((data as Buffer).toString()) as BareFrame;
      client.receive({ id: (stream + 1) / 2, payload, ...(end === true ? { end } : {}) });
    });
    return client;
  },
};

function askOf(payload: unknown): StreamAsk | null {
  return typeof payload === 'object' && payload !== null && 'stream' in payload ? (payload.stream as StreamAsk) : null;
}

const FIRST_WRITE = 8;

/** Sends the messages of one turn in few writes: the first 8 together, then twice as many, … */
function corked(ws: WebSocket, socket: Socket): (message: string) => void {
  let isCorked = false;
  let joined = 0;
  let wanted = FIRST_WRITE;
  return (message) => {
    if (!isCorked) {
      isCorked = true;
      joined = 0;
      wanted = FIRST_WRITE;
      socket.cork();
      process.nextTick(() => {
        isCorked = false;
        socket.uncork();
      });
    }
    ws.send(message);
    if (++joined < wanted) return;
    joined = 0;
    wanted *= 2;
    socket.uncork();
    socket.cork();
  };
}
