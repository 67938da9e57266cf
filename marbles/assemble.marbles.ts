import { describe, expect, it } from '@jest/globals';
import { map } from 'rxjs';
import { assemble, CloseCode, JsonCodec, ResetCode, StreamFault } from '../src/index.js';
import type { Codec, Frame, Limits } from '../src/index.js';
import { frameMarbles } from '../src/testing.js';
import { completeFrame } from '../src/wire/frame.js';
import { resolveLimits } from '../src/wire/limits.js';
import { Reassembly } from '../src/wire/reassembly.js';
import { marbles } from './support/virtual.js';

const CODEC = new JsonCodec();
const more = true;

/** Small letters belong to stream 1, capital letters to stream 3. `a` and `b` announce more fragments, `c` is the last. */
const FRAMES: Readonly<Record<string, Frame>> = {
  ...frameMarbles(1, {
    a: { fragment: '"on', more, headers: { h: 1 } },
    b: { fragment: 'e-', more },
    c: { fragment: 'x"', end: true, trailers: { t: 1 } },
    s: { fragment: '"only"' },
    n: { fragment: '', more },
    x: { fragment: '!!!' },
    m: { payload: 'm', more },
  }),
  ...frameMarbles(3, {
    A: { fragment: '"thr', more },
    C: { fragment: 'ee"' },
    D: { payload: 'D' },
  }),
  ...frameMarbles(1),
};

const fault = (stream: number, code: ResetCode, reason: string) => ({ stream, code, reason: expect.stringContaining(reason) });

/** The output: whole frames under their own letters, and the frames that the fragments make. */
const OUT: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(Object.entries(FRAMES).map(([letter, frame]) => [letter, completeFrame(frame)])),
  /** a, b, c */
  1: completeFrame({ type: 'data', stream: 1, payload: 'one-x', headers: { h: 1 }, end: true, trailers: { t: 1 } }),
  /** s */
  2: completeFrame({ type: 'data', stream: 1, payload: 'only' }),
  /** A, C */
  3: completeFrame({ type: 'data', stream: 3, payload: 'three' }),
  /** Faults of stream 1. */
  U: fault(1, ResetCode.PROTOCOL_ERROR, ''),
  W: fault(1, ResetCode.PROTOCOL_ERROR, 'expected the next fragment of the data, got a data without one'),
  M: fault(1, ResetCode.PROTOCOL_ERROR, "expected a fragment beside 'more', got a payload"),
  L: fault(1, ResetCode.PAYLOAD_TOO_LARGE, 'maxPayloadBytes'),
  F: fault(1, ResetCode.PROTOCOL_ERROR, 'maxFragments'),
  H: fault(1, ResetCode.ENHANCE_YOUR_CALM, 'maxHeldBytes'),
};

interface Row {
  readonly does: string;
  readonly limits?: Partial<Limits>;
  readonly frames: string;
  readonly subs: string;
  readonly expected: string;
  readonly error?: unknown;
  readonly unsub?: string;
}

