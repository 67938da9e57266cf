import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { catchError, delayWhen, map, mergeMap, of, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { connect as connectInBrowser } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { createServer } from '../../src/testing.js';
import { marbles } from '../../marbles/support/virtual.js';
import { createPair } from '../support/peer/tracked.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';
import { collectLogs } from '../support/peer/logs.js';

const page = loadRecipes() as Recipes;

describe('one feed', () => {
  it(
    '`serveFeed` encodes each value once for all subscribers',
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const pairs = [createPair(), createPair()];
      let encoded = 0;
      const value = (n: number): unknown => ({ toJSON: () => (encoded++, n) });
      const feed$ = cold('--a--b|', { a: value(1), b: value(2) });
      const subs = '      ^-----!';
      const expected = '  --a--b|';
      page.serveFeed(of(...pairs.map(({ acceptor }) => acceptor)), feed$);
      for (const { dialer } of pairs) expectObservable(dialer.open$({ op: 'feed' })).toBe(expected, { a: 1, b: 2 });
      expectSubscriptions(feed$.subscriptions).toBe(subs);
      flush();
      expect(encoded).toBe(2);
    }),
  );
});

describe('server push', () => {
  collectLogs();

  it(
    '`pushedStore` keeps the last value of each topic at every client',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const pairs = [createPair(), createPair()];
      const change$ = cold('--a--b--c', {
        a: { topic: 'stock', value: 3 },
        b: { topic: 'price', value: 7 },
        c: { topic: 'stock', value: 2 },
      });
      const subs = '        ^';
      const expected = '    o-a--b--c';
      const stores = { o: {}, a: { stock: 3 }, b: { stock: 3, price: 7 }, c: { stock: 2, price: 7 } };
      for (const { dialer } of pairs) expectObservable(page.pushedStore(dialer)).toBe(expected, stores);
      change$.subscribe((change) => {
        page.push(
          pairs.map(({ acceptor }) => acceptor),
          change,
        );
      });
      expectSubscriptions(change$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`pushedStore` survives a stream without a payload',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const change$ = cold('-n-a', { n: undefined, a: { op: 'change', topic: 'stock', value: 3 } });
      const subs = '        ^';
      const expected = '    o--a';
      expectObservable(page.pushedStore(dialer)).toBe(expected, { o: {}, a: { stock: 3 } });
      change$.subscribe((change) => {
        acceptor.notify(change);
      });
      expectSubscriptions(change$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`pushedStore` keeps one store for all its subscribers',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const change$ = cold('--a--b', { a: { topic: 'stock', value: 3 }, b: { topic: 'price', value: 7 } });
      const subs = '        ^';
      const expected1 = '   o-a--b';
      const expected2 = '   ----ab';
      const stores = { o: {}, a: { stock: 3 }, b: { stock: 3, price: 7 } };
      const store$ = page.pushedStore(dialer);
      expectObservable(store$).toBe(expected1, stores);
      expectObservable(store$, '----^').toBe(expected2, stores);
      change$.subscribe((change) => {
        page.push([acceptor], change);
      });
      expectSubscriptions(change$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`pushedStore` answers changes while it has a subscriber, and starts empty for a later one',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const change$ = cold('--a--b--c', {
        a: { op: 'change', topic: 'stock', value: 3 },
        b: { op: 'change', topic: 'stock', value: 5 },
        c: { op: 'change', topic: 'price', value: 7 },
      });
      const subs = '        ^';
      const looks1 = '      ^---!';
      const looks2 = '      -------^';
      const expected1 = '   o-a';
      const expected2 = '   -------oc';
      const answers = '     --t--r--t';
      const store$ = page.pushedStore(dialer);
      const stores = { o: {}, a: { stock: 3 }, c: { price: 7 } };
      const asked$ = change$.pipe(
        mergeMap((change) => acceptor.request$(change).pipe(catchError(({ code }: { readonly code: string }) => of(code)))),
      );
      expectObservable(store$, looks1).toBe(expected1, stores);
      expectObservable(store$, looks2).toBe(expected2, stores);
      expectObservable(asked$).toBe(answers, { t: null, r: 'REFUSED' });
      expectSubscriptions(change$.subscriptions).toBe(subs);
    }),
  );
});

interface Seq extends Readonly<Record<string, unknown>> {
  readonly seq: number;
}

/** Streams of values, each with its server and its client. */
const FOLLOWED: readonly [string, (peer: Peer, value$: Observable<Seq>) => unknown, (peer: Peer) => Observable<unknown>][] = [
  ['ticker', (peer, price$) => page.serveTicker(peer, price$), (peer) => page.ticker(peer)],
  ['askedStore', (peer, store$) => page.serveStore(peer, store$), (peer) => page.askedStore(peer)],
  ['follow', (peer, entry$) => page.serveLog(peer, [], entry$), (peer) => page.follow(peer)],
];

describe.each(FOLLOWED)('%s', (_, serve, follow) => {
  const VALUES = { a: { seq: 1 }, b: { seq: 2 } };
  const NOW = { reconnect: { minDelayMs: 0, maxDelayMs: 0 }, keepalive: false } as const;

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each<[what: string, servedAfterMs: number, after: string, expected: string]>([
    ['after a lost connection', 0, '   --^', '     -a-b'],
    ['after refusals by a restarted server', 100, '502ms ^', '-a 501ms b'],
  ])(
    'A followed stream continues %s',
    marbles<[string, number, string, string]>(({ cold, expectObservable, expectSubscriptions }, _what, servedAfterMs, after, expected) => {
      const server = createServer();
      const value$ = [cold('-a', VALUES), cold('-b', VALUES)] as const;
      const cut$ = cold('    --c');
      const before = '       ^-!';
      // With a random value of 1 the delay of a second attempt is the longest.
      jest.spyOn(Math, 'random').mockReturnValue(1);
      server.peers$
        .pipe(
          map((acceptor, nth) => ({ acceptor, nth })),
          delayWhen(({ nth }) => (nth === 0 || servedAfterMs === 0 ? of(nth) : timer(servedAfterMs))),
        )
        .subscribe(({ acceptor, nth }) => serve(acceptor, value$[nth === 0 ? 0 : 1]));
      const dialer = connectInBrowser('ws://test', { ...NOW, socket: server.socket });
      cut$.subscribe(() => server.link?.cut());
      expectObservable(follow(dialer)).toBe(expected, VALUES);
      expectSubscriptions(value$[0].subscriptions).toBe(before);
      expectSubscriptions(value$[1].subscriptions).toBe(after);
    }),
  );
});
