import { describe, expect, it } from '@jest/globals';
import { concat, endWith, last, map, merge, of, switchMap, take, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { z } from 'zod';
import { channel, client, contract, fail, request, stream, upload, whenError } from '../src/contract.js';
import type { Answers } from '../src/contract.js';
import { createPair, fakePeer } from '../src/testing.js';
import { logged } from './support/logged.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';

const api = contract({
  ask: request<string, string, { NO: { why: string } }>(),
  feed: stream<string, string>(),
  store: upload<void, string, string>(),
  chat: { lines: channel({ input: z.string(), item: z.string() }) },
});

/** Answers of which a test replaces some. */
const answers: Answers<typeof api> = {
  ask: () => 'r',
  feed: () => [],
  store: () => 's',
  chat: { lines: () => [] },
};

/** A use of the call `feed`, and the answer to each call. */
interface Use {
  readonly does: string;
  readonly use: (feed: () => Observable<string>) => Observable<string>;
  readonly answer: string;
  readonly subs: readonly string[];
  readonly expected: string;
  readonly onWire: string;
}

const USES: readonly Use[] = [
  {
    does: 'take ends the answer',
    use: (feed) => feed().pipe(take(2)),
    answer: '  -a-b-c-d',
    subs: ['   ^--!'],
    expected: '-a-(b|)',
    onWire: '  oD-(Dr)',
  },
  {
    does: 'a second subscription is a second call',
    use: (feed) => concat(feed(), feed()),
    answer: '  ----a|',
    subs: ['   ^----!', '  -----^----!'],
    expected: '----a----a|',
    onWire: '  o---D(Eo)DE',
  },
  {
    does: 'switchMap ends the call before',
    use: (feed) => timer(0, 3).pipe(take(2), switchMap(feed)),
    answer: '  ----a|',
    subs: ['   ^--!', '    ---^----!'],
    expected: '-------a|',
    onWire: '  o--(ro)DE',
  },
  {
    does: 'an error of the answer fails the call',
    use: (feed) => feed(),
    answer: '  -a-#',
    subs: ['   ^--!'],
    expected: '-a-#',
    onWire: '  oD-F',
  },
];

const REMOTE = expect.objectContaining({ code: 'REMOTE' });
const LATE = expect.objectContaining({ code: 'DEADLINE_EXCEEDED' });

describe('calls of a contract', () => {
  it.each(USES)(
    'The call of a stream is cold: $does',
    marbles(({ cold, expectObservable, expectSubscriptions }, { use, answer, subs, expected, onWire }: Use) => {
      const answer$ = cold(answer, undefined, fail(api.ask, 'NO', { why: 'x' }));
      const { calls, link } = createPair(api, { ...answers, feed: () => answer$ });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(use(() => calls.feed('x'))).toBe(expected, undefined, REMOTE);
      expectSubscriptions(answer$.subscriptions).toBe([...subs]);
    }),
  );

  it(
    'A request is one frame each way, and unsubscribing before the reply unsubscribes the answer',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('  ---r---|');
      const subs = ['         ^--!', '       ----^-!'];
      const first = '         ---(r|)';
      const second = '        ------';
      const unsub = '         ------!';
      const onWire = '        o--Eo-r';
      const { calls, link } = createPair(api, { ...answers, ask: () => answer$ });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(calls.ask('x')).toBe(first);
      expectObservable(timer(4).pipe(switchMap(() => calls.ask('y'))), unsub).toBe(second);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    'An upload subscribes to its input at each call, and the reply ends it',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const input$ = cold('   -a-b-c-d');
      const subs = '          ^----!';
      const expected = '      -----(s|)';
      const onWire = '        od-d-(dEN)';
      const { calls, link } = createPair(api, { ...answers, store: (_, { input }) => input.pipe(take(3), endWith('s'), last()) });
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(calls.store(undefined, input$)).toBe(expected);
      expectSubscriptions(input$.subscriptions).toBe(subs);
    }),
  );

  it(
    'An item that does not fit its schema stops the producer',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const input$ = cold('   -a-b-c-d', { a: 'a', b: 7 as never, c: 'c', d: 'd' });
      const subs = '          ^--!';
      const expected = '      -a-#';
      const { calls } = createPair(api, { ...answers, chat: { lines: (_, { input }) => input.pipe(map((text) => text)) } });
      expectObservable(calls.chat.lines(undefined, input$)).toBe(expected, undefined, REMOTE);
      expectSubscriptions(input$.subscriptions).toBe(subs);
    }),
  );

  it(
    'The deadline of a call travels with it: the answer ends although its caller is cut off',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('  ---------');
      const subs = '          ^----!';
      const expected = '      -----#';
      const { calls, link } = createPair(api, { ...answers, feed: () => answer$ });
      expectObservable(logged('warn')).toBe('-');
      timer(2).subscribe(() => {
        link.stall('acceptor');
      });
      expectObservable(calls.feed('x', { timeoutMs: 5 })).toBe(expected, undefined, LATE);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    'The signal of a call aborts with the deadline of its caller',
    marbles(({ cold, expectSubscriptions, flush }) => {
      const answer$ = cold('  ---------');
      const subs = '          ^----!';
      const aborted: unknown[] = [];
      const { calls, link } = createPair(api, {
        ...answers,
        feed: (_, { signal }) => {
          signal.addEventListener('abort', () => aborted.push(signal.reason));
          return answer$;
        },
      });
      timer(2).subscribe(() => {
        link.stall('acceptor');
      });
      calls.feed('x', { timeoutMs: 5 }).subscribe({ error: () => undefined });
      expectSubscriptions(answer$.subscriptions).toBe(subs);
      flush();
      expect(aborted).toEqual([expect.objectContaining({ name: 'AbortError', cause: LATE })]);
    }),
  );

  it(
    '`whenError` goes on with another Observable',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('  --#', undefined, fail(api.ask, 'NO', { why: 'n' }));
      const other$ = cold('     ---(m|)');
      const subs = '          ^-!';
      const otherSubs = '     --^--!';
      const expected = '      --n--(m|)';
      const { calls } = createPair(api, { ...answers, ask: () => answer$ });
      const asked$ = calls.ask('x').pipe(whenError(api.ask, 'NO', ({ why }) => merge(of(why), other$)));
      expectObservable(asked$).toBe(expected);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
      expectSubscriptions(other$.subscriptions).toBe(otherSubs);
    }),
  );
});

