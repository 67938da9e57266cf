import { describe, expect, it, jest } from '@jest/globals';
import { concatMap, firstValueFrom, interval, map, take, toArray } from 'rxjs';
import { reopenOnReconnect, retryWhenSafe } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { machineTime } from '../support/honest-machine.js';
import { HonestWorld } from '../support/honest-world.js';
import { collectLogs } from '../support/peer-logs.js';

jest.setTimeout(60_000);
const time = machineTime();
const logs = collectLogs();

const RESTARTS = 50;
const AFAR = { up: { latencyMs: 40 }, down: { latencyMs: 40 } };

describe('a server that restarts 50 times in a row, each time with a goaway', () => {
  it.each<readonly [what: string, drainMs: number]>([
    ['and lets its streams end', 1_500],
    ['and waits for nobody', 0],
  ])('%s, has its client back each time, which misses nothing and asks nothing twice', async (_what, drainMs) => {
    const world = new HonestWorld(time);
    const asked: unknown[] = [];
    const onStream: StreamHandler = (payload, stream) => {
      if (typeof payload === 'object')
        return stream.sendAll(interval(100).pipe(map((n) => Number((payload as { since: number }).since) + n)));
      asked.push(payload);
      return stream.reply(payload);
    };
    const server = world.serve({ onStream });
    const peer = world.dial(server, { ...AFAR, reconnect: true });
    const total = RESTARTS * 10;
    const log$ = reopenOnReconnect(peer, { initial: 0, open: (since) => peer.open$<number>({ since }), cursor: (value) => value + 1 });
    const log = firstValueFrom(log$.pipe(take(total), toArray()));
    const answers = firstValueFrom(
      interval(300).pipe(
        take(total),
        concatMap((nth) => peer.request$<number>(nth).pipe(retryWhenSafe({ count: 20, delay: 100 }))),
        toArray(),
      ),
    );
    await time.advance(2_000);
    for (let restart = 0; restart < RESTARTS; restart++) {
      void server.peers.at(-1)?.close({ drainMs, reason: 'restart' });
      await time.advance(3_000);
    }
    await time.advance(60_000);
    expect(server.peers.length).toBe(RESTARTS + 1);
    const all = Array.from({ length: total }, (_, nth) => nth);
    expect(await log).toEqual(all);
    expect(await answers).toEqual(all);
    expect(asked).toEqual(all);
    expect(logs).toEqual({ warnings: [], errors: [] });
    await world.expectHonest({ closes: { 1000: 2 * RESTARTS } });
  });
});
