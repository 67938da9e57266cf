import { describe, expect, it } from '@jest/globals';
import { concatMap, firstValueFrom, interval, map, take, toArray } from 'rxjs';
import { reopenOnReconnect, retryWhenSafe } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { machineTime } from '../support/honest/machine.js';
import { upTo, HonestWorld } from '../support/honest/world.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';

const time = machineTime();
const logs = collectLogs();

const RESTARTS = 50;
const BETWEEN_MS = 3_000;
const ENTRY_MS = 100;
const REQUEST_MS = 300;
const AFAR = { up: { latencyMs: 40 }, down: { latencyMs: 40 } };

describe('a server that restarts 50 times in a row, each time with a goaway', () => {
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
