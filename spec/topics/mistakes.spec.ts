import { describe, expect, it } from '@jest/globals';
import { EMPTY, firstValueFrom, lastValueFrom, map, NEVER, of, take, throwError, timer, toArray } from 'rxjs';
import { marbles } from '../../marbles/support/virtual.js';
import { respond } from '../../src/index.js';
import { sequenceOf } from '../../src/nats/nats-cursor.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { createPair } from '../../src/testing.js';
import { catchUp, CursorLost, memoryBus, memoryLog, presence, room, topic, usersOf } from '../../src/topics.js';
import type { Bus, Log, TopicItem } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';
import { nested } from './contract.js';

const logs = collectLogs();
/** A log of a program, without a message. */
const OWN: Log<string, string> = { live$: NEVER, head: () => ['a'], history: () => [], publish: () => Promise.resolve('a') };

describe('values of strangers', () => {
  it.each([
    null,
    7,
    'on',
    {},
    { from: 'x' },
    { from: 'x', version: 1, all: 5 },
    { from: 'x', version: 1, all: [[1]] },
    { from: 'x', version: 1, left: 'a' },
  ])('Presence drops %j of another program, and goes on', async (value) => {
    const bus = memoryBus();
    const { acceptor } = createPair();
    const present = presence(bus);
    const joined = present.join('lobby', 'ann', acceptor);
    await bus.send('presence:presence', value);
    expect(logs.warnings).toEqual(["rxmux: a value of the channel 'presence:presence' is no report of presence, and is dropped"]);
    expect(await firstValueFrom(present.members$('lobby'))).toEqual(new Set(['ann']));
    joined.unsubscribe();
  });

  it.each<unknown>([{ toString: 1, valueOf: 1 }, ['k3f:0'], 7, true, '', 'k3f', ':', '__proto__'])(
    'A log calls the cursor %j lost',
    async (since) => {
      for (const log of [memoryLog<string>(), room<string>(memoryBus(), 'typing')])
        await expect(firstValueFrom(catchUp(log, since as string))).rejects.toThrow(CursorLost);
      expect(sequenceOf(since)).toBeNaN();
    },
  );
});

describe('a log', () => {
  it.each<[string, unknown, string]>([
    ['a symbol in an array', { tags: ['a', Symbol('b')] }, "codec 'json': expected a value it can carry at value.tags[1], got a symbol"],
    ['95 levels', nested(95), "codec 'json': expected at most 94 levels of nesting in value, got more or a circular structure"],
    ['a key __proto__', JSON.parse('{"__proto__":1}'), "value: expected no key '__proto__', which the codec msgpack refuses, got one"],
    ['a long text', 'ä'.repeat(500), 'value: expected at most 976 bytes of JSON (maxItemBytes, less 1024 for the cursor), got 1002'],
    [
      'a million items',
      Array.from({ length: 1_000_000 }, () => 0),
      'value: expected at most 999990 items, so that followers accept it (maxPayloadItems), got more',
    ],
  ])('A log rejects %s, and says what it expects', async (what, value, message) => {
    const log = memoryLog(what === 'a long text' ? { maxItemBytes: 2_000 } : {});
    await expect(log.publish(value)).rejects.toThrow(new TypeError(message));
  });

  it.each([1_024, NaN, '1', null])('A log refuses the bound %p of an item', (maxItemBytes) => {
    expect(() => memoryLog({ maxItemBytes: maxItemBytes as number })).toThrow('maxItemBytes: expected a number above 1024, got ');
  });

  it.each<[string, Partial<Log<string, string>>]>([
    ['live messages', { live$: timer(0).pipe(map(() => ({ cursor: '10', value: 'ten' }))) }],
    ['its history', { history: () => of({ cursor: '10', value: 'ten' }) }],
  ])('A subscriber errors where the cursors of %s do not rise by the default order', async (_, parts) => {
    const log: Log<string, string> = {
      live$: NEVER,
      head: () => ['9'],
      history: () => EMPTY,
      publish: () => Promise.resolve(''),
      ...parts,
    };
    await expect(lastValueFrom(catchUp(log, '9'))).rejects.toThrow(
      new TypeError("log.newer: expected a function, because cursors of several lengths have no order by default: '9', '10'"),
    );
    expect(await firstValueFrom(catchUp({ ...log, newer: (a, b) => Number(a) > Number(b) }, '9'))).toEqual({ cursor: '10', value: 'ten' });
  });

  it('A subscriber drops a message that comes twice', async () => {
    const messages = ['a1', 'a1', 'a2'].map((cursor) => ({ cursor, value: cursor }));
    const log: Log<string, string> = { live$: NEVER, head: () => ['a0'], history: () => messages, publish: () => Promise.resolve('') };
    expect(await lastValueFrom(catchUp(log, 'a0').pipe(take(2), toArray()))).toEqual([messages[0], messages[2]]);
  });
});

