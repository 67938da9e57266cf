import { describe, expect, it } from '@jest/globals';
import { decode, encode } from '@msgpack/msgpack';
import fc from '../support/fast-check.js';
import { MsgpackCodec, MsgpackDecoder } from '../../src/codec/msgpack.js';
import { decodeCanonical, encodeCanonical } from '../../src/codec/msgpack-plain.js';
import { MAX_DEPTH } from '../../src/codec/plain-copy.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { fromMapping, toMapping } from '../../src/wire/mapping.js';
import { awkwardText, jsonPayload } from '../support/wire/arbitraries.js';
import { failureOf, utf8 } from '../support/codec/values.js';

const codec = new MsgpackCodec();
const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
const NIL = Uint8Array.of(0xc0);
const MOST_ITEMS = 1_000_000;

/** Reads an envelope the short way, and fails where its payload needs the general way. */
function readShort(message: Uint8Array): CompleteFrame | null {
  return decodeCanonical(message, MOST_ITEMS, () => {
    throw new Error('expected a plain payload');
  });
}

/** Reads an envelope the general way. */
function readGenerally(message: Uint8Array, maxItems = MOST_ITEMS): CompleteFrame {
  const mapping = new MsgpackDecoder().decode(message, { maxDepth: MAX_DEPTH + 1, maxItems, envelope: true }) as Record<string, unknown>;
  const { fragment } = mapping;
  return fromMapping(fragment instanceof Uint8Array ? { ...mapping, fragment: fragment.buffer } : mapping);
}

const canonical = fc.record({
  type: fc.constantFrom<'open' | 'data'>('open', 'data'),
  stream: fc.oneof(fc.nat(300), fc.nat(70_000), fc.nat(2 ** 32 - 1)),
  end: fc.boolean(),
  headers: fc.option(fc.dictionary(fc.oneof(fc.string({ minLength: 1, maxLength: 4 }), awkwardText(3)), awkwardText(6)), {
    nil: undefined,
  }),
});

