import { describe, expect, it } from '@jest/globals';
import { redisBus } from '../../src/redis.js';
import { promisesSettled } from '../../src/testing/virtual-time.js';
import { collectLogs } from '../support/peer/logs.js';
import { FakeServer } from './fake-redis.js';

function begin() {
  const server = new FakeServer();
  const client = server.connect();
  const received: unknown[] = [];
  const bus = redisBus(client);
  const listen = (channel: string) =>
    bus.on(channel).subscribe({ next: (value) => received.push(value), error: (error: unknown) => received.push(error) });
  return { server, client, bus, received, listen };
}

describe('a bus over Redis', () => {
  const logs = collectLogs();

  it('A value reaches the channel that was opened before, with all subscribers on one connection', async () => {
    const { server, bus, received, listen } = begin();
    const subscriptions = [listen('a'), listen('a'), listen('b')];
    await bus.send('a', { n: 1 });
    expect(received).toEqual([{ n: 1 }, { n: 1 }]);
    expect([server.connections, [...server.channels.keys()]]).toEqual([2, ['rxmux:a', 'rxmux:b']]);
    subscriptions.pop()?.unsubscribe();
    await promisesSettled();
    expect([...server.channels.keys()]).toEqual(['rxmux:a']);
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(server.connections).toBe(1);
  });

  it('A text that is no JSON is dropped with a warning', async () => {
    const { client, bus, received, listen } = begin();
    listen('a');
    await bus.send('a', 1);
    await client.sendCommand(['PUBLISH', 'rxmux:a', '{']);
    expect([received, logs.warnings]).toEqual([[1], ["rxmux: a value of channel 'a' is no JSON, and is dropped"]]);
  });

  it('A refused subscription is an error of the channel', async () => {
    const { server, received, listen } = begin();
    server.refusal = new Error('NOPERM no');
    listen('a');
    await promisesSettled();
    expect(received).toMatchObject([{ code: 'BROKER_FORBIDDEN', message: "channel 'a': Redis forbids it: NOPERM no" }]);
    expect(server.connections).toBe(1);
  });

  it('A client that is not connected refuses to send', async () => {
    const { client, bus } = begin();
    client.isReady = false;
    await expect(bus.send('a', 1)).rejects.toMatchObject({ code: 'BROKER_AWAY' });
  });

  it('The end of the client is an error of its channels', async () => {
    const { server, client, received, listen } = begin();
    listen('a');
    client.destroy();
    await promisesSettled();
    expect(received).toMatchObject([{ code: 'BROKER_CLOSED' }]);
    expect(server.connections).toBe(0);
  });
});
