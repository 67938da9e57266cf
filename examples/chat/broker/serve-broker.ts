// A broker in one process, over the embedded log and bus. It stands in for NATS or Redis.
import { answering } from 'rxmux/contract';
import { serve } from 'rxmux/node';
import { answerTopic, memoryBus, memoryLog } from 'rxmux/topics';
import type { Line } from '../api.js';
import { byKey } from '../by-key.js';
import { brokerApi } from './api.js';
import { KEEP } from './broker.js';

/** Serves a broker at a free port, and resolves with its address. */
export async function serveBroker(): Promise<string> {
  const logs = byKey(() => memoryLog<Line>({ keep: KEEP }));
  const bus = memoryBus();
  const answers = answering(brokerApi, {
    follow: ({ room, since }) => answerTopic(logs(room), since),
    history: ({ room, since }) => logs(room).history(since),
    publish: ({ room, line, key }) => logs(room).publish(line, { key }),
    hear: ({ channel }) => bus.on(channel),
    send: ({ channel, value }) => bus.send(channel, value),
  });
  const server = serve({ port: 0, host: '127.0.0.1', ...answers });
  await server.listening;
  return server.url;
}
