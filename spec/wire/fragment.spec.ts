import { Buffer } from 'node:buffer';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';
import { CloseCode, ResetCode } from '../../src/wire/codes.js';
import { ConnectionFault, ProtocolError, StreamFault } from '../../src/wire/errors.js';
import { MAX_FRAME_BYTES, Slicer, slicerFor, splitFrame } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { resolveLimits } from '../../src/wire/limits.js';
import type { Limits } from '../../src/wire/limits.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { Assembler, HeldBytes, MIN_CHARGE_BYTES, Reassembly } from '../../src/wire/reassembly.js';
import { sharedSlicer, splitDataEncoder, splitEncoder, SplitMessage } from '../../src/wire/shared.js';
import type { EncodedFrame } from '../../src/wire/shared.js';
import { disguised, NetstringCodec } from '../support/codec/foreign.js';
import { bytes, messageBytes } from '../support/codec/values.js';

describe('fragment', () => {
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
});

const VALUE = 'ä'.repeat(300);

function joined(message: EncodedFrame): Buffer {
  if (message instanceof Uint8Array) return Buffer.from(message);
  if (!(message instanceof SplitMessage)) return messageBytes(message);
  const whole = Buffer.concat([message.before, message.part.encoded, message.behind].map(messageBytes));
  expect(message.byteLength).toBe(whole.length);
  return whole;
}

function sharing(codec: Codec, value: unknown): (fields: Frame) => OutgoingFrame {
  const encoded = codec.encodePayload(value);
  const source = { value };
  return (fields) => new OutgoingFrame({ ...fields, payload: value }, encoded, codec, source);
}

describe.each([
  ['json', new JsonCodec()],
  ['msgpack', new MsgpackCodec()],
])('`splitEncoder` under %s', (_name, codec) => {
  const encode = splitEncoder(codec);

  it.each<readonly [what: string, fields: Frame]>([
    ['a data frame', { type: 'data', stream: 1 }],
    ['an open with headers', { type: 'open', stream: 2 ** 40, headers: { op: 'ä' }, end: true }],
    ['a data frame with trailers', { type: 'data', stream: 1, end: true, trailers: { t: '1' } }],
    ['a reset', { type: 'reset', stream: 1, code: 8, reason: 'ö' }],
  ])('The parts of %s make the message that the codec encodes', (_what, fields) => {
    const frame = sharing(codec, VALUE)(fields);
    const message = encode(frame);
    expect(message).toBeInstanceOf(SplitMessage);
    expect(joined(message).equals(messageBytes(codec.encode({ ...fields, payload: VALUE })))).toBe(true);
  });

  it('Frames with the same type, id and end have one message, and any other frame has its own', () => {
    const frameOf = sharing(codec, VALUE);
    const plain: Frame = { type: 'data', stream: 1 };
    const message = encode(frameOf(plain));
    expect(encode(frameOf(plain))).toBe(message);
    for (const other of [
      { ...plain, stream: 3 },
      { ...plain, type: 'open' },
      { ...plain, end: true },
      { ...plain, headers: {} },
    ]) {
      expect(encode(frameOf(plain))).toEqual(message);
      const different = encode(frameOf(other));
      expect(joined(different).equals(messageBytes(codec.encode({ ...other, payload: VALUE })))).toBe(true);
    }
  });

  it('The slices of frames have one part, and make the messages that the codec encodes', () => {
    const value = 'a "quoted" text '.repeat(200);
    const frameOf = sharing(codec, value);
    const [first, second] = [1, 3].map((stream) => {
      const slicer = sharedSlicer(frameOf({ type: 'data', stream, end: true, headers: { op: 'x' }, trailers: { t: 1 } }), 1_000, codec);
      const messages: SplitMessage[] = [];
      while (slicer?.done === false) {
        const slice = slicer.next();
        const message = encode(slice);
        expect(joined(message).equals(messageBytes(codec.encode(slice)))).toBe(true);
        if (message instanceof SplitMessage) messages.push(message);
      }
      return messages.map(({ part }) => part);
    });
    expect(first?.length).toBeGreaterThanOrEqual(3);
    expect(second?.length).toBe(first?.length);
    first?.forEach((part, n) => {
      expect(second?.[n]).toBe(part);
    });
  });

  it('`splitDataEncoder` makes the message of a data frame without the frame, unless its payload is small', () => {
    const encodeData = splitDataEncoder(codec);
    const source = { value: VALUE };
    for (const stream of [1, 1, 2 ** 40]) {
      const message = encodeData(source, codec.encodePayload(VALUE), stream);
      if (message === null) throw new Error('expected a message');
      expect(joined(message).equals(messageBytes(codec.encode({ type: 'data', stream, payload: VALUE })))).toBe(true);
    }
    expect(encodeData({}, codec.encodePayload('small'), 1)).toBe(null);
  });

  it('The message of a small payload, of an unshared payload and of an unshared slice stays whole', () => {
    const unshared = new OutgoingFrame({ type: 'data', stream: 1, payload: VALUE }, codec.encodePayload(VALUE), codec);
    const slice = sharedSlicer(unshared, 400, codec)?.next();
    const small = sharing(codec, 'small')({ type: 'data', stream: 1 });
    const unprepared: Frame = { type: 'data', stream: 1, payload: VALUE };
    const unsourced = new OutgoingFrame(unprepared, codec.encodePayload(VALUE), codec, null);
    for (const frame of [small, unshared, unsourced, unprepared, slice]) {
      if (frame === undefined) throw new Error('expected a slice');
      const message = encode(frame);
      expect(message).not.toBeInstanceOf(SplitMessage);
      expect(joined(message).equals(messageBytes(codec.encode(frame)))).toBe(true);
    }
  });
});

