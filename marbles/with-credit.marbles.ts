import { describe, expect, it } from '@jest/globals';
import { defer, EMPTY, finalize, map, merge, mergeMap, of, range, retry, Subject, switchMap, take, tap, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { reopenOnReconnect, respond, withCredit } from '../src/index.js';
import type { Overflow } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { dialed } from './support/dialing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';

/** The digits of a row as credit. */
const CREDIT: Readonly<Record<string, unknown>> = { 1: 1, 2: 2, 3: 3, 9: 9, x: 'x' };

interface Granting {
  readonly does: string;
  readonly n: number;
  readonly items: string;
  /** How long the work on each item takes. Default: no work. */
  readonly work?: string;
  readonly subs: string;
  readonly credit: string;
  readonly expected: string;
  readonly error?: unknown;
  readonly unsub?: string;
}

/** A call that is repeated at each letter. */
interface Reopening {
  readonly does: string;
  readonly n: number;
  readonly calls: string;
  readonly items1: string;
  readonly items2: string;
  readonly work: string;
  readonly subs1: string;
  readonly subs2: string;
  readonly credit: string;
  readonly expected: string;
  readonly error?: unknown;
}

describe('withCredit, the consumer', () => {
  it.each<Granting>([
    {
      does: 'grants n at first, and no more while no item comes',
      n: 4,
      items: '   ---------',
      subs: '    ^--------',
      credit: '  4--------',
      expected: '---------',
    },
    {
      does: 'unsubscribes the credit with the last item',
      n: 4,
      items: '   ---|',
      subs: '    ^--!',
      credit: '  4--',
      expected: '---|',
    },
    {
      does: 'grants one item at a time for n = 1',
      n: 1,
      items: '   -a-b-|',
      subs: '    ^----!',
      credit: '  11-1-',
      expected: '-a-b-|',
    },
    {
      does: 'grants as many items as were consumed, in steps of n / 2',
      n: 4,
      items: '   -a-b-c-d-e|',
      subs: '    ^---------!',
      credit: '  4--2---2--',
      expected: '-a-b-c-d-e|',
    },
    {
      does: 'grants nothing for an item whose work is unfinished',
      n: 2,
      items: '   -(ab)------|',
      work: '    ----x|      ',
      subs: '    ^----------!',
      credit: '  2-----1----1',
      expected: '-----x----x|',
    },
    {
      does: 'passes on an error',
      n: 2,
      items: '   -a-#',
      subs: '    ^--!',
      credit: '  21-',
      expected: '-a-#',
    },
    {
      does: 'errors at an item beyond the grant, and unsubscribes from the call',
      n: 2,
      items: '   -(ab)---c',
      work: '    --x------|',
      subs: '    ^-------!',
      credit: '  2--------',
      expected: '---x----#',
      error: expect.objectContaining({ code: 'PROTOCOL', message: 'expected no more items than were granted (2), got item 3' }),
    },
    {
      does: 'unsubscribes from the call when it is unsubscribed',
      n: 2,
      items: '   -a-b-c',
      subs: '    ^---!',
      credit: '  21-1',
      expected: '-a-b-',
      unsub: '   ----!',
    },
  ])(
    'A credit consumer $does',
    marbles<[Granting]>(({ cold, expectObservable, expectSubscriptions }, { n, items, work, subs, credit, expected, error, unsub }) => {
      const items$ = cold(items);
      const granted$ = new Subject<number>();
      const open = (credit$: Observable<number>): Observable<string> => {
        credit$.subscribe(granted$);
        return items$;
      };
      expectObservable(granted$.pipe(map((granted) => String(granted)))).toBe(credit);
      const consumed$ = work === undefined ? withCredit(n).grant(open) : withCredit(n).grant(open, () => cold(work));
      expectObservable(consumed$, unsub).toBe(expected, undefined, error ?? 'error');
      expectSubscriptions(items$.subscriptions).toBe(subs);
    }),
  );

  it.each<Reopening>([
    {
      does: 'grants a new stream the credit that no unconsumed item holds',
      n: 4,
      calls: '   x--x             ',
      items1: '  -(abc)           ',
      items2: '     --d           ',
      work: '    ----x|           ',
      subs1: '   ^--!             ',
      subs2: '   ---^             ',
      credit: '  4--1-------2---------2',
      expected: '-----x----x----x----x',
    },
    {
      does: 'grants a new stream nothing while n items are unconsumed',
      n: 2,
      calls: '   x--x             ',
      items1: '  -(ab)            ',
      items2: '     -------c      ',
      work: '    ----x|           ',
      subs1: '   ^--!             ',
      subs2: '   ---^             ',
      credit: '  2-----1----1----1',
      expected: '-----x----x----x',
    },
    {
      does: 'grants a new stream the credit that the stream before has not used',
      n: 4,
      calls: '   x----x           ',
      items1: '  -a               ',
      items2: '       -(bcde)     ',
      work: '    x|               ',
      subs1: '   ^----!           ',
      subs2: '   -----^           ',
      credit: '  4----4--2-2      ',
      expected: '-x----xxxx',
    },
    {
      does: 'accepts no more items from a new stream than it granted',
      n: 2,
      calls: '   x---x            ',
      items1: '  -a               ',
      items2: '      -(bc)        ',
      work: '    ------x|         ',
      subs1: '   ^---!            ',
      subs2: '   ----^!           ',
      credit: '  2---1            ',
      expected: '-----#',
      error: expect.objectContaining({ code: 'PROTOCOL', message: 'expected no more items than were granted (1), got item 2' }),
    },
  ])(
    'A credit consumer $does',
    marbles<[Reopening]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const items1$ = cold(row.items1);
      const items2$ = cold(row.items2);
      const granted$ = new Subject<number>();
      const open = (credit$: Observable<number>): Observable<string> => {
        const stream = (items$: Observable<string>): Observable<string> => {
          const granting = credit$.subscribe(granted$);
          return items$.pipe(finalize(() => granting.unsubscribe()));
        };
        return cold(row.calls).pipe(switchMap((_, nth) => stream(nth === 0 ? items1$ : items2$)));
      };
      expectObservable(granted$.pipe(map((granted) => String(granted)))).toBe(row.credit);
      expectObservable(withCredit(row.n).grant(open, () => cold(row.work))).toBe(row.expected, undefined, row.error);
      expectSubscriptions(items1$.subscriptions).toBe(row.subs1);
      expectSubscriptions(items2$.subscriptions).toBe(row.subs2);
    }),
  );

  it(
    'A credit consumer grants to a stream that answers synchronously within the grant',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('--(x|)');
      const subs = '       ^-!';
      const expected = '   --(aaa|)';
      const open = (credit$: Observable<number>): Observable<string> =>
        credit$.pipe(
          mergeMap((granted) => range(0, granted)),
          map(() => 'a'),
          take(3),
        );
      expectObservable(calls$.pipe(mergeMap(() => withCredit(1).grant(open)))).toBe(expected);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
    }),
  );

  it(
    'A credit consumer starts again with each subscription to the call',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const items$ = cold('-ab#');
      const subs1 = '      ^--!';
      const subs2 = '      ---^--!';
      const credit = '     4-24-2';
      const expected = '   -ab-ab#';
      const granted$ = new Subject<number>();
      const open = (credit$: Observable<number>): Observable<string> =>
        defer(() => {
          const granting = credit$.subscribe(granted$);
          return items$.pipe(finalize(() => granting.unsubscribe()));
        });
      const twice = (credit$: Observable<number>): Observable<string> => open(credit$).pipe(retry(1));
      expectObservable(granted$.pipe(map((granted) => String(granted)))).toBe(credit);
      expectObservable(withCredit(4).grant(twice)).toBe(expected);
      expectSubscriptions(items$.subscriptions).toBe([subs1, subs2]);
    }),
  );

  it(
    'A credit consumer errors with what its work throws, and unsubscribes from the call',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const items$ = cold('--a--b');
      const subs = '       ^-!';
      const expected = '   --#';
      const thrown = new Error('cannot');
      const work = (): never => {
        throw thrown;
      };
      const open = (credit$: Observable<number>): Observable<string> => {
        credit$.subscribe();
        return items$;
      };
      expectObservable(withCredit(4).grant(open, work)).toBe(expected, undefined, thrown);
      expectSubscriptions(items$.subscriptions).toBe(subs);
    }),
  );

  it(
    'A credit consumer errors with what open throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('--x|');
      const subs = '       ^-!';
      const expected = '   --#';
      const thrown = new Error('not now');
      const open = (): never => {
        throw thrown;
      };
      expectObservable(calls$.pipe(mergeMap(() => withCredit(4).grant(open)))).toBe(expected, undefined, thrown);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
    }),
  );

  it.each([
    [0, 'credit: expected a number of at least 1, got 0'],
    [-1, 'credit: expected a number of at least 1, got -1'],
    [1.5, 'credit: expected a whole number of items, got 1.5'],
    [Number.NaN, 'credit: expected a number of at least 1, got NaN'],
  ])('`withCredit` throws for %d items', (n, message) => {
    expect(() => withCredit(n)).toThrow(new TypeError(message));
  });
});