describe('assemble', () => {
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
      does: 'emits one whole frame as it is',
      frames: '  --d--|   ',
      subs: '    ^----!   ',
      expected: '--d--|   ',
    },
    {
      does: 'emits whole frames of every type as they are',
      frames: '  -o-d-(er)-pqg-|',
      subs: '    ^-------------!',
      expected: '-o-d-(er)-pqg-|',
    },
    {
      does: 'emits one frame at the last fragment: headers of the first fragment, end and trailers of the last',
      frames: '  -a-b-c-|',
      subs: '    ^------!',
      expected: '-----1-|',
    },
    {
      does: 'makes a frame of a single fragment',
      frames: '  --s--s--|',
      subs: '    ^-------!',
      expected: '--2--2--|',
    },
    {
      does: 'joins fragments across empty ones',
      frames: '  -a-nbn-c-|',
      subs: '    ^--------!',
      expected: '-------1-|',
    },
    {
      does: 'keeps the fragments of two streams apart',
      frames: '  -aAb-C-c-|',
      subs: '    ^--------!',
      expected: '-----3-1-|',
    },
    {
      does: 'emits whole frames of other streams between the fragments',
      frames: '  -aDp-bqD-c-|',
      subs: '    ^----------!',
      expected: '--Dp--qD-1-|',
    },
    {
      does: 'begins a new frame after the last fragment',
      frames: '  -abc--abc-|',
      subs: '    ^---------!',
      expected: '---1----1-|',
    },
    {
      does: 'drops the fragments of a stream that is reset',
      frames: '  -ab-r-abc-|',
      subs: '    ^---------!',
      expected: '----r---1-|',
    },
    {
      does: 'emits nothing for fragments that never end',
      frames: '  -a-b-|',
      subs: '    ^----!',
      expected: '-----|',
    },
    {
      does: 'emits a fault for fragments that do not decode, and assembles the other stream',
      frames: '  -aA-x-C-|',
      subs: '    ^-------!',
      expected: '----U-3-|',
    },
    {
      does: 'emits a fault for a whole payload amid fragments, and then assembles the same stream again',
      frames: '  -a-d-abc-|',
      subs: '    ^--------!',
      expected: '---W---1-|',
    },
    {
      does: "emits a fault for 'more' beside a payload",
      frames: '  --m-D-|',
      subs: '    ^-----!',
      expected: '--M-D-|',
    },
    {
      does: 'emits a fault for a payload over maxPayloadBytes, before its last fragment',
      limits: { maxPayloadBytes: 4 },
      frames: '  -a--b-D-|',
      subs: '    ^-------!',
      expected: '----L-D-|',
    },
    {
      does: 'accepts a payload of exactly maxPayloadBytes',
      limits: { maxPayloadBytes: 7 },
      frames: '  -a-b-c-|',
      subs: '    ^------!',
      expected: '-----1-|',
    },
    {
      does: 'emits a fault for more than maxFragments',
      limits: { maxFragments: 2 },
      frames: '  -aA-b-c-C-|',
      subs: '    ^---------!',
      expected: '------F-3-|',
    },
    {
      does: 'emits a fault for the stream that exceeds maxHeldBytes, and leaves the other stream alone',
      limits: { maxHeldBytes: 128 },
      frames: '  -A-a-b-C-|',
      subs: '    ^--------!',
      expected: '-----H-3-|',
    },
    {
      does: 'fails with 1008 at a flood of empty fragments',
      limits: { maxEmptyFragments: 3 },
      frames: '  -D-nnn-n-D',
      subs: '    ^------!  ',
      expected: '-D-----#  ',
      error: expect.objectContaining({
        code: 'PROTOCOL',
        resetCode: ResetCode.ENHANCE_YOUR_CALM,
        closeCode: CloseCode.POLICY,
        message: expect.stringContaining('maxEmptyFragments'),
      }),
    },
    {
      does: 'passes on an error of the frames',
      frames: '  -a-b-#   ',
      subs: '    ^----!   ',
      expected: '-----#   ',
      error: 'error',
    },
    {
      does: 'unsubscribes from the frames when it is unsubscribed',
      frames: '  -d-a-b-c-d',
      subs: '    ^-----!   ',
      expected: '-d        ',
      unsub: '   ------!   ',
    },
  ])(
    '`assemble` $does',
    marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { limits, frames, subs, expected, error, unsub }) => {
      const frames$ = cold(frames, FRAMES);
      expectObservable(frames$.pipe(assemble(CODEC, limits)), unsub).toBe(expected, OUT, error);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`assemble` distinguishes a fault from a frame by its class',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('-s-x-d-|', FRAMES);
      const subs = '        ^------!';
      const expected = '    -f-F-f-|';
      const isFault$ = frames$.pipe(
        assemble(CODEC),
        map((result) => (result instanceof StreamFault ? 'F' : 'f')),
      );
      expectObservable(isFault$).toBe(expected);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`assemble` emits a fault for whatever a codec throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('-s-D-s-|', FRAMES);
      const subs = '        ^------!';
      const expected = '    -f-D-g-|';
      const thrown: unknown[] = [new RangeError('too deep'), 'too deep'];
      const torn: Codec = {
        name: 'torn',
        binary: false,
        encode: (frame) => CODEC.encode(frame),
        decode: (message) => CODEC.decode(message),
        encodePayload: (payload) => CODEC.encodePayload(payload),
        decodePayload: () => {
          throw thrown.shift();
        },
      };
      expectObservable(frames$.pipe(assemble(torn))).toBe(expected, {
        ...OUT,
        f: new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'too deep'),
        g: new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'fragments do not reassemble'),
      });
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );

  it(
    '`assemble` keeps the fragments of each subscriber apart',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const frames$ = hot(' -a-b-c-|', FRAMES);
      const early = '       ^-------';
      const earlySubs = '   ^------!';
      const earlyOut = '    -----1-|';
      const late = '        --^-----';
      const lateSubs = '    --^----!';
      const lateOut = '     -----U-|';
      const whole$ = frames$.pipe(assemble(CODEC));
      expectObservable(whole$, early).toBe(earlyOut, OUT);
      expectObservable(whole$, late).toBe(lateOut, OUT);
      expectSubscriptions(frames$.subscriptions).toBe([earlySubs, lateSubs]);
    }),
  );

  it(
    '`assemble` keeps fragments in a given Reassembly, which can release a stream',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold(' -aA-b--c-C-|', FRAMES);
      const release$ = cold('------r     ');
      const subs = '         ^----------!';
      const expected = '     -------U-3-|';
      const unfinished = '   ------u    ';
      const reassembly = new Reassembly(CODEC, resolveLimits({}));
      const released$ = release$.pipe(
        map(() => {
          const before = reassembly.unfinished;
          reassembly.release(1);
          return { before, after: reassembly.unfinished };
        }),
      );
      expectObservable(released$).toBe(unfinished, { u: { before: [1, 3], after: [3] } });
      expectObservable(frames$.pipe(assemble(CODEC, {}, reassembly))).toBe(expected, OUT);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );
});
