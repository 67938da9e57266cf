import { describe, expect, it } from '@jest/globals';
import { NEVER } from 'rxjs';
import { answer, answering, client, contract, request, stream } from '../../src/contract.js';
import { reopenOnReconnect } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { answerInspector, inspect, play, record } from '../../src/inspect.js';
import { natsLog } from '../../src/nats.js';
import { serve } from '../../src/node.js';
import { redisLog } from '../../src/redis.js';
import { createPair, createServer, fakePeer, frameMarbles, peerFromMarbles, replay } from '../../src/testing.js';
import { answerTopic, catchUp, memoryBus, memoryLog, presence, topic } from '../../src/topics.js';
import { FakeServer, FakeClient } from '../redis/fake-redis.js';

/** Options from a program without types. */
const given = (options: object): never => options as never;
const api = contract({ echo: request<number, number>(), ticks: stream<number, number>() });
const answers = { echo: (n: number) => n, ticks: (n: number) => [n] };
/** The helpers of a scheduler that never runs. */
const helpers = { cold: () => NEVER, hot: () => NEVER } as never;
const peer = (): Peer => createPair().dialer;
const open = (): never[] => [];

describe('A misspelt option is refused by each door, because the program would run without the option', () => {
  it.each<[string, (options: object) => unknown, string, string]>([
    ['createPair', (options) => createPair(given(options)), 'latency', 'options'],
    ['createPair with an option of one end', (options) => createPair(given(options)), 'onStream', 'options'],
    ['the dialer of createPair', (dialer) => createPair({ dialer }), 'onstream', 'dialer'],
    ['the acceptor of createPair', (acceptor) => createPair({ acceptor }), 'onstream', 'acceptor'],
    ['createPair of a contract', (options) => createPair(api, answers, given(options)), 'arround', 'options'],
    ['createServer', (options) => createServer(given(options)), 'latency', 'options'],
    ['replay', (options) => replay('', given(options)), 'sped', 'options'],
    ['peerFromMarbles', (options) => peerFromMarbles(helpers, '-', frameMarbles(), given(options)), 'isdialer', 'options'],
    ['fakePeer', (options) => fakePeer(helpers, { a: '-a' }, given(options)), 'value', 'options'],
    ['fakePeer of a contract', (options) => fakePeer(helpers, api, { echo: '-a' }, given(options)), 'name', 'options'],
    ['limits', (limits) => createPair({ limits }), 'maxStream', 'limits'],
    ['presence', (options) => presence(memoryBus(), options), 'lease', 'options'],
    ['topic', (options) => topic(peer(), open, given(options)), 'onlost', 'options'],
    ['memoryLog', (options) => memoryLog(options), 'keeps', 'options'],
    ['redisLog', (options) => redisLog(new FakeClient(new FakeServer()), given({ stream: 's', ...options })), 'kep', 'options'],
    ['natsLog', (options) => natsLog({} as never, given({ stream: 's', subject: 's', ...options })), 'keep', 'options'],
    ['catchUp', (options) => catchUp(memoryLog(), null, options), 'form', 'options'],
    ['answerTopic', (options) => answerTopic(memoryLog(), null, options), 'form', 'options'],
    ['client', (options) => client(peer(), api, options), 'valid', 'options'],
    ['a request of a client', (options) => client(peer(), api).echo(1, given(options)), 'timeout', 'options'],
    ['a stream of a client', (options) => client(peer(), api).ticks(1, given(options)), 'timeout', 'options'],
    [
      'a notification of a client',
      (options) => {
        client(peer(), api).echo.notify(1, given(options));
      },
      'header',
      'options',
    ],
    ['answer', (options) => answer(api, answers, options), 'arround', 'options'],
    ['answering', (options) => answering(api, answers, options), 'verfy', 'options'],
    ['record', (options) => record(peer(), options), 'payload', 'options'],
    ['inspect', (options) => inspect(peer(), options), 'history', 'options'],
    ['answerInspector', (options) => answerInspector(inspect(peer()), given({ verify: () => true, ...options })), 'maxLines', 'options'],
    ['play', (options) => play([], given({ side: 'dialer', heard$: NEVER, ...options })), 'sped', 'options'],
    ['reopenOnReconnect', (how) => reopenOnReconnect(peer(), { open, ...how }), 'intial', 'reopenOnReconnect'],
  ])('%s', (_, act, misspelt, place) => {
    expect(() => act({ [misspelt]: 1 })).toThrow(TypeError);
    expect(() => act({ [misspelt]: 1 })).toThrow(new RegExp(`^${place}: expected one of .+, got '${misspelt}'$`));
  });

  it('A server refuses a misspelt option of its notification and of its end', async () => {
    await using server = serve({ port: 0, host: '127.0.0.1' });
    await server.listening;
    expect(() => server.notify(1, given({ header: {} }))).toThrow(new TypeError("options: expected one of to, headers, got 'header'"));
    expect(() => server.close(given({ drainMS: 0 }))).toThrow(new TypeError("close: expected one of drainMs, code, reason, got 'drainMS'"));
  });

  it('A log rejects a message with a misspelt option', async () => {
    const error = new TypeError("options: expected one of key, got 'keys'");
    await expect(memoryLog().publish(1, given({ keys: 'a' }))).rejects.toThrow(error);
    await expect(redisLog(new FakeClient(new FakeServer()), { stream: 's' }).publish(1, given({ keys: 'a' }))).rejects.toThrow(error);
  });
});