describe('mistakes that TypeScript finds, in a program without it', () => {
  const bus = memoryBus();
  it.each<[string, () => unknown, string]>([
    ['no bus', () => room(undefined as never, 'typing'), 'room: expected a Bus, got undefined'],
    ['a log in the place of a bus', () => room(memoryLog() as never, 'typing'), 'room: expected a Bus, got an object'],
    ['an empty channel', () => room(bus, ''), "room: expected a text for a channel, got ''"],
    ['no room', () => presence(bus).members$(undefined as never), 'members$: expected a text for a room, got undefined'],
  ])('A room and the members of one refuse %s', (_, make, message) => {
    expect(make).toThrow(new TypeError(message));
  });

  it.each<[unknown, string]>([
    [{ keyy: 'a' }, "options: expected one of key, got 'keyy'"],
    [{ key: 5 }, 'key: expected a text of one line without spaces at its ends, got 5'],
    [{ key: '' }, "key: expected a text of one line without spaces at its ends, got ''"],
    [null, 'options: expected an object, got null'],
  ])('`publish` rejects for the options %j', async (options, message) => {
    for (const log of [memoryLog<string>(), room<string>(bus, 'typing')])
      await expect(log.publish('hello', options as never)).rejects.toThrow(new TypeError(message));
  });

  it('`catchUp` refuses a log whose `live$` is no Observable', () => {
    expect(() => catchUp({ ...OWN, live$: [] } as never, null)).toThrow(new TypeError('log.live$: expected an Observable, got an array'));
  });

  it.each<[string, object, string]>([
    ['sends bare values', { live$: timer(0).pipe(map(() => 'hello')) }, "log: expected messages, { cursor, value }, got 'hello'"],
    ['keeps bare values', { history: () => [{ value: 1 }] }, 'log: expected messages, { cursor, value }, got an object'],
  ])('A subscriber of a log that %s errors', async (_, parts, message) => {
    const after = 'history' in parts ? 'a' : null;
    await expect(lastValueFrom(catchUp({ ...OWN, ...parts }, after))).rejects.toThrow(new TypeError(message));
  });
});

describe('a topic', () => {
  it.each([7, null, 'hello'])('A topic fails at %j, which is no item of a log', async (value) => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => of(value))).subscribe();
    const got = typeof value === 'string' ? `'${value}'` : String(value);
    await expect(lastValueFrom(topic(dialer, () => dialer.open$<TopicItem<never, never>>()))).rejects.toThrow(
      new TypeError(`topic: expected items of answerTopic, { cursor, value }, got ${got}`),
    );
  });

  it(
    'A topic pauses before it asks a log again that loses its own places',
    marbles(({ flush }) => {
      let asked = 0;
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond(() => throwError(() => new CursorLost(++asked)))).subscribe();
      const following = topic(dialer, () => dialer.open$<TopicItem<never, number>>(), { onLost: () => EMPTY }).subscribe();
      timer(30_000).subscribe(() => {
        following.unsubscribe();
      });
      flush();
      expect(asked).toBeGreaterThan(2);
      expect(asked).toBeLessThan(40);
    }),
  );
});

