import { afterEach, describe, expect, it } from '@jest/globals';
import { catchError, EMPTY, Subject, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import { natsBus } from '../../src/nats.js';
import { redisBus } from '../../src/redis.js';
import { createPair } from '../../src/testing.js';
import { catchUp, memoryBus, presence, room, usersOf } from '../../src/topics.js';
import type { Bus } from '../../src/topics.js';
import { FakeNats } from '../nats/fake-nats.js';
import { FakeServer } from '../redis/fake-redis.js';
import { collectLogs } from '../support/peer/logs.js';
import { turn, until } from '../support/socket/leaks.js';

const BUSES: readonly (readonly [name: string, make: () => Bus])[] = [
  ['memory', memoryBus],
  ['NATS', () => natsBus(new FakeNats().connect())],
  ['Redis', () => redisBus(new FakeServer().connect())],
];

const ended$ = new Subject<void>();
afterEach(() => {
  ended$.next();
});

/** The values of an Observable until the test ends. */
const during = <T>(values$: Observable<T>): Observable<T> => values$.pipe(takeUntil(ended$));

describe.each(BUSES)('a bus over %s', (_, make) => {
  const logs = collectLogs();

  /** A bus whose other channel keeps the connection open, and what its channels emit. */
  const begin = () => {
    const bus = make();
    const heard: unknown[] = [];
    during(bus.on('other')).subscribe();
    return { bus, heard, listen: (channel: string) => during(bus.on(channel)).subscribe((value) => heard.push(value)) };
  };

  it('A channel that is left and opened again within one round trip is heard', async () => {
    const { bus, heard, listen } = begin();
    const left = listen('a');
    await bus.send('a', 1);
    left.unsubscribe();
    listen('a');
    await bus.send('a', 2);
    await bus.send('a', 3);
    expect(heard).toEqual([1, 2, 3]);
  });

  it('A kept Observable of a channel shares it with a fresh one, however they come and go', async () => {
    const { bus, heard } = begin();
    const kept$ = bus.on('a');
    const hear = (name: string) => (value: unknown) => heard.push(`${name} ${String(value)}`);
    kept$.subscribe(hear('first')).unsubscribe();
    const fresh = during(bus.on('a')).subscribe(hear('fresh'));
    const kept = during(kept$).subscribe(hear('kept'));
    await bus.send('a', 1);
    fresh.unsubscribe();
    await bus.send('a', 2);
    during(bus.on('a')).subscribe(hear('last'));
    kept.unsubscribe();
    await bus.send('a', 3);
    await bus.send('a', 4);
    expect(heard).toEqual(['fresh 1', 'kept 1', 'kept 2', 'last 3', 'last 4']);
  });

  it.each([
    ['\u20ac'.repeat(342), 'channel: expected at most 1024 bytes for the name, got 1026'],
    [undefined, 'channel: expected a text, got undefined'],
  ])('A bus refuses a channel that not every broker takes', async (channel, message) => {
    const bus = make();
    const error = new TypeError(message);
    expect(() => bus.on(channel as string)).toThrow(error);
    await expect(bus.send(channel as string, 1)).rejects.toThrow(error);
  });

  it('A channel of 1 024 bytes is heard', async () => {
    const { bus, heard, listen } = begin();
    const channel = '*'.repeat(1_024);
    listen(channel);
    await bus.send(channel, 1);
    expect(heard).toEqual([1]);
  });

  it('Users, rooms and presence of the same name do not meet', async () => {
    const bus = make();
    const { dialer, acceptor } = createPair();
    const notified: unknown[] = [];
    dialer.onStream((payload) => void notified.push(payload));
    const added = ['presence', 'x'].map((id) => usersOf(bus).add(id, acceptor));
    const members: string[][] = [];
    during(presence(bus).members$('lobby')).subscribe((all) => members.push([...all]));
    const names = ['x', 'user:x', 'room:x', 'presence', 'presence:presence'];
    const heard: unknown[] = [];
    for (const name of names)
      during(catchUp(room(bus, name), null)).subscribe(({ value }) => value !== undefined && heard.push([name, value]));
    const forged = { from: 'forger', version: 1, all: [['lobby', 'mallory']] };
    for (const name of names) await room(bus, name).publish(forged);
    await usersOf(bus).toUser('x').notify('hello');
    await until('a notification', () => notified.length > 0);
    await acceptor.ping();
    expect(heard).toEqual(names.map((name) => [name, forged]));
    for (const subscription of added) subscription.unsubscribe();
    expect([notified, members, logs.warnings]).toEqual([['hello'], [[]], []]);
  });
});

describe('the channels of a bus', () => {
  it('A subscriber that comes back at an error opens the channel once, also beside later ones', async () => {
    const server = new FakeNats();
    const bus = natsBus(server.connect());
    bus
      .on('a')
      .pipe(catchError(() => bus.on('a').pipe(catchError(() => EMPTY))))
      .subscribe();
    await turn();
    server.refuse('rxmux.a', Object.assign(new Error('no'), { name: 'PermissionViolationError' }));
    bus.on('a').subscribe();
    bus.on('a').subscribe();
    await turn();
    await turn();
    expect(server.subjects).toEqual(['rxmux.a']);
  });
});

describe('names', () => {
  const { acceptor } = createPair();
  const long = 'x'.repeat(1_001);
  const bus = memoryBus();

  it.each<[string, () => unknown, string]>([
    ['a user', () => usersOf(bus).add(long, acceptor), 'add: expected at most 1000 bytes for the id of a user, got 1001'],
    ['a recipient', () => usersOf(bus).toUser(long), 'toUser: expected at most 1000 bytes for the id of a user, got 1001'],
    ['a room', () => room(bus, long), 'room: expected at most 1000 bytes for a channel, got 1001'],
    ['a room of members', () => presence(bus).members$(long), 'members$: expected at most 1000 bytes for a room, got 1001'],
    ['a member', () => presence(bus).join('lobby', long, acceptor), 'join: expected at most 1000 bytes for a member, got 1001'],
    ['a channel of presence', () => presence(bus, { channel: long }), 'presence: expected at most 1000 bytes for the channel, got 1001'],
  ])('The name of %s is refused beyond 1 000 bytes', (_, act, message) => {
    expect(act).toThrow(new TypeError(message));
  });
});
