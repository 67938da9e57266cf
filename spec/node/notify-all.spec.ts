import { describe, expect, it } from '@jest/globals';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { QueueOverflowError } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { collectLogs } from '../support/peer/logs.js';
import { portOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { until } from '../support/socket/leaks.js';

const http = httpServer();
const logs = collectLogs();

/** A server with so many clients, and the notifications that each has received. */
async function connected(count: number) {
  const server = serve({ server: http.now });
  const got: unknown[][] = [];
  const clients: Peer[] = [];
  for (let nth = 0; nth < count; nth++) {
    const received: unknown[] = [];
    got.push(received);
    const client = connect(`ws://127.0.0.1:${portOf(http.now)}`);
    client.onStream((payload, { headers }) => void received.push([payload, headers]));
    clients.push(await client.opened);
  }
  await until('all peers', () => server.peers.size === count);
  const end = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
  };
  return { server, got, clients, end };
}

describe('`server.notify`', () => {
  it('Every peer receives the payload and the headers, which are encoded once', async () => {
    const { server, got, end } = await connected(3);
    let asked = 0;
    const payload = { toJSON: () => ({ asked: ++asked }) };
    expect(server.notify(payload, { headers: { from: 'all' } })).toBe(3);
    await until('all notifications', () => got.every((received) => received.length === 1));
    expect(got).toEqual(Array(3).fill([[{ asked: 1 }, { from: 'all' }]]));
    await end();
  });

  it('`to` chooses peers', async () => {
    const { server, got, end } = await connected(3);
    const [, second] = [...server.peers];
    expect(server.notify('hi', { to: (peer) => peer === second })).toBe(1);
    await until('the notification', () => got.flat().length === 1);
    expect(got).toEqual([[], [['hi', {}]], []]);
    await end();
  });

  it.each<[what: string, close: (server: MuxServer) => Parameters<MuxServer['notify']>[1]]>([
    [
      '`to`',
      ({ peers: [first] }) => ({
        to: (peer) => {
          if (peer === first) void peer.close();
          return true;
        },
      }),
    ],
    [
      '`to`, ahead of its turn',
      ({ peers: [first, second] }) => ({
        to: (peer) => {
          if (peer === first) void second?.close();
          return true;
        },
      }),
    ],
    [
      'an interceptor',
      ({ peers: [first] }) => {
        first?.interceptOpen(() => {
          void first.close();
        });
        return {};
      },
    ],
  ])('A peer that %s closes does not count', async (_what, close) => {
    const { server, got, end } = await connected(2);
    expect(server.notify('hi', close(server))).toBe(1);
    await until('the notification and the end', () => got.flat().length === 1 && server.peers.size === 1);
    await end();
    expect(got.flat()).toHaveLength(1);
  });

  it('An asynchronous `to` is refused, and no peer receives the payload', async () => {
    const { server, got, end } = await connected(2);
    const to = (() => Promise.reject(new Error('no list'))) as unknown as () => boolean;
    expect(() => server.notify('secret', { to })).toThrow(new TypeError("expected the option 'to' to work synchronously, got a promise"));
    server.notify('hi');
    await until('all notifications', () => got.every((received) => received.length === 1));
    expect(got).toEqual(Array(2).fill([['hi', {}]]));
    await end();
  });

  it('A peer that drains is left out', async () => {
    const { server, got, end } = await connected(2);
    const [first] = [...server.peers];
    void first?.close({ drainMs: 60_000 });
    expect(server.notify('hi')).toBe(1);
    await until('the notification', () => got.flat().length === 1);
    await end();
    expect(logs.warnings).toEqual([]);
  });

  it('A peer without room is left out with a warning, and the others receive the payload', async () => {
    const { server, got, end } = await connected(2);
    const [first] = [...server.peers];
    first?.interceptOpen(() => {
      throw new QueueOverflowError('too much waits', { streamId: null, retriable: true });
    });
    expect(server.notify('hi')).toBe(1);
    await until('the notification', () => got.flat().length === 1);
    expect(logs.warnings).toEqual([expect.stringMatching(/^rxmux: Peer \d+ .* was not notified$/)]);
    await end();
  });

  it('The error of an interceptor fails the call', async () => {
    const { server, got, end } = await connected(1);
    const [first] = [...server.peers];
    first?.interceptOpen(() => {
      throw new Error('of an interceptor');
    });
    expect(() => server.notify('hi')).toThrow('of an interceptor');
    await end();
    expect(got.flat()).toEqual([]);
  });

  it('`server.notify` refuses a payload that cannot be encoded, and wrong options', async () => {
    const { server, end } = await connected(1);
    expect(() => server.notify(new Map())).toThrow(TypeError);
    expect(() => server.notify('hi', { to: 'all' as never })).toThrow(new TypeError("to: expected a function, got 'all'"));
    await end();
  });

  it('A server without peers notifies none', async () => {
    const { server, end } = await connected(0);
    expect(server.notify('hi')).toBe(0);
    await end();
  });
});
