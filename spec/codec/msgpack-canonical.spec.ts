import { describe, expect, it } from '@jest/globals';
import { decode, encode } from '@msgpack/msgpack';
import fc from '../support/fast-check.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { encodeCanonical, readCanonical } from '../../src/codec/msgpack-canonical.js';
import type { Frame } from '../../src/wire/frame.js';
import { fromMapping, toMapping } from '../../src/wire/mapping.js';
import { awkwardText, jsonPayload } from '../support/wire/arbitraries.js';
import { failureOf, utf8 } from '../support/codec/values.js';

const codec = new MsgpackCodec();
const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
const NIL = Uint8Array.of(0xc0);

const canonical = fc.record({
  type: fc.constantFrom<'open' | 'data'>('open', 'data'),
  stream: fc.oneof(fc.nat(300), fc.nat(70_000), fc.nat(2 ** 32 - 1)),
  end: fc.boolean(),
  headers: fc.option(fc.dictionary(fc.oneof(fc.string({ minLength: 1, maxLength: 4 }), awkwardText(3)), awkwardText(6)), {
    nil: undefined,
  }),
});

describe('canonical envelopes', () => {
  it.each([0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1])(
    'A canonical envelope equals the map that the library writes, with stream %d',
    (stream) => {
      for (const type of ['open', 'data'] as const)
        for (const end of [true, false]) {
          const frame = { type, stream, end, payload: null };
          const message = new Uint8Array(encodeCanonical(frame, NIL) ?? new ArrayBuffer(0));
          expect(message).toEqual(encode(toMapping(utf8(frame))));
          expect(readCanonical(message)).toEqual({ type, stream, end, headers: null, items: end ? 8 : 6, payloadAt: message.length - 1 });
        }
    },
  );

  it.each([true, false])('A canonical envelope with headers equals the map that the library writes, with end %s', (end) => {
    const frame = { type: 'open', stream: 1, end, headers: { trace: 't1', to: 'a'.repeat(40) }, payload: null } as const;
    const message = new Uint8Array(encodeCanonical(frame, NIL) ?? new ArrayBuffer(0));
    expect(message).toEqual(encode(toMapping(utf8(frame))));
    const { type, stream, headers } = frame;
    expect(readCanonical(message)).toEqual({ type, stream, end, headers, items: end ? 14 : 12, payloadAt: message.length - 1 });
    for (let length = 0; length < message.length - 1; length++) expect(readCanonical(message.subarray(0, length))).toBeNull();
  });

  it.each<[string, Frame]>([
    ['of another type', { type: 'reset', stream: 1 }],
    ['without a stream', { type: 'data' }],
    ['of a stream above 32 bits', { type: 'data', stream: 2 ** 32 }],
    ['of a negative stream', { type: 'data', stream: -1 }],
    ['of a stream with a fraction', { type: 'data', stream: 1.5 }],
    ['of a stream that is no number', { type: 'data', stream: NaN }],
    ['with headers of more than short texts', { type: 'open', stream: 1, headers: { attempt: 2 } }],
    ['with trailers', { type: 'data', stream: 1, trailers: {} }],
    ['with more', { type: 'data', stream: 1, more: true }],
    ['with a fragment', { type: 'data', stream: 1, fragment: new ArrayBuffer(1) }],
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
    ['a stream above 32 bits', { type: 'data', stream: 2 ** 32, payload: 1 }],
    ['a negative stream', { type: 'data', stream: -1, payload: 1 }],
    ['a stream that is a map', { type: 'data', stream: {}, payload: 1 }],
    ['a stream that is text', { type: 'data', stream: '1', payload: 1 }],
    ['an end that is false', { type: 'data', stream: 1, end: false, payload: 1 }],
    ['another key behind the stream', { type: 'data', stream: 1, more: true, payload: 1 }],
    ['no payload', { type: 'data', stream: 1, end: true }],
    ['a fragment', { type: 'data', stream: 1, fragment: NIL }],
    ['more behind the payload', { type: 'data', stream: 1, payload: 1, reason: 'r', trailers: {} }],
    ['headers of more than short texts', { type: 'open', stream: 1, headers: { attempt: 2 }, payload: 1 }],
    ['headers that are null', { type: 'open', stream: 1, headers: null, payload: 1 }],
    ['headers behind the payload', { type: 'open', stream: 1, payload: 1, headers: { a: 'a' } }],
    ['headers and more keys', { type: 'open', stream: 1, headers: { a: 'a' }, payload: 1, reason: 'r' }],
    ['fewer keys than its header says', { type: 'data', stream: 1, end: true, reason: 'r' }],
    ['no map', [1, 2, 3]],
  ])('`readCanonical` returns null for another map: %s', (_what, mapping) => {
    expect(readCanonical(encode(mapping))).toBeNull();
  });

  it('`readCanonical` returns null when the stream is a short float', () => {
    expect(readCanonical(encode({ type: 'data', stream: 1.5, payload: 1 }, { forceFloat32: true }))).toBeNull();
  });

  it('`readCanonical` needs the whole envelope up to its payload', () => {
    const whole = encode({ type: 'data', stream: 65_536, end: true, payload: null });
    for (let length = 0; length < whole.length - 1; length++) expect(readCanonical(whole.subarray(0, length))).toBeNull();
    expect(readCanonical(whole.subarray(0, whole.length - 1))).toMatchObject({ payloadAt: whole.length - 1 });
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
