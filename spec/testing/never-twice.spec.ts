import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { delay, firstValueFrom, of } from 'rxjs';
import { RefusedError, respond, retryWhenSafe } from '../../src/index.js';
import type { OpenOptions, Peer } from '../../src/index.js';
import { CALM_MS, run, weather } from './weather.js';

const RETRY = { count: 1_000, delay: 1 };

const calls = fc.array(
  fc.record({
    atMs: fc.nat(300),
    workMs: fc.nat(20),
    /** How often the handler refuses the call before it does anything. */
    refusals: fc.nat(2),
    signalMs: fc.option(fc.nat(50)),
  }),
  { minLength: 1, maxLength: 12 },
);

type Ask = (peer: Peer, id: number, options: OpenOptions<number, never>) => Promise<number>;

const WAYS: readonly (readonly [way: string, ask: Ask])[] = [
  [
    'A request piped through retryWhenSafe',
    (peer, id, options) => firstValueFrom(peer.request$<number>(id, options).pipe(retryWhenSafe(RETRY))),
  ],
  ['A request with the option retry', (peer, id, options) => peer.request<number>(id, { ...options, retry: RETRY })],
  [
    'A call with the option retry and an input',
    (peer, id, options) => firstValueFrom(peer.open$<number>(id, { ...options, input: [1], retry: RETRY })),
  ],
];

describe('a request', () => {
  it.each(WAYS)(
    '%s never runs twice on the server, whatever happens to the connection',
    async (_, ask) => {
      let answered = 0;
      let retried = 0;
      await fc.assert(
        fc.asyncProperty(weather, calls, async (sky, asked) => {
          const runs = asked.map(() => 0);
          const left = asked.map(({ refusals }) => refusals);
          const accept = (peer: Peer): void => {
            peer.streams$
              .pipe(
                respond((id: number) => {
                  if ((left[id] ?? 0) > 0) {
                    left[id] = (left[id] ?? 0) - 1;
                    retried++;
                    throw new RefusedError('busy');
                  }
                  runs[id] = (runs[id] ?? 0) + 1;
                  return of(id).pipe(delay(asked[id]?.workMs ?? 0));
                }),
              )
              .subscribe();
          };
          await run(sky, accept, async ({ peer, time, at }) => {
            const outcomes = asked.map(({ atMs, signalMs }, id) => {
              const abort = new AbortController();
              if (signalMs !== null) at(atMs + signalMs, () => abort.abort());
              return new Promise<number | null>((resolve) => {
                at(atMs, () => {
                  ask(peer, id, { signal: abort.signal }).then(resolve, () => resolve(null));
                });
              });
            });
            await time.advance(CALM_MS + 31_000);
            for (const [id, outcome] of (await Promise.all(outcomes)).entries()) {
              expect(runs[id]).toBeLessThanOrEqual(1);
              if (outcome === null) continue;
              expect({ outcome, runs: runs[id] }).toEqual({ outcome: id, runs: 1 });
              answered++;
            }
          });
        }),
        { numRuns: 30 },
      );
      expect(answered).toBeGreaterThan(0);
      expect(retried).toBeGreaterThan(0);
    },
    60_000,
  );
});
