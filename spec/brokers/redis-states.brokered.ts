import { describe, expect, it } from '@jest/globals';
import { createClient } from 'redis';
import { firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import { redisBus, redisLog } from '../../src/redis.js';
import { catchUp } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';
import { until } from '../support/socket/leaks.js';
import { begin, broker, codeOf, endAfterEach, endLater } from './endings.js';
import { connectRedis, redis, sendTo } from './redis.js';

endAfterEach();

/** Returns the ids of the connections whose last command is `command`. */
async function idsOf(port: number, command: string): Promise<readonly string[]> {
  const list = String(await sendTo(port, 'CLIENT', 'LIST'));
  return list.split('\n').flatMap((line) => (line.includes(` cmd=${command} `) ? (/^id=(\d+)/.exec(line)?.slice(1) ?? []) : []));
}

async function hasBlocked(port: number): Promise<boolean> {
  return /blocked_clients:[1-9]/.test(String(await sendTo(port, 'INFO', 'clients')));
}

async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  let holds = false;
  while (!holds) holds = await isSo();
  expect([what, holds]).toEqual([what, true]);
}

/** Two servers, of which the second is a replica of the first. */
async function pair(): Promise<readonly [master: number, replica: number]> {
  const [{ port: master }, { port: replica }] = [await broker(redis), await broker(redis)];
  await sendTo(replica, 'REPLICAOF', '127.0.0.1', String(master));
  await eventually('a replica', async () => String(await sendTo(master, 'INFO', 'replication')).includes('state=online'));
  return [master, replica];
}

describe('Redis, when it changes its state', () => {
  const logs = collectLogs();

  it.each<[string, (master: number, replica: number) => Promise<unknown>]>([
    ['FAILOVER', (master) => sendTo(master, 'FAILOVER')],
    [
      'REPLICAOF',
      async (master, replica) => {
        await sendTo(replica, 'REPLICAOF', 'NO', 'ONE');
        await sendTo(master, 'REPLICAOF', '127.0.0.1', String(replica));
      },
    ],
  ])('A subscriber whose server becomes a replica by %s waits and reads on', async (_, change) => {
    const [master, replica] = await pair();
    const log = (await begin(connectRedis(master))).log<number>('numbers');
    const received: unknown[] = [];
    catchUp(log, null).subscribe({ next: ({ value }) => received.push(value), error: (error: unknown) => received.push(error) });
    await until('a place', () => received.length === 1);
    await log.publish(1);
    await until('the message', () => received.length === 2);
    await eventually('a read that waits', () => hasBlocked(master));
    await change(master, replica);
    await eventually('a new master', async () => String(await sendTo(replica, 'ROLE')).startsWith('master'));
    expect(await codeOf(log.publish(2))).toBe('BROKER_AWAY');
    const elsewhere = (await begin(connectRedis(replica))).log<number>('numbers');
    await elsewhere.publish(3);
    await until('the next message', () => received.length === 3);
    expect(received).toEqual([undefined, 1, 3]);
    expect(logs.warnings.join('\n')).toContain("topic 'numbers': Redis has ended a read that waited: UNBLOCKED ");
  });

  it('A publisher learns that there are too few replicas, and that he may try again', async () => {
    const { port } = await broker(redis);
    const log = (await begin(connectRedis(port))).log<number>('numbers');
    await log.publish(1);
    await sendTo(port, 'CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect([await codeOf(log.publish(2)), await codeOf(log.publish(2, { key: 'two' }))]).toEqual(['BROKER_AWAY', 'BROKER_AWAY']);
    await sendTo(port, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
    await log.publish(2, { key: 'two' });
    expect((await lastValueFrom(catchUp(log, null, { from: 'start' }).pipe(take(2), toArray()))).map(({ value }) => value)).toEqual([1, 2]);
  });

  it('A key stays one message as long as its message is kept, and no longer', async () => {
    const { port } = await broker(redis);
    const log = (await begin(connectRedis(port))).log<number>('numbers');
    const first = await log.publish(1, { key: 'one' });
    expect(await log.publish(2, { key: 'one' })).toBe(first);
    await sendTo(port, 'XDEL', 'numbers', first);
    const second = await log.publish(3, { key: 'one' });
    expect(second).not.toBe(first);
    await sendTo(port, 'DEL', 'numbers');
    await log.publish(4, { key: 'one' });
    expect(await firstValueFrom(catchUp(log, null, { from: 'start' }))).toMatchObject({ value: 4 });
  });

  it('A quiet subscriber keeps its connection beyond the `socketTimeout` of the client', async () => {
    const { port } = await broker(redis);
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { socketTimeout: 300, reconnectStrategy: 10 } });
    let timeouts = 0;
    client.on('error', () => timeouts++);
    await client.connect();
    endLater(() => client.destroy());
    const log = redisLog<number>(client, { stream: 'numbers' });
    const received: unknown[] = [];
    const subscriptions = [catchUp(log, null).subscribe(({ value }) => received.push(value)), redisBus(client).on('news').subscribe()];
    endLater(() => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    });
    await until('a place', () => received.length === 1);
    const ids = async () => [await idsOf(port, 'xread'), await idsOf(port, 'subscribe')];
    await eventually('both', async () => (await ids()).every(({ length }) => length === 1));
    const before = await ids();
    await until('five time-outs of the client', () => timeouts >= 5);
    expect([await ids(), logs.warnings]).toEqual([before, []]);
  });
});
