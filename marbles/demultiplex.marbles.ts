import { describe, expect, it } from '@jest/globals';
import { catchError, concat, defer, EMPTY, ignoreElements, map, mergeMap, of, Subject, take, tap } from 'rxjs';
import type { GroupedObservable, Observable } from 'rxjs';
import { demultiplex, ResetCode, StreamFault } from '../src/index.js';
import type { Frame } from '../src/index.js';
import { frameMarbles } from '../src/testing.js';
import { marbles } from './support/virtual.js';

type Grouped = Frame | StreamFault;

/** Small letters belong to stream 1, capital letters to stream 3; `p`, `q` and `g` to the connection. */
const FRAMES: Readonly<Record<string, Grouped>> = {
  ...frameMarbles(1, { f: { fragment: '"', more: true, end: true } }),
  ...Object.fromEntries(Object.entries(frameMarbles(3)).map(([letter, frame]) => [letter.toUpperCase(), frame])),
  /** A frame of the connection with `end`, which has no meaning there. */
  z: { type: 'ping', stream: 0, end: true },
  x: new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'fragments do not reassemble'),
};

/** Groups by their keys. */
const KEYS = { 0: 0, 1: 1, 3: 3 };

/** Reports what a group emits to a row only. */
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
  /** The keys of the groups that are emitted. */
  readonly groups: string;
  /** The frames that each group emits to an immediate subscriber. */
  readonly connection: string;
  readonly stream1: string;
  readonly stream3: string;
  readonly unsub?: string;
}

