import { describe, expect, it } from '@jest/globals';
import { filter, map, Subscription } from 'rxjs';
import type { Observable } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { dialed } from '../../marbles/support/dialing.js';
import { marbles } from '../../marbles/support/virtual.js';
import type { Peer } from '../../src/index.js';
import { memoryBus, presence } from '../../src/topics.js';
import type { Bus, Presence } from '../../src/topics.js';

interface Server extends Presence {
  /** Hears and sends nothing from now on, as a killed process. */
  crash(): void;
  /** Loses the next message that it sends. */
  lose(): void;
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
  let isLosing = false;
  const own: Bus = {
    on: <T>(channel: string) => bus.on<T>(channel).pipe(filter(() => isAlive)),
    send: (channel, value) => {
      const isLost = !isAlive || isLosing;
      isLosing = false;
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
    lose: () => {
      isLosing = true;
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

const NAMES = { o: '', a: 'a', b: 'b', x: 'ab' };

describe('presence', () => {
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

  it('`presence` refuses a lease that is none', () => {
    expect(() => presence(memoryBus(), { leaseMs: 0 })).toThrow('leaseMs: expected a number of at least 6, got 0');
  });
});
