import { describe, expect, it } from '@jest/globals';
import { map, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { assemble, encodedLength, fragment, JsonCodec, MAX_FRAME_BYTES } from '../src/index.js';
import type { Frame } from '../src/index.js';
import { frameMarbles } from '../src/testing.js';
import type { SliceQueue } from '../src/operators/fragment.js';
import { completeFrame } from '../src/wire/frame.js';
import type { Slicer } from '../src/wire/fragment.js';
import { marbles } from './support/virtual.js';

const CODEC = new JsonCodec();

/** In bytes: each frame of the dictionary fits, except the big ones, which take three slices. */
const CAP = 57;
/** The same for a frame with headers and trailers. */
const WIDE = 80;

const HEADERS = { h: 1 };
const TRAILERS = { t: 1 };

const FRAMES: Readonly<Record<string, Frame>> = {
  ...frameMarbles(1, {
    b: { payload: 'abcdefghij', end: true },
    w: { payload: 'abcdefghijklmnopqrstuvwxyz', headers: HEADERS, end: true, trailers: TRAILERS },
    H: { headers: { h: 'x'.repeat(CAP) } },
    P: { headers: { h: 'x'.repeat(CAP) }, payload: 'abcdefghij' },
    T: { trailers: { t: 'x'.repeat(CAP) }, payload: 'abcdefghij', end: true },
    M: { payload: new Map() },
    L: { payload: 'x'.repeat(MAX_FRAME_BYTES) },
  }),
  B: { type: 'data', stream: 3, payload: 'abcdefghij', end: true },
};

const slice = (fields: Partial<Frame>): Frame => completeFrame({ type: 'data', stream: 1, more: true, ...fields });

/** Digits are slices: 1 2 3 of `b`, 4 5 6 of `B`, 7 8 9 of `w`. `t` is the last slice of `T` that is emitted. */
const OUT: Readonly<Record<string, Frame>> = {
  ...FRAMES,
  1: slice({ fragment: '"abc' }),
  2: slice({ fragment: 'defgh' }),
  3: slice({ fragment: 'ij"', more: false, end: true }),
  t: slice({ fragment: 'ij"' }),
  4: slice({ stream: 3, fragment: '"abc' }),
  5: slice({ stream: 3, fragment: 'defgh' }),
  6: slice({ stream: 3, fragment: 'ij"', more: false, end: true }),
  7: slice({ fragment: '"abcdefgh', headers: HEADERS }),
  8: slice({ fragment: 'ijklmnopqrstuvwxyz"' }),
  9: slice({ fragment: '', more: false, end: true, trailers: TRAILERS }),
};

interface Row {
  readonly does: string;
  readonly cap?: number;
  readonly frames: string;
  readonly subs: string;
  readonly expected: string;
  readonly error?: unknown;
  readonly unsub?: string;
}

const violation = (message: string) => expect.objectContaining({ code: 'PROTOCOL', message: expect.stringContaining(message) });

describe('fragment', () => {
  it.each<Row>([
    {
      does: 'emits nothing while no frame comes',
      frames: '  ---------',
      subs: '    ^--------',
      expected: '---------',
    },
    {
      does: 'completes with the frames',
      frames: '  ----|    ',
      subs: '    ^---!    ',
      expected: '----|    ',
    },
    {
      does: 'emits one frame that fits as it is',
      frames: '  --d--|   ',
      subs: '    ^----!   ',
      expected: '--d--|   ',
    },
    {
      does: 'emits frames of every type that fit as they are',
      frames: '  -o-d-(er)-pqg-|',
      subs: '    ^-------------!',
      expected: '-o-d-(er)-pqg-|',
    },
    {
      does: 'cuts a frame that is too big, and emits its slices at once',
      frames: '  --b------|',
      subs: '    ^--------!',
      expected: '--(123)--|',
    },
    {
      does: 'keeps the order of the frames',
      frames: '  -(dbpBd)-----|   ',
      subs: '    ^------------!   ',
      expected: '-(d123p456d)-|   ',
    },
    {
      does: 'emits headers on the first slice, end and trailers on the last',
      cap: WIDE,
      frames: '  --w------|',
      subs: '    ^--------!',
      expected: '--(789)--|',
    },
    {
      does: 'passes on an error of the frames, after the slices before it',
      frames: '  --b----#',
      subs: '    ^------!',
      expected: '--(123)#',
      error: 'error',
    },
    {
      does: 'unsubscribes from the frames when it is unsubscribed',
      frames: '  --b----d--d',
      subs: '    ^-------!  ',
      expected: '--(123)d   ',
      unsub: '   --------!  ',
    },
    {
      does: 'fails with a ProtocolError at a big frame without a payload to cut, and takes no more',
      frames: '  --d--H--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: violation(`stream 1: expected the 'data' frame to take at most ${CAP} bytes`),
    },
    {
      does: 'fails with a ProtocolError at headers that leave no room for a payload',
      frames: '  --d--P--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: violation('stream 1: expected a fragment with one unit of the payload'),
    },
    {
      does: 'fails with a ProtocolError at trailers that do not fit, after the slices before them',
      frames: '  --d--T----d',
      subs: '    ^----!     ',
      expected: '--d--(12t#)',
      error: violation('stream 1: expected the closing fragment'),
    },
    {
      does: 'fails with the TypeError of the codec at a payload that the codec cannot carry',
      frames: '  --d--M--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('Map') }),
    },
    {
      does: 'fails with a ProtocolError at a cap that is too small',
      cap: 1,
      frames: '  --d--d',
      subs: '    ^-!   ',
      expected: '--#   ',
      error: violation('expected a cap that is an integer of at least 2 bytes, got 1'),
    },
  ])(
    '`fragment` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { cap = CAP, frames, subs, expected, error, unsub }) => {
      const frames$ = cold(frames, FRAMES);
      expectObservable(frames$.pipe(fragment(CODEC, cap)), unsub).toBe(expected, OUT, error);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`fragment` emits a frame that fits as the same object, and does not change one that it cuts',
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const frames$ = cold('-d-b---|', FRAMES);
      const subs = '        ^------!';
      const expected = '    -d-(123)';
      const before = structuredClone(FRAMES['b']);
      const seen: Frame[] = [];
      const passed$ = frames$.pipe(
        fragment(CODEC, CAP),
        tap((frame) => seen.push(frame)),
      );
      expectObservable(passed$, '-------!').toBe(expected, OUT);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
      flush();
      expect(seen[0]).toBe(FRAMES['d']);
      expect(FRAMES['b']).toEqual(before);
    }),
  );

  it(
    '`fragment` cuts at MAX_FRAME_BYTES by default',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('-b-L---|', FRAMES);
      const subs = '        ^------!';
      const expected = '    -s-(ml)|';
      const sizes$ = frames$.pipe(
        fragment(CODEC),
        map((frame) => ({ more: frame.more ?? false, fills: encodedLength(CODEC.encode(frame)) === MAX_FRAME_BYTES })),
      );
      expectObservable(sizes$).toBe(expected, {
        s: { more: false, fills: false },
        m: { more: true, fills: true },
        l: { more: false, fills: false },
      });
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`fragment` sends slices that assemble joins again',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('-(dbB)-p-w-|', FRAMES);
      const subs = '        ^----------!';
      const expected = '    -(dbB)-p-w-|';
      const whole = Object.fromEntries(Object.entries(FRAMES).map(([letter, frame]) => [letter, completeFrame(frame)]));
      expectObservable(frames$.pipe(fragment(CODEC, WIDE), assemble(CODEC))).toBe(expected, whole);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );
});

