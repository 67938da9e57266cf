import { describe, expect, it } from '@jest/globals';
import { EMPTY, map } from 'rxjs';
import type { Observable } from 'rxjs';
import { catchUp, CursorLost } from '../src/topics.js';
import type { Log, TopicItem } from '../src/topics.js';
import { marbles } from './support/virtual.js';

interface Row {
  readonly does: string;
  /** The cursor that the subscriber has; `null` for a new one. */
  readonly after: string | null;
  /** Messages as the broker sends them. Each letter is the cursor and the value. */
  readonly live: string;
  /** The end of the log, for a new subscriber. */
  readonly head?: string;
  readonly history?: string;
  /** When the subscriber listens at the broker. */
  readonly subs: string;
  /** When the history is read. */
  readonly reads?: string;
  /** A capital letter is a bare cursor. */
  readonly expected: string;
  readonly unsub?: string;
  readonly error?: unknown;
}

const BROKEN = new Error('the broker is gone');
const LOST = new CursorLost('z');

/** Writes a bare cursor as a capital letter. */
const letterOf = ({ cursor, value }: TopicItem<string>): string => value ?? cursor.toUpperCase();

const asMessages = (letter$: Observable<string>) => letter$.pipe(map((letter) => ({ cursor: letter, value: letter })));

describe('catchUp', () => {
  it.each<Row>([
    {
      does: 'emits the bare cursor of the end first, then new messages',
      after: null,
      live: '    ----d--e',
      head: '    --(c|)',
      subs: '    ^-------',
      expected: '--C-d--e',
    },
    {
      does: 'keeps messages that arrive before the head, and drops the ones that the head includes',
      after: null,
      live: '    -cd----e',
      head: '    --(c|)',
      subs: '    ^-------',
      expected: '--(Cd)-e',
    },
    {
      does: 'emits the history after a cursor, then new messages',
      after: 'a',
      live: '    -------d--e',
      history: ' -b-c-|',
      subs: '    ^----------',
      reads: '   ^----!',
      expected: '-b-c---d--e',
    },
    {
      does: 'holds messages that arrive during the history, and emits each once',
      after: 'a',
      live: '    -cd-----e',
      history: ' --b-c-|',
      subs: '    ^--------',
      reads: '   ^-----!',
      expected: '--b-c-d-e',
    },
    {
      does: 'drops messages that the history had, which the broker sends later',
      after: 'a',
      live: '    -----bcd',
      history: ' -bc|',
      subs: '    ^-------',
      reads: '   ^--!',
      expected: '-bc----d',
    },
    {
      does: 'drops a message that the broker sends again',
      after: 'a',
      live: '    --b-b-c-bc-d',
      history: ' |',
      subs: '    ^-----------',
      reads: '   (^!)',
      expected: '--b---c----d',
    },
    {
      does: 'errors where the history is lost, and leaves the broker',
      after: 'a',
      live: '    --x---y',
      history: ' ----#',
      subs: '    ^---!',
      reads: '   ^---!',
      expected: '----#',
      error: LOST,
    },
    {
      does: 'errors with the broker, after the messages that have arrived',
      after: 'a',
      live: '    -b--#',
      history: ' ------|',
      subs: '    ^---!',
      reads: '   ^-----!',
      expected: '------(b#)',
      error: BROKEN,
    },
    {
      does: 'completes with the broker',
      after: 'a',
      live: '    -b--|',
      history: ' |',
      subs: '    ^---!',
      reads: '   (^!)',
      expected: '-b--|',
    },
    {
      does: 'leaves the broker and the history when its subscriber leaves',
      after: 'a',
      live: '    -c----d',
      history: ' -b---c|',
      unsub: '   ---!',
      subs: '    ^--!',
      reads: '   ^--!',
      expected: '-b--',
    },
  ])(
    '`catchUp` $does',
    marbles<[Row]>(({ hot, cold, expectObservable, expectSubscriptions }, row) => {
      const live$ = hot(row.live, undefined, BROKEN);
      const history$ = cold(row.history ?? '', undefined, LOST);
      const log: Log<string> = {
        live$: asMessages(live$),
        head: () => (row.head === undefined ? EMPTY : cold(row.head)),
        history: () => asMessages(history$),
        publish: () => Promise.reject(new Error('expected no publish')),
      };
      expectObservable(catchUp(log, row.after).pipe(map(letterOf)), row.unsub).toBe(row.expected, undefined, row.error);
      expectSubscriptions(live$.subscriptions).toBe(row.subs);
      expectSubscriptions(history$.subscriptions).toBe(row.reads === undefined ? [] : [row.reads]);
    }),
  );

  it(
    '`catchUp` reads for each subscriber by itself',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const live$ = hot(' --b---c--|');
      const subs1 = '    ^--------!';
      const subs2 = '    ----^----!';
      const expected1 = 'A-b---c--|';
      const expected2 = '----A-c--|';
      const log: Log<string> = {
        live$: asMessages(live$),
        head: () => ['a'],
        history: () => [],
        publish: () => Promise.reject(new Error('expected no publish')),
      };
      const letters$ = catchUp(log, null).pipe(map(letterOf));
      expectObservable(letters$).toBe(expected1);
      expectObservable(letters$, '----^').toBe(expected2);
      expectSubscriptions(live$.subscriptions).toBe([subs1, subs2]);
    }),
  );

  it('`catchUp` refuses an unknown overflow and a log that is none', () => {
    const log = null as unknown as Log<string>;
    expect(() => catchUp(log, null)).toThrow('log: expected a Log, got null');
    expect(() => catchUp(log, null, { overflow: 'buffers' as never })).toThrow('overflow: expected');
  });
});
