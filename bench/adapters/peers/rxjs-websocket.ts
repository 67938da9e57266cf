import { firstValueFrom, map, takeWhile } from 'rxjs';
import { webSocket } from 'rxjs/webSocket';
import { WebSocket } from 'ws';
import type { Adapter } from '../../harness/adapter.js';
import type { FloorMessage } from '../floor-client.js';
import { serveFloor } from '../floor.js';

/** `webSocket(url).multiplex(…)` of rxjs, against floor A's server. */
export const adapter: Adapter = {
  limits: () => ({}),
  listen: (service) =>
    serveFloor({ encode: (message) => JSON.stringify(message), decode: (data) => JSON.parse(data.toString()) as FloorMessage }, service),
  async connect(port) {
    let last = 0;
    let opened = (): void => undefined;
    const open = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const socket$ = webSocket<FloorMessage>({
      url: `ws://127.0.0.1:${port}`,
      WebSocketCtor: class extends WebSocket {
        constructor(url: string) {
          super(url, { perMessageDeflate: false, maxPayload: 2 ** 30 });
        }
      } as unknown as { new (url: string): globalThis.WebSocket },
      openObserver: {
        next: () => {
          opened();
        },
      },
    });
    // Keeps the socket open between the calls.
    const kept = socket$.subscribe();
    await open;
    return {
      request(payload) {
        const id = ++last;
        const reply$ = socket$.multiplex(
          () => ({ id, payload }),
          () => ({ id, stop: true }),
          (message) => message.id === id,
        );
        return firstValueFrom(reply$.pipe(map((message) => message.payload)));
      },
      stream(items, { next, error, complete }) {
        const id = ++last;
        const items$ = socket$.multiplex(
          () => ({ id, items }),
          () => ({ id, stop: true }),
          (message) => message.id === id,
        );
        items$.pipe(takeWhile((message) => message.end !== true)).subscribe({
          next: (message) => {
            next(message.payload);
          },
          error,
          complete,
        });
      },
      close: () => {
        kept.unsubscribe();
      },
    };
  },
};
