import { describe, expect, it } from '@jest/globals';
import { catchError, concat, defer, EMPTY, ignoreElements, map, mergeMap, of, Subject, take, tap } from 'rxjs';
import type { GroupedObservable, Observable } from 'rxjs';
import { demultiplex, ResetCode, StreamFault } from '../src/index.js';
import type { Frame } from '../src/index.js';
import { frameMarbles } from '../src/testing.js';
import { marbles } from './support/virtual.js';

type Grouped = Frame | StreamFault;

/** Stream 1 in small letters, stream 3 in capital ones, the connection in `p`, `q`, `g`. */
const FRAMES: Readonly<Record<string, Grouped>> = {
  ...frameMarbles(1, { f: { fragment: '"', more: true, end: true } }),
  ...Object.fromEntries(Object.entries(frameMarbles(3)).map(([letter, frame]) => [letter.toUpperCase(), frame])),
  /** A frame of the connection that says `end`, which means nothing there. */
  z: { type: 'ping', stream: 0, end: true },
  x: new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'fragments do not reassemble'),
};

/** Groups by their keys. */
const KEYS = { 0: 0, 1: 1, 3: 3 };

/** Tells a row what a group does, and nobody else. */
const recorded = (group: GroupedObservable<number, Grouped>, row = new Subject<Grouped>()): Observable<never> =>
  group.pipe(
    tap({ next: (frame) => row.next(frame), error: (error) => row.error(error), complete: () => row.complete() }),
    ignoreElements(),
    catchError(() => EMPTY),
  );

interface GroupRow {
  readonly does: string;
  readonly frames: string;
  readonly subs: string;
  /** The keys of the groups that come out. */
  readonly groups: string;
  /** What each group emits to one who subscribes as it comes out. */
  readonly connection: string;
  readonly stream1: string;
  readonly stream3: string;
  readonly unsub?: string;
}

/** What one who takes one group only, and reads it, is given. */
interface TakenRow {
  readonly does: string;
  readonly frames: string;
  readonly subs: string;
  readonly unsub?: string;
  readonly expected: string;
}

