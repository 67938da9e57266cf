import { describe, expect, it } from '@jest/globals';
import { catchError, EMPTY, map, merge, mergeMap, NEVER } from 'rxjs';
import { respond } from '../src/index.js';
import { createPair } from '../src/testing.js';
import { marbles } from './support/virtual.js';
import { wire } from './support/wire.js';
import { collectLogs } from '../spec/support/peer/logs.js';

collectLogs();

interface Row {
  readonly does: string;
  /** The values sent. Without this row the call has no input. */
  readonly input?: string;
  readonly inputSubs?: string;
  /** The row of the server's source, counted from the open. */
  readonly answer: string;
  readonly answerSubs: string;
  readonly expected: string;
  readonly onWire: string;
  readonly unsub?: string;
  readonly error?: unknown;
}

const REMOTE = expect.objectContaining({ code: 'REMOTE', reason: 'error' });

const open = marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, row) => {
  const { dialer, acceptor, link } = createPair();
  const answer$ = cold(row.answer);
  const input$ = cold(row.input ?? '');
  // Reads the input too; otherwise the end of the answer would stop the input.
  acceptor.streams$.pipe(mergeMap((stream) => stream.pipe(catchError(() => EMPTY)))).subscribe();
  acceptor.streams$.pipe(respond(() => answer$)).subscribe();
  expectObservable(wire(link)).toBe(row.onWire);
  const call$ = row.input === undefined ? dialer.open$('x') : dialer.open$('x', { input: input$ });
  expectObservable(call$, row.unsub).toBe(row.expected, undefined, row.error);
  expectSubscriptions(answer$.subscriptions).toBe(row.answerSubs);
  expectSubscriptions(input$.subscriptions).toBe(row.inputSubs ?? []);
});

describe('open$ without input', () => {
  it.each<Row>([
    {
      does: 'waits while no value comes',
      answer: '    ---------',
      answerSubs: '^--------',
      expected: '  ---------',
      onWire: '    o--------',
    },
    {
      does: 'completes with an empty answer',
      answer: '    ----|',
      answerSubs: '^---!',
      expected: '  ----|',
      onWire: '    o---E',
    },
    {
      does: 'emits one value, and completes with the end',
      answer: '    --a--|',
      answerSubs: '^----!',
      expected: '  --a--|',
      onWire: '    o-D--E',
    },
    {
      does: 'emits many values in order',
      answer: '    -ab----(cd)-|',
      answerSubs: '^-----------!',
      expected: '  -ab----(cd)-|',
      onWire: '    oDD----(DD)-E',
    },
    {
      does: 'errors with the failure of the handler, after the values before it',
      answer: '    --a--#',
      answerSubs: '^----!',
      expected: '  --a--#',
      onWire: '    o-D--F',
      error: REMOTE,
    },
    {
      does: 'cancels when unsubscribed, and the server unsubscribes its source',
      answer: '    --a--b--c--d',
      answerSubs: '^------!',
      expected: '  --a--b-',
      onWire: '    o-D--D-r',
      unsub: '     -------!',
    },
  ])('`open$` without input $does', open);
});