describe('`splitEncoder`', () => {
  it.each<readonly [what: string, codec: Codec]>([
    ['has no `encodeAround`', Object.assign(new JsonCodec(), { encodeAround: undefined })],
    ...(['encode', 'encodeWith', 'encodePayload'] as const).map((member) => {
      const codec = new JsonCodec();
      return [`overrides \`${member}\``, Object.assign(codec, { [member]: codec[member].bind(codec) })] as const;
    }),
  ])('A codec that %s encodes whole messages', (_what, codec) => {
    const message = splitEncoder(codec)(sharing(codec, VALUE)({ type: 'data', stream: 1 }));
    expect(message).toBe(new JsonCodec().encode({ type: 'data', stream: 1, payload: VALUE }));
    expect(splitDataEncoder(codec)({}, codec.encodePayload(VALUE), 1)).toBe(null);
  });

  it('A payload that another codec has encoded is encoded anew', () => {
    const frame = sharing(new MsgpackCodec(), VALUE)({ type: 'data', stream: 1 });
    expect(splitEncoder(new JsonCodec())(frame)).toBe(new JsonCodec().encode({ type: 'data', stream: 1, payload: VALUE }));
  });
});

describe('reassembly', () => {
  const json = new JsonCodec();

  let held: HeldBytes;
  let reassembly: Reassembly;

  function start(limits: Partial<Limits> = {}, heldLimit = 1_000_000): void {
    held = new HeldBytes({ maxHeldBytes: heldLimit });
    reassembly = new Reassembly(json, resolveLimits(limits), held);
  }

  beforeEach(() => {
    start();
  });

  const frame = (fields: Partial<Frame>): CompleteFrame => completeFrame({ type: 'data', stream: 1, ...fields });
  const more = (fragment: string, fields: Partial<Frame> = {}): CompleteFrame => frame({ fragment, more: true, ...fields });
  const last = (fragment: string, fields: Partial<Frame> = {}): CompleteFrame => frame({ fragment, ...fields });
  const accept = (...frames: readonly CompleteFrame[]): unknown => frames.map((each) => reassembly.accept(each)).at(-1);
  const NOTHING = { held: 0, unfinished: [] };
  const kept = (): object => ({ held: held.used, unfinished: reassembly.unfinished });

  describe('headers of a first fragment', () => {
    it('Reassembly holds the headers of a first fragment', () => {
      const headers = { h: 'x'.repeat(1_000) };
      expect(accept(more('"a', { headers }))).toBeNull();
      expect(held.used).toBeGreaterThanOrEqual(1_000);
      expect(accept(more('b', { headers }))).toBeNull();
      expect(held.used).toBeLessThan(1_100 + MIN_CHARGE_BYTES);
      expect(accept(last('"'))).toMatchObject({ payload: 'ab', headers });
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly refuses headers without room', () => {
      start({}, 1_500);
      accept(more('"a', { headers: { h: 'x'.repeat(1_000) } }));
      const refused = accept(more('"a', { stream: 3, headers: { h: 'x'.repeat(1_000) } }));
      expect(refused).toMatchObject({ stream: 3, code: ResetCode.ENHANCE_YOUR_CALM, reason: expect.stringContaining('maxHeldBytes') });
      expect(reassembly.unfinished).toEqual([1]);
    });
  });

  describe('unmeasurable headers', () => {
    it('Reassembly ends a stream whose headers the codec reads but cannot write, and so cannot measure', () => {
      const refused = accept(more('"a', { headers: { h: Infinity } }));
      expect(refused).toEqual(new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'headers that cannot be measured'));
      expect(kept()).toEqual(NOTHING);
    });
  });

  describe('whole frames', () => {
    it.each<[string, Partial<Frame>]>([
      ['a payload', { payload: 1 }],
      ['a bare end', { end: true }],
      ['a frame of the connection', { type: 'ping', stream: null, nonce: 'n' }],
      ['a frame of the connection with more', { type: 'ping', stream: null, more: true }],
      ['a reset', { type: 'reset', code: 8 }],
    ])('Reassembly returns %s as it is', (_what, fields) => {
      const whole = frame(fields);
      expect(accept(whole)).toBe(whole);
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly returns a whole frame of one stream amid the fragments of another', () => {
      const whole = frame({ stream: 3, payload: 1 });
      expect(accept(more('"a'), whole)).toBe(whole);
      expect(reassembly.unfinished).toEqual([1]);
    });
  });

  describe('fragments', () => {
    it('Reassembly returns null until the last fragment, then headers of the first, end and trailers of the last', () => {
      expect(accept(more('"a', { headers: { op: 'x' } }))).toBeNull();
      expect(accept(more('b'))).toBeNull();
      expect(kept()).toEqual({ held: 2 * MIN_CHARGE_BYTES, unfinished: [1] });
      expect(accept(last('c"', { end: true, trailers: { n: 3 } }))).toStrictEqual(
        frame({ payload: 'abc', headers: { op: 'x' }, end: true, trailers: { n: 3 } }),
      );
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly accepts a sequence of one fragment', () => {
      expect(accept(last('1'))).toStrictEqual(frame({ payload: 1 }));
    });

    it('Reassembly keeps streams apart', () => {
      accept(more('"a'), more('"x', { stream: 3 }), more('b'), more('y', { stream: 3 }));
      expect(accept(last('"'))).toMatchObject({ stream: 1, payload: 'ab' });
      expect(accept(last('"', { stream: 3 }))).toMatchObject({ stream: 3, payload: 'xy' });
    });

    it('Reassembly reports the encoded size of the payload it has just joined, and 0 for a whole frame', () => {
      accept(more('"é'), last('b"'));
      expect(reassembly.assembledBytes).toBe(5);
      accept(frame({ payload: 1 }));
      expect(reassembly.assembledBytes).toBe(0);
    });

    it('Reassembly charges at least 64 bytes for each fragment, and releases them on release', () => {
      accept(more('"'), more('x'.repeat(100)));
      expect(held.used).toBe(MIN_CHARGE_BYTES + 100);
      reassembly.release(1);
      reassembly.release(1);
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly has its own count of held bytes without a shared one', () => {
      const alone = new Reassembly(json, resolveLimits({ maxHeldBytes: 100 }));
      expect(alone.accept(more('a'))).toBeNull();
      expect(alone.accept(more('b'))).toMatchObject({ code: ResetCode.ENHANCE_YOUR_CALM });
    });
  });

  describe('Connection table: faults of one stream', () => {
    const fault = (code: number, reason: string): StreamFault => new StreamFault(1, code, reason);

    it.each<[string, readonly CompleteFrame[], string]>([
      ['more beside a payload', [frame({ payload: 1, more: true })], "expected a fragment beside 'more', got a payload"],
      ['more beside nothing', [frame({ more: true })], "expected a fragment beside 'more', got none"],
      ['end on a fragment with more', [more('a', { end: true })], "expected 'end' and 'trailers' on the last fragment only"],
      ['trailers on a fragment with more', [more('a', { trailers: {} })], "expected 'end' and 'trailers' on the last fragment only"],
      [
        'a payload in the middle of a sequence',
        [more('a'), frame({ payload: 1 })],
        'expected the next fragment of the data, got a data without one',
      ],
      [
        'a bare end in the middle of a sequence',
        [more('a'), frame({ end: true })],
        'expected the next fragment of the data, got a data without one',
      ],
      [
        'a data in the middle of an open',
        [more('a', { type: 'open' }), last('b')],
        'expected the next fragment of the open, got one of a data',
      ],
      [
        'an unknown type in the middle of an open',
        [more('a', { type: 'open' }), last('b', { type: 'x'.repeat(1_000) })],
        'expected the next fragment of the open, got one of a frame of an unknown type',
      ],
      [
        'a payload in the middle of an unknown type',
        [more('a', { type: 'x'.repeat(1_000) }), frame({ payload: 1 })],
        'expected the next fragment of the frame of an unknown type, got a data without one',
      ],
      [
        'an unknown type without a fragment',
        [more('a'), frame({ type: 'x'.repeat(1_000) })],
        'expected the next fragment of the data, got a frame of an unknown type without one',
      ],
    ])('Reassembly answers %s with PROTOCOL_ERROR', (_what, frames, reason) => {
      expect(accept(...frames)).toEqual(fault(ResetCode.PROTOCOL_ERROR, reason));
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly answers fragments that do not decode with PROTOCOL_ERROR', () => {
      expect(accept(more('{'), last(''))).toMatchObject({ stream: 1, code: ResetCode.PROTOCOL_ERROR });
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly answers a codec that throws no Error with PROTOCOL_ERROR', () => {
      const odd: Codec = { ...disguised(json), decodePayload: () => raise('text') };
      const strange = new Reassembly(odd, resolveLimits());
      expect(strange.accept(last('1'))).toEqual(fault(ResetCode.PROTOCOL_ERROR, 'fragments do not reassemble'));
    });

    it('Reassembly answers with the message of an error of another realm', () => {
      const odd: Codec = { ...disguised(json), decodePayload: () => raise(runInNewContext(`new TypeError('odd')`)) };
      const strange = new Reassembly(odd, resolveLimits());
      expect(strange.accept(last('1'))).toEqual(fault(ResetCode.PROTOCOL_ERROR, 'odd'));
    });
  });

  describe('Limits: checked before a fragment is kept', () => {
    it('Reassembly answers a payload over maxPayloadBytes with PAYLOAD_TOO_LARGE, naming limit and size', () => {
      start({ maxPayloadBytes: 5 });
      expect(accept(more('"abc'), more('d'))).toBeNull();
      expect(accept(last('"'))).toEqual(
        new StreamFault(1, ResetCode.PAYLOAD_TOO_LARGE, "payload of at least 6 bytes is over the receiver's limit of 5 (maxPayloadBytes)"),
      );
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly answers more than maxFragments with PROTOCOL_ERROR', () => {
      start({ maxFragments: 2 });
      expect(accept(more('1'), more('2'))).toBeNull();
      expect(accept(last('3'))).toEqual(new StreamFault(1, ResetCode.PROTOCOL_ERROR, 'payload of more than 2 fragments (maxFragments)'));
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly answers the stream that exceeds maxHeldBytes with ENHANCE_YOUR_CALM, and keeps the others', () => {
      start({}, 2 * MIN_CHARGE_BYTES);
      accept(more('"a'), more('"b', { stream: 3 }));
      expect(accept(more('c'))).toEqual(
        new StreamFault(1, ResetCode.ENHANCE_YOUR_CALM, '192 bytes held by this connection are over the limit of 128 (maxHeldBytes)'),
      );
      expect(accept(last('"', { stream: 3 }))).toMatchObject({ payload: 'b' });
      expect(kept()).toEqual(NOTHING);
    });

    it('Reassembly ends the connection over maxEmptyFragments of all streams; an empty last fragment is free', () => {
      start({ maxEmptyFragments: 2 });
      accept(more(''), last('1'), more('2', { stream: 3 }), last('', { stream: 3 }), more('', { stream: 5 }));
      const tooMany = thrownBy(() => accept(more('', { stream: 7 })));
      expect(tooMany).toBeInstanceOf(ConnectionFault);
      expect(tooMany).toMatchObject({ resetCode: ResetCode.ENHANCE_YOUR_CALM, closeCode: CloseCode.POLICY });
      expect(tooMany).toMatchObject({ message: 'more than 2 empty fragments (maxEmptyFragments)' });
    });
  });

  describe('Connection table: a reset in the middle of a fragment sequence', () => {
    it('A reset in the middle of a fragment sequence ends the sequence', () => {
      const reset = frame({ type: 'reset', code: 8 });
      expect(accept(more('"a'), reset)).toBe(reset);
      expect(kept()).toEqual(NOTHING);
    });

    it('A reset drops the fragments of its stream, and may come in fragments itself', () => {
      const fields = { type: 'reset', code: 16, reason: 'r' };
      expect(accept(more('"a'), more('{"name"', fields))).toBeNull();
      expect(held.used).toBe(MIN_CHARGE_BYTES);
      expect(accept(last(':"E"}', fields))).toStrictEqual(frame({ ...fields, payload: { name: 'E' } }));
      expect(kept()).toEqual(NOTHING);
    });

    it('A whole reset drops the fragments of a fragmented one', () => {
      accept(more('"a', { type: 'reset' }), frame({ type: 'reset', code: ResetCode.CANCEL }));
      expect(kept()).toEqual(NOTHING);
    });

    it('A reset whose payload does not decode ends its stream', () => {
      const fields = { type: 'reset', code: 16, reason: 'r' };
      expect(accept(more('{', fields), last('', fields))).toStrictEqual(frame({ ...fields, payload: ABSENT }));
      expect(kept()).toEqual(NOTHING);
    });
  });

  describe('a reset of two kinds of fragments', () => {
    it('A reset whose fragments are of two kinds ends its stream as a whole frame, despite its more', () => {
      const fields = { type: 'reset', code: 16, reason: 'r' };
      const bytes = frame({ ...fields, fragment: Uint8Array.of(1).buffer, more: true });
      expect(accept(more('{', fields), bytes)).toStrictEqual(frame({ ...fields, payload: ABSENT }));
      expect(kept()).toEqual(NOTHING);
    });
  });

  describe('ConnectionFault', () => {
    it('A ConnectionFault is a protocol error that closes with 1002 by default', () => {
      const cause = new Error('inner');
      expect(new ConnectionFault('odd')).toMatchObject({ code: 'PROTOCOL', resetCode: ResetCode.PROTOCOL_ERROR, closeCode: 1002 });
      expect(new ConnectionFault('odd', ResetCode.INTERNAL_ERROR, 1011, { cause })).toMatchObject({ resetCode: 2, closeCode: 1011, cause });
    });
  });

  function raise(value: unknown): never {
    throw value;
  }

  function thrownBy(action: () => unknown): unknown {
    try {
      action();
    } catch (error) {
      return error;
    }
    return null;
  }
});

