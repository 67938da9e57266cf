import { describe, expect, it } from '@jest/globals';
import { concatMap, firstValueFrom, from, interval, map, take, toArray } from 'rxjs';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { reopenOnReconnect, retryWhenSafe } from '../../src/index.js';
import type { Peer, StreamHandler } from '../../src/index.js';
import { Machine, machineTime } from '../support/honest/machine.js';
import { HonestWorld, upTo } from '../support/honest/world.js';
import type { DialOptions } from '../support/honest/world.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';

describe('late timers', () => {
  const time = machineTime();
  const logs = collectLogs();

  const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
  /** The moment when a quiet connection has sent its ping and the answer is still on its way. */
  const ASKING_MS = DEFAULT_KEEPALIVE.idleMs + 20;
  const AFAR = { up: { latencyMs: 40 }, down: { latencyMs: 40 } };

  /** Counts up from the payload, one number a second. Echoes any other payload. */
  const counting: StreamHandler = (payload, stream) =>
    typeof payload === 'object'
      ? stream.sendAll(interval(SECOND).pipe(map((n) => Number((payload as { since: number }).since) + n)))
      : stream.reply(payload);

  /** A series of numbers that continues over sockets. */
  const counted = (peer: Peer, count: number): Promise<number[]> =>
    firstValueFrom(
      reopenOnReconnect(peer, { initial: 0, open: (since) => from(peer.open$<number>({ since })), cursor: (value) => value + 1 }).pipe(
        take(count),
        toArray(),
      ),
    );

  describe('a laptop that is asleep for eight hours', () => {
    it('A stream resumes where it was when both ends were asleep together', async () => {
      const world = new HonestWorld(time);
      const laptop = new Machine();
      const peer = world.dial(world.serve({ onStream: counting, machine: laptop }), { ...AFAR, machine: laptop });
      const numbers = laptop.run(() => counted(peer, 100));
      await time.advance(30 * SECOND);
      world.sleep(laptop, 8 * HOUR);
      await time.advance(8 * HOUR);
      await time.advance(2 * MINUTE);
      expect(await numbers).toEqual(upTo(100));
      expect(logs).toEqual({ warnings: [], errors: [] });
      await world.expectHonest();
    });

    it.each<readonly [when: string, awakeMs: number, who: string, isServerAsleep: boolean]>([
      ['while its ping is on the way', ASKING_MS, 'the laptop', false],
      ['while both pings are on the way', ASKING_MS, 'both sides', true],
      ['between two pings', ASKING_MS / 2, 'the laptop', false],
      ['between two pings', ASKING_MS / 2, 'both sides', true],
    ])(
      'A quiet connection survives a sleep that begins %s, %d ms from its beginning; asleep: %s',
      async (_when, awakeMs, _who, isServerAsleep) => {
        const world = new HonestWorld(time);
        const laptop = new Machine();
        const server = isServerAsleep ? { machine: laptop } : { keepalive: false as const };
        const peer = world.dial(world.serve({ onStream: counting, ...server }), { ...AFAR, machine: laptop });
        await time.advance(awakeMs);
        world.sleep(laptop, 8 * HOUR);
        await time.advance(8 * HOUR);
        await time.advance(MINUTE);
        const answer = laptop.run(() => peer.request('still there?'));
        await time.advance(MINUTE);
        expect(await answer).toBe('still there?');
        await world.expectHonest();
      },
    );

    it('A woken laptop dials again when the server has closed the connection, and misses no value', async () => {
      const world = new HonestWorld(time);
      const laptop = new Machine();
      const peer = world.dial(world.serve({ onStream: counting }), { ...AFAR, machine: laptop, reconnect: true });
      const numbers = laptop.run(() => counted(peer, 100));
      await time.advance(30 * SECOND);
      world.sleep(laptop, 8 * HOUR);
      await time.advance(8 * HOUR);
      await time.advance(3 * MINUTE);
      expect(await numbers).toEqual(upTo(100));
      await world.expectHonest({ closes: { 1006: 2 } });
    });
  });

  describe('a page in the background whose timers fire once a minute', () => {
    it.each<readonly [what: string, dialer: DialOptions]>([
      ['with a server far away', AFAR],
      ['over a slow line', { up: { latencyMs: 400, bytesPerSecond: 4_000 }, down: { latencyMs: 400, bytesPerSecond: 4_000 } }],
    ])('A page in the background keeps its connection, and its stream continues, %s', async (_what, dialer) => {
      const world = new HonestWorld(time);
      const page = new Machine();
      const peer = world.dial(world.serve({ onStream: counting }), { ...dialer, machine: page });
      const numbers = page.run(() => counted(peer, (2 * HOUR) / SECOND));
      await time.advance(5 * MINUTE + 7 * SECOND);
      page.throttle(MINUTE);
      await time.advance(2 * HOUR);
      expect(await numbers).toEqual(upTo((2 * HOUR) / SECOND));
      expect(logs).toEqual({ warnings: [], errors: [] });
      await world.expectHonest();
    });

    it('A page in the background keeps an idle connection', async () => {
      const world = new HonestWorld(time);
      const page = new Machine();
      const peer = world.dial(world.serve({ onStream: counting }), { ...AFAR, machine: page });
      page.throttle(MINUTE);
      await time.advance(8 * HOUR);
      const answer = page.run(() => peer.request('hello'));
      await time.advance(SECOND);
      expect(await answer).toBe('hello');
      await world.expectHonest();
    });
  });
});

