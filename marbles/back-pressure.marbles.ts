import { describe, expect, it } from '@jest/globals';
import { filter, map, mergeMap, Subject, take } from 'rxjs';
import type { Observer } from 'rxjs';
import { respond } from '../src/index.js';
import type { Stream } from '../src/index.js';
import { createPair } from '../src/testing.js';
import type { Link, Side } from '../src/testing.js';
import { known, knowingPair } from './support/known-line.js';
import { marbles } from './support/virtual.js';

/** One value of the rows. The socket accepts one and a half of them; the queue of a stream is smaller than one. */
const big = (letter: string): string => letter.repeat(700_000);
const small = (value: unknown): string => String(value).slice(0, 1);

/** Yields the letters one by one. `pulled` emits each letter as it is pulled, and completes with the generator. */
function* pages(letters: string, pulled: Observer<string>): Generator<string> {
  try {
    for (const letter of letters) {
      pulled.next(letter);
      yield big(letter);
    }
  } finally {
    pulled.complete();
  }
}

/** Stops one side's reading at `s` and resumes it at `r`. */
const reads = (link: Link, side: Side) => (what: string) => {
  if (what === 's') link.stall(side);
  else link.resume(side);
};

interface Row {
  readonly does: string;
  /** When two calls are made: one is answered by the iterable, one by an Observable that emits nothing. */
  readonly calls: string;
  /** From when to when that Observable is subscribed. */
  readonly subs: string;
  /** When the caller stops reading (`s`) and when it resumes (`r`). */
  readonly caller: string;
  /** The letters that are pulled from the iterable of the answer. */
  readonly pulled: string;
  readonly expected: string;
  readonly unsub?: string;
}

describe('an answer from an iterable', () => {
  it.each<Row>([
    {
      does: 'is pulled to its end while the caller reads',
      calls: '   -(c|)           ',
      subs: '    -^              ',
      caller: '  ----------------',
      pulled: '  -(abcde|)       ',
      expected: '-(abcde|)       ',
    },
    {
      does: 'is pulled while there is room, and closed with the socket after a minute without a reader',
      calls: '   -(c|)           ',
      subs: '    -^ 59999ms !    ',
      caller: '  s---------------',
      pulled: '  -(ab) 59996ms | ',
      expected: '----------------',
    },
    {
      does: 'is pulled on when the caller reads again',
      calls: '   -(c|)           ',
      subs: '    -^              ',
      caller: '  s--------r      ',
      pulled: '  -(ab)----(cde|) ',
      expected: '---------(abcde|)',
    },
    {
      does: 'is closed when the caller leaves, even without room',
      calls: '   -(c|)           ',
      subs: '    -^-----!        ',
      caller: '  s---------------',
      pulled: '  -(ab)--|        ',
      expected: '-------         ',
      unsub: '   -------!        ',
    },
  ])(
    'An answer from an iterable $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { calls, subs, caller, pulled, expected, unsub }) => {
      const { dialer, acceptor, link } = knowingPair();
      const calls$ = cold(known(calls));
      const silence$ = cold('-');
      const pulled$ = new Subject<string>();
      acceptor.streams$.pipe(respond((what) => (what === 'pages' ? pages('abcde', pulled$) : silence$))).subscribe();
      cold(known(caller)).subscribe(reads(link, 'dialer'));
      const leave = unsub === undefined ? undefined : known(unsub);
      expectObservable(pulled$).toBe(known(pulled));
      expectObservable(calls$.pipe(mergeMap(() => dialer.open$('pages').pipe(map(small)))), leave).toBe(known(expected));
      expectObservable(calls$.pipe(mergeMap(() => dialer.open$('silence'))), leave).toBe('');
      expectSubscriptions(silence$.subscriptions).toBe(known(subs));
    }),
  );
});