describe('canonical envelopes', () => {
  it.each([0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1])(
    'A canonical envelope equals the map that the library writes, with stream %d',
    (stream) => {
      for (const type of ['open', 'data'] as const)
        for (const end of [true, false]) {
          const frame = { type, stream, end, payload: null };
          const message = new Uint8Array(encodeCanonical(frame, NIL) ?? new ArrayBuffer(0));
          expect(message).toEqual(encode(toMapping(utf8(frame))));
          expect(readShort(message)).toEqual(fromMapping(frame));
        }
    },
  );

  it.each([true, false])('A canonical envelope with headers equals the map that the library writes, with end %s', (end) => {
    const headers = { trace: 't1', to: 'a'.repeat(40), attempt: 2, tags: ['x', null], deep: { at: 1.5, wide: 'é'.repeat(300) } };
    const frame = { type: 'open', stream: 1, end, headers, payload: null } as const;
    const message = new Uint8Array(encodeCanonical(frame, NIL) ?? new ArrayBuffer(0));
    expect(message).toEqual(encode(toMapping(utf8(frame))));
    expect(readShort(message)).toEqual(fromMapping(frame));
    for (let length = 0; length < message.length; length++) expect(readShort(message.subarray(0, length))).toBeNull();
  });

  it.each<[string, Frame]>([
    ['a fragment', { type: 'data', stream: 1, fragment: Uint8Array.of(1, 2).buffer }],
    ['an empty fragment', { type: 'data', stream: 1, fragment: new ArrayBuffer(0), more: true }],
    ['a fragment of 256 bytes', { type: 'data', stream: 1, end: true, fragment: new ArrayBuffer(256) }],
    ['a fragment of 65 536 bytes', { type: 'data', stream: 1, fragment: new ArrayBuffer(65_536), more: true }],
    ['a fragment and headers', { type: 'open', stream: 1, fragment: new ArrayBuffer(3), headers: { a: 'a' }, more: true }],
    ['neither payload nor fragment', { type: 'data', stream: 1, end: true }],
    ['no headers but an empty map', { type: 'open', stream: 1, headers: {} }],
  ])('A canonical envelope of %s equals the map that the library writes', (_what, frame) => {
    const message = new Uint8Array(encodeCanonical(frame, null) ?? new ArrayBuffer(0));
    const { fragment } = frame;
    const mapping = { ...toMapping(frame), ...(fragment instanceof ArrayBuffer ? { fragment: new Uint8Array(fragment) } : {}) };
    expect(message).toEqual(encode(mapping));
    expect(readShort(message)).toEqual(fromMapping(toMapping(frame)));
    for (const cut of [1, 2, 9]) expect(readShort(message.subarray(0, -cut))).toBeNull();
    expect(readShort(Uint8Array.of(...message, 0xc0))).toBeNull();
  });

  it('A fragment that was read has memory of its own', () => {
    const message = new Uint8Array(codec.encode({ type: 'data', stream: 1, fragment: Uint8Array.of(1, 2).buffer }));
    const { fragment } = codec.decode(message.buffer);
    message.fill(0);
    expect(fragment).toEqual(Uint8Array.of(1, 2).buffer);
  });

  it.each<[string, Frame]>([
    ['of another type', { type: 'reset', stream: 1 }],
    ['without a stream', { type: 'data' }],
    ['of a stream above 2^53', { type: 'data', stream: 2 ** 53 }],
    ['of a negative stream', { type: 'data', stream: -1 }],
    ['of a stream with a fraction', { type: 'data', stream: 1.5 }],
    ['of a stream that is no number', { type: 'data', stream: NaN }],
    ['with headers that hold a Date', { type: 'open', stream: 1, headers: { at: new Date(0) } }],
    ['with headers of a class', { type: 'open', stream: 1, headers: new (class Row {})() as Record<string, unknown> }],
    [
      'with headers that have the key __proto__',
      { type: 'open', stream: 1, headers: JSON.parse('{"__proto__":1}') as Record<string, unknown> },
    ],
    ['with trailers', { type: 'data', stream: 1, trailers: {} }],
    ['with more', { type: 'data', stream: 1, more: true }],
    ['with a payload and a fragment', { type: 'data', stream: 1, fragment: new ArrayBuffer(1) }],
    ['with a code', { type: 'data', stream: 1, code: 0 }],
    ['with a reason', { type: 'data', stream: 1, reason: '' }],
    ['with a nonce', { type: 'data', stream: 1, nonce: '' }],
    ['with a last stream', { type: 'data', stream: 1, last_stream: 0 }],
  ])('`encodeCanonical` returns null for a frame %s', (_what, frame) => {
    expect(encodeCanonical(frame, NIL)).toBeNull();
  });

  it.each<[string, unknown]>([
    ['another type', { type: 'reset', stream: 1, payload: 1 }],
    ['another order', { stream: 1, type: 'data', payload: 1 }],
    ['a stream above 2^53', { type: 'data', stream: 2 ** 53, payload: 1 }],
    ['a negative stream', { type: 'data', stream: -1, payload: 1 }],
    ['a stream that is a map', { type: 'data', stream: {}, payload: 1 }],
    ['a stream that is text', { type: 'data', stream: '1', payload: 1 }],
    ['an end that is false', { type: 'data', stream: 1, end: false, payload: 1 }],
    ['another key behind the stream', { type: 'data', stream: 1, more: true, payload: 1 }],
    ['a fragment that is text', { type: 'data', stream: 1, fragment: 'text' }],
    ['a fragment and a payload', { type: 'data', stream: 1, fragment: NIL, payload: 1 }],
    ['more behind the payload', { type: 'data', stream: 1, payload: 1, reason: 'r', trailers: {} }],
    ['headers that hold a date', { type: 'open', stream: 1, headers: { at: new Date(0) }, payload: 1 }],
    ['headers that are an array', { type: 'open', stream: 1, headers: [], payload: 1 }],
    ['headers that are null', { type: 'open', stream: 1, headers: null, payload: 1 }],
    ['headers behind the payload', { type: 'open', stream: 1, payload: 1, headers: { a: 'a' } }],
    ['headers and more keys', { type: 'open', stream: 1, headers: { a: 'a' }, payload: 1, reason: 'r' }],
    ['fewer keys than its header says', { type: 'data', stream: 1, end: true, reason: 'r' }],
    ['no map', [1, 2, 3]],
  ])('`decodeCanonical` returns null for another map: %s', (_what, mapping) => {
    expect(readShort(encode(mapping))).toBeNull();
  });

  it('`decodeCanonical` returns null when the stream is a short float', () => {
    expect(readShort(encode({ type: 'data', stream: 1.5, payload: 1 }, { forceFloat32: true }))).toBeNull();
  });

  it('`decodeCanonical` reads a stream of -0 as 0', () => {
    const bytes = Uint8Array.of(...encode({ type: 'data' }), 0xa6, ...Buffer.from('stream'), 0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0);
    bytes[0] = 0x82;
    expect(Object.is(readShort(bytes)?.stream, 0)).toBe(true);
    expect(readShort(bytes)).toEqual(readGenerally(bytes));
  });

  it('MsgpackCodec reads damaged envelopes as the general way does, value or error', () => {
    const fragments = fc.record({ fragment: fc.uint8Array({ maxLength: 6 }).map((bytes) => bytes.slice().buffer), more: fc.boolean() });
    const content = fc.oneof(
      fragments,
      jsonPayload().map((payload) => ({ payload })),
    );
    const damage = fc.tuple(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 3 }), fc.constantFrom(MOST_ITEMS, 9, 14));
    const outcome = (read: () => unknown): unknown => {
      try {
        return { read: read() };
      } catch (error) {
        return { failed: String(error) };
      }
    };
    fc.assert(
      fc.property(canonical, content, damage, (envelope, more, [place, cut, put, maxPayloadItems]) => {
        const whole = new Uint8Array(codec.encode({ ...envelope, ...more }));
        const at = place % whole.length;
        const message = Uint8Array.of(...whole.subarray(0, at), ...put, ...whole.subarray(at + cut));
        const read = outcome(() => codec.decode(message.buffer, { maxPayloadItems }));
        expect(read).toEqual(outcome(() => readGenerally(message, maxPayloadItems)));
      }),
      { ...SEED, numRuns: 3_000 },
    );
  });

  it('MsgpackCodec writes and reads random canonical envelopes as the library does', () => {
    fc.assert(
      fc.property(canonical, jsonPayload(), (envelope, payload) => {
        const frame = { ...envelope, payload };
        const message = codec.encode(frame);
        expect(new Uint8Array(message)).toEqual(encode(toMapping(utf8(frame))));
        expect(codec.decode(message)).toEqual(fromMapping(decode(message)));
      }),
      SEED,
    );
  });

  it('MsgpackCodec refuses a canonical envelope with an invalid payload', () => {
    const bad: readonly [string, Uint8Array][] = [
      ['nothing', new Uint8Array()],
      ['too much', Uint8Array.of(0xc0, 0xc0)],
      ['cut off', Uint8Array.of(0x92, 0xc0)],
      ['an unused head', Uint8Array.of(0xc1)],
      ['an extension', Uint8Array.of(0xd4, 1, 0)],
      ['too deep', new Uint8Array(96).fill(0x91)],
    ];
    for (const [what, payload] of bad) {
      const message = encodeCanonical({ type: 'data', stream: 1 }, payload) ?? new ArrayBuffer(0);
      expect([what, failureOf(() => codec.decode(message))]).toEqual([
        what,
        expect.stringMatching(/^ProtocolError: codec 'msgpack': expected /),
      ]);
    }
  });

  it.each<[number, number, Frame]>([
    [3, 6, { type: 'data', stream: 1 }],
    [4, 8, { type: 'data', stream: 1, end: true }],
    [5, 14, { type: 'data', stream: 1, end: true, headers: { a: 'a', b: 'b' } }],
    [5, 15, { type: 'data', stream: 1, end: true, headers: { a: ['a'], b: 'b' } }],
  ])('MsgpackCodec counts all items of a canonical map of %d entries', (_entries, others, frame) => {
    const payload = [1, 2, 3];
    const message = codec.encode({ ...frame, payload });
    const items = others + 1 + payload.length;
    expect(codec.decode(message, { maxPayloadItems: items }).payload).toEqual(payload);
    expect(() => codec.decode(message, { maxPayloadItems: items - 1 })).toThrow(
      `expected at most ${items - 1} items (maxPayloadItems), got more`,
    );
    const scalar = codec.encode({ ...frame, payload: null });
    expect(() => codec.decode(scalar, { maxPayloadItems: others })).toThrow(`expected at most ${others} items (maxPayloadItems), got more`);
    expect(codec.decode(scalar, { maxPayloadItems: others + 1 }).payload).toBeNull();
  });

  it('MsgpackCodec copies the bytes in the payload of a canonical envelope', () => {
    const message = codec.encode({ type: 'data', stream: 1, payload: { raw: Uint8Array.of(1, 2, 3) } });
    const { raw } = codec.decode(message).payload as { raw: Uint8Array };
    expect([raw.buffer.byteLength, [...raw]]).toEqual([3, [1, 2, 3]]);
  });
});