/** Emits one slice at each tick, from each frame in turn. A frame that fits takes one turn. */
class InTurn implements SliceQueue {
  readonly #waiting: { readonly done: () => boolean; readonly next: () => Frame }[] = [];
  #cut: (frame: Frame) => Slicer | null = () => null;

  constructor(private readonly ticks$: Observable<unknown>) {}

  start(cut: (frame: Frame) => Slicer | null, emit: (slice: Frame) => void): void {
    this.#cut = cut;
    this.ticks$.subscribe(() => {
      const turn = this.#waiting.shift();
      if (turn === undefined) return;
      emit(turn.next());
      if (!turn.done()) this.#waiting.push(turn);
    });
  }

  add(frame: Frame): void {
    const slicer = this.#cut(frame);
    this.#waiting.push(slicer === null ? { done: () => true, next: () => frame } : { done: () => slicer.done, next: () => slicer.next() });
  }
}

describe('fragment with a queue', () => {
  it.each([
    {
      does: 'emits nothing before the queue does',
      frames: '  -bB------------|',
      subs: '    ^--------------!',
      ticks: '   ----------------',
      expected: '---------------|',
    },
    {
      does: 'emits slices in the order and at the pace of the queue',
      frames: '  -(bB)------------|',
      subs: '    ^----------------!',
      ticks: '   ---x-x-x-x-x-x-x--',
      expected: '---1-4-2-5-3-6---|',
    },
    {
      does: 'emits a small frame between the slices of a big one',
      frames: '  -b--p------------|',
      subs: '    ^----------------!',
      ticks: '   --x--x--x--x--x---',
      expected: '--1--2--p--3-----|',
    },
    {
      does: 'passes on an error of the frames at once',
      frames: '  -b----#      ',
      subs: '    ^-----!      ',
      ticks: '   ---x----x----',
      expected: '---1--#      ',
    },
    {
      does: 'emits nothing more after it is unsubscribed',
      frames: '  -b-----------',
      subs: '    ^----!       ',
      ticks: '   ---x---x---x-',
      expected: '---1         ',
      unsub: '   -----!       ',
    },
  ])(
    '`fragment` with a queue $does',
    marbles<[{ frames: string; subs: string; ticks: string; expected: string; unsub?: string }]>(
      ({ cold, expectObservable, expectSubscriptions }, { frames, subs, ticks, expected, unsub }) => {
        const frames$ = cold(frames, FRAMES);
        expectObservable(frames$.pipe(fragment(CODEC, CAP, new InTurn(cold(ticks)))), unsub).toBe(expected, OUT);
        expectSubscriptions(frames$.subscriptions).toBe(subs);
      },
    ),
  );

  it(
    '`fragment` fails with the error that the queue throws, and takes no more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('--d--d', FRAMES);
      const subs = '        ^-!   ';
      const expected = '    --#   ';
      const full = new RangeError('the queue is full');
      const queue: SliceQueue = {
        start: () => undefined,
        add: () => {
          throw full;
        },
      };
      expectObservable(frames$.pipe(fragment(CODEC, CAP, queue))).toBe(expected, undefined, full);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );
});
