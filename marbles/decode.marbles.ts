import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { CloseCode, decode, JsonCodec, ProtocolError, ResetCode } from '../src/index.js';
import type { Codec, Message } from '../src/index.js';
import { MsgpackCodec } from '../src/msgpack.js';
import { frameMarbles } from '../src/testing.js';
import { completeFrame } from '../src/wire/frame.js';
import { marbles } from './support/virtual.js';

const JSON_CODEC = new JsonCodec();
const MSGPACK = new MsgpackCodec();

const LETTERS = frameMarbles(1, { u: { type: 'window_update' } });
/** The output: frames with every field. */
const FRAMES = Object.fromEntries(Object.entries(LETTERS).map(([letter, frame]) => [letter, completeFrame(frame)]));

/** The input: the letters encoded, and messages that no peer should send. */
const messages = (codec: Codec): Record<string, Message> => ({
  ...Object.fromEntries(Object.entries(LETTERS).map(([letter, frame]) => [letter, codec.encode(frame)])),
  // Either is an object by its first byte: only the kind of message is wrong for the other codec.
  T: '{}',
  B: new Uint8Array([0x80]).buffer,
});

const EXTRA = {
  ...messages(JSON_CODEC),
  D: '{"type":"data","stream":1,"colour":"red","payload":"d","weight":{"kg":3}}',
  X: '{"type":"data","stream":',
  Y: '{"stream":1}',
  Z: '{"type":"data","stream":"1"}',
};

const fault = (closeCode: number, message: string) =>
  expect.objectContaining({ code: 'PROTOCOL', resetCode: ResetCode.PROTOCOL_ERROR, closeCode, message: expect.stringContaining(message) });

interface Row {
  readonly does: string;
  readonly input: string;
  readonly subs: string;
  readonly expected: string;
  readonly error?: unknown;
  readonly unsub?: string;
}

const ROWS: readonly Row[] = [
  {
    does: 'emits nothing while no message comes',
    input: '   ---------',
    subs: '    ^--------',
    expected: '---------',
  },
  {
    does: 'completes with the socket',
    input: '   ----|    ',
    subs: '    ^---!    ',
    expected: '----|    ',
  },
  {
    does: 'emits a frame for one message',
    input: '   --o--|   ',
    subs: '    ^----!   ',
    expected: '--o--|   ',
  },
  {
    does: 'emits a frame for each message, of every type',
    input: '   -o-d-(er)-pqg-|',
    subs: '    ^-------------!',
    expected: '-o-d-(er)-pqg-|',
  },
  {
    does: 'keeps a frame type of a later version',
    input: '   --u--d--|',
    subs: '    ^-------!',
    expected: '--u--d--|',
  },
  {
    does: 'passes on an error of the socket',
    input: '   --d--#   ',
    subs: '    ^----!   ',
    expected: '--d--#   ',
    error: 'error',
  },
  {
    does: 'unsubscribes from the socket when it is unsubscribed',
    input: '   --d--d--d',
    subs: '    ^-----!  ',
    expected: '--d--d   ',
    unsub: '   ------!  ',
  },
];

const run = (codec: Codec, values: Record<string, Message>) =>
  marbles<[Row]>(({ cold, expectObservable, expectSubscriptions }, { input, subs, expected, error, unsub }) => {
    const messages$ = cold(input, values);
    expectObservable(messages$.pipe(decode(codec)), unsub).toBe(expected, FRAMES, error);
    expectSubscriptions(messages$.subscriptions).toBe(subs);
  });

describe('decode of text', () => {
  it.each<Row>([
    ...ROWS,
    {
      does: 'drops unknown keys',
      input: '   --D--d--|',
      subs: '    ^-------!',
      expected: '--d--d--|',
    },
    {
      does: 'fails with 1003 at a binary message, and reads no further',
      input: '   --d--B--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: fault(CloseCode.WRONG_MESSAGE_KIND, "expected a text message for codec 'json', got a binary one"),
    },
    {
      does: 'fails with 1002 at a message that is not JSON',
      input: '   --d--X--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: fault(CloseCode.PROTOCOL_ERROR, ''),
    },
    {
      does: 'fails with 1002 at a message without a type',
      input: '   --d--Y--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: fault(CloseCode.PROTOCOL_ERROR, 'type'),
    },
    {
      does: 'fails with 1002 at a field of the wrong type',
      input: '   --d--Z--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: fault(CloseCode.PROTOCOL_ERROR, 'stream'),
    },
  ])('`decode` of text $does', run(JSON_CODEC, EXTRA));
});

describe('decode of bytes', () => {
  it.each<Row>([
    ...ROWS,
    {
      does: 'fails with 1003 at a text message, and reads no further',
      input: '   --d--T--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: fault(CloseCode.WRONG_MESSAGE_KIND, "expected a binary message for codec 'msgpack', got a text one"),
    },
    {
      does: 'fails with 1002 at a message that holds no frame',
      input: '   --d--B--d',
      subs: '    ^----!   ',
      expected: '--d--#   ',
      error: fault(CloseCode.PROTOCOL_ERROR, ''),
    },
  ])('`decode` of bytes $does', run(MSGPACK, messages(MSGPACK)));
});

describe('decode within limits', () => {
  it(
    '`decode` fails with 1002 at a message of more than maxPayloadItems items',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const messages$ = cold('--d--L', { d: MSGPACK.encode(LETTERS.d), L: MSGPACK.encode({ ...LETTERS.d, payload: ['d'] }) });
      const subs = '          ^----!';
      const expected = '      --d--#';
      const error = fault(CloseCode.PROTOCOL_ERROR, 'expected at most 7 items (maxPayloadItems), got more');
      expectObservable(messages$.pipe(decode(MSGPACK, { maxPayloadItems: 7 }))).toBe(expected, FRAMES, error);
      expectSubscriptions(messages$.subscriptions).toBe(subs);
    }),
  );
});

describe('decode by a codec that throws', () => {
  const throwing = (thrown: unknown): Codec => ({
    name: 'torn',
    binary: false,
    encode: (frame) => JSON_CODEC.encode(frame),
    decode: () => {
      throw thrown;
    },
    encodePayload: (payload) => JSON_CODEC.encodePayload(payload),
    decodePayload: (message) => JSON_CODEC.decodePayload(message),
  });

  it.each([
    { what: 'an error', thrown: new RangeError('too deep'), message: 'too deep' },
    { what: 'an error of another realm', thrown: runInNewContext(`new RangeError('too deep')`) as unknown, message: 'too deep' },
    { what: 'something else', thrown: 'too deep', message: "codec 'torn' could not decode a message" },
  ])(
    '`decode` fails with a ProtocolError when the codec throws $what',
    marbles<[{ thrown: unknown; message: string }]>(({ cold, expectObservable, expectSubscriptions, flush }, { thrown, message }) => {
      const messages$ = cold('--d--d', messages(JSON_CODEC));
      const subs = '          ^-!   ';
      const expected = '      --#   ';
      const frames$ = messages$.pipe(decode(throwing(thrown)));
      const errors: unknown[] = [];
      expectObservable(frames$).toBe(
        expected,
        undefined,
        expect.objectContaining({ code: 'PROTOCOL', closeCode: 1002, message, cause: thrown }),
      );
      expectSubscriptions(messages$.subscriptions).toBe([subs, subs]);
      frames$.subscribe({ error: (error: unknown) => errors.push(error) });
      flush();
      expect(errors).toEqual([expect.any(ProtocolError)]);
    }),
  );
});
