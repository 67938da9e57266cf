import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { MAX_FRAME_BYTES, Slicer, slicerFor, splitFrame } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { encodedLength } from '../../src/wire/length.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { disguised, NetstringCodec } from '../support/codec/foreign.js';

const json = new JsonCodec();
const msgpack = new MsgpackCodec();
const ten: Frame = { type: 'data', stream: 1, payload: 'abcdefghij', end: true };
const SIZE_OF_TEN = 60;

const cut = (frame: Frame, cap: number, codec: Codec = json): Frame[] => splitFrame(frame, cap, codec);
const messages = (frame: Frame, cap: number): unknown[] => cut(frame, cap).map((slice) => json.encode(slice));
const fragments = (frame: Frame, cap: number): unknown[] => cut(frame, cap).map((slice) => slice.fragment);

describe('split_frame rule 1: a pure function', () => {
  it('`splitFrame` does not change a frozen frame, and returns equal slices each time', () => {
    const frame = Object.freeze({ ...ten, headers: Object.freeze({ op: 'x' }) });
    expect(cut(frame, 80)).toEqual(cut(frame, 80));
  });
});

describe('split_frame rule 2: frames that fit', () => {
  it.each<[string, Frame, number]>([
    ['at the cap', ten, SIZE_OF_TEN],
    ['far below the cap', ten, MAX_FRAME_BYTES],
    ['without a payload', { type: 'ping', nonce: 'n' }, 27],
    ['with a fragment', { type: 'data', stream: 1, fragment: 'abc', more: true }, 55],
    ['with a payload of ABSENT', { type: 'data', payload: ABSENT }, 15],
    ['with a payload of undefined', { type: 'data', payload: undefined }, 15],
  ])('`splitFrame` returns the same frame %s', (_where, frame, cap) => {
    const slices = cut(frame, cap);
    expect(slices).toHaveLength(1);
    expect(slices[0]).toBe(frame);
    expect(slicerFor(frame, cap, json)).toBeNull();
  });

  it('`splitFrame` cuts a frame that is one byte over', () => {
    expect(cut(ten, SIZE_OF_TEN - 1)).not.toHaveLength(1);
  });

  it.each<[string, Codec]>([
    ['json', json],
    ['msgpack', msgpack],
    ['a codec without a declared cost', disguised(json)],
  ])('`splitFrame` counts the `more` of a whole payload, though it means nothing there: %s', (_which, codec) => {
    const frame = { type: 'x', payload: 'abcdef', more: true };
    const size = encodedLength(codec.encode(frame));
    expect(cut(frame, size, codec)).toEqual([frame]);
    expect(cut(frame, size - 1, codec)).toStrictEqual([completeFrame({ type: 'x', fragment: codec.encodePayload('abcdef') })]);
    expect(() => cut(frame, 19, codec)).toThrow(ProtocolError);
  });

  it('`splitFrame` measures non-ASCII text in bytes', () => {
    const frame = { type: 'data', payload: '€€' };
    const size = encodedLength(json.encode(frame));
    expect([size, cut(frame, size)]).toEqual([json.encode(frame).length + 4, [frame]]);
  });

  it('`splitFrame` cuts at 65 536 bytes by default', () => {
    expect(splitFrame({ type: 'data', payload: 'x'.repeat(65_508) }, undefined, json)).toHaveLength(1);
    expect(splitFrame({ type: 'data', payload: 'x'.repeat(65_509) }, undefined, json)).toHaveLength(2);
  });
});

describe('split_frame rule 3: slices of the encoded payload', () => {
  it('`splitFrame` cuts the JSON text of the payload; the envelope escapes its quotes', () => {
    expect(messages(ten, 57)).toEqual([
      '{"type":"data","stream":1,"fragment":"\\"abc","more":true}',
      '{"type":"data","stream":1,"fragment":"defgh","more":true}',
      '{"type":"data","stream":1,"end":true,"fragment":"ij\\""}',
    ]);
  });

  it('`splitFrame` puts the whole payload into one closing fragment when only the fragment fits', () => {
    // Its fragments are shorter than its payloads.
    const terse: Codec = {
      ...disguised(json),
      encode: (frame) => (frame.fragment == null ? json.encode(frame) : json.encode({ ...frame, type: 'd' })),
    };
    expect(cut({ type: 'd'.repeat(60), payload: 1 }, 60, terse)).toEqual([completeFrame({ type: 'd'.repeat(60), fragment: '1' })]);
  });

  it.each([
    ['below', 300],
    ['across', 65_800],
  ])('`splitFrame` fills every msgpack fragment, with lengths %s the steps of its header', (_where, cap) => {
    const frame = { type: 'data', stream: 1, payload: Uint8Array.from({ length: 3 * cap }, (_, at) => at) };
    const slices = cut(frame, cap, msgpack);
    const encoded = new Uint8Array(msgpack.encodePayload(frame.payload));
    let from = 0;
    for (const slice of slices.slice(0, -1)) {
      const length = encodedLength(slice.fragment ?? '');
      expect(encodedLength(msgpack.encode(slice))).toBeLessThanOrEqual(cap);
      expect(encodedLength(msgpack.encode({ ...slice, fragment: encoded.slice(from, from + length + 1).buffer }))).toBeGreaterThan(cap);
      from += length;
    }
    expect(encoded.length - from).toBe(encodedLength(slices.at(-1)?.fragment ?? ''));
  });

  it('`splitFrame` cuts the payload that was encoded before', () => {
    const prepared = new OutgoingFrame({ type: 'data', stream: 1, payload: 'not read' }, json.encodePayload('x'.repeat(80)), json);
    expect(fragments(prepared, 100).join('')).toBe(`"${'x'.repeat(80)}"`);
  });
});