describe('a server that restarts 50 times in a row, each time with a goaway', () => {
  const time = machineTime();
  const logs = collectLogs();

  const RESTARTS = 50;
  const BETWEEN_MS = 3_000;
  const ENTRY_MS = 100;
  const REQUEST_MS = 300;
  const AFAR = { up: { latencyMs: 40 }, down: { latencyMs: 40 } };

  it.each<readonly [what: string, drainMs: number, ended: number]>([
    ['with time for its streams to move', 1_500, 0],
    ['without a drain', 0, RESTARTS],
  ])(
    'A client of a server that restarts 50 times %s reconnects each time, misses no value and repeats no request',
    async (_what, drainMs, ended) => {
      const world = new HonestWorld(time);
      const asked: unknown[] = [];
      const onStream: StreamHandler = (payload, stream) => {
        if (typeof payload === 'object')
          return stream.sendAll(interval(ENTRY_MS).pipe(map((n) => Number((payload as { since: number }).since) + n)));
        asked.push(payload);
        return stream.reply(payload);
      };
      const server = world.serve({ onStream });
      const peer = world.dial(server, { ...AFAR, reconnect: true });
      const received = framesOf(peer, 'rx');
      // The time before the last restart suffices for fewer entries, because each restart costs some.
      const [entries, requests] = [(RESTARTS * BETWEEN_MS) / ENTRY_MS, (RESTARTS * BETWEEN_MS) / REQUEST_MS];
      const log$ = reopenOnReconnect(peer, { initial: 0, open: (since) => peer.open$<number>({ since }), cursor: (value) => value + 1 });
      const log = firstValueFrom(log$.pipe(take(entries), toArray()));
      const answers = firstValueFrom(
        interval(REQUEST_MS).pipe(
          take(requests),
          concatMap((nth) => peer.request$<number>(nth).pipe(retryWhenSafe({ count: 20, delay: 100 }))),
          toArray(),
        ),
      );
      await time.advance(2_000);
      for (let restart = 0; restart < RESTARTS; restart++) {
        void server.peers.at(-1)?.close({ drainMs, reason: 'restart' });
        await time.advance(BETWEEN_MS);
      }
      await time.advance(60_000);
      expect(server.peers.length).toBe(RESTARTS + 1);
      expect(await log).toEqual(upTo(entries));
      expect(await answers).toEqual(upTo(requests));
      expect(asked).toEqual(upTo(requests));
      expect(received.filter(({ type }) => type === 'reset')).toHaveLength(ended);
      expect(logs).toEqual({ warnings: [], errors: [] });
      await world.expectHonest({ closes: { 1000: 2 * RESTARTS } });
    },
  );
});