describe('fakePeer with a contract', () => {
  it(
    '`fakePeer` answers each procedure with its row, and records the calls by name',
    marbles((helpers) => {
      const { peer, answers: rows, calls } = fakePeer(helpers, api, { feed: '--a-b-|', 'chat.lines': ['-l', { l: 'line' }] });
      const line$ = helpers.cold('--i');
      const fake = client(peer, api);
      helpers.expectObservable(fake.feed('x').pipe(take(1))).toBe('--(a|)');
      helpers.expectObservable(fake.chat.lines(undefined, line$), '^---!').toBe('-l', { l: 'line' });
      helpers.expectSubscriptions(rows.feed.subscriptions).toBe('^-!');
      helpers.flush();
      expect(calls).toEqual([
        { row: 'feed', payload: 'x', headers: {}, sent: [], cancelled: true },
        { row: 'chat.lines', payload: null, headers: {}, sent: ['i'], cancelled: true },
      ]);
    }),
  );

  it(
    'A row of `fakePeer` fails with an error of its own, and a call without a row is refused',
    marbles((helpers) => {
      const {
        peer,
        answers: rows,
        calls,
      } = fakePeer(helpers, api, { ask: ['--#', {}, fail(api.ask, 'NO', { why: 'n' })], feed: '-v|' }, { values: { v: 'value' } });
      const fake = client(peer, api);
      helpers.expectObservable(fake.ask('x').pipe(whenError(api.ask, 'NO', ({ why }) => of(why)))).toBe('--(n|)');
      helpers.expectObservable(fake.feed('x')).toBe('-v|', { v: 'value' });
      helpers.expectSubscriptions(rows.feed.subscriptions).toBe('^-!');
      helpers.expectObservable(fake.store(undefined, [])).toBe('#', undefined, expect.objectContaining({ code: 'REFUSED' }));
      helpers.flush();
      expect(calls.map(({ row }) => row)).toEqual(['ask', 'feed', 'store']);
    }),
  );
});