describe('a caller that stops reading', () => {
  it(
    'A caller that stops reading pauses the iterable behind a proxy, and can still cancel through the proxy',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold('  -c|              ');
      const caller$ = cold(' s--------r       ');
      const silence$ = cold('-                ');
      const leave = '        -----!           ';
      const silenceSubs = '  -^---!           ';
      const expected = '     ---------(abcdefgh|)';
      const front = createPair();
      const back = createPair();
      const pulled$ = new Subject<string>();
      let pulled = 0;
      pulled$.subscribe(() => pulled++);
      back.acceptor.streams$.pipe(respond((what) => (what === 'pages' ? pages('abcdefgh', pulled$) : silence$))).subscribe();
      front.acceptor.streams$.pipe(respond((payload): Stream => back.dialer.open(payload, { end: true }))).subscribe();
      caller$.subscribe(reads(front.link, 'dialer'));
      cold('-----x').subscribe(() => {
        expect(pulled).toBeGreaterThan(0);
        expect(pulled).toBeLessThan(8);
      });
      expectObservable(calls$.pipe(mergeMap(() => front.dialer.open$('pages').pipe(map(small))))).toBe(expected);
      expectObservable(calls$.pipe(mergeMap(() => front.dialer.open$('silence'))), leave).toBe('');
      expectSubscriptions(silence$.subscriptions).toBe(silenceSubs);
    }),
  );

  it(
    'A caller that stops reading loses the connection when its socket accepts no byte for a minute',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold(known('  -(ps|)       '));
      const caller$ = cold(known(' s            '));
      const silence$ = cold('      -            ');
      const silenceSubs = known('  -^ 59999ms ! ');
      const lost = known('         - 60s (x|)   ');
      const { dialer, acceptor, link } = knowingPair();
      acceptor.streams$.pipe(respond((what) => (what === 'p' ? pages('abcde', new Subject()) : silence$))).subscribe();
      caller$.subscribe(reads(link, 'dialer'));
      expectObservable(calls$.pipe(mergeMap((what) => dialer.open$(what)))).toBe('');
      expectObservable(acceptor.closes$.pipe(map(({ code, reason }) => [code, reason]))).toBe(lost, { x: [1006, 'slow consumer'] });
      expectSubscriptions(silence$.subscriptions).toBe(silenceSubs);
    }),
  );
});

describe('a small call beside a big answer', () => {
  it(
    'A small call is answered before a big answer is complete',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold(' -(bs)|');
      const big$ = cold('   (b|)', { b: 'b'.repeat(5_000_000) });
      const small$ = cold(' (s|)');
      const bigSubs = '     -(^!)';
      const smallSubs = '   -(^!)';
      const expected = '    -(sb)|';
      const { dialer, acceptor } = createPair();
      acceptor.streams$.pipe(respond((name) => (name === 'b' ? big$ : small$))).subscribe();
      const answers$ = calls$.pipe(mergeMap((name) => dialer.open$(name).pipe(map(small))));
      expectObservable(answers$).toBe(expected);
      expectSubscriptions(big$.subscriptions).toBe(bigSubs);
      expectSubscriptions(small$.subscriptions).toBe(smallSubs);
    }),
  );
});

describe('a ping behind a big answer', () => {
  it(
    'A ping is answered before a big answer is complete',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls$ = cold(' -b|');
      const ping$ = cold('  -p|');
      const answer$ = cold('(b|)', { b: 'b'.repeat(5_000_000) });
      const answerSubs = '  -(^!)';
      const expected = '    -(qe|)';
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      const late$ = link.messages$.pipe(
        filter(({ from, frame }) => from === 'acceptor' && (frame.type === 'pong' || frame.end === true)),
        map(({ frame }) => (frame.type === 'pong' ? 'q' : 'e')),
        take(2),
      );
      expectObservable(late$).toBe(expected);
      calls$.pipe(mergeMap((name) => dialer.open$(name))).subscribe();
      ping$.subscribe(() => void dialer.ping());
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );
});