describe('values of this program', () => {
  it('A payload that the codec refuses reaches no connection, and leaves the server running', async () => {
    const bus = memoryBus();
    const users = usersOf(bus);
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    const received: unknown[] = [];
    dialer.onStream((payload) => void received.push(payload));
    users.add('ann', acceptor);
    // JSON carries more levels than the codec, so another program may have sent it.
    await bus.send('user:ann', nested(256));
    await users.toUser('ann').notify('hello');
    await acceptor.ping();
    expect(received).toEqual(['hello']);
    expect(logs.errors).toEqual([expect.stringMatching(/^rxmux: notifying Peer .* failed$/)]);
  });

  it('A bus and a room keep the order of values that a receiver of one sends', async () => {
    const bus = memoryBus();
    const heard: string[] = [];
    const typing = room<string>(bus, 'typing');
    const first = catchUp(typing, null).subscribe(({ value }) => {
      if (value === 'a') void typing.publish('b');
    });
    const second = catchUp(typing, null).subscribe(({ value = '' }) => heard.push(value));
    await typing.publish('a');
    expect(heard).toEqual(['', 'a', 'b']);
    first.unsubscribe();
    second.unsubscribe();
  });

  it('A bus drops a channel once it has no listener', async () => {
    const bus = memoryBus();
    const heard: unknown[] = [];
    const values$ = bus.on('news');
    values$.subscribe().unsubscribe();
    const listening = values$.subscribe((value) => heard.push(value));
    const other = bus.on('news').subscribe((value) => heard.push(value));
    await bus.send('news', 1);
    listening.unsubscribe();
    await bus.send('news', 2);
    other.unsubscribe();
    await bus.send('news', 3);
    expect(heard).toEqual([1, 1, 2]);
  });

  it('Items that are asked for without waiting come in order, and end with the iterator', async () => {
    const log = memoryLog<number>();
    const items = catchUp(log, null)[Symbol.asyncIterator]();
    const asked = [items.next(), items.next(), items.next(), items.next()];
    await log.publish(1);
    await log.publish(2);
    await Promise.all(asked.slice(0, 3));
    await items.return?.();
    const results = await Promise.all(asked);
    expect(results.map(({ done, value }) => [done, value?.value])).toEqual([
      [false, undefined],
      [false, 1],
      [false, 2],
      [true, undefined],
    ]);
  });
});

describe('arguments', () => {
  const { acceptor } = createPair();
  const users = usersOf(memoryBus());
  const present = presence(memoryBus());

  it.each([
    ['users of no bus', () => usersOf(undefined as unknown as Bus), 'usersOf: expected a Bus, got undefined'],
    ['users of half a bus', () => usersOf({ on: () => undefined } as unknown as Bus), 'usersOf: expected a Bus, got an object'],
    ['a log that is none', () => catchUp({} as never, null), 'log: expected a Log, got an object'],
    ['presence on no bus', () => presence(null as unknown as Bus), 'presence: expected a Bus, got null'],
    ['options that are none', () => presence(memoryBus(), null as never), 'options: expected an object, got null'],
    ['a user without an id', () => users.add(undefined as never, acceptor), 'add: expected a text for the id of a user, got undefined'],
    ['a user with an empty id', () => users.toUser(''), "toUser: expected a text for the id of a user, got ''"],
    ['a user that is no peer', () => users.add('ann', {} as never), 'add: expected a Peer, got an object'],
    ['a room without a name', () => present.join(undefined as never, 'ann', acceptor), 'join: expected a text for a room, got undefined'],
    ['a member without a name', () => present.join('lobby', 7 as never, acceptor), 'join: expected a text for a member, got 7'],
    ['a member that is no peer', () => present.join('lobby', 'ann', 'ann' as never), "join: expected a Peer, got 'ann'"],
  ])('Topics refuse %s', (_, act, says) => {
    expect(act).toThrow(new TypeError(says));
  });
});
