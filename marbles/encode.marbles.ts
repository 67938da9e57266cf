import { describe, expect, it } from '@jest/globals';
import { encode, JsonCodec } from '../src/index.js';
import type { Codec, Frame, Message } from '../src/index.js';
import { MsgpackCodec } from '../src/msgpack.js';
import { frameMarbles } from '../src/testing.js';
import { OutgoingFrame } from '../src/wire/outgoing.js';
import { marbles } from './support/virtual.js';

const JSON_CODEC = new JsonCodec();
const MSGPACK = new MsgpackCodec();

const circle: { self?: unknown } = {};
circle.self = circle;

const FRAMES: Readonly<Record<string, Frame>> = {
  ...frameMarbles(1, {
    u: { type: 'window_update' },
    M: { payload: new Map() },
    H: { headers: { at: new Map() } },
    C: { payload: circle },
  }),
  /** A payload that was encoded at the call, and has changed since. */
  w: new OutgoingFrame({ type: 'data', stream: 1, payload: 'changed' }, '"d"', JSON_CODEC),
};

/** The messages, byte by byte. */
const TEXTS: Readonly<Record<string, string>> = {
  o: '{"type":"open","stream":1}',
  d: '{"type":"data","stream":1,"payload":"d"}',
  e: '{"type":"data","stream":1,"end":true}',
  r: '{"type":"reset","stream":1,"code":8}',
  p: '{"type":"ping","nonce":"n"}',
  q: '{"type":"pong","nonce":"n"}',
  g: '{"type":"goaway","code":0,"last_stream":0}',
  u: '{"type":"window_update","stream":1}',
};

interface Row {
  readonly does: string;
  readonly frames: string;
  readonly subs: string;
  readonly expected: string;
  readonly error?: unknown;
  readonly unsub?: string;
}

const unrepresentable = (at: string) => expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(at) });

const ROWS: readonly Row[] = [
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
    does: 'emits a message for one frame',
    frames: '  --o--|   ',
    subs: '    ^----!   ',
    expected: '--o--|   ',
  },
  {
    does: 'emits a message for each frame, of every type, in order',
    frames: '  -o-d-(er)-pqgu|',
    subs: '    ^-------------!',
    expected: '-o-d-(er)-pqgu|',
  },
  {
    does: 'passes on an error of the frames',
    frames: '  --d--#   ',
    subs: '    ^----!   ',
    expected: '--d--#   ',
    error: 'error',
  },
  {
    does: 'unsubscribes from the frames when it is unsubscribed',
    frames: '  --d--d--d',
    subs: '    ^-----!  ',
    expected: '--d--d   ',
    unsub: '   ------!  ',
  },
  {
    does: 'fails with a TypeError at a payload that the codec cannot carry, and takes no more',
    frames: '  --d--M--d',
    subs: '    ^----!   ',
    expected: '--d--#   ',
    error: unrepresentable('Map'),
  },
  {
    does: 'fails with a TypeError at headers that the codec cannot carry',
    frames: '  --d--H--d',
    subs: '    ^----!   ',
    expected: '--d--#   ',
    error: unrepresentable('headers'),
  },
  {
    does: 'fails with a TypeError at a payload that contains itself',
    frames: '  --d--C--d',
    subs: '    ^----!   ',
    expected: '--d--#   ',
    error: unrepresentable(''),
  },
];

const run = (codec: Codec, out: Readonly<Record<string, Message>>) =>
  marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { frames, subs, expected, error, unsub }) => {
    const frames$ = cold(frames, FRAMES);
    expectObservable(frames$.pipe(encode(codec)), unsub).toBe(expected, out, error);
    expectSubscriptions(frames$.subscriptions).toBe(subs);
  });

describe('encode to text', () => {
  it.each<Row>([
    ...ROWS,
    {
      does: 'sends a payload as it was when the call encoded it',
      frames: '  --w--|   ',
      subs: '    ^----!   ',
      expected: '--d--|   ',
    },
  ])('`encode` to text $does', run(JSON_CODEC, TEXTS));
});

describe('encode to bytes', () => {
  const out = Object.fromEntries(
    Object.entries(FRAMES).flatMap(([letter, frame]) => (letter in TEXTS ? [[letter, MSGPACK.encode(frame)]] : [])),
  );

  it.each<Row>(ROWS)('`encode` to bytes $does', run(MSGPACK, out));
});

describe('encode by a codec that throws', () => {
  it(
    '`encode` fails with the error that the codec throws',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const frames$ = cold('--d--d', FRAMES);
      const subs = '        ^-!   ';
      const expected = '    --#   ';
      const thrown = new RangeError('too deep');
      const torn: Codec = {
        name: 'torn',
        binary: false,
        encode: () => {
          throw thrown;
        },
        decode: (message) => JSON_CODEC.decode(message),
        encodePayload: (payload) => JSON_CODEC.encodePayload(payload),
        decodePayload: (message) => JSON_CODEC.decodePayload(message),
      };
      expectObservable(frames$.pipe(encode(torn))).toBe(expected, undefined, thrown);
      expectSubscriptions(frames$.subscriptions).toBe(subs);
    }),
  );
});
