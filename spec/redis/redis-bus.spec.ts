import { describe, expect, it } from '@jest/globals';
import { redisBus } from '../../src/redis.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';
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

/** Waits longer than any answer of the server takes. */
async function answers(): Promise<void> {
  for (let nth = 0; nth < 20; nth++) await turn();
}

describe('a bus over Redis', () => {
  const logs = collectLogs();

  it('A value reaches the channel that was opened before, with all subscribers on one connection', async () => {
    const { server, bus, received, listen } = begin();
    const subscriptions = [listen('a'), listen('a'), listen('b')];
    await bus.send('a', { n: 1 });
    expect(received).toEqual([{ n: 1 }, { n: 1 }]);
    expect([server.connections.size, server.channels]).toEqual([2, ['rxmux:a', 'rxmux:b']]);
    subscriptions.pop()?.unsubscribe();
    await answers();
    expect(server.channels).toEqual(['rxmux:a']);
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(server.connections.size).toBe(1);
  });

  it.each([0, 1, 2, 3, 4])('A channel that is left after %d turns and opened again at once is heard', async (turns) => {
    const { bus, received, listen } = begin();
    listen('other');
    const left = listen('a');
    for (let nth = 0; nth < turns; nth++) await turn();
    left.unsubscribe();
    listen('a');
    await bus.send('a', 1);
    await answers();
    await bus.send('a', 2);
    expect(received).toEqual([1, 2]);
  });

  it.each([0, 1, 2, 3])('Subscribers that leave after %d turns leave no connection and no channel', async (turns) => {
    const { server, listen } = begin();
    const subscriptions = ['a', 'b', 'c'].map(listen);
    for (let nth = 0; nth < turns; nth++) await turn();
    for (const subscription of subscriptions) subscription.unsubscribe();
    await answers();
    expect([server.connections.size, server.channels]).toEqual([1, []]);
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
    await answers();
    expect(received).toMatchObject([{ code: 'BROKER_FORBIDDEN', message: "channel 'a': Redis forbids it: NOPERM no" }]);
    expect(server.connections.size).toBe(1);
  });

  it('A bus whose second connection is refused warns once with the text of Redis, sends on, and listens once there is room', async () => {
    const { server, bus, received, listen } = begin();
    server.full = new Error('ERR max number of clients reached');
    const subscriptions = ['a', 'b'].map(listen);
    await bus.send('a', 'unheard');
    await until('a warning', () => logs.warnings.length > 0);
    server.full = null;
    await until('two channels', () => server.channels.length === 2);
    await bus.send('a', 'heard');
    expect(received).toEqual(['heard']);
    expect(logs.warnings).toEqual([
      'rxmux: the bus hears nothing for now: Redis takes no more connections: ERR max number of clients reached',
    ]);
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(server.connections.size).toBe(1);
  });

  it('A lost connection leaves the channels open, with one warning for all', async () => {
    const { server, client, bus, received, listen } = begin();
    const subscriptions = ['a', 'b'].map(listen);
    await bus.send('a', 1);
    for (const connection of server.connections) if (connection !== client) connection.cut();
    await until('a new connection', () => server.channels.length === 2);
    await bus.send('b', 2);
    expect(received).toEqual([1, 2]);
    expect(logs.warnings).toEqual(['rxmux: the bus hears nothing for now: Redis does not answer: Socket closed unexpectedly']);
    for (const subscription of subscriptions) subscription.unsubscribe();
    await answers();
    expect(server.connections.size).toBe(1);
  });

  it('A client that is not connected refuses to send', async () => {
    const { client, bus } = begin();
    client.isReady = false;
    await expect(bus.send('a', 1)).rejects.toMatchObject({ code: 'BROKER_AWAY' });
  });

  it('The end of the client is an error of its channels, and of later ones', async () => {
    const { server, client, received, listen } = begin();
    listen('a');
    await answers();
    client.destroy();
    listen('b');
    await answers();
    expect(received).toMatchObject([{ code: 'BROKER_CLOSED' }, { code: 'BROKER_CLOSED' }]);
    expect(server.connections.size).toBe(0);
  });

  it('Halves of surrogate pairs are channels of their own', async () => {
    const { bus, received, listen } = begin();
    listen('\ud800');
    await bus.send('\ud801', 1);
    await bus.send('\ufffd', 2);
    await bus.send('\ud800', 3);
    expect(received).toEqual([3]);
  });
});
