import { describe, expect, it } from '@jest/globals';
import { BehaviorSubject, catchError, EMPTY, map, mergeMap } from 'rxjs';
import { ResetCode, respond } from '../../src/index.js';
import { marbles } from '../../marbles/support/virtual.js';
import { createPair } from '../support/peer/tracked.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';
import { collectLogs } from '../support/peer/logs.js';

const page = loadRecipes() as Recipes;

describe('ticker', () => {
  it(
    '`ticker` emits fewer prices on a slow line, each the newest when it leaves',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair({ latencyMs: 3 });
      const price$ = cold('-abcdefghijklmnop');
      const subs = '       ---^';
      const expected = '   -------a-----g-----m-----p';
      page.serveTicker(acceptor, price$);
      expectObservable(page.ticker(dialer)).toBe(expected);
      expectSubscriptions(price$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`ticker` keeps one price for a reader that is away',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const price$ = cold('  -a-b-c-d-e');
      const away$ = cold('   --s------r');
      const expected = '     -a-------(be)';
      const subs = '         ^';
      page.serveTicker(acceptor, price$);
      away$.subscribe((what) => {
        if (what === 's') link.stall('dialer');
        else link.resume('dialer');
      });
      expectObservable(page.ticker(dialer)).toBe(expected);
      expectSubscriptions(price$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`ticker` shares one stream among its subscribers, and ends it a second after the last one',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const price$ = cold('-a-b-c');
      const subs = '       ^ 1004ms !';
      const ticker$ = page.ticker(dialer);
      page.serveTicker(acceptor, price$);
      expectObservable(ticker$, '   ^--!').toBe('-a-');
      expectObservable(ticker$, '   --^--!').toBe('--ab-');
      expectSubscriptions(price$.subscriptions).toBe(subs);
    }),
  );
});

describe('optimistic interface', () => {
  collectLogs();

  const before = { id: 7, title: 'write' };
  const after = { id: 7, title: 'rewrite' };

  it(
    '`rename` shows the change at once, and retries a call that the server refused',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const answer$ = cold('--a|', { a: { id: 7, title: 'Rewrite' } });
      const task$ = new BehaviorSubject(before);
      let refusals = 1;
      acceptor.streams$
        .pipe(
          respond((_, stream) => {
            if (refusals-- <= 0) return answer$;
            stream.reset(ResetCode.REFUSED, 'restarting');
            return undefined;
          }),
        )
        .subscribe();
      const saved$ = page.rename(dialer, task$, 'rewrite').pipe(map(({ title }) => title));
      const looks$ = cold('a 2s b');
      const shown = '      a 2s b';
      // The attempt after the refusal begins at a random time within 500 ms.
      saved$.subscribe();
      expectObservable(looks$.pipe(map(() => task$.value.title))).toBe(shown, { a: 'rewrite', b: 'Rewrite' });
      expectSubscriptions(looks$.subscriptions).toBe('^');
    }),
  );

  it(
    '`rename` undoes the change when it fails',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const answer$ = cold(' ---#');
      const subs = '         ^--!';
      const failed = '       ---#';
      const shown = '        a--b';
      const task$ = new BehaviorSubject(before);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(page.rename(dialer, task$, 'rewrite')).toBe(failed, undefined, expect.objectContaining({ code: 'REMOTE' }));
      expectObservable(task$).toBe(shown, { a: after, b: before });
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`rename` changes the task at its subscription, and restores that task when it fails',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const call$ = cold('   -c');
      const answer$ = cold('  --#');
      const subs = '         -^-!';
      const shown = '        ea-e';
      const edited = { id: 7, title: 'edit' };
      const task$ = new BehaviorSubject(before);
      const renamed$ = page.rename(dialer, task$, 'rewrite').pipe(catchError(() => EMPTY));
      task$.next(edited);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      call$.pipe(mergeMap(() => renamed$)).subscribe();
      expectObservable(task$).toBe(shown, { a: after, e: edited });
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it.each<[string, string, string, string]>([
    ['A change that fails late does not touch a later saved one', '----#', '-s', 'abs'],
    ['A change that is saved late does not touch a later saved one', '----f', '-s', 'abs'],
    ['A change that fails after a later failed one restores the task before both', '----#', '-#', 'aba-o'],
    ['A change that fails before a later one fails restores the task before both', '--#', '----#', 'ab---o'],
    ['A saved change stays when a later one fails', '--f', '----#', 'ab---f'],
  ])(
    '%s',
    marbles<[string, string, string, string]>(({ cold, expectObservable, expectSubscriptions }, _, first, second, expected) => {
      const { dialer, acceptor } = createPair();
      const call$ = cold('ab');
      const subs = '      ^';
      const saved = { f: { id: 7, title: 'First' }, s: { id: 7, title: 'Second' } };
      const answers = { first: cold(first, saved), second: cold(second, saved) };
      const task$ = new BehaviorSubject(before);
      acceptor.streams$.pipe(respond(({ title }: { title: 'first' | 'second' }) => answers[title])).subscribe();
      const rename = (title: string) => page.rename(dialer, task$, title).pipe(catchError(() => EMPTY));
      call$.pipe(mergeMap((call) => rename(call === 'a' ? 'first' : 'second'))).subscribe();
      const titles = { o: 'write', a: 'first', b: 'second', f: 'First', s: 'Second' };
      expectObservable(task$.pipe(map(({ title }) => title))).toBe(expected, titles);
      expectSubscriptions(call$.subscriptions).toBe(subs);
    }),
  );
});
