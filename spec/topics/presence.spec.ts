import { describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, ignoreElements, map, NEVER, Subject, Subscription, take, throwError, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { dialed } from '../../marbles/support/dialing.js';
import { marbles } from '../../marbles/support/virtual.js';
import { respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { createPair, virtualTime } from '../../src/testing.js';
import { answerTopic, BrokerError, catchUp, CursorLost, memoryBus, presence, room, topic, usersOf } from '../../src/topics.js';
import type { BrokerErrorCode, Bus, Presence, TopicItem } from '../../src/topics.js';
import { collectLogs } from '../support/peer/logs.js';

describe('presence', () => {
  const logs = collectLogs();

  interface Server extends Presence {
    /** Hears and sends nothing from now on, as a killed process. */
    crash(): void;
    /** Loses the next messages that it sends. */
    lose(count?: number): void;
  }

  /** A server of presence with a lease of 12 ms: a tick lasts 2 ms. Its members leave after 20 ms, so that virtual time ends. */
  function serverOn(bus: Bus, { cold }: RunHelpers): Server {
    const joined = new Subscription();
    cold('20ms |').subscribe({
      complete: () => {
        joined.unsubscribe();
      },
    });
    let isAlive = true;
    let losing = 0;
    const own: Bus = {
      on: <T>(channel: string) => bus.on<T>(channel).pipe(filter(() => isAlive)),
      send: (channel, value) => {
        const isLost = !isAlive || losing > 0;
        losing--;
        return isLost ? Promise.resolve() : bus.send(channel, value);
      },
    };
    const made = presence(own, { leaseMs: 12 });
    return {
      join: (...where) => {
        const place = made.join(...where);
        joined.add(place);
        return place;
      },
      members$: (room) => made.members$(room),
      crash: () => {
        isAlive = false;
      },
      lose: (count = 1) => {
        losing = count;
      },
    };
  }

  /** The members as one text, such as `ab`. */
  const texts = (members$: Observable<ReadonlySet<string>>): Observable<string> =>
    members$.pipe(map((members) => [...members].sort().join('')));

  function newPeer(): { peer: Peer; closeLine(): void } {
    const { server, dial, accepted } = dialed(() => undefined);
    dial();
    return { peer: accepted(), closeLine: () => server.link?.cut() };
  }

  /** The names of `count` members. */
  const crowd = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, nth) => `${prefix}${nth}`);

  /** Collects the lists that `count` observers of a room receive for 30 ms. */
  function observe({ cold }: RunHelpers, present: Presence, room: string, count: number): ReadonlySet<string>[] {
    const seen: ReadonlySet<string>[] = [];
    const observing = new Subscription();
    for (let left = count; left > 0; left--) observing.add(present.members$(room).subscribe((list) => seen.push(list)));
    cold('30ms |').subscribe({
      complete: () => {
        observing.unsubscribe();
      },
    });
    return seen;
  }

  /** A report of a server, as far as these tests count it. */
  interface Sent {
    readonly all?: readonly unknown[];
    readonly ask?: string;
  }

  /** Records what is sent. */
  function recorded(bus: Bus): { readonly bus: Bus; readonly sent: Sent[] } {
    const sent: Sent[] = [];
    const send = (channel: string, value: unknown): Promise<void> => {
      sent.push(value as Sent);
      return bus.send(channel, value);
    };
    return { bus: { ...bus, send }, sent };
  }

  const NAMES = { o: '', a: 'a', b: 'b', x: 'ab' };

  it(
    'Servers see the members of each other, and each member once',
    marbles((helpers) => {
      const { cold, expectObservable } = helpers;
      const bus = memoryBus();
      const [one, two] = [serverOn(bus, helpers), serverOn(bus, helpers)];
      cold('-|').subscribe({ complete: () => one.join('lobby', 'a', newPeer().peer) });
      cold('---|').subscribe({ complete: () => two.join('lobby', 'b', newPeer().peer) });
      cold('-----|').subscribe({ complete: () => two.join('lobby', 'a', newPeer().peer) });
      cold('-------|').subscribe({ complete: () => two.join('elsewhere', 'c', newPeer().peer) });
      expectObservable(texts(one.members$('lobby')), '^------------!').toBe('oa-x---------', NAMES);
      expectObservable(texts(two.members$('lobby')), '^------------!').toBe('oa-x---------', NAMES);
      expectObservable(texts(two.members$('lobby')), '---------^---!').toBe('---------x---', NAMES);
    }),
  );

  it(
    'A member leaves when its peer closes, or when its subscription ends',
    marbles((helpers) => {
      const { cold, expectObservable } = helpers;
      const bus = memoryBus();
      const [one, two] = [serverOn(bus, helpers), serverOn(bus, helpers)];
      const [a, b] = [newPeer(), newPeer()];
      one.join('lobby', 'a', a.peer);
      const joined = one.join('lobby', 'b', b.peer);
      cold('----|').subscribe({
        complete: () => {
          a.closeLine();
        },
      });
      cold('------|').subscribe({
        complete: () => {
          joined.unsubscribe();
        },
      });
      expectObservable(texts(two.members$('lobby')), '^--------!').toBe('x---b-o--', NAMES);
    }),
  );

  it(
    'The members of a crashed server are gone within one lease',
    marbles((helpers) => {
      const { cold, expectObservable } = helpers;
      const bus = memoryBus();
      const [one, two] = [serverOn(bus, helpers), serverOn(bus, helpers)];
      one.join('lobby', 'a', newPeer().peer);
      two.join('lobby', 'b', newPeer().peer);
      cold('--|').subscribe({
        complete: () => {
          one.crash();
        },
      });
      expectObservable(texts(two.members$('lobby')), '^-------------!').toBe('x-----------b-', NAMES);
    }),
  );

  it(
    'A server that has lost a change asks for all members at the next renewal',
    marbles((helpers) => {
      const { cold, expectObservable } = helpers;
      const bus = memoryBus();
      const [one, two] = [serverOn(bus, helpers), serverOn(bus, helpers)];
      one.join('lobby', 'a', newPeer().peer);
      cold('-|').subscribe({
        complete: () => {
          one.lose();
          one.join('lobby', 'b', newPeer().peer);
        },
      });
      expectObservable(texts(two.members$('lobby')), '^--------!').toBe('a---x----', NAMES);
    }),
  );

  it(
    'A crowd that joins at once, is reported at once, or crashes at once is one list for all observers',
    marbles((helpers) => {
      const { cold, flush } = helpers;
      const bus = memoryBus();
      const [far, near] = [serverOn(bus, helpers), serverOn(bus, helpers)];
      const { acceptor } = createPair();
      const seen = observe(helpers, near, 'lobby', 10);
      cold('-|').subscribe({ complete: () => crowd('a', 500).forEach((member) => far.join('lobby', member, acceptor)) });
      cold('---|').subscribe({
        complete: () => {
          far.lose(500);
          crowd('b', 500).forEach((member) => far.join('lobby', member, acceptor));
        },
      });
      cold('------|').subscribe({
        complete: () => {
          far.crash();
        },
      });
      flush();
      expect(seen.map((list) => list.size)).toEqual([0, 500, 1000, 0].flatMap((size) => Array<number>(10).fill(size)));
      // Each list was made once, beside the first ones.
      expect(new Set(seen).size).toBe(4);
    }),
  );

  it(
    'A member that leaves and comes back in one turn is no list, and a change of one room is none of another',
    marbles((helpers) => {
      const { cold, expectObservable } = helpers;
      const bus = memoryBus();
      const [one, two] = [serverOn(bus, helpers), serverOn(bus, helpers)];
      const { acceptor } = createPair();
      const joined = one.join('lobby', 'a', acceptor);
      cold('--|').subscribe({
        complete: () => {
          joined.unsubscribe();
          one.join('lobby', 'a', acceptor);
          one.join('garden', 'b', acceptor);
        },
      });
      expectObservable(two.members$('lobby').pipe(map((list) => [...list].join())), '^--------!').toBe('a');
      expectObservable(two.members$('garden').pipe(map((list) => [...list].join())), '^--------!').toBe('o-b', NAMES);
    }),
  );

  it(
    'An observer within a turn has the members of the moment, and the others have them after the turn',
    marbles((helpers) => {
      const { cold, flush } = helpers;
      const present = serverOn(memoryBus(), helpers);
      const { acceptor } = createPair();
      const early = observe(helpers, present, 'lobby', 1);
      const late: string[] = [];
      const comeLate = (): void => {
        texts(present.members$('lobby'))
          .pipe(take(2))
          .subscribe((members) => late.push(members));
      };
      cold('--|').subscribe({
        complete: () => {
          present.join('lobby', 'a', acceptor);
          comeLate();
          present.join('lobby', 'b', acceptor);
        },
      });
      flush();
      expect(early.map((list) => [...list].join(''))).toEqual(['', 'ab', '']);
      expect(late).toEqual(['a', 'ab']);
    }),
  );

  it(
    'An observer stays informed whose first list made another observer come and go',
    marbles((helpers) => {
      const { cold, flush } = helpers;
      const present = serverOn(memoryBus(), helpers);
      const { acceptor } = createPair();
      const seen: string[] = [];
      const comeAndGo = (): void => {
        present.members$('lobby').subscribe().unsubscribe();
      };
      const observing = texts(present.members$('lobby')).subscribe((members) => {
        if (seen.push(members) === 1) comeAndGo();
      });
      cold('--|').subscribe({ complete: () => present.join('lobby', 'a', acceptor) });
      cold('----|').subscribe({
        complete: () => {
          observing.unsubscribe();
        },
      });
      flush();
      expect(seen).toEqual(['', 'a']);
    }),
  );

  it(
    'Servers that ask at the same time share the reports',
    marbles((helpers) => {
      const { cold, flush } = helpers;
      const { bus, sent } = recorded(memoryBus());
      const one = serverOn(bus, helpers);
      const { acceptor } = createPair();
      const others = Array.from({ length: 20 }, () => serverOn(bus, helpers));
      one.join('lobby', 'a', acceptor);
      const lists = others.flatMap((other) => observe(helpers, other, 'lobby', 1));
      cold('--|').subscribe({
        complete: () => {
          sent.length = 0;
          one.lose();
          crowd('b', 10).forEach((member) => one.join('lobby', member, acceptor));
        },
      });
      flush();
      expect(lists).toHaveLength(20);
      // Each server has missed one change, and has heard of nine more. It asks once.
      const reports = sent.filter(({ all = [] }) => all.length > 0);
      const questions = sent.filter(({ ask }) => ask !== undefined);
      expect([reports.length, questions.length]).toEqual([2, 20]);
    }),
  );

  it(
    'A report that is too big for one message of the broker comes in parts, and again if one is lost',
    marbles((helpers) => {
      const { cold, expectObservable } = helpers;
      const { bus, sent } = recorded(memoryBus());
      const [one, two] = [serverOn(bus, helpers), serverOn(bus, helpers)];
      const { acceptor } = createPair();
      crowd('😀'.repeat(100), 1_000).forEach((member) => one.join('lobby', member, acceptor));
      sent.length = 0;
      // Not the first message: that is the question of the other server.
      cold('-|').subscribe({
        complete: () => {
          one.lose(2);
        },
      });
      expectObservable(two.members$('lobby').pipe(map(({ size }) => (size === 1_000 ? 'x' : String(size)))), '--^-------!').toBe('--0-x');
      helpers.flush();
      const sizes = sent.map((value) => Buffer.byteLength(JSON.stringify(value)));
      expect(sizes.length).toBeGreaterThan(6);
      expect(Math.max(...sizes)).toBeLessThan(70_000);
    }),
  );

  it.each<[BrokerErrorCode, number]>([
    ['BROKER_AWAY', 0],
    ['BROKER_CLOSED', 0],
    ['BROKER_FAILED', 1],
    ['BROKER_FORBIDDEN', 1],
  ])('Reports that fail with %s are %i warnings', async (code, warnings) => {
    const error = new BrokerError(code, 'the channel does not take it');
    const { acceptor } = createPair();
    const present = presence({ on: () => NEVER, send: () => Promise.reject(error) });
    const joined = crowd('a', 3).map((member) => present.join('lobby', member, acceptor));
    await Promise.allSettled([Promise.reject(error)]);
    joined.forEach((member) => {
      member.unsubscribe();
    });
    await Promise.allSettled([Promise.reject(error)]);
    expect(logs.warnings).toEqual(Array(warnings).fill(expect.stringContaining('other servers do not see all members of this one')));
  });

  it('A lost bus is one line for all members', () => {
    const { acceptor } = createPair();
    const lost = new Subject<never>();
    const sent: unknown[] = [];
    const present = presence({
      on: () => lost,
      send: (_, report) => {
        sent.push(report);
        return Promise.resolve();
      },
    });
    const joined = crowd('a', 3).map((member) => present.join('lobby', member, acceptor));
    sent.length = 0;
    lost.error(new Error('forbidden'));
    joined.forEach((member) => {
      member.unsubscribe();
    });
    expect(logs.errors).toEqual(['rxmux: presence has lost its bus']);
    expect(sent).toEqual([]);
  });

  it('Members of a lost bus are reported with the next member, and stay when that one leaves', () => {
    const { acceptor } = createPair();
    const channels = [new Subject<never>(), new Subject<never>()] as const;
    const sent: unknown[] = [];
    let nth: 0 | 1 = 0;
    const present = presence({
      on: () => channels[nth],
      send: (_, report) => {
        sent.push(report);
        return Promise.resolve();
      },
    });
    const first = present.join('lobby', 'a', acceptor);
    nth = 1;
    channels[0].error(new Error('forbidden'));
    sent.length = 0;
    const next = present.join('lobby', 'b', acceptor);
    next.unsubscribe();
    expect(sent).toMatchObject([{ ask: '*' }, { all: [['lobby', 'a']] }, { joined: ['lobby', 'b'] }, { left: ['lobby', 'b'] }]);
    expect(channels[1].observed).toBe(true);
    first.unsubscribe();
    expect(sent.slice(4)).toMatchObject([{ left: ['lobby', 'a'] }, { bye: true }]);
    expect(channels[1].observed).toBe(false);
  });

  it('A member that joins over a bus that is closed already is one line in the log', () => {
    const present = presence({ on: () => throwError(() => new Error('closed')), send: () => Promise.resolve() });
    const joined = present.join('lobby', 'a', createPair().acceptor);
    expect(logs.errors).toEqual(['rxmux: presence has lost its bus']);
    joined.unsubscribe();
  });

  it.each([Infinity, 2 ** 40])('A lease of %p ms is renewed by no timer that fires at once', async (leaseMs) => {
    const time = virtualTime();
    const bus = memoryBus();
    const renewed: unknown[] = [];
    bus.on('presence:presence').subscribe((report) => renewed.push(report));
    const joined = presence(bus, { leaseMs }).join('lobby', 'a', createPair().acceptor);
    renewed.length = 0;
    await time.advance(1_000);
    time.restore();
    expect(renewed).toEqual([]);
    joined.unsubscribe();
  });

  it('`presence` refuses a lease that is none', () => {
    expect(() => presence(memoryBus(), { leaseMs: 0 })).toThrow('leaseMs: expected a number of at least 6, got 0');
  });
});