describe('split_frame rule 4: whole code points', () => {
  it('`splitFrame` moves a code point that does not fit to the next fragment', () => {
    expect(messages({ type: 'data', stream: 1, payload: 'a"b\\é€😀', end: true }, 60)).toEqual([
      '{"type":"data","stream":1,"fragment":"\\"a\\\\\\"b","more":true}',
      '{"type":"data","stream":1,"fragment":"\\\\\\\\é","more":true}',
      '{"type":"data","stream":1,"end":true,"fragment":"€😀\\""}',
    ]);
  });

  it('`splitFrame` may cut an escape in two', () => {
    expect(fragments({ type: 'data', stream: 1, payload: '\n'.repeat(20) }, 57)).toContain('n\\n');
  });

  it('`splitFrame` sends a lone surrogate as its lower-case escape', () => {
    const pieces = fragments({ type: 'data', stream: 1, payload: '\ud83d'.repeat(4) }, 60);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('"\\ud83d\\ud83d\\ud83d\\ud83d"');
  });

  it('`splitFrame` never cuts a surrogate pair of a codec without escapes, and keeps lone surrogates', () => {
    const netstring = new NetstringCodec();
    const payload = '\ud83d😀\ude00😀'.repeat(5);
    for (let cap = 50; cap < 80; cap++) {
      const pieces = cut({ type: 'data', stream: 1, payload }, cap, netstring).map((slice) => String(slice.fragment));
      expect(pieces.join('')).toBe(`s${payload}`);
      expect(pieces.flatMap((piece) => Array.from(piece))).toEqual(Array.from(`s${payload}`));
    }
  });
});

describe('split_frame rule 5: the place of each field', () => {
  const whole: Frame = {
    type: 'reset',
    stream: 7,
    payload: 'x'.repeat(200),
    headers: { h: 1 },
    end: true,
    trailers: { t: 1 },
    code: 16,
    reason: 'why',
    nonce: 'n',
    last_stream: 4,
  };

  it('The first slice has the headers, the last has end and trailers, all others have more, each has the rest', () => {
    const repeated = { type: 'reset', stream: 7, code: 16, reason: 'why', nonce: 'n', last_stream: 4 };
    const slices = cut(whole, 180);
    expect(slices.length).toBeGreaterThan(2);
    expect(slices).toEqual(
      slices.map(({ fragment }, at) =>
        completeFrame({
          ...repeated,
          fragment,
          more: at < slices.length - 1,
          headers: at === 0 ? { h: 1 } : null,
          end: at === slices.length - 1,
          trailers: at === slices.length - 1 ? { t: 1 } : null,
        }),
      ),
    );
  });

  it('`splitFrame` closes with an empty fragment when the rest fits a fragment with more but not the closing one', () => {
    const frame = { type: 'data', stream: 1, payload: 'abcdefghij', end: true, trailers: { rows: 3 } };
    expect(messages(frame, 73)).toEqual([
      '{"type":"data","stream":1,"fragment":"\\"abcdefghij\\"","more":true}',
      '{"type":"data","stream":1,"end":true,"fragment":"","trailers":{"rows":3}}',
    ]);
  });

  it('`splitFrame` tries the closing form first', () => {
    expect(messages({ ...ten, end: false, trailers: { rows: 3 } }, 70)).toEqual([
      '{"type":"data","stream":1,"fragment":"\\"abcdefghij\\"","more":true}',
      '{"type":"data","stream":1,"fragment":"","trailers":{"rows":3}}',
    ]);
    expect(messages({ type: 'data', stream: 1, payload: 'abcdefghijklmnopqrst' }, 58)).toEqual([
      '{"type":"data","stream":1,"fragment":"\\"abcd","more":true}',
      '{"type":"data","stream":1,"fragment":"efghijklmnopqrst\\""}',
    ]);
  });
});

