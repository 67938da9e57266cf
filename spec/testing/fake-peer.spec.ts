import { describe, expect, it } from '@jest/globals';
import { mergeMap, switchMap, take } from 'rxjs';
import { ResetError } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { fakePeer } from '../../src/testing.js';
import { marbles } from '../../marbles/support/virtual.js';
import { collectLogs } from '../support/peer/logs.js';

describe('fakePeer', () => {
  collectLogs();

  it(
    '`fakePeer` answers each call with the row of its name, from the start of the call on',
    marbles((helpers) => {
      const rows = { 'open prices': '--a-b-|', 'request sum': '--r|' };
      const calls = '       p-----s---p';
      const expected = '    --a-b---r---a-b';
      const { peer } = fakePeer(helpers, rows);
      const call$ = helpers.cold(calls).pipe(switchMap((what) => (what === 's' ? peer.request$({ op: 'sum' }) : peer.open$('prices'))));
      helpers.expectObservable(call$).toBe(expected);
    }),
  );

  it(
    '`fakePeer` records each call and the values that it sent',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open chat': '----|' });
      const input$ = helpers.cold('-a-b|');
      peer.open$({ op: 'chat', room: 1 }, { headers: { token: 't' }, input: input$ }).subscribe();
      helpers.flush();
      expect(calls).toStrictEqual([
        { row: 'open chat', payload: { op: 'chat', room: 1 }, headers: { token: 't' }, sent: ['a', 'b'], cancelled: false },
      ]);
      helpers.expectSubscriptions(input$.subscriptions).toBe('^---!');
    }),
  );

  it(
    '`fakePeer` records whether the program cancelled a call or received its answer',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open ticks': '-a-b-c', 'request sum': '---r|' });
      peer.open$('ticks').pipe(take(2)).subscribe();
      peer.request$('sum').subscribe();
      helpers.cold('--x').subscribe(() => {
        expect(calls.map(({ cancelled }) => cancelled)).toEqual([false, false]);
      });
      helpers.flush();
      expect(calls).toEqual([
        { row: 'open ticks', payload: 'ticks', headers: {}, sent: [], cancelled: true },
        { row: 'request sum', payload: 'sum', headers: {}, sent: [], cancelled: false },
      ]);
    }),
  );

  it(
    '`fakePeer` records a deadline, and an input that fails, as a cancel',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open late': '------r', 'open fed': '------r' });
      const input$ = helpers.cold('--#');
      helpers
        .expectObservable(peer.open$('late', { timeoutMs: 3 }), '^---')
        .toBe('---#', undefined, expect.objectContaining({ code: 'DEADLINE_EXCEEDED' }));
      helpers.expectObservable(peer.open$('fed', { input: input$ })).toBe('--#');
      helpers.expectSubscriptions(input$.subscriptions).toBe('^-!');
      helpers.flush();
      expect(calls.map(({ row, cancelled }) => [row, cancelled])).toEqual([
        ['open late', true],
        ['open fed', true],
      ]);
    }),
  );

  it(
    'The answers of fakePeer show when each row was subscribed',
    marbles((helpers) => {
      const { peer, answers } = fakePeer(helpers, { 'open ticks': '-a-b-c', 'request sum': '---r|', 'open rest': '-a' });
      const calls$ = helpers.cold('x--x');
      const ticks$ = peer.open$('ticks').pipe(take(2));
      helpers.expectObservable(calls$.pipe(mergeMap(() => ticks$))).toBe('-a-ba-b');
      helpers.expectObservable(peer.request$('sum')).toBe('---(r|)');
      helpers.expectSubscriptions(answers['open ticks'].subscriptions).toBe(['^--!', '---^--!']);
      helpers.expectSubscriptions(answers['request sum'].subscriptions).toBe('^---!');
      helpers.expectSubscriptions(answers['open rest'].subscriptions).toBe([]);
    }),
  );

  it(
    '`fakePeer` refuses a call without a row, and names the rows',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open prices': '-a', 'request sum': '-r|' });
      const reason = "expected one of open prices, request sum, got a call named 'product'";
      helpers.expectObservable(peer.request$({ op: 'product' })).toBe('#', undefined, expect.objectContaining({ code: 'REFUSED', reason }));
      helpers.flush();
      expect(calls.map(({ row, cancelled }) => [row, cancelled])).toEqual([['product', false]]);
    }),
  );

  it.each([
    [{ 'request list': '-r|', 'open list': '-a-b' }, "'request list' and 'open list'"],
    [{ list: '-r|', 'open sum': '-s|', 'open list': '-a-b' }, "'list' and 'open list'"],
  ])(
    '`fakePeer` throws for two rows for calls of one name: %j',
    marbles<[Readonly<Record<string, string>>, string]>((helpers, rows, named) => {
      expect(() => fakePeer(helpers, rows)).toThrow(new TypeError(`rows: expected one for calls named 'list', got ${named}`));
    }),
  );

  it(
    '`fakePeer` maps letters to values, and # to an error',
    marbles((helpers) => {
      const values = { a: { price: 1 }, b: { price: 2 } };
      const { peer, calls } = fakePeer(helpers, { 'open prices': '-a-b-#' }, { values, error: new RangeError('market closed') });
      helpers
        .expectObservable(peer.open$('prices'))
        .toBe(
          '-a-b-#',
          values,
          expect.objectContaining({ code: 'REMOTE', reason: 'market closed', payload: { name: 'RangeError', message: 'market closed' } }),
        );
      helpers.flush();
      expect(calls).toMatchObject([{ row: 'open prices', cancelled: false }]);
    }),
  );

  it.each<[error: unknown, outcome: object]>([
    [{ code: 'E1' }, { code: 'REMOTE', payload: { name: 'Error', message: 'E1' } }],
    [new ResetError(300, 'closed', { until: 9 }), { code: 'RESET', resetCode: 300, reason: 'closed', payload: { until: 9 } }],
  ])(
    '`fakePeer` fails at # with the same error as a handler that throws it: %j',
    marbles<[unknown, object]>((helpers, error, outcome) => {
      const { peer } = fakePeer(helpers, { 'open prices': '-a-#' }, { error });
      helpers.expectObservable(peer.open$('prices')).toBe('-a-#', undefined, expect.objectContaining(outcome));
    }),
  );

  it.each<[payload: unknown, name: string]>([
    ['prices', 'prices'],
    ['prices of today', 'prices of today'],
    [{ op: 'prices' }, 'prices'],
    [{ kind: 'prices' }, '{"kind":"prices"}'],
    [7, '7'],
    [undefined, 'null'],
  ])(
    '`fakePeer` names the call of payload %j as %s',
    marbles<[unknown, string]>((helpers, payload, name) => {
      const { peer } = fakePeer(helpers, { [`open ${name}`]: '-a|' });
      helpers.expectObservable(peer.open$(payload)).toBe('-a|');
    }),
  );

  it(
    '`fakePeer` calls its option name for the name of a call',
    marbles((helpers) => {
      const { peer } = fakePeer(helpers, { 'open 7': '-a|' }, { name: (payload) => String(payload) });
      helpers.expectObservable(peer.open$(7)).toBe('-a|');
    }),
  );

  it(
    '`fakePeer` speaks the codec of its options',
    marbles((helpers) => {
      const values = { a: new Uint8Array([1]) };
      const { peer } = fakePeer(helpers, { 'request bytes': '-(a|)' }, { codec: new MsgpackCodec(), values });
      helpers.expectObservable(peer.request$('bytes')).toBe('-(a|)', values);
    }),
  );

  it(
    '`fakePeer` passes on the options of a peer',
    marbles((helpers) => {
      const { peer } = fakePeer(helpers, { 'request slow': '-----r|' }, { requestTimeoutMs: 3 });
      helpers.expectObservable(peer.request$('slow')).toBe('---#', undefined, expect.objectContaining({ code: 'DEADLINE_EXCEEDED' }));
    }),
  );
});
