import { describe, expect, it } from '@jest/globals';
import { concat, defer, delay, firstValueFrom, from, of, Subject } from 'rxjs';
import { RefusedError, reopenOnReconnect, respond, retryWhenSafe } from '../../src/index.js';
import type { OpenOptions, Peer } from '../../src/index.js';
import fc from '../support/fast-check.js';
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

describe('reopenOnReconnect', () => {
  it('`reopenOnReconnect` loses and repeats no value, whatever happens to the connection, and completes', async () => {
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(weather, fc.array(fc.nat(300), { maxLength: 30 }), async (sky, appends) => {
        const log: number[] = [];
        const appended$ = new Subject<number>();
        const since = (position: number) =>
          concat(
            defer(() => from(log.slice(position))),
            appended$,
          );
        const accept = (peer: Peer): void => {
          moved++;
          peer.streams$.pipe(respond(since)).subscribe();
        };
        await run(sky, accept, async ({ peer, time, at }) => {
          const received: number[] = [];
          let outcome: unknown = 'pending';
          reopenOnReconnect(peer, {
            initial: 0,
            open: (position) => peer.open$<number>(position),
            cursor: (_, position) => position + 1,
          }).subscribe({
            next: (entry) => received.push(entry),
            error: (error: unknown) => (outcome = error),
            complete: () => (outcome = 'completed'),
          });
          for (const atMs of appends)
            at(atMs, () => {
              log.push(log.length);
              appended$.next(log.length - 1);
            });
          at(CALM_MS, () => appended$.complete());
          await time.advance(CALM_MS + 1_000);
          expect({ received, outcome }).toEqual({ received: log, outcome: 'completed' });
        });
      }),
      { numRuns: 40 },
    );
    expect(moved).toBeGreaterThan(40);
  });
});