describe('usersOf', () => {
  const logs = collectLogs();

  it('`toUser` notifies each connection of the user, and no other one', async () => {
    const bus = memoryBus();
    const [one, two] = [usersOf(bus), usersOf(bus)];
    const pairs = [createPair(), createPair(), createPair()] as const;
    const received = pairs.map(() => [] as unknown[]);
    for (const [nth, { dialer }] of pairs.entries()) dialer.onStream((payload) => void received[nth]?.push(payload));
    one.add('ann', pairs[0].acceptor);
    two.add('ann', pairs[1].acceptor);
    two.add('bob', pairs[2].acceptor);
    await one.toUser('ann').notify('hello');
    await Promise.all(pairs.map(({ acceptor }) => acceptor.ping()));
    expect(received).toEqual([['hello'], ['hello'], []]);
  });

  it('`toUser` notifies a connection once that was registered twice, until both registrations have ended', async () => {
    const users = usersOf(memoryBus());
    const { dialer, acceptor } = createPair();
    const received: unknown[] = [];
    dialer.onStream((payload) => void received.push(payload));
    const registered = [users.add('ann', acceptor), users.add('ann', acceptor)];
    users.add('bob', acceptor);
    await users.toUser('ann').notify(1);
    registered[0]?.unsubscribe();
    await users.toUser('ann').notify(2);
    registered[1]?.unsubscribe();
    await users.toUser('ann').notify(3);
    await users.toUser('bob').notify(4);
    await acceptor.ping();
    expect(received).toEqual([1, 2, 4]);
  });

  it('`toUser` leaves out a connection that drains, without a line in the log', async () => {
    const users = usersOf(memoryBus());
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => NEVER)).subscribe();
    const call = dialer.open$('long').subscribe({ error: () => undefined });
    users.add('ann', acceptor);
    await acceptor.ping();
    const closing = acceptor.close();
    await users.toUser('ann').notify('hello');
    call.unsubscribe();
    await closing;
    expect(logs).toEqual({ warnings: [], errors: [] });
  });

  it('`usersOf` drops a connection that has closed, or was taken back', async () => {
    const bus = memoryBus();
    const users = usersOf(bus);
    const [left, closed] = [createPair(), createPair()];
    users.add('ann', left.acceptor).unsubscribe();
    users.add('ann', closed.acceptor);
    await closed.acceptor.close();
    const received: unknown[] = [];
    left.dialer.onStream((payload) => void received.push(payload));
    await users.toUser('ann').notify('hello');
    await left.acceptor.ping();
    expect(received).toEqual([]);
  });
});

