import { describe, expect, it } from '@jest/globals';
import {
  firstValueFrom,
  forkJoin,
  interval,
  lastValueFrom,
  map,
  mergeMap,
  range,
  share,
  Subject,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import { DEFAULT_LIMITS, retryWhenSafe } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { machineTime } from '../support/honest/machine.js';
import { HonestWorld } from '../support/honest/world.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';

const time = machineTime();
const logs = collectLogs();

const MANY_TIMES = { count: 50, delay: 500 };
const AFAR = { up: { latencyMs: 40 }, down: { latencyMs: 40 } };

/** A handler that ticks until it is cancelled, and echoes any other payload. */
const ticking: StreamHandler = (payload, stream) => (payload === 'ticks' ? stream.sendAll(interval(1_000)) : stream.reply(payload));

describe('a page that cancels more subscriptions than there are reset tokens', () => {
  it('A page that cancels too many subscriptions at once is refused for a while, and its safe retries succeed', async () => {
    const world = new HonestWorld(time);
    const peer = world.dial(world.serve({ onStream: ticking }), AFAR);
    const subscribed = async (count: number): Promise<Subject<void>> => {
      const [left$, begun] = [new Subject<void>(), new Set<number>()];
      const all$ = range(count).pipe(
        mergeMap((nth) =>
          peer.open$('ticks').pipe(
            retryWhenSafe(MANY_TIMES),
            map(() => nth),
          ),
        ),
      );
      all$.pipe(takeUntil(left$)).subscribe((nth) => begun.add(nth));
      await time.advance(2_000);
      expect(begun.size).toBe(Math.min(count, DEFAULT_LIMITS.maxStreams));
      return left$;
    };
    // A redrawn page cancels its old subscriptions, so that it has fewer tokens left than subscriptions.
    const { burst } = DEFAULT_LIMITS.resets;
    (await subscribed(burst / 2)).next();
    (await subscribed(burst + 1)).next();
    const hasty = settled(peer.request('hasty'));
    const patient = Promise.all(
      Array.from({ length: 100 }, (_, nth) => firstValueFrom(peer.request$(nth).pipe(retryWhenSafe(MANY_TIMES)))),
    );
    await time.advance(3_000);
    expect(await hasty).toMatchObject({ error: { code: 'REFUSED', retriable: true } });
    expect(await patient).toEqual(Array.from({ length: 100 }, (_, nth) => nth));
    expect(logs).toEqual({ warnings: [expect.stringContaining('refused a stream with REFUSED')], errors: [] });
    await world.expectHonest({ punishments: { 'acceptor reset REFUSED': expect.any(Number) } });
  });
});

describe('people who type ten letters a second into a search box, behind a proxy with one connection', () => {
  const LETTER_MS = 100;

  // Each row runs longer than any bucket of the limits lasts at this rate of opens or resets.
  it.each<readonly [typists: number, what: string, seconds: number, searchMs: number, punishments: Record<string, unknown>]>([
    [200, 'answers before the next letter', 8, 20, {}],
    [200, 'outlasts a letter, so that each letter cancels it', 8, 150, { 'acceptor reset REFUSED': expect.any(Number) }],
  ])(
    'All %d typists receive the answer to their last letter over one living connection when the search %s',
    async (typists, _what, seconds, searchMs, punishments) => {
      const letters = (seconds * 1_000) / LETTER_MS;
      const world = new HonestWorld(time);
      const search: StreamHandler = async (term, stream) => {
        await firstValueFrom(timer(searchMs).pipe(takeUntil(stream.closed)), { defaultValue: null });
        await stream.reply(term);
      };
      const behind = world.dial(world.serve({ onStream: search }), AFAR);
      const proxy = world.serve({ onStream: (term, stream) => stream.sendAll(behind.open$(term, { retry: MANY_TIMES })) });
      const keys$ = interval(LETTER_MS).pipe(take(letters), share());
      const typed = Array.from({ length: typists }, (_, nth) => {
        const peer = world.dial(proxy);
        return keys$.pipe(switchMap((letter) => peer.request$<string>(`${nth}: ${letter}`).pipe(retryWhenSafe(MANY_TIMES))));
      });
      const last = lastValueFrom(forkJoin(typed));
      await time.advance((seconds + 30) * 1_000);
      expect(await last).toEqual(Array.from({ length: typists }, (_, nth) => `${nth}: ${letters - 1}`));
      await world.expectHonest({ punishments });
    },
  );
});

describe('take(1) on a stream with tens of thousands of frames in flight', () => {
  /** As many as the window of the sender holds. */
  const IN_FLIGHT = 30_000;

  it('`take`(1) amid 30 000 frames in flight drops the rest, and the connection lives', async () => {
    const world = new HonestWorld(time);
    const burst: StreamHandler = (payload, stream) => (payload === 'burst' ? stream.sendAll(range(2 * IN_FLIGHT)) : stream.reply(payload));
    const peer = world.dial(world.serve({ onStream: burst }), { up: { latencyMs: 500 }, down: { latencyMs: 500 } });
    // A first burst, read whole, makes the line known.
    peer.open$('burst').subscribe();
    await time.advance(120_000);
    const [sent, received] = [framesOf(peer), framesOf(peer, 'rx')];
    let before = -1;
    const first = firstValueFrom(peer.open$('burst').pipe(map((value) => ({ value, late: (before = received.length) }))));
    await time.advance(3_000);
    expect(await first).toMatchObject({ value: 0 });
    expect(sent.map(({ type }) => type).filter((type) => type !== 'pong')).toEqual(['open', 'reset']);
    expect(received.length - before).toBeGreaterThanOrEqual(IN_FLIGHT);
    const next = peer.request('next');
    await time.advance(3_000);
    expect(await next).toBe('next');
    await world.expectHonest();
  });
});