interface Spending {
  readonly does: string;
  /** The digits are credit. */
  readonly grants: string;
  readonly grantsSubs: string;
  readonly items: string;
  readonly itemsSubs: string;
  readonly expected: string;
  readonly unsub?: string;
  readonly error?: unknown;
  readonly overflow?: Overflow;
}

describe('withCredit, the producer', () => {
  it.each<Spending>([
    {
      does: 'emits nothing without credit',
      grants: '    ---------',
      grantsSubs: '^--------',
      items: '     -a-b-c---',
      itemsSubs: ' ^--------',
      expected: '  ---------',
    },
    {
      does: 'completes with its source',
      grants: '    9--------',
      grantsSubs: '^--!     ',
      items: '     ---|     ',
      itemsSubs: ' ^--!     ',
      expected: '  ---|     ',
    },
    {
      does: 'emits one item for one credit',
      grants: '    --1------',
      grantsSubs: '^--------',
      items: '     -a-b-c---',
      itemsSubs: ' ^--------',
      expected: '  --a------',
    },
    {
      does: 'emits waiting items in order, as far as the credit goes',
      grants: '    ------2----1----3---',
      grantsSubs: '^---------------!   ',
      items: '     -a-b-c-d|           ',
      itemsSubs: ' ^-------!           ',
      expected: '  ------(ab)-c----(d|)',
    },
    {
      does: 'passes on an error, and drops items without credit',
      grants: '    1--------',
      grantsSubs: '^----!   ',
      items: '     -a-b-#   ',
      itemsSubs: ' ^----!   ',
      expected: '  -a---#   ',
      error: 'error',
    },
    {
      does: 'fails with the stream that grants',
      grants: '    1---#    ',
      grantsSubs: '^---!    ',
      items: '     -a-b-c---',
      itemsSubs: ' ^---!    ',
      expected: '  -a--#    ',
      error: 'error',
    },
    {
      does: 'completes at the last credit when no grant can follow',
      grants: '    2-|      ',
      grantsSubs: '^-!      ',
      items: '     -a-b-c---',
      itemsSubs: ' ^--!     ',
      expected: '  -a-(b|)  ',
    },
    {
      does: 'completes at once when the granting stream ends without a grant',
      grants: '    --|      ',
      grantsSubs: '^-!      ',
      items: '     -a-b-c---',
      itemsSubs: ' ^-!      ',
      expected: '  --|      ',
    },
    {
      does: 'unsubscribes from both when it is unsubscribed',
      grants: '    9--------',
      grantsSubs: '^---!    ',
      items: '     -a-b-c---',
      itemsSubs: ' ^---!    ',
      expected: '  -a-b     ',
      unsub: '     ----!    ',
    },
    {
      does: "keeps the newest item with overflow 'latest'",
      overflow: 'latest',
      grants: '    ------2--|',
      grantsSubs: '^--------!',
      items: '     -a-b-c---d',
      itemsSubs: ' ^--------!',
      expected: '  ------c--(d|)',
    },
    {
      does: "fails with overflow 'error' at the first item without credit",
      overflow: 'error',
      grants: '    1--------',
      grantsSubs: '^--!     ',
      items: '     -a-b-c---',
      itemsSubs: ' ^--!     ',
      expected: '  -a-#     ',
      error: expect.objectContaining({ code: 'QUEUE_OVERFLOW', message: 'expected credit for the next item, got none (overflow)' }),
    },
  ])(
    'A credit producer $does',
    marbles<[Spending]>(({ hot, cold, expectObservable, expectSubscriptions }, row) => {
      const grants$ = hot(row.grants, CREDIT);
      const items$ = cold(row.items);
      const spend = withCredit(1).spend(grants$, { overflow: row.overflow });
      expectObservable(items$.pipe(spend), row.unsub).toBe(row.expected, undefined, row.error);
      expectSubscriptions(grants$.subscriptions).toBe(row.grantsSubs);
      expectSubscriptions(items$.subscriptions).toBe(row.itemsSubs);
    }),
  );

  // The remote's text is not quoted: it may be a secret, or megabytes long.
  it.each<[unknown, string]>([
    ['a secret', 'a string'],
    [{ items: 2 }, 'an object'],
    [2n, 'a bigint'],
    [1.5, '1.5'],
    [0, '0'],
    [Number.NaN, 'NaN'],
    [null, 'null'],
  ])(
    'A credit producer fails with credit %p, which is no number of items',
    marbles<[unknown, string]>(({ hot, cold, expectObservable, expectSubscriptions }, grant, got) => {
      const grants$ = hot('--x------', { x: grant });
      const items$ = cold('-a-b-c---');
      const subs = '       ^-!      ';
      const expected = '   --#      ';
      const message = `expected credit to be a whole number of items, got ${got}`;
      expectObservable(items$.pipe(withCredit(1).spend(grants$))).toBe(
        expected,
        undefined,
        expect.objectContaining({ code: 'PROTOCOL', message }),
      );
      expectSubscriptions(grants$.subscriptions).toBe(subs);
      expectSubscriptions(items$.subscriptions).toBe(subs);
    }),
  );

  it(
    'A credit producer emits an item that answers a waiting one after the other waiting items',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const grants$ = hot(' --9----', CREDIT);
      const items$ = cold(' (ab)---');
      const subs = '        ^------';
      const expected = '    --(abc)';
      const answer$ = new Subject<string>();
      const spent$ = merge(items$, answer$).pipe(
        withCredit(1).spend(grants$),
        tap((item) => {
          if (item === 'a') answer$.next('c');
        }),
      );
      expectObservable(spent$).toBe(expected);
      expectSubscriptions(items$.subscriptions).toBe(subs);
    }),
  );

  it(
    'A credit producer pulls only granted items from an iterable',
    marbles(({ hot, expectObservable, expectSubscriptions, cold }) => {
      const grants$ = hot(' 2-----1--(|)', CREDIT);
      const subs = '        ^--------!';
      const expected = '    (ab)--c--|';
      let made = 0;
      let closed = false;
      function* items(): Generator<string> {
        try {
          for (const letter of 'abcdefgh') {
            made++;
            yield letter;
          }
        } finally {
          closed = true;
        }
      }
      expectObservable(withCredit(1).spend(grants$)(items())).toBe(expected);
      expectSubscriptions(grants$.subscriptions).toBe(subs);
      cold('----------x').subscribe(() => {
        expect({ made, closed }).toEqual({ made: 3, closed: true });
      });
    }),
  );

  it.each<[what: string, grants$: Observable<unknown>, expected: string, error?: unknown]>([
    ['has ended', EMPTY, '---|'],
    ['has failed', throwError(() => new Error('gone')), '---#', new Error('gone')],
    ['emits no number of items at once', of(0), '---#', expect.objectContaining({ code: 'PROTOCOL' })],
  ])(
    'A credit producer does not subscribe to its items when the stream that grants %s',
    marbles<[string, Observable<unknown>, string, unknown?]>(
      ({ cold, expectObservable, expectSubscriptions }, _what, grants$, expected, error) => {
        const call$ = cold(' ---(c|)');
        const items$ = cold('-a-b-c');
        expectObservable(call$.pipe(mergeMap(() => items$.pipe(withCredit(1).spend(grants$))))).toBe(expected, undefined, error);
        expectSubscriptions(call$.subscriptions).toBe('^--!');
        expectSubscriptions(items$.subscriptions).toBe([]);
      },
    ),
  );

  it('A credit producer refuses an unknown overflow', () => {
    expect(() => withCredit(1).spend(EMPTY, { overflow: 'block' as Overflow })).toThrow(TypeError);
  });
});