describe('room', () => {
  it('A room emits messages to its subscribers, and calls places before others lost', async () => {
    const typing = room<string>(memoryBus(), 'typing');
    const items = catchUp(typing, null)[Symbol.asyncIterator]();
    const place = (await items.next()).value?.cursor ?? '';
    const next = items.next();
    await typing.publish('ann');
    expect((await next).value).toMatchObject({ value: 'ann' });
    await expect(firstValueFrom(catchUp(typing, place))).rejects.toThrow(CursorLost);
    await expect(typing.publish(undefined as never)).rejects.toThrow('expected a value it can carry at value, got undefined');
  });

  it('A room has new places after its last subscriber has left', async () => {
    const typing = room<string>(memoryBus(), 'typing');
    const first = await firstValueFrom(catchUp(typing, null));
    await expect(firstValueFrom(catchUp(typing, first.cursor))).rejects.toThrow(CursorLost);
  });

  it.each([
    [
      'is kept',
      (bus: Bus) => {
        const typing = room<string>(bus, 'typing');
        return () => typing;
      },
    ],
    ['is made for each follower', (bus: Bus) => () => room<string>(bus, 'typing')],
  ])('A follower that comes back alone goes on after one loss, in a room that %s', async (_, roomOn) => {
    const typing = roomOn(memoryBus());
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond((since: string | null) => answerTopic(typing(), since))).subscribe();
    const time = virtualTime();
    const opened: (string | null)[] = [];
    const open = (since: string | null) => {
      opened.push(since);
      return dialer.open$<TopicItem<string>>(opened.length === 1 ? 'stale:1' : since);
    };
    const received: string[] = [];
    const following = topic<string>(dialer, open, { onLost: () => timer(5_000).pipe(ignoreElements()) }).subscribe((value) =>
      received.push(value),
    );
    await time.advance(8_000);
    await typing().publish('ann');
    await time.advance(1_000);
    expect([received, opened.length]).toEqual([['ann'], 2]);
    following.unsubscribe();
    time.restore();
  });
});
