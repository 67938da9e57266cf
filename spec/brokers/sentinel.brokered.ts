import { describe, expect, it } from '@jest/globals';
import { createSentinel } from 'redis';
import type { Subscription } from 'rxjs';
import { redisBus, redisLog } from '../../src/redis.js';
import { BrokerError, catchUp } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';

import type { BrokerProcess, Product } from './broker-process.js';
import { begin, broker, endAfterEach } from './endings.js';
import { redis, sendTo } from './redis.js';

collectLogs();
endAfterEach();

const SENTINEL: Product = {
  program: 'redis-server',
  args: (port, folder) => [`${folder}/config`, '--sentinel', '--bind', '127.0.0.1', '--port', String(port), '--dir', folder],
};

/** Asks a server until its answer has a text. A sentinel ends the connections of a server that becomes a master. */
async function asked(port: number, wanted: string, ...command: string[]): Promise<void> {
  const ask = () => sendTo(port, ...command).then(String, () => '');
  while (!(await ask()).includes(wanted));
}

/** A master, its replica, a sentinel that watches both, and a client of it. */
async function begun() {
  const master = await broker(redis);
  const replica = await broker(redis, `replicaof 127.0.0.1 ${master.port}`);
  await asked(replica.port, 'master_link_status:up', 'INFO', 'replication');
  const watched = ['monitor main 127.0.0.1', 'down-after-milliseconds main', 'failover-timeout main'];
  const [monitor = '', down = '', failover = ''] = watched.map((line) => `sentinel ${line}`);
  const config = `${monitor} ${master.port} 1\n${down} 500\n${failover} 5000\n`;
  const sentinel = await broker({ ...redis, product: SENTINEL }, config);
  await asked(sentinel.port, 'slaves=1', 'INFO', 'sentinel');
  const sentinelRootNodes = [{ host: '127.0.0.1', port: sentinel.port }];
  const client = createSentinel({ name: 'main', sentinelRootNodes }).on('error', () => undefined);
  return { master, replica, sentinel, client: await begin(client.connect()) };
}

/** Publishes until the broker has the message: it may be stored already, and its key makes it one. */
async function publish(act: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await act();
      return;
    } catch (error) {
      if (!(error instanceof BrokerError && error.code === 'BROKER_AWAY')) throw error;
    }
  }
}

describe('a client of sentinels', () => {
  it.each<readonly [string, (master: BrokerProcess, sentinelPort: number) => Promise<unknown>]>([
    ['a killed master', (master) => master.end()],
    ['a planned failover', (_, port) => sendTo(port, 'SENTINEL', 'FAILOVER', 'main')],
  ])('A topic and a channel go on after %s', async (_, fail) => {
    const { master, replica, sentinel, client } = await begun();
    const texts = redisLog<string>(client, { stream: 'texts' });
    const bus = redisBus(client);
    const received: unknown[] = [];
    const heard: unknown[] = [];
    const following: Subscription[] = [
      catchUp(texts, null).subscribe({ next: ({ value }) => received.push(value), error: (error: unknown) => received.push(error) }),
      bus.on('a').subscribe({ next: (value) => heard.push(value), error: (error: unknown) => heard.push(error) }),
    ];
    await until('a place', () => received.length === 1);
    await texts.publish('before', { key: '1' });
    await bus.send('a', 'before');
    await until('a message and a value', () => received.length === 2 && heard.length === 1);
    await asked(master.port, '1', 'WAIT', '1', '1000');
    await fail(master, sentinel.port);
    await asked(replica.port, 'role:master', 'INFO', 'replication');
    await publish(() => texts.publish('after', { key: '2' }));
    await until('the message', () => received.length === 3);
    while (heard.length === 1) await publish(() => bus.send('a', 'after'));
    expect([received, heard.slice(0, 2)]).toEqual([
      [undefined, 'before', 'after'],
      ['before', 'after'],
    ]);
    // The sentinel listens there, too. The bus may have heard the value from the old master, which is a replica now.
    const listeners = () =>
      sendTo(replica.port, 'CLIENT', 'LIST', 'TYPE', 'pubsub').then((list) => String(list).match(/ name=(?!sentinel-)/g)?.length ?? 0);
    while ((await listeners()) !== 1);
    for (const subscription of following) subscription.unsubscribe();
    while ((await listeners()) > 0);
  });
});