/** The frames that a subscriber receives who takes and reads only one group. */
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
      does: 'emits nothing while no frame comes',
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
      does: 'emits a group at the first frame of a stream, which the group emits',
      frames: '    --o---|  ',
      subs: '      ^-----!  ',
      groups: '    --1---|  ',
      connection: '---------',
      stream1: '   --o---|  ',
      stream3: '   ---------',
    },
    {
      does: 'emits one group for many frames of a stream',
      frames: '    -o-dd-(dd)-|',
      subs: '      ^----------!',
      groups: '    -1---------|',
      connection: '------------',
      stream1: '   -o-dd-(dd)-|',
      stream3: '   ------------',
    },
    {
      does: 'emits one group for each stream, and group 0 for the connection',
      frames: '    -oOp-dDDq-g-d|',
      subs: '      ^------------!',
      groups: '    -130---------|',
      connection: '---p----q-g--|',
      stream1: '   -o---d------d|',
      stream3: '   --O---DD-----|',
    },
    {
      does: "completes a group after the remote's end, and leaves the others open",
      frames: '    -oO-d-e---D-|',
      subs: '      ^-----------!',
      groups: '    -13---------|',
      connection: '-------------',
      stream1: '   -o--d-(e|)   ',
      stream3: '   --O-------D-|',
    },
    {
      does: "completes a group after the remote's reset, and leaves the others open",
      frames: '    -oO-d-r---D-|',
      subs: '      ^-----------!',
      groups: '    -13---------|',
      connection: '-------------',
      stream1: '   -o--d-(r|)   ',
      stream3: '   --O-------D-|',
    },
    {
      does: 'completes a group after a fault of its stream, and leaves the others open',
      frames: '    -oO-d-x---D-|',
      subs: '      ^-----------!',
      groups: '    -13---------|',
      connection: '-------------',
      stream1: '   -o--d-(x|)   ',
      stream3: '   --O-------D-|',
    },
    {
      does: 'emits a group for a fault that comes first in its stream',
      frames: '    --x-----|',
      subs: '      ^-------!',
      groups: '    --1-----|',
      connection: '---------',
      stream1: '   --(x|)   ',
      stream3: '   ---------',
    },
    {
      does: 'completes a group at once when its first frame ends it',
      frames: '    --e-----|',
      subs: '      ^-------!',
      groups: '    --1-----|',
      connection: '---------',
      stream1: '   --(e|)   ',
      stream3: '   ---------',
    },
    {
      does: 'completes a group only after the last fragment',
      frames: '    -o-f-f-e---|',
      subs: '      ^----------!',
      groups: '    -1---------|',
      connection: '------------',
      stream1: '   -o-f-f-(e|) ',
      stream3: '   ------------',
    },
    {
      does: "completes the connection's group only with the frames",
      frames: '    -z-p-g-|',
      subs: '      ^------!',
      groups: '    -0-----|',
      connection: '-z-p-g-|',
      stream1: '   --------',
      stream3: '   --------',
    },
    {
      does: 'fails all open groups when the frames fail',
      frames: '    -oOp-e--#',
      subs: '      ^-------!',
      groups: '    -130----#',
      connection: '---p----#',
      stream1: '   -o---(e|)',
      stream3: '   --O-----#',
    },
    {
      does: 'unsubscribes from the frames when it and its groups are unsubscribed',
      frames: '    -oO-d-D-d|',
      subs: '      ^----!    ',
      groups: '    -13       ',
      connection: '----------',
      stream1: '   -o--d-    ',
      stream3: '   --O---    ',
      unsub: '     -----!    ',
    },
    {
      does: 'drops late frames of a stream that has ended',
      frames: '    -o-e-d-r-O-|',
      subs: '      ^----------!',
      groups: '    -1-------3-|',
      connection: '------------',
      stream1: '   -o-(e|)     ',
      stream3: '   ---------O-|',
    },
    {
      does: 'drops late frames of a stream that has ended, even after a later stream was opened',
      frames: '    -o-e-O-d-r-D-|',
      subs: '      ^------------!',
      groups: '    -1---3-------|',
      connection: '--------------',
      stream1: '   -o-(e|)       ',
      stream3: '   -----O-----D-|',
    },
    {
      does: 'accepts answers in any order, also to streams that were opened before it was subscribed',
      frames: '    -D-d-E-d-e-|',
      subs: '      ^----------!',
      groups: '    -3-1-------|',
      connection: '------------',
      stream1: '   ---d---d-(e|)',
      stream3: '   -D---(E|)   ',
    },
    {
      does: 'emits a new group for frames after the end of a stream whose open it has not seen',
      frames: '    -d-e-d-e-|',
      subs: '      ^--------!',
      groups: '    -1---1---|',
      connection: '----------',
      stream1: '   -d-(e|)   ',
      stream3: '   ----------',
    },
    {
      does: 'accepts frames of a stream that was opened before it was subscribed, even after a later open',
      frames: '    -O---d---e-|',
      subs: '      ^----------!',
      groups: '    -3---1-----|',
      connection: '------------',
      stream1: '   -----d---(e|)',
      stream3: '   -O---------|',
    },
  ])(
    '`demultiplex` $does',
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
      does: 'reads on for its one group after take(1), until the group ends',
      frames: '  -o-d-O-D-e-D-|',
      subs: '    ^--------!    ',
      expected: '-o-d-----(e|) ',
    },
    {
      does: 'reads on for its one group after take(1), until the frames end',
      frames: '  -o-d-O-D-|',
      subs: '    ^--------!',
      expected: '-o-d-----|',
    },
    {
      does: 'reads on for its one group after take(1), until the frames fail',
      frames: '  -o-d-O-D-#',
      subs: '    ^--------!',
      expected: '-o-d-----#',
    },
    {
      does: 'reads on for its one group after take(1), until the group is unsubscribed',
      frames: '  -o-d-O-D-e',
      subs: '    ^---!     ',
      unsub: '   ----!     ',
      expected: '-o-d-     ',
    },
  ])(
    '`demultiplex` $does',
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
    '`demultiplex` unsubscribes from the frames after take(1) when its group has no reader, and completes the group',
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
      does: 'emits only later frames to a late subscriber: it keeps none',
      frames: '  -o-d-d-d-e-|',
      subs: '    ^----------!',
      joins: '   ------(j|)  ',
      expected: '-------d-(e|)',
    },
    {
      does: 'completes at once for a subscriber after the end of the stream',
      frames: '  -o-d-e-----|',
      subs: '    ^----------!',
      joins: '   --------(j|)',
      expected: '--------|   ',
    },
    {
      does: 'completes at once for a subscriber after the end of the frames',
      frames: '  -o-d-|      ',
      subs: '    ^----!      ',
      joins: '   --------(j|)',
      expected: '--------|   ',
    },
    {
      does: 'fails at once for a subscriber after an error',
      frames: '  -o-d-#      ',
      subs: '    ^----!      ',
      joins: '   --------(j|)',
      expected: '--------#   ',
    },
    {
      does: 'emits to all of its subscribers',
      frames: '  -o-d---d---e-|',
      subs: '    ^------------!',
      joins: '   --j--(j|)     ',
      expected: '---d---(dd)(ee|)',
    },
  ])(
    'A group $does',
    marbles<[LateRow]>(({ cold, expectObservable, expectSubscriptions }, { frames, subs, joins, expected }) => {
      const frames$ = cold(frames, FRAMES);
      let group: Observable<Grouped> | undefined;
      const joined$ = cold(joins).pipe(mergeMap(() => group ?? []));
      // A group without a subscriber accepts its frames, its end and an error without effect.
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
    "`demultiplex` accepts answers to its own side's streams, whose ids lie between the remote's",
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
    '`demultiplex` emits separate groups to each subscriber',
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

/** A value that is no frame, yet belongs to a stream. */
interface Noted {
  readonly stream?: number;
  readonly note: string;
}

interface SinkRow {
  readonly does: string;
  readonly frames: string;
  readonly subs: string;
  /** The frames that no sink takes. */
  readonly rest: string;
  /** The frames that the sink of the connection receives, and the sink of stream 1. */
  readonly sink0: string;
  readonly sink1: string;
  readonly unsub?: string;
  readonly error?: unknown;
}

describe('demultiplex into a table of sinks', () => {
  const FULL = new RangeError('the sink is full');

  it.each<SinkRow>([
    {
      does: 'emits nothing while no frame comes',
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
      does: 'passes one frame to the sink of its stream',
      frames: '--d---|  ',
      subs: '  ^-----!  ',
      rest: '  ------|  ',
      sink0: ' ---------',
      sink1: ' --d------',
    },
    {
      does: 'emits the frames that no sink takes',
      frames: '--D-O-|  ',
      subs: '  ^-----!  ',
      rest: '  --D-O-|  ',
      sink0: ' ---------',
      sink1: ' ---------',
    },
    {
      does: "passes each of many frames to its sink: sink 0 takes the connection's frames",
      frames: '-oOp(dDd)-zge-r-|',
      subs: '  ^---------------!',
      rest: '  --O-D-----------|',
      sink0: ' ---p------zg-----',
      sink1: ' -o--(dd)----e-r--',
    },
    {
      does: 'fails with the error that a sink throws, and takes no more frames',
      frames: '-o-D-d-d-D-|',
      subs: '  ^----!      ',
      rest: '  ---D-#      ',
      sink0: ' ------------',
      sink1: ' -o----------',
      error: FULL,
    },
    {
      does: 'passes on an error of the frames, but not to the sinks',
      frames: '-o-D-#   ',
      subs: '  ^----!   ',
      rest: '  ---D-#   ',
      sink0: ' ---------',
      sink1: ' -o-------',
      error: 'error',
    },
    {
      does: 'unsubscribes from the frames when it is unsubscribed',
      frames: '-o-D-d-D-|',
      subs: '  ^---!     ',
      rest: '  ---D      ',
      sink0: ' ----------',
      sink1: ' -o--------',
      unsub: ' ----!     ',
    },
  ])(
    '`demultiplex` with a table of sinks $does',
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
    '`demultiplex` looks up the sink for each frame, so that sinks may come and go',
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
    '`demultiplex` passes on the same objects that it receives',
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
