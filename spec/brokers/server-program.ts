// A server whose clients follow topics. Its IPC channel reports the port, and SIGTERM drains it.
import type { AddressInfo } from 'node:net';
import { mergeMap } from 'rxjs';
import { respond } from '../../src/index.js';
import { serve } from '../../src/node.js';
import { answerTopic } from '../../src/topics.js';
import { KINDS } from './kinds.js';

/** A call of a client. */
export interface Follow {
  readonly op: 'follow';
  readonly topic: string;
  readonly since: string | null;
}

async function run(name: string, brokerPort: number): Promise<void> {
  const kind = KINDS.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`expected a kind of broker, got ${name}`);
  const broker = await kind.connect(brokerPort);
  const numbers = broker.log<number>('numbers');
  const server = serve({ port: 0, host: '127.0.0.1' });
  server.peers$.pipe(mergeMap((peer) => peer.streams$.pipe(respond(({ since }: Follow) => answerTopic(numbers, since))))).subscribe();
  process.once('SIGTERM', () => {
    void server
      .close({ drainMs: 10_000 })
      .then(() => broker.close())
      .then(() => process.exit());
  });
  process.once('disconnect', () => process.exit());
  const { port } = (await server.listening) as AddressInfo;
  process.send?.(port);
}

const [, , name = '', brokerPort] = process.argv;
void run(name, Number(brokerPort));
