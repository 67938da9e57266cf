import { describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import type { Observable } from 'rxjs';
import { assemble, fragment, JsonCodec, MAX_FRAME_BYTES } from '../src/index.js';
import type { Codec, Frame } from '../src/index.js';
import { frameMarbles } from '../src/testing.js';
import type { SliceQueue } from '../src/operators/fragment.js';
import { completeFrame } from '../src/wire/frame.js';
import type { Slicer } from '../src/wire/slicer.js';
import { marbles } from './support/virtual.js';

const CODEC = new JsonCodec();

/** Bytes that hold each frame of the dictionary but the big ones, which take three slices. */
const CAP = 57;
/** The same where the frame has headers and trailers. */
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

/** Digits are slices: of `b` 1 2 3, of `B` 4 5 6, of `w` 7 8 9. */
const OUT: Readonly<Record<string, unknown>> = {
  ...FRAMES,
  1: slice({ fragment: '"abc' }),
  2: slice({ fragment: 'defgh' }),
  3: slice({ fragment: 'ij"', more: false, end: true }),
  4: slice({ stream: 3, fragment: '"abc' }),
  5: slice({ stream: 3, fragment: 'defgh' }),
  6: slice({ stream: 3, fragment: 'ij"', more: false, end: true }),
  7: expect.objectContaining({ headers: HEADERS, more: true, end: false, trailers: null }),
  8: expect.objectContaining({ headers: null, more: true, end: false, trailers: null }),
  9: expect.objectContaining({ headers: null, more: false, end: true, trailers: TRAILERS }),
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
      does: 'is silent while no frame comes',
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
      does: 'passes one frame that fits',
      frames: '  --d--|   ',
      subs: '    ^----!   ',
      expected: '--d--|   ',
    },
    {
      does: 'passes frames that fit, of every type',
      frames: '  -o-d-(er)-pqg-|',
      subs: '    ^-------------!',
      expected: '-o-d-(er)-pqg-|',
    },
    {
      does: 'cuts one that does not, and sends its slices at once and together',
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
      does: 'sends headers on the first slice, end and trailers on the last',
      cap: WIDE,
      frames: '  --w------|',
      subs: '    ^--------!',
      expected: '--(7889)-|',
    },
    {
      does: 'passes an error of the frames on, behind the slices before it',
      frames: '  --b----#',
      subs: '    ^------!',
      expected: '--(123)#',
      error: 'error',
    },
    {
      does: 'lets go of the frames when unsubscribed',
      frames: '  --b----d--d',
      subs: '    ^-------!  ',
      expected: '--(123)d   ',
      unsub: '   --------!  ',
    },
    {
      does: 'fails with a ProtocolError at a frame without a payload to cut, and takes no more',
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
      does: 'fails with a ProtocolError at trailers that do not fit, behind the slices before them',
      frames: '  --d--T----d',
      subs: '    ^----!     ',
      expected: '--d--(123#)',
      error: violation('stream 1: expected the closing fragment'),
    },
    {
      does: 'fails with the TypeError of the codec at a payload that it cannot carry',
      frames: '  --d--M--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('Map') }),
    },
    {
      does: 'fails with a ProtocolError at a cap that is none',
      cap: 1,
      frames: '  --d--d',
      subs: '    ^-!   ',
      expected: '--#   ',
      error: violation('expected a cap that is an integer of at least 2 bytes, got 1'),
    },
  ])(
    '$does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { cap = CAP, frames, subs, expected, error, unsub }) => {
      const frames$ = cold(frames, FRAMES);
      const slices = { ...OUT, ...(error === TRAILERS_ERROR ? {} : {}) };
      expectObservable(frames$.pipe(fragment(CODEC, cap)), unsub).toBe(expected, slices, error);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );
});