describe('assembler', () => {
  const json = new JsonCodec();
  const msgpack = new MsgpackCodec();
  const silent: Codec = {
    name: 'silent',
    binary: false,
    encode: refuse,
    decode: refuse,
    encodePayload: refuse,
    decodePayload: refuse,
  };

  const more = (fragment: string | ArrayBuffer): Frame => ({ type: 'data', stream: 1, fragment, more: true });
  const last = (fragment: string | ArrayBuffer): Frame => ({ type: 'data', stream: 1, fragment });

  let assembler: Assembler;
  const state = (): object => ({ inProgress: assembler.inProgress, byteLength: assembler.byteLength });
  const IDLE = { inProgress: false, byteLength: 0 };

  beforeEach(() => {
    assembler = new Assembler();
  });

  describe('Assembler states', () => {
    it('An Assembler is idle at first, without bytes', () => {
      expect(state()).toEqual(IDLE);
    });

    it('An idle Assembler keeps a fragment with more, and returns ABSENT', () => {
      expect(assembler.feed(more('"ab'), json)).toBe(ABSENT);
      expect(state()).toEqual({ inProgress: true, byteLength: 3 });
    });

    it('An Assembler in progress keeps a fragment with more, and returns ABSENT', () => {
      assembler.feed(more('"ab'), json);
      expect(assembler.feed(more('cd'), json)).toBe(ABSENT);
      expect(state()).toEqual({ inProgress: true, byteLength: 5 });
    });

    it('An Assembler in progress returns the payload at a fragment without more, and is idle', () => {
      assembler.feed(more('"ab'), json);
      expect(assembler.feed(last('cd"'), json)).toBe('abcd');
      expect(state()).toEqual(IDLE);
    });

    it('An Assembler in progress drops its fragments at reset, and is idle', () => {
      assembler.feed(more('"ab'), json);
      assembler.reset();
      expect(state()).toEqual(IDLE);
      expect(assembler.feed(last('1'), json)).toBe(1);
    });

    it('An idle Assembler returns the payload of a fragment without more at once', () => {
      expect(assembler.feed(last('{"a":1}'), json)).toEqual({ a: 1 });
      expect(state()).toEqual(IDLE);
    });

    it('An idle Assembler stays idle at reset', () => {
      assembler.reset();
      expect(state()).toEqual(IDLE);
    });

    it('An Assembler is in progress after an empty first fragment', () => {
      assembler.feed(more(''), json);
      expect(state()).toEqual({ inProgress: true, byteLength: 0 });
    });
  });

  describe('Assembler.feed', () => {
    it('Assembler accepts an empty closing fragment', () => {
      assembler.feed(more('"ab"'), json);
      expect(assembler.feed(last(''), json)).toBe('ab');
    });

    it('Assembler returns a payload of null, which is not ABSENT', () => {
      expect(assembler.feed(last('null'), json)).toBeNull();
    });

    it('Assembler joins bytes, also empty ones, and decodes them once', () => {
      const encoded = new Uint8Array(msgpack.encodePayload({ a: 'bytes' }));
      for (const byte of encoded) {
        expect(assembler.feed(more(bytes()), msgpack)).toBe(ABSENT);
        expect(assembler.feed(more(bytes(byte)), msgpack)).toBe(ABSENT);
      }
      expect(state()).toEqual({ inProgress: true, byteLength: encoded.length });
      expect(assembler.feed(last(bytes()), msgpack)).toEqual({ a: 'bytes' });
    });

    it('Assembler measures text in bytes of UTF-8, fragment by fragment', () => {
      assembler.feed(more('"€'), json);
      assembler.feed(more('😀'), json);
      expect(assembler.byteLength).toBe(8);
    });

    it('Assembler joins before it decodes, so a sender may cut anywhere', () => {
      assembler.feed(more('"\ud83d'), json);
      assembler.feed(more('\ude00\\'), json);
      expect(assembler.feed(last('n"'), json)).toBe('😀\n');
    });

    it('Assembler calls the codec at the closing fragment only', () => {
      expect(assembler.feed(more('1'), silent)).toBe(ABSENT);
      expect(() => assembler.feed(last('2'), silent)).toThrow('used the codec');
    });

    it('Assembler accepts 16 384 fragments', () => {
      assembler.feed(more('"'), json);
      for (let count = 0; count < 16_384; count++) assembler.feed(more('x'), json);
      expect(assembler.feed(last('"'), json)).toBe('x'.repeat(16_384));
    });
  });

  describe('Assembler.feed: ProtocolError', () => {
    it.each<[string, Frame]>([
      ['no fragment', { type: 'data', stream: 1, payload: 1 }],
      ['a fragment of null', { type: 'data', stream: 1, fragment: null, more: true }],
    ])('Assembler throws a ProtocolError for %s, and keeps its fragments', (_what, frame) => {
      assembler.feed(more('"ab'), json);
      expect(() => assembler.feed(frame, json)).toThrow(new ProtocolError("stream 1: expected a fragment, got a 'data' frame without one"));
      expect(state()).toEqual({ inProgress: true, byteLength: 3 });
    });

    it('Assembler quotes no unknown frame type in its error', () => {
      const frame = { type: 'x'.repeat(1_000), stream: 1 };
      expect(() => assembler.feed(frame, json)).toThrow(
        new ProtocolError('stream 1: expected a fragment, got a frame of an unknown type without one'),
      );
    });

    it.each<[string, Frame, Frame]>([
      ['bytes after text', more('a'), more(bytes(1))],
      ['text after bytes', more(bytes(1)), last('a')],
      ['bytes after text', more(''), last(bytes())],
    ])('Assembler throws a ProtocolError for %s, and is idle', (got, first, second) => {
      assembler.feed(first, json);
      expect(() => assembler.feed(second, json)).toThrow(new ProtocolError(`stream 1: expected fragments of one kind, got ${got}`));
      expect(state()).toEqual(IDLE);
    });

    it.each<[string, Codec, Frame]>([
      ['text that is not JSON', json, last('{"a"')],
      ['bytes that are not msgpack', msgpack, last(bytes(0xc1))],
      ['text under a binary codec', msgpack, last('1')],
    ])('Assembler throws a ProtocolError for %s, and is idle', (_what, codec, closing) => {
      expect(() => assembler.feed(closing, codec)).toThrow(ProtocolError);
      expect(state()).toEqual(IDLE);
    });

    it('Assembler throws a ProtocolError when the joined fragments do not decode, and is idle', () => {
      assembler.feed(more('{"a"'), json);
      expect(() => assembler.feed(last(''), json)).toThrow(ProtocolError);
      expect(state()).toEqual(IDLE);
    });
  });

  function refuse(): never {
    throw new Error('used the codec');
  }
});
