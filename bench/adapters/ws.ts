import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';
import type { Adapter } from '../harness/adapter.js';
import { portOf } from './port.js';

/** The bare socket: one request at a time, and nothing kept. The memory of a connection is compared with it. */
export const adapter: Adapter = {
  limits: () => ({}),
  async listen() {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
    server.on('connection', (ws) => {
      ws.on('message', (data: Buffer) => {
        ws.send(data);
      });
    });
    await once(server, 'listening');
    return { port: portOf(server.address()), close: () => server.close() };
  },
  async connect(port) {
    const ws = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    await once(ws, 'open');
    return {
      async request(payload) {
        ws.send(JSON.stringify(payload));
        const [data] = (await once(ws, 'message')) as [Buffer];
        return JSON.parse(data.toString()) as unknown;
      },
      stream: (_ask, { error }) => {
        error(new Error('the bare socket has no streams'));
      },
      close: () => {
        ws.close();
      },
    };
  },
};
