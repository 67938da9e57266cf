import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { redisBus, redisLog } from '../../src/redis.js';
import type { RedisLogOptions, RedisSentinel } from '../../src/redis.js';
import { explain } from '../../src/redis/redis-error.js';
import { virtualTime } from '../../src/testing/virtual-time.js';
import { BrokerError, catchUp } from '../../src/topics.js';
import type { BrokerErrorCode, Message } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';
import { FakeClient, FakeServer } from './fake-redis.js';

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
  afterEach(() => {
    jest.restoreAllMocks();
  });

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

  it('A bus whose second connection never answers sends on', async () => {
    const { client, server, bus, listen } = begin();
    jest.spyOn(FakeClient.prototype, 'subscribe').mockReturnValue(new Promise(() => undefined));
    const clock = virtualTime();
    const subscription = listen('a');
    void bus.send('b', 1);
    await clock.advance(14_000);
    expect(server.commands).toEqual([]);
    await clock.advance(60_000);
    clock.restore();
    await answers();
    expect([client.isReady, server.commands]).toEqual([true, [['PUBLISH', 'rxmux:b', '1']]]);
    subscription.unsubscribe();
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

  it('A prefix that is no text is refused', () => {
    const client = new FakeServer().connect();
    expect(() => redisBus(client, { prefix: 'app:' } as never)).toThrow(new TypeError('prefix: expected a text, got an object'));
    expect(() => redisBus(client, null as never)).toThrow(new TypeError('prefix: expected a text, got null'));
  });

  it('A value that Redis never answers is refused in the end, and so is a message', async () => {
    const { client, bus } = begin();
    jest.spyOn(FakeClient.prototype, 'sendCommand').mockReturnValue(new Promise(() => undefined));
    const log = redisLog<string>(client, { stream: 'texts' });
    const clock = virtualTime();
    const codes: unknown[] = [];
    for (const sent of [bus.send('a', 1), log.publish('a'), log.publish('a', { key: 'one' })])
      sent.catch((error: unknown) => codes.push((error as BrokerError).code));
    await clock.advance(60_000);
    clock.restore();
    expect(codes).toEqual(['BROKER_AWAY', 'BROKER_AWAY', 'BROKER_AWAY']);
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

  it('A history over sentinels notices a loss during its read, on several connections too', async () => {
    let kept: unknown[] = [['4-0', []]];
    const replies: Readonly<Record<string, () => unknown>> = {
      XREVRANGE: () => [['9-0', []]],
      XRANGE: () => kept,
      XREAD: () => {
        kept = [];
        return [['texts', [['9-0', ['v', '"i"']]]]];
      },
    };
    const sentinel: RedisSentinel = {
      isOpen: true,
      isReady: true,
      // The second connection is the faster one.
      sendCommand: async (_, [name = '']) => {
        for (let nth = 0; nth < (name === 'XREAD' ? 5 : 1); nth++) await turn();
        return replies[name]?.();
      },
      getSentinelNode: () => undefined,
      duplicate: () => sentinel,
      connect: () => Promise.resolve(),
      destroy: () => undefined,
      on: () => undefined,
      off: () => undefined,
      subscribe: () => Promise.resolve(),
      unsubscribe: () => Promise.resolve(),
    };
    const history = redisLog<string>(sentinel, { stream: 'texts' }).history('4-0') as AsyncIterable<Message<string, string>>;
    await expect(history[Symbol.asyncIterator]().next()).rejects.toMatchObject({ name: 'CursorLost', resetTo: '9-0' });
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

const OPEN = { isOpen: true };

describe('errors of Redis', () => {
  it.each<readonly [BrokerErrorCode, string, unknown]>([
    ['BROKER_MISSING', 'the key holds no stream', new Error('WRONGTYPE Operation against a key holding the wrong kind of value')],
    ['BROKER_FORBIDDEN', 'Redis forbids it', new Error("NOPERM User default has no permissions to run the 'xadd' command")],
    ['BROKER_FORBIDDEN', 'Redis forbids it', new Error('NOAUTH Authentication required.')],
    ['BROKER_FORBIDDEN', 'Redis forbids it', new Error('WRONGPASS invalid username-password pair')],
    ['BROKER_FULL', 'Redis has no room in memory', new Error("OOM command not allowed when used memory > 'maxmemory'.")],
    ['BROKER_FULL', 'Redis cannot write to its disk', new Error('MISCONF Errors writing to the AOF file: No space left on device')],
    ['BROKER_AWAY', 'Redis starts', new Error('LOADING Redis is loading the dataset in memory')],
    ['BROKER_AWAY', 'this Redis is a replica', new Error("READONLY You can't write against a read only replica.")],
    [
      'BROKER_AWAY',
      'Redis has ended a read that waited',
      new Error('UNBLOCKED force unblock from blocking operation, instance state changed'),
    ],
    ['BROKER_AWAY', 'Redis has too few replicas', new Error('NOREPLICAS Not enough good replicas to write.')],
    ['BROKER_AWAY', 'Redis takes no more connections', new Error('ERR max number of clients reached')],
    ['BROKER_AWAY', 'Redis takes no more connections', new Error('ERR max number of clients + cluster connections reached')],
    [
      'BROKER_REFUSED',
      'Redis never takes this message',
      new Error('ERR The stream has exhausted the last possible ID, unable to add more items'),
    ],
    ['BROKER_FAILED', 'Redis answers', new Error('ERR unknown command')],
    ['BROKER_FAILED', 'Redis answers', new Error('CONSTRUCTOR is no answer')],
    ['BROKER_FAILED', 'Redis answers', new TypeError('expected a text')],
    ['BROKER_AWAY', 'Redis does not answer', new Error('connect ECONNREFUSED 127.0.0.1:6379')],
    ['BROKER_AWAY', 'Redis does not answer', 'a text'],
  ])('An error of the client becomes %s: %s', (code, text, error) => {
    const explained = explain(error, 'topic', OPEN);
    expect(explained).toMatchObject({ code, cause: error });
    expect(explained.message).toBe(`topic: ${text}: ${error instanceof Error ? error.message : String(error)}`);
  });

  it('An error without a message is explained by the errors inside', () => {
    const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:6379`));
    const explained = explain(new AggregateError(refused), 'topic', OPEN);
    expect(explained.message).toBe('topic: Redis does not answer: connect ECONNREFUSED ::1:6379, connect ECONNREFUSED 127.0.0.1:6379');
  });

  it('A closed client becomes BROKER_CLOSED, whatever the error', () => {
    const error = new BrokerError('BROKER_AWAY', 'lost');
    expect(explain(error, 'topic', { isOpen: false }).code).toBe('BROKER_CLOSED');
    expect(explain(error, 'topic', OPEN)).toBe(error);
  });
});
