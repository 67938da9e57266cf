import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { concat, defer, from, Subject } from 'rxjs';
import { reopenOnReconnect, respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { CALM_MS, run, weather } from './weather.js';

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
