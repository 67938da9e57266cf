// A broker in one process, over the embedded log and bus. It stands in for NATS or Redis.
import type { AddressInfo } from 'node:net';
import { firstValueFrom, from, switchMap } from 'rxjs';
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { answerTopic, memoryBus, memoryLog } from 'rxmux/topics';
import type { Line } from '../api.js';
import { byKey } from '../by-key.js';
import { brokerApi } from './api.js';
import { START } from './broker.js';

/** Serves a broker at a free port, and resolves with its address. */
export async function serveBroker(): Promise<string> {
  const rooms = byKey(() => {
    const log = memoryLog<Line>({ keep: 10_000 });
    return { log, start: firstValueFrom(from(log.head())) };
  });
  const bus = memoryBus();
  const answers = answering(brokerApi, {
    follow: ({ room, since }) => answerTopic(rooms(room).log, since),
    history({ room, since }) {
      const { log, start } = rooms(room);
      return since === START ? from(start).pipe(switchMap((cursor) => log.history(cursor))) : log.history(since);
    },
    publish: ({ room, line, key }) => rooms(room).log.publish(line, { key }),
    hear: ({ channel }) => bus.on(channel),
    send: ({ channel, value }) => bus.send(channel, value),
  });
  const server = serve({ port: 0, host: '127.0.0.1', ...answers });
  const { port } = (await server.listening) as AddressInfo;
  return `ws://127.0.0.1:${port}`;
}
