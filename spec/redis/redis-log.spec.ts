import { describe, expect, it } from '@jest/globals';
import { redisBus, redisLog } from '../../src/redis.js';
import type { RedisLogOptions } from '../../src/redis.js';
import { catchUp } from '../../src/topics.js';
import type { Message } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';
import { FakeServer } from './fake-redis.js';

const ENTRIES = [
  ['5-0', ['start', '']],
  ['6-0', ['v', '"a"']],
  ['7-0', ['v', '{']],
  ['7-1', ['other', 'v', 'v', '"b"']],
  ['7-2', ['name', 'v', 'x', '"c"']],
  ['7-3', ['start', 'line']],
  ['7-4', ['start', '', 'v', '"d"']],
];

describe('a log over Redis', () => {
  const logs = collectLogs();

  it.each([
    ['RESP2', [['texts', ENTRIES]]],
    ['RESP3', { texts: ENTRIES }],
  ])('A history of %s has the values, without the first message, and warns of entries that are no messages', async (_, reply) => {
    const server = new FakeServer();
    server.replies['XREAD'] = reply;
    server.replies['XRANGE'] = [['4-0', []]];
    const read: Message<string, string>[] = [];
    for await (const message of redisLog<string>(server.connect(), { stream: 'texts' }).history('4-0') as AsyncIterable<
      Message<string, string>
    >)
      read.push(message);
    expect(read).toEqual([
      { cursor: '6-0', value: 'a' },
      { cursor: '7-1', value: 'b' },
      { cursor: '7-4', value: 'd' },
    ]);
    expect(logs.warnings).toEqual([
      "rxmux: message 7-0 of topic 'texts' is no JSON, and is dropped",
      "rxmux: entry 7-2 of topic 'texts' has no field 'v', and is passed over",
      "rxmux: entry 7-3 of topic 'texts' has no field 'v', and is passed over",
    ]);
    expect(logs.details).toEqual([]);
  });

  /** A server whose stream has one message, the last one. */
  const begin = () => {
    const server = new FakeServer();
    Object.assign(server.replies, { XREVRANGE: [['5-0', []]], XRANGE: [['5-0', []]], XREAD: null });
    const received: unknown[] = [];
    const follow = () => catchUp(redisLog<string>(client, { stream: 'texts' }), null).subscribe((item) => received.push(item));
    const client = server.connect();
    return { server, received, follow };
  };

  it.each([0, 1, 2, 3, 4, 5])('A subscriber that leaves after %d turns leaves no connection', async (turns) => {
    const { server, follow } = begin();
    const following = follow();
    for (let nth = 0; nth < turns; nth++) await turn();
    following.unsubscribe();
    for (let nth = 0; nth < 20; nth++) await turn();
    expect(server.connections.size).toBe(1);
  });

  it('A subscriber whose connection is refused waits, with the text of Redis in the log', async () => {
    const { server, received, follow } = begin();
    server.full = new Error('ERR max number of clients reached');
    const following = follow();
    await until('a warning', () => logs.warnings.length > 0);
    server.full = null;
    await until('a reader', () => server.connections.size === 2);
    server.replies['XREAD'] = { texts: [['6-0', ['v', '"a"']]] };
    await until('a message', () => received.length === 2);
    following.unsubscribe();
    expect(received).toEqual([{ cursor: '5-0' }, { cursor: '6-0', value: 'a' }]);
    expect(logs.warnings).toEqual(["rxmux: topic 'texts': Redis takes no more connections: ERR max number of clients reached"]);
  });

  it('Cursors are in the order of their numbers', () => {
    const log = redisLog(new FakeServer().connect(), { stream: 'texts' });
    const pairs = ['10-0 9-0', '9-10 9-9', '9-9 9-9', '9-9 9-10', '9-0 10-0'].map((pair) => pair.split(' '));
    expect(pairs.map(([a = '', b = '']) => log.newer?.(a, b))).toEqual([true, true, false, false, false]);
  });

  it.each<readonly [unknown, string]>([
    [{ stream: '' }, "stream: expected a key, got ''"],
    [{ stream: 7 }, 'stream: expected a key, got 7'],
    [{ stream: 'texts', keep: 0 }, 'keep: expected an integer of at least 1, got 0'],
    [{ stream: 'texts', keep: 1.5 }, 'keep: expected an integer of at least 1, got 1.5'],
    [null, 'options: expected an object, got null'],
  ])('The options %p are refused: %s', (options, message) => {
    expect(() => redisLog(new FakeServer().connect(), options as RedisLogOptions)).toThrow(new TypeError(message));
  });

  it.each([
    [undefined, 'undefined'],
    [{ sendCommand: () => undefined }, 'an object'],
    ['redis://localhost', "'redis://localhost'"],
    [{ isReady: true, duplicate: null, subscribe: null, slots: [] }, 'a cluster'],
    [{ isOpen: true, duplicate: null, idleClients: 1 }, 'an object'],
  ])('A log and a bus refuse %p for a client', (client, got) => {
    const error = new TypeError(`client: expected a client of the package redis, made by createClient or createSentinel, got ${got}`);
    expect(() => redisLog(client as never, { stream: 'texts' })).toThrow(error);
    expect(() => redisBus(client as never)).toThrow(error);
  });
});
