import { describe, expect, it } from '@jest/globals';
import { natsBus, natsLog } from '../../src/nats.js';
import type { NatsConnection, NatsLogOptions } from '../../src/nats.js';
import { turn, until } from '../support/socket/leaks.js';
import { FakeNats } from './fake-nats.js';

describe('a bus over NATS', () => {
  it('A channel is one token of a subject, with one subscription for all subscribers', async () => {
    const server = new FakeNats();
    const bus = natsBus(server.connect());
    const received: unknown[] = [];
    const subscriptions = [1, 2].map(() => bus.on('user:a.*>').subscribe((value) => received.push(value)));
    await bus.send('user:a.*>', { n: 1 });
    expect(server.published).toEqual(['rxmux.user%3Aa%2e%2a%3E {"n":1}']);
    expect([received, server.subjects.length]).toEqual([[{ n: 1 }, { n: 1 }], 1]);
    for (const subscription of subscriptions) subscription.unsubscribe();
    await turn();
    expect(server.subjects).toEqual([]);
  });

  it('A channel with half a surrogate pair is a token too, and no other one', async () => {
    const server = new FakeNats();
    const bus = natsBus(server.connect());
    const subscriptions = ['\u{1f600}\ud800', '\ud801', ''].map((channel) => bus.on(channel).subscribe());
    await bus.send('\ud801', 1);
    expect(server.subjects).toEqual(['rxmux.%F0%9F%98%80%d800', 'rxmux.%d801', 'rxmux.%']);
    expect(server.published).toEqual(['rxmux.%d801 1']);
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  it('A refused subject is an error of its channel, and so is the end of the connection', async () => {
    const server = new FakeNats();
    const errors: unknown[] = [];
    const bus = natsBus(server.connect(), 'app');
    bus.on('a').subscribe({ error: (error: unknown) => errors.push(error) });
    await until('a subscription', () => server.subjects.length === 1);
    server.refuse('app.a', Object.assign(new Error('no'), { name: 'PermissionViolationError' }));
    bus.on('b').subscribe({ error: (error: unknown) => errors.push(error) });
    server.close();
    await until('two errors', () => errors.length === 2);
    expect(errors).toMatchObject([{ code: 'BROKER_FORBIDDEN' }, { code: 'BROKER_CLOSED' }]);
  });

  it('The longest subject that a channel and a prefix make fits into a line of the server', async () => {
    const server = new FakeNats();
    await natsBus(server.connect(), 'p'.repeat(256)).send('*'.repeat(1_024), 1);
    const [subject = ''] = server.published[0]?.split(' ') ?? [];
    expect(`PUB ${subject} 1048576`.length).toBeLessThan(4_096);
  });

  it.each([
    ['a b', "prefix: expected a name without wildcards, spaces and empty tokens, got 'a b'"],
    ['a..b', "prefix: expected a name without wildcards, spaces and empty tokens, got 'a..b'"],
    ['', "prefix: expected a name without wildcards, spaces and empty tokens, got ''"],
    ['p'.repeat(257), 'prefix: expected at most 256 bytes for a subject, got 257'],
  ])('A bus refuses the prefix %p', (prefix, message) => {
    expect(() => natsBus(new FakeNats().connect(), prefix)).toThrow(new TypeError(message));
  });

  it.each([undefined, Promise.resolve(), {}])('A bus and a log refuse %p for a connection', (nc) => {
    const message = 'nc: expected a connection of @nats-io/transport-node, got';
    expect(() => natsBus(nc as unknown as NatsConnection)).toThrow(message);
    expect(() => natsLog(nc as unknown as NatsConnection, { stream: 'T', subject: 'a' })).toThrow(message);
  });
});

const NO_SUBJECT = 'subject: expected a name without wildcards, spaces and empty tokens, got';

describe('a log over NATS', () => {
  it.each<readonly [unknown, string]>([
    [{ stream: 'T', subject: 'topics.*' }, `${NO_SUBJECT} 'topics.*'`],
    [{ stream: 'T', subject: 'topics..a' }, `${NO_SUBJECT} 'topics..a'`],
    [{ stream: 'T', subject: '.a' }, `${NO_SUBJECT} '.a'`],
    [{ stream: 'T', subject: 'a.' }, `${NO_SUBJECT} 'a.'`],
    [{ stream: 'T', subject: 'a.\ud800' }, `${NO_SUBJECT} 'a.\ud800'`],
    [{ stream: 'T', subject: '\u00e4'.repeat(513) }, 'subject: expected at most 1024 bytes for a subject, got 1026'],
    [{ stream: 'T', subject: ' '.repeat(1_025) }, 'subject: expected at most 1024 bytes for a subject, got 1025'],
    [{ stream: '', subject: 'topics.a' }, "stream: expected a name without dots, wildcards and spaces, got ''"],
    [{ stream: 'a.b', subject: 'topics.a' }, "stream: expected a name without dots, wildcards and spaces, got 'a.b'"],
    [{ stream: 'T'.repeat(256), subject: 'topics.a' }, 'stream: expected at most 255 bytes for a name, got 256'],
    [undefined, 'options: expected an object, got undefined'],
  ])('The options %p are refused: %s', (options, message) => {
    expect(() => natsLog(new FakeNats().connect(), options as NatsLogOptions)).toThrow(new TypeError(message));
  });
});