describe('open$ with input', () => {
  it.each<Row>([
    {
      does: 'waits while both sides are silent',
      input: '     ---------',
      inputSubs: ' ^--------',
      answer: '    ---------',
      answerSubs: '^--------',
      expected: '  ---------',
      onWire: '    o--------',
    },
    {
      does: 'ends after an empty input, and completes with the end of the remote',
      input: '     --|',
      inputSubs: ' ^-!',
      answer: '    ------|',
      answerSubs: '^-----!',
      expected: '  ------|',
      onWire: '    o-e---E',
    },
    {
      does: 'completes with the end of its input when the remote has ended before',
      input: '     --a---|',
      inputSubs: ' ^-----!',
      answer: '    ---1|',
      answerSubs: '^---!',
      expected: '  ---1--|',
      onWire: '    o-dDE-e',
    },
    {
      does: 'sends many values while it receives many',
      input: '     -a--b---c|',
      inputSubs: ' ^--------!',
      answer: '    --1---2--|',
      answerSubs: '^--------!',
      expected: '  --1---2--|',
      onWire: '    odD-d-D-d(eE)',
    },
    {
      does: 'resets the stream with the error of its input',
      input: '     --a--#',
      inputSubs: ' ^----!',
      answer: '    ---1-----',
      answerSubs: '^----!',
      expected: '  ---1-#',
      onWire: '    o-dD-f',
      error: 'error',
    },
    {
      does: 'unsubscribes from its input when the handler fails',
      input: '     --a-----b',
      inputSubs: ' ^----!',
      answer: '    ---1-#',
      answerSubs: '^----!',
      expected: '  ---1-#',
      onWire: '    o-dD-F',
      error: REMOTE,
    },
    {
      does: 'cancels and unsubscribes from its input when unsubscribed',
      input: '     --a-----b',
      inputSubs: ' ^----!',
      answer: '    ---1---2',
      answerSubs: '^----!',
      expected: '  ---1-',
      onWire: '    o-dD-r',
      unsub: '     -----!',
    },
    {
      does: 'cancels when unsubscribed after the end of the remote',
      input: '     --a-----b',
      inputSubs: ' ^-----!',
      answer: '    ---1|',
      answerSubs: '^---!',
      expected: '  ---1--',
      onWire: '    o-dDE-r',
      unsub: '     ------!',
    },
    {
      does: 'cancels nothing when both its input and the remote have ended',
      input: '     --a|  ',
      inputSubs: ' ^--!  ',
      answer: '    -1---|',
      answerSubs: '^----!',
      expected: '  -1---|',
      onWire: '    oDde-E',
    },
  ])('`open$` with input $does', open);

  it(
    '`open$` calls an input function for each subscription',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const input$ = cold('-a-b|');
      const subs1 = '      ^---!';
      const subs2 = '      ------^---!';
      const expected1 = '  -a-b|';
      const expected2 = '  -------a-b|';
      let made = 0;
      acceptor.streams$.pipe(respond((_, stream) => stream)).subscribe();
      const call$ = dialer.open$('x', { input: () => (made++, input$) });
      expectObservable(call$).toBe(expected1);
      expectObservable(call$, '------^').toBe(expected2);
      expectSubscriptions(input$.subscriptions).toBe([subs1, subs2]);
      cold('-----------x').subscribe(() => expect(made).toBe(2));
    }),
  );

  it(
    '`open$` resets the stream with the error that the input function throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const answer$ = cold('---a');
      const subs = '        (^!)';
      const expected = '    #';
      const onWire = '      (of)';
      const thrown = new Error('no input');
      const input = (): never => {
        throw thrown;
      };
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x', { input })).toBe(expected, undefined, thrown);
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`open$` errors with what onOpen throws, cancels, and leaves the input alone',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const input$ = cold('--a');
      const answer$ = cold('--a');
      const answerSubs = ' (^!)';
      const expected = '   #';
      const onWire = '     (or)';
      const thrown = new Error('not that one');
      const onOpen = (): never => {
        throw thrown;
      };
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(wire(link)).toBe(onWire);
      expectObservable(dialer.open$('x', { input: input$, onOpen })).toBe(expected, undefined, thrown);
      expectSubscriptions(input$.subscriptions).toBe([]);
      expectSubscriptions(answer$.subscriptions).toBe(answerSubs);
    }),
  );

  it(
    '`open$` pulls the values of an iterable input',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const calls$ = cold('--x--|');
      const subs = '       ^----!';
      const expected = '   --(abc)';
      acceptor.streams$.pipe(respond((_, stream) => stream.pipe(map(String)))).subscribe();
      expectObservable(merge(calls$.pipe(mergeMap(() => dialer.open$('x', { input: ['a', 'b', 'c'] }))), NEVER)).toBe(expected);
      expectSubscriptions(calls$.subscriptions).toBe(subs);
    }),
  );
});