describe('demultiplex into groups', () => {
  it.each<GroupRow>([
    {
      does: 'is silent while no frame comes',
      frames: '    ---------',
      subs: '      ^--------',
      groups: '    ---------',
      connection: '---------',
      stream1: '   ---------',
      stream3: '   ---------',
    },
    {
      does: 'completes without a group',
      frames: '    ----|    ',
      subs: '      ^---!    ',
      groups: '    ----|    ',
      connection: '---------',
      stream1: '   ---------',
      stream3: '   ---------',
    },
    {
      does: 'makes a group at the first frame of a stream, which is in it',
      frames: '    --o---|  ',
      subs: '      ^-----!  ',
      groups: '    --1---|  ',
      connection: '---------',
      stream1: '   --o---|  ',
      stream3: '   ---------',
    },
    {
      does: 'makes one group of many frames of a stream',
      frames: '    -o-dd-(dd)-|',
      subs: '      ^----------!',
      groups: '    -1---------|',
      connection: '------------',
      stream1: '   -o-dd-(dd)-|',
      stream3: '   ------------',
    },
    {
      does: 'makes one group for each stream, and 0 of what concerns the connection',
      frames: '    -oOp-dDDq-g-d|',
      subs: '      ^------------!',
      groups: '    -130---------|',
      connection: '---p----q-g--|',
      stream1: '   -o---d------d|',
      stream3: '   --O---DD-----|',
    },
    {
      does: "completes a group after the remote's end, and leaves the others",
      frames: '    -oO-d-e---D-|',
      subs: '      ^-----------!',
      groups: '    -13---------|',
      connection: '-------------',
      stream1: '   -o--d-(e|)   ',
      stream3: '   --O-------D-|',
    },
    {
      does: "completes a group after the remote's reset, and leaves the others",
      frames: '    -oO-d-r---D-|',
      subs: '      ^-----------!',
      groups: '    -13---------|',
      connection: '-------------',
      stream1: '   -o--d-(r|)   ',
      stream3: '   --O-------D-|',
    },
    {
      does: 'completes a group after the fault of its stream, and leaves the others',
      frames: '    -oO-d-x---D-|',
      subs: '      ^-----------!',
      groups: '    -13---------|',
      connection: '-------------',
      stream1: '   -o--d-(x|)   ',
      stream3: '   --O-------D-|',
    },
    {
      does: 'makes a group of a fault that comes first in its stream',
      frames: '    --x-----|',
      subs: '      ^-------!',
      groups: '    --1-----|',
      connection: '---------',
      stream1: '   --(x|)   ',
      stream3: '   ---------',
    },
    {
      does: 'completes a group at once where its only frame ends it',
      frames: '    --e-----|',
      subs: '      ^-------!',
      groups: '    --1-----|',
      connection: '---------',
      stream1: '   --(e|)   ',
      stream3: '   ---------',
    },
    {
      does: 'waits for the last fragment',
      frames: '    -o-f-f-e---|',
      subs: '      ^----------!',
      groups: '    -1---------|',
      connection: '------------',
      stream1: '   -o-f-f-(e|) ',
      stream3: '   ------------',
    },
    {
      does: 'ends the connection with the frames only',
      frames: '    -z-p-g-|',
      subs: '      ^------!',
      groups: '    -0-----|',
      connection: '-z-p-g-|',
      stream1: '   --------',
      stream3: '   --------',
    },
    {
      does: 'fails every group with the frames, but those that are complete',
      frames: '    -oOp-e--#',
      subs: '      ^-------!',
      groups: '    -130----#',
      connection: '---p----#',
      stream1: '   -o---(e|)',
      stream3: '   --O-----#',
    },
    {
      does: 'lets go of the frames when it and its groups are unsubscribed',
      frames: '    -oO-d-D-d|',
      subs: '      ^----!    ',
      groups: '    -13       ',
      connection: '----------',
      stream1: '   -o--d-    ',
      stream3: '   --O---    ',
      unsub: '     -----!    ',
    },
    {
      does: 'drops what comes late for a stream that has ended',
      frames: '    -o-e-d-r-O-|',
      subs: '      ^----------!',
      groups: '    -1-------3-|',
      connection: '------------',
      stream1: '   -o-(e|)     ',
      stream3: '   ---------O-|',
    },
    {
      does: 'drops what comes late for a stream that has ended, also after the open of a later one',
      frames: '    -o-e-O-d-r-D-|',
      subs: '      ^------------!',
      groups: '    -1---3-------|',
      connection: '--------------',
      stream1: '   -o-(e|)       ',
      stream3: '   -----O-----D-|',
    },
    {
      does: 'takes answers in any order, and those to streams that were opened before it looked',
      frames: '    -D-d-E-d-e-|',
      subs: '      ^----------!',
      groups: '    -3-1-------|',
      connection: '------------',
      stream1: '   ---d---d-(e|)',
      stream3: '   -D---(E|)   ',
    },
    {
      does: 'makes a group anew of what comes after the end of a stream whose open it has not seen',
      frames: '    -d-e-d-e-|',
      subs: '      ^--------!',
      groups: '    -1---1---|',
      connection: '----------',
      stream1: '   -d-(e|)   ',
      stream3: '   ----------',
    },
    {
      does: 'takes frames of a stream that was opened before it looked, also after the open of a later one',
      frames: '    -O---d---e-|',
      subs: '      ^----------!',
      groups: '    -3---1-----|',
      connection: '------------',
      stream1: '   -----d---(e|)',
      stream3: '   -O---------|',
    },
  ])(
    '$does',
    marbles<[GroupRow]>(({ cold, expectObservable, expectSubscriptions }, row) => {
      const frames$ = cold(row.frames, FRAMES);
      const [connection$, stream1$, stream3$] = [new Subject<Grouped>(), new Subject<Grouped>(), new Subject<Grouped>()];
      const rows = new Map([
        [0, connection$],
        [1, stream1$],
        [3, stream3$],
      ]);
      const keys$ = frames$.pipe(
        demultiplex(),
        mergeMap((group) => concat(of(group.key), recorded(group, rows.get(group.key)))),
      );
      expectObservable(connection$).toBe(row.connection, FRAMES);
      expectObservable(stream1$).toBe(row.stream1, FRAMES);
      expectObservable(stream3$).toBe(row.stream3, FRAMES);
      expectObservable(keys$, row.unsub).toBe(row.groups, KEYS);
      expectSubscriptions(frames$.subscriptions).toBe(row.subs);
    }),
  );

  it.each<TakenRow>([
    {
      does: 'goes on for a group that is read when no further one is wanted, until the group ends',
      frames: '  -o-d-O-D-e-D-|',
      subs: '    ^--------!    ',
      expected: '-o-d-----(e|) ',
    },
    {
      does: 'goes on for a group that is read when no further one is wanted, until the frames end',
      frames: '  -o-d-O-D-|',
      subs: '    ^--------!',
      expected: '-o-d-----|',
    },
    {
      does: 'goes on for a group that is read when no further one is wanted, until the frames fail',
      frames: '  -o-d-O-D-#',
      subs: '    ^--------!',
      expected: '-o-d-----#',
    },
    {
      does: 'goes on for a group that is read when no further one is wanted, until it is unsubscribed',
      frames: '  -o-d-O-D-e',
      subs: '    ^---!     ',
      unsub: '   ----!     ',
      expected: '-o-d-     ',
    },
  ])(
    '$does',
    marbles<[TakenRow]>(({ cold, expectObservable, expectSubscriptions }, { frames, subs, unsub, expected }) => {
      const frames$ = cold(frames, FRAMES);
      const first$ = frames$.pipe(
        demultiplex(),
        take(1),
        mergeMap((group) => group),
      );
      expectObservable(first$, unsub).toBe(expected, FRAMES);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    'lets go of the frames after the last group that is wanted, where nobody reads it, and completes it',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold(' -o-d-e', FRAMES);
      const subs = '         ^!     ';
      const groups = '       -(1|)  ';
      const late = '         ----^  ';
      const read = '         ----|  ';
      let group: Observable<Grouped> = EMPTY;
      const groups$ = frames$.pipe(
        demultiplex(),
        take(1),
        tap((made) => (group = made)),
      );
      expectObservable(groups$.pipe(map(({ key }) => key))).toBe(groups, KEYS);
      expectObservable(
        defer(() => group),
        late,
      ).toBe(read);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  interface LateRow {
    readonly does: string;
    readonly frames: string;
    readonly subs: string;
    readonly joins: string;
    readonly expected: string;
  }

  it.each<LateRow>([
    {
      does: 'gives a late subscriber what comes from then on: nothing was kept for it',
      frames: '  -o-d-d-d-e-|',
      subs: '    ^----------!',
      joins: '   ------(j|)  ',
      expected: '-------d-(e|)',
    },
    {
      does: 'completes at once for one who comes after the end',
      frames: '  -o-d-e-----|',
      subs: '    ^----------!',
      joins: '   --------(j|)',
      expected: '--------|   ',
    },
    {
      does: 'completes at once for one who comes after the frames',
      frames: '  -o-d-|      ',
      subs: '    ^----!      ',
      joins: '   --------(j|)',
      expected: '--------|   ',
    },
    {
      does: 'fails at once for one who comes after an error',
      frames: '  -o-d-#      ',
      subs: '    ^----!      ',
      joins: '   --------(j|)',
      expected: '--------#   ',
    },
    {
      does: 'is shared by those who are subscribed',
      frames: '  -o-d---d---e-|',
      subs: '    ^------------!',
      joins: '   --j--(j|)     ',
      expected: '---d---(dd)(ee|)',
    },
  ])(
    '$does',
    marbles<[LateRow]>(({ cold, expectObservable, expectSubscriptions }, { frames, subs, joins, expected }) => {
      const frames$ = cold(frames, FRAMES);
      let group: Observable<Grouped> | undefined;
      const joined$ = cold(joins).pipe(mergeMap(() => group ?? []));
      // A group nobody has subscribed to takes its frames, its end and an error without a stir.
      expectObservable(
        frames$.pipe(
          demultiplex(),
          tap((made) => (group = made)),
          ignoreElements(),
        ),
      ).toBe(frames.replace(/[a-z]/g, '-'));
      expectSubscriptions(frames$.subscriptions).toBe(subs);
      expectObservable(joined$).toBe(expected, FRAMES);
    }),
  );

  it(
    'takes answers to streams of its own side, whose ids lie between those that the remote has opened',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('-o-O-a-b-|', { ...FRAMES, a: { type: 'data', stream: 2 }, b: { type: 'data', stream: 2, end: true } });
      const subs = '        ^--------!';
      const keys = '        -1-3-2---|';
      const keys$ = frames$.pipe(
        demultiplex(),
        mergeMap((group) => concat(of(group.key), recorded(group))),
      );
      expectObservable(keys$).toBe(keys, { 1: 1, 2: 2, 3: 3 });
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    'makes groups for each subscriber of its own',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const frames$ = hot(' -o-d-e-|', FRAMES);
      const first = '       ^-------';
      const firstSubs = '   ^------!';
      const firstKeys = '   -1-----|';
      const second = '      --^-----';
      const secondSubs = '  --^----!';
      const secondKeys = '  ---1---|';
      const keys$ = frames$.pipe(
        demultiplex(),
        map(({ key }) => key),
      );
      expectObservable(keys$, first).toBe(firstKeys, KEYS);
      expectObservable(keys$, second).toBe(secondKeys, KEYS);
      expectSubscriptions(frames$.subscriptions).toBe([firstSubs, secondSubs]);
    }),
  );
});

/** Not a frame, yet it belongs to a stream. */
interface Noted {
  readonly stream?: number;
  readonly note: string;
}

interface SinkRow {
  readonly does: string;
  readonly frames: string;
  readonly subs: string;
  /** What no sink takes. */
  readonly rest: string;
  /** What the sink of the connection, and that of stream 1, are given. */
  readonly sink0: string;
  readonly sink1: string;
  readonly unsub?: string;
  readonly error?: unknown;
}

describe('demultiplex into a table of sinks', () => {
  const FULL = new RangeError('the sink is full');

  it.each<SinkRow>([
    {
      does: 'is silent while no frame comes',
      frames: '---------',
      subs: '  ^--------',
      rest: '  ---------',
      sink0: ' ---------',
      sink1: ' ---------',
    },
    {
      does: 'completes with the frames',
      frames: '----|    ',
      subs: '  ^---!    ',
      rest: '  ----|    ',
      sink0: ' ---------',
      sink1: ' ---------',
    },
    {
      does: 'gives one frame to the sink of its stream',
      frames: '--d---|  ',
      subs: '  ^-----!  ',
      rest: '  ------|  ',
      sink0: ' ---------',
      sink1: ' --d------',
    },
    {
      does: 'emits what no sink takes',
      frames: '--D-O-|  ',
      subs: '  ^-----!  ',
      rest: '  --D-O-|  ',
      sink0: ' ---------',
      sink1: ' ---------',
    },
    {
      does: 'gives each of many frames to its sink: 0 takes those of the connection',
      frames: '-oOp(dDd)-zge-r-|',
      subs: '  ^---------------!',
      rest: '  --O-D-----------|',
      sink0: ' ---p------zg-----',
      sink1: ' -o--(dd)----e-r--',
    },
    {
      does: 'fails with what a sink throws, and takes no more',
      frames: '-o-D-d-d-D-|',
      subs: '  ^----!      ',
      rest: '  ---D-#      ',
      sink0: ' ------------',
      sink1: ' -o----------',
      error: FULL,
    },
    {
      does: 'passes an error of the frames on, which no sink sees',
      frames: '-o-D-#   ',
      subs: '  ^----!   ',
      rest: '  ---D-#   ',
      sink0: ' ---------',
      sink1: ' -o-------',
      error: 'error',
    },
    {
      does: 'lets go of the frames when unsubscribed',
      frames: '-o-D-d-D-|',
      subs: '  ^---!     ',
      rest: '  ---D      ',
      sink0: ' ----------',
      sink1: ' -o--------',
      unsub: ' ----!     ',
    },
  ])(
    '$does',
    marbles<[SinkRow]>(({ cold, expectObservable, expectSubscriptions }, { frames, subs, rest, sink0, sink1, unsub, error }) => {
      const frames$ = cold(frames, FRAMES);
      const given = { 0: new Subject<Grouped>(), 1: new Subject<Grouped>() };
      const refusing = {
        next(frame: Grouped) {
          if (error === FULL && frame === FRAMES['d']) throw FULL;
          given[1].next(frame);
        },
      };
      const sinks = new Map([
        [0, given[0]],
        [1, refusing],
      ]);
      expectObservable(given[0]).toBe(sink0, FRAMES);
      expectObservable(given[1]).toBe(sink1, FRAMES);
      expectObservable(frames$.pipe(demultiplex(sinks)), unsub).toBe(rest, FRAMES, error);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    'looks at the table for each frame: a sink may come and go',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('-d-d-d-d-|', FRAMES);
      const table$ = cold(' --i---o---');
      const subs = '        ^--------!';
      const rest = '        -d-----d-|';
      const sink1 = '       ---d-d----';
      const sink = new Subject<Grouped>();
      const sinks = new Map<number, Subject<Grouped>>();
      table$.subscribe((change) => (change === 'i' ? sinks.set(1, sink) : sinks.delete(1)));
      expectObservable(sink).toBe(sink1, FRAMES);
      expectObservable(frames$.pipe(demultiplex(sinks))).toBe(rest, FRAMES);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    'passes on the very objects that come',
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const values = { a: { stream: 1, note: 'a' }, b: { stream: 2, note: 'b' }, c: { note: 'c' } };
      const values$ = cold<Noted>('-a-b-c-|', values);
      const subs = '        ^------!';
      const rest = '        ---b-c-|';
      const taken: unknown[] = [];
      const sinks = new Map([[1, { next: (value: Noted) => void taken.push(value) }]]);
      expectObservable(values$.pipe(demultiplex(sinks))).toBe(rest, values);
      expectSubscriptions(values$.subscriptions).toBe(subs);
      flush();
      expect(taken).toHaveLength(1);
      expect(taken[0]).toBe(values.a);
    }),
  );
});
