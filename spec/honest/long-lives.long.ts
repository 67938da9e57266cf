import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, interval, take, toArray } from 'rxjs';
import type { StreamHandler } from '../../src/index.js';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { machineTime } from '../support/honest/machine.js';
import { HonestWorld } from '../support/honest/world.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';

const time = machineTime();
const logs = collectLogs();

const { idleMs, timeoutMs } = DEFAULT_KEEPALIVE;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const AFAR = { up: { latencyMs: 40 }, down: { latencyMs: 40 } };

describe('a connection of 24 hours', () => {
  it('A connection survives a failing handler a minute: each failure ends only its own stream', async () => {
    const world = new HonestWorld(time);
    const minutes = DAY / MINUTE;
    const onStream: StreamHandler = (payload, stream) => {
      if (payload === 'minutes') return stream.sendAll(interval(MINUTE).pipe(take(minutes)));
      throw new RangeError(`no ${String(payload)}`);
    };
    const peer = world.dial(world.serve({ onStream }), AFAR);
    const counted = firstValueFrom(peer.open$<number>('minutes').pipe(toArray()));
    const failures: string[] = [];
    for (let minute = 0; minute < minutes; minute++) {
      const failed = settled(peer.request(minute));
      await time.advance(MINUTE);
      failures.push(String(((await failed) as { readonly error: unknown }).error));
    }
    await time.advance(MINUTE);
    expect(new Set(failures.map((failure, minute) => failure.replace(`no ${minute}`, 'no N')))).toEqual(new Set(['RemoteError: no N']));
    expect(await counted).toEqual(Array.from({ length: minutes }, (_, minute) => minute));
    expect(logs.warnings).toEqual([]);
    expect(logs.errors).toHaveLength(minutes);
    await world.expectHonest();
  });

  it.each<readonly [who: string, dialer: { readonly keepalive?: false }, acceptor: { readonly keepalive?: false }]>([
    ['both sides send pings', {}, {}],
    ['only the dialer sends pings', {}, { keepalive: false }],
    ['only the acceptor sends pings', { keepalive: false }, {}],
  ])(
    `A connection lives on keepalive alone when %s, with at most one ping each ${idleMs / 1_000} s, and still works`,
    async (_who, dialer, acceptor) => {
      const world = new HonestWorld(time);
      const peer = world.dial(world.serve({ onStream: (payload, stream) => stream.reply(payload), ...acceptor }), { ...AFAR, ...dialer });
      const frames = [framesOf(peer), framesOf(peer, 'rx')];
      await time.advance(DAY);
      const [sent, received] = frames.map((seen) => seen.filter(({ type }) => type === 'ping').length);
      expect(new Set(frames.flat().map(({ type }) => type))).toEqual(new Set(['ping', 'pong']));
      for (const pings of [sent, received]) expect(pings).toBeLessThanOrEqual(DAY / idleMs);
      // In a day only the pings keep the sockets open.
      expect(Math.max(Number(sent), Number(received))).toBeGreaterThan(DAY / (idleMs + timeoutMs));
      const answer = peer.request('morning');
      await time.advance(1_000);
      expect(await answer).toBe('morning');
      await world.expectHonest();
    },
  );
});