describe('split_frame rule 6: ProtocolError', () => {
  it('`splitFrame` throws a ProtocolError without a codec', () => {
    const untyped: (...given: unknown[]) => unknown = splitFrame as never;
    for (const none of [[], [undefined], [null]])
      expect(() => untyped(ten, 100, ...none)).toThrow(new ProtocolError('expected a codec to cut frames with, got none'));
  });

  it.each([1, 0, -5, 2.5, Number.NaN, Number.POSITIVE_INFINITY])('`splitFrame` throws a ProtocolError when the cap is %p', (cap) => {
    expect(() => cut(ten, cap)).toThrow(new ProtocolError(`expected a cap that is an integer of at least 2 bytes, got ${cap}`));
  });

  it.each<[string, Frame, number, string]>([
    [
      'a frame over the cap has no payload',
      { type: 'ping', nonce: 'x'.repeat(50) },
      60,
      "expected the 'ping' frame to take at most 60 bytes, got 76 and no payload to cut",
    ],
    [
      'headers alone are over the cap',
      { type: 'open', stream: 1, headers: { op: 'x'.repeat(50) } },
      40,
      "stream 1: expected the 'open' frame to take at most 40 bytes, got 96 and no payload to cut",
    ],
    [
      'a fragment is over the cap',
      { type: 'data', stream: 1, fragment: 'abc', payload: 1 },
      30,
      "stream 1: expected the 'data' frame to take at most 30 bytes, got 55 and no payload to cut",
    ],
    [
      'the headers leave no room for one unit of the payload',
      { type: 'open', stream: 1, headers: { op: 'x'.repeat(50) }, payload: 1 },
      80,
      "stream 1: expected a fragment with one unit of the payload of the 'open' frame to take at most 80 bytes, got 123",
    ],
    [
      'the cap does not hold an envelope and one unit',
      ten,
      2,
      "stream 1: expected a fragment with one unit of the payload of the 'data' frame to take at most 2 bytes, got 54",
    ],
    [
      'the unit that comes next does not fit, though others would',
      { type: 'data', stream: 1, payload: 'aaa😀aaa', end: true },
      55,
      "stream 1: expected a fragment with one unit of the payload of the 'data' frame to take at most 55 bytes, got 56",
    ],
    [
      'the closing fragment does not fit even without payload',
      { type: 'data', stream: 1, payload: 'abcdefghij', trailers: { rows: 3 } },
      59,
      "stream 1: expected the closing fragment of the 'data' frame to take at most 59 bytes, got 62 without any payload",
    ],
    [
      'a frame of an unknown type, which may be of any length, has no payload',
      { type: 'x'.repeat(50) },
      60,
      'expected the frame of an unknown type to take at most 60 bytes, got 61 and no payload to cut',
    ],
    [
      'a frame of an unknown type leaves no room for its payload',
      { type: 'x'.repeat(50), payload: 1 },
      60,
      'expected a fragment with one unit of the payload of the frame of an unknown type to take at most 60 bytes, got 88',
    ],
  ])('`splitFrame` throws a ProtocolError when %s', (_what, frame, cap, message) => {
    expect(() => cut(frame, cap)).toThrow(new ProtocolError(message));
  });

  it('`splitFrame` throws for an empty encoded payload when headers and trailers fit only in separate frames', () => {
    const blank: Codec = { ...disguised(json), encodePayload: () => '', decodePayload: () => null };
    const frame = { type: 'data', headers: { h: 'x'.repeat(40) }, trailers: { t: 'x'.repeat(40) }, payload: null };
    expect(() => cut(frame, 100, blank)).toThrow(
      /closing fragment of the 'data' frame to take at most 100 bytes, got \d+ without any payload/,
    );
  });

  it('`splitFrame` passes on the error of the codec for a value that the codec cannot carry', () => {
    expect(() => cut({ type: 'data', payload: 1n }, 100)).toThrow(TypeError);
  });
});

describe('split_frame rule 7: one slice at a time', () => {
  it('A slicer encodes only the envelopes before its first slice', () => {
    const encoded: Frame[] = [];
    const watched: Codec = { ...disguised(json), encode: (frame) => (encoded.push(frame), json.encode(frame)) };
    const frame = { type: 'data', stream: 1, payload: 'x'.repeat(1_000_000) };
    const slicer = slicerFor(frame, MAX_FRAME_BYTES, watched);
    expect(encoded).toHaveLength(0);
    slicer?.next();
    expect(encoded.length).toBeLessThan(10);
  });

  it('A slicer returns the slices of splitFrame one by one, and is then done', () => {
    const slicer = slicerFor(ten, 57, json);
    if (slicer === null) throw new Error('expected slices, got none');
    const slices: Frame[] = [];
    const inProgress = [slicer.inProgress];
    while (!slicer.done) {
      slices.push(slicer.next());
      inProgress.push(slicer.inProgress);
    }
    expect(inProgress).toEqual([false, ...slices.slice(1).map(() => true), false]);
    expect(framesEqual({ type: 'all', payload: slices }, { type: 'all', payload: cut(ten, 57) })).toBe(true);
    expect(() => slicer.next()).toThrow(new TypeError('expected a slice to be left, got a slicer that is done'));
  });
});

it('The error of a slicer names no stream for a frame without an id', () => {
  const slicer = new Slicer({ type: 'data', payload: 'abcdefghij' }, '"abcdefghij"', 20, json);
  expect(() => slicer.next()).toThrow(/^(?!.*stream \d)/);
});