describe('withCredit, both ends of a stream', () => {
  it(
    'Both ends of withCredit keep at most n items on their way or unconsumed',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const items$ = cold('      (abcdef|)                    ');
      const work$ = cold('       --w|                         ');
      const itemsSubs = '        (^!)                         ';
      const expected = '         --a--b--c--d--e--f|          ';
      const credit = withCredit(2);
      const { dialer, acceptor } = createPair();
      let sent = 0;
      let consumed = 0;
      acceptor.streams$
        .pipe(
          respond((_, stream) =>
            items$.pipe(
              credit.spend(stream),
              tap(() => {
                sent++;
                expect(sent - consumed).toBeLessThanOrEqual(2);
              }),
            ),
          ),
        )
        .subscribe();
      const items = credit.grant(
        (credit$) => dialer.open$<string>('items', { input: credit$ }),
        (item) =>
          work$.pipe(
            map(() => item),
            finalize(() => consumed++),
          ),
      );
      expectObservable(items).toBe(expected);
      expectSubscriptions(items$.subscriptions).toBe(itemsSubs);
    }),
  );

  it(
    'Both ends of withCredit keep at most n items unconsumed, however often the socket is lost',
    marbles(({ hot, cold, flush, expectObservable, expectSubscriptions }) => {
      const letters = 'abcdefgh';
      const cuts$ = hot('  -x-x-x-x-x---x---------|                                               ');
      const cutsSubs = '   ^----------------------!                                               ';
      const work$ = cold(' ---------w|                                                            ');
      const expected = '   ---------a---------b---------c---------d---------e---------f---------g---------h|';
      const credit = withCredit(4);
      const { server, dial } = dialed((peer) =>
        peer.streams$
          .pipe(respond((position: number, stream) => cold(`(${letters.slice(position)}|)`).pipe(credit.spend(stream))))
          .subscribe(),
      );
      const peer = dial();
      cuts$.subscribe(() => server.link?.cut());
      let received = 0;
      let consumed = 0;
      let most = 0;
      const items = credit.grant(
        (credit$) =>
          reopenOnReconnect(peer, {
            initial: 0,
            open: (position) => peer.open$<string>(position, { input: credit$ }),
            cursor: (_, position) => position + 1,
          }).pipe(tap(() => (most = Math.max(most, ++received - consumed)))),
        (item) =>
          work$.pipe(
            map(() => item),
            finalize(() => consumed++),
          ),
      );
      expectObservable(items).toBe(expected);
      expectSubscriptions(cuts$.subscriptions).toBe(cutsSubs);
      flush();
      expect(most).toBe(4);
    }),
  );

  it(
    'A credit producer ends the call with the last item, though the consumer would grant more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const items$ = cold('-----a----b----|');
      const subs = '       ^--------------!';
      const expected = '   -----a----b----|';
      const onWire = '     (od)-(Dd)-(Dd)-(EN)';
      const credit = withCredit(1);
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.pipe(respond((_, stream) => items$.pipe(credit.spend(stream)))).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(credit.grant((credit$) => dialer.open$<string>('items', { input: credit$ }))).toBe(expected);
      expectSubscriptions(items$.subscriptions).toBe(subs);
    }),
  );

  it(
    'A credit consumer that leaves unsubscribes the producer',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const items$ = cold('-a-b-c-d');
      const subs = '       ^--!';
      const expected = '   -a-(b|)';
      const credit = withCredit(1);
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond((_, stream) => items$.pipe(credit.spend(stream)))).subscribe();
      const taken$ = credit.grant((credit$) => dialer.open$<string>('items', { input: credit$ })).pipe(take(2));
      expectObservable(taken$).toBe(expected);
      expectSubscriptions(items$.subscriptions).toBe(subs);
    }),
  );

  it(
    'A credit producer does not subscribe to its items when the consumer can grant nothing',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const items$ = cold('-a-b-c-d');
      const expected = '   |';
      const onWire = '     (oE)';
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.pipe(respond((_, stream) => items$.pipe(withCredit(1).spend(stream)))).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('items')).toBe(expected);
      expectSubscriptions(items$.subscriptions).toBe([]);
    }),
  );
});
