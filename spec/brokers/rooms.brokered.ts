import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, Subject } from 'rxjs';
import { connect } from '../../src/node.js';
import type { Peer } from '../../src/index.js';
import { createPair } from '../../src/testing.js';
import { presence, room, topic, usersOf } from '../../src/topics.js';
import type { TopicItem } from '../../src/topics.js';
import { BrokerProcess } from './broker-process.js';
import { KINDS } from './kinds.js';
import type { Connected, Kind } from './kinds.js';
import type { Call } from './server-program.js';
import { servers } from './servers.js';
import type { Server } from './servers.js';

/** Their names take more than 1 MiB, the longest message of NATS. */
const CROWD = 6_000;

const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

// After the connections of a test.
const start = servers();

/** Two servers of a broker, and this process as a third. */
async function begin(kind: Kind): Promise<{ readonly first: Server; readonly second: Server; readonly connected: Connected }> {
  const broker = await BrokerProcess.start(kind.product);
  endings.push(() => broker.stop());
  await kind.prepare(broker.port);
  const connected = await kind.connect(broker.port);
  endings.push(() => connected.close());
  return { first: await start(kind, broker.port), second: await start(kind, broker.port), connected };
}

function client({ port }: Server): Peer {
  const peer = connect(`ws://127.0.0.1:${port}`);
  endings.push(() => peer.close());
  return peer;
}

describe.each(KINDS)('rooms over $name', (kind) => {
  it('The members of a killed server leave, and the members of the other one stay', async () => {
    const { first, second, connected } = await begin(kind);
    const members$ = presence(connected.bus, { leaseMs: 3_000 }).members$('lobby');
    const seen: string[][] = [];
    const changed$ = new Subject<string[]>();
    const observing = members$.subscribe((members) => {
      const sorted = [...members].sort();
      seen.push(sorted);
      changed$.next(sorted);
    });
    endings.push(() => {
      observing.unsubscribe();
    });
    const become = async (wanted: string): Promise<unknown> =>
      seen.at(-1)?.join() === wanted ? null : firstValueFrom(changed$.pipe(filter((members) => members.join() === wanted)));

    const join = (server: Server, member: string) => client(server).request({ op: 'join', member } satisfies Call);
    await Promise.all([join(first, 'ann'), join(second, 'ben'), join(second, 'ann'), join(first, 'cleo')]);
    await become('ann,ben,cleo');
    await first.end('SIGKILL');
    await become('ann,ben');
    await second.end('SIGTERM');
    await become('');
    expect(seen.at(-1)).toEqual([]);
  });

  it('A crowd whose names take more than one message of the broker is one list at another server', async () => {
    const broker = await BrokerProcess.start(kind.product);
    endings.push(() => broker.stop());
    await kind.prepare(broker.port);
    const [far, near] = [await kind.connect(broker.port), await kind.connect(broker.port)];
    endings.push(() => Promise.all([far.close(), near.close()]));
    const { acceptor } = createPair();
    const crowded = presence(far.bus);
    const joined = Array.from({ length: CROWD }, (_, nth) => crowded.join('lobby', `${nth}`.padStart(200, 'x'), acceptor));
    endings.push(() => {
      joined.forEach((member) => {
        member.unsubscribe();
      });
    });
    // The broker passes on all that was sent before.
    await far.bus.send('elsewhere', null);
    const sizes: number[] = [];
    await firstValueFrom(
      presence(near.bus)
        .members$('lobby')
        .pipe(filter(({ size }) => sizes.push(size) > 0 && size === CROWD)),
    );
    expect(sizes).toEqual([0, CROWD]);
  });

  it('A payload for a user reaches his connections at both servers, and no other one', async () => {
    const { first, second, connected } = await begin(kind);
    const received = new Set<string>();
    const login = (server: Server, id: string, name: string) => {
      const peer = client(server);
      peer.onStream((payload) => void received.add(`${name}: ${String(payload)}`));
      return peer.request({ op: 'login', id } satisfies Call);
    };
    await Promise.all([login(first, 'ann', 'phone'), login(second, 'ann', 'page'), login(second, 'ben', 'ben')]);
    const users = usersOf(connected.bus);
    await repeated(
      () => users.toUser('ann').notify('hello'),
      () => received.has('phone: hello') && received.has('page: hello'),
    );
    await repeated(
      () => users.toUser('ben').notify('bye'),
      () => received.has('ben: bye'),
    );
    expect([...received].sort()).toEqual(['ben: bye', 'page: hello', 'phone: hello']);
  });

  it('A message of a room reaches the clients of both servers', async () => {
    const { first, second, connected } = await begin(kind);
    const received = [first, second].map((server) => {
      const peer = client(server);
      const messages: string[] = [];
      const open = (since: string | null) => peer.open$<TopicItem<string>>({ op: 'typing', since } satisfies Call, { retry: 'safe' });
      const following = topic<string>(peer, open).subscribe((value) => messages.push(value));
      endings.push(() => following.unsubscribe());
      return messages;
    });
    const typing = room<string>(connected.bus, 'typing');
    await repeated(
      () => typing.publish('ann'),
      () => received.every((messages) => messages.length > 0),
    );
    expect(new Set(received.flat())).toEqual(new Set(['ann']));
  });
});

/** Sends again until it was received: a bus drops the values that come before a server listens. */
async function repeated(send: () => Promise<unknown>, isReceived: () => boolean): Promise<void> {
  while (!isReceived()) {
    await send();
    await pause(20);
  }
}
