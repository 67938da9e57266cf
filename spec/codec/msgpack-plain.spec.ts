import { isDeepStrictEqual } from 'node:util';
import { Encoder } from '@msgpack/msgpack';
import { describe, expect, it, jest } from '@jest/globals';
import { NOT_PLAIN, decodePlain, encodePlain } from '../../src/codec/msgpack-plain.js';
import { MsgpackDecoder, TIMESTAMPS_ONLY } from '../../src/codec/msgpack.js';
import { MAX_DEPTH, plainCopy } from '../../src/codec/plain-copy.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import fc from '../support/fast-check.js';
import { otherPlatform } from '../support/platform/globals.js';

const LIMITS = { maxDepth: MAX_DEPTH, maxItems: 1_000_000, envelope: false };
/** The bytes of the general way. */
const generally = (value: unknown): Uint8Array => new Encoder({ extensionCodec: TIMESTAMPS_ONLY }).encode(plainCopy(value, 'payload'));
const outcome = (act: () => unknown): unknown => {
  try {
    return { value: act() };
  } catch (error) {
    return { error: String(error) };
  }
};

const scalars = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.integer(),
  fc.integer({ min: -40, max: 300 }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, 0xffff, 0x10000, 0xffffffff, 2 ** 32, -128, -129, -32_768, -32_769, -(2 ** 31), -(2 ** 31) - 1),
  fc.uint8Array({ maxLength: 20 }),
  fc.date({ noInvalidDate: true }),
);
// The codec refuses the key `__proto__`.
const keys = fc
  .oneof(fc.string({ maxLength: 40 }), fc.constantFrom('id', 'at', '0', '-1', '', '\0a', 'constructor', 'é'))
  .filter((key) => key !== '__proto__');
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalars, tie('list'), tie('literal')),
  list: fc.array(tie('value'), { maxLength: 17 }),
  literal: fc.dictionary(keys, tie('value'), { maxKeys: 17 }),
}));
/** `undefined` alone is no payload. */
const sendable = values.filter((value) => value !== undefined);

describe('the short way of msgpack', () => {
  it('The short way writes the bytes of the general way, or nothing', () => {
    let [tried, short] = [0, 0];
    fc.assert(
      fc.property(sendable, (value) => {
        tried++;
        const plain = encodePlain(value);
        if (plain === null) return;
        short++;
        expect(Buffer.from(new Uint8Array(plain))).toEqual(Buffer.from(generally(value)));
      }),
      { numRuns: 2_000 },
    );
    expect(short).toBeGreaterThan(tried / 10);
  });

  it('The short way reads the value of the general way, or nothing', () => {
    let [tried, short] = [0, 0];
    fc.assert(
      fc.property(sendable, (value) => {
        tried++;
        const encoded = generally(value);
        const plain = decodePlain(encoded, LIMITS.maxItems);
        if (plain === NOT_PLAIN) return;
        short++;
        expect(isDeepStrictEqual(plain, new MsgpackDecoder().decode(encoded, LIMITS))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(short).toBeGreaterThan(tried / 10);
  });

  it('The codec reads damaged bytes as the general way does, value or error', () => {
    const codec = new MsgpackCodec();
    fc.assert(
      fc.property(sendable, fc.nat(), fc.nat(255), (value, place, byte) => {
        const encoded = Uint8Array.from(generally(value));
        encoded[place % encoded.length] = byte;
        const [short, general] = [() => codec.decodePayload(encoded.buffer), () => new MsgpackDecoder().decode(encoded, LIMITS)].map(
          outcome,
        );
        expect([short, general, isDeepStrictEqual(short, general)]).toEqual([short, general, true]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[what: string, value: unknown]>([
    ['fifteen items', Array.from({ length: 15 }, (_, n) => n)],
    ['sixteen items', Array.from({ length: 16 }, (_, n) => n)],
    ['65 536 items', Array.from({ length: 65_536 }, (_, n) => n % 7)],
    ['sixteen keys', Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, n]))],
    ['65 536 keys', Object.fromEntries(Array.from({ length: 65_536 }, (_, n) => [`k${n}`, n]))],
    ['sixteen keys with one omitted', { gone: undefined, ...Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`k${n}`, n])) }],
    ['text beyond ASCII', ['é', '😀', 'naïve', 'é'.repeat(15), 'é'.repeat(16), '€'.repeat(10), '€'.repeat(11)]],
    ['a byte order mark', ['\ufeff', `\ufeff${'x'.repeat(300)}`]],
    ['texts at each step of their header', [31, 32, 40, 41, 255, 256, 65_535, 65_536].map((length) => 'x'.repeat(length))],
    ['texts beyond ASCII at each step', [15, 16, 127, 128, 32_767, 32_768].map((length) => 'é'.repeat(length))],
    ['integers of 64 bits', [2 ** 32, 2 ** 53 - 1, -(2 ** 31) - 1, -(2 ** 53) + 1, 1_764_391_200_000]],
    ['floats and unsafe integers', [2 ** 53, -(2 ** 60), 1e300, NaN, Infinity]],
    ['bytes', { raw: Uint8Array.of(1, 2), long: new Uint8Array(300), longer: new Uint8Array(70_000) }],
    ['a text of 2 MiB within an object', { text: 'é'.repeat(2 ** 20) }],
    ['keys beyond ASCII', { größe: 1, '€': [2], '\ufeffid': 3 }],
    ['a key of 40 bytes', { ['k'.repeat(40)]: 1, ['l'.repeat(255)]: 2 }],
    ['an omitted property', { a: undefined, b: [1] }],
    ['nested values', { a: [{ b: [null, true, false, 1.5, -1] }] }],
  ])('The short way writes and reads %s', (_what, value) => {
    const encoded = encodePlain(value);
    expect(encoded === null ? null : Buffer.from(new Uint8Array(encoded)).equals(generally(value))).toBe(true);
    expect(decodePlain(new Uint8Array(encoded ?? []), LIMITS.maxItems)).toEqual(value);
  });

  it.each<[what: string, value: unknown]>([
    ['a Date', new Date(0)],
    ['-0', -0],
    ['the key __proto__', JSON.parse('{"__proto__":1}')],
    ['a method toJSON', { toJSON: () => 1 }],
    ['a class', new (class Point {})()],
    ['no prototype', Object.create(null)],
    ['inherited properties', Object.create({ a: 1 })],
    ['a tag', { [Symbol.toStringTag]: 'Tagged' }],
    ['a Map', new Map()],
    ['a bigint', 1n],
    ['33 levels', Array.from({ length: 33 }).reduce<unknown>((inner) => [inner], 1)],
  ])('The short way leaves %s to the general way', (_what, value) => {
    expect(encodePlain(value)).toBeNull();
  });

  it('A getter that encodes another value meanwhile changes neither', () => {
    const codec = new MsgpackCodec();
    let inner: unknown;
    const value = {
      first: 1,
      get second() {
        inner = codec.decodePayload(codec.encodePayload({ other: [1, 2, 3] }));
        return 2;
      },
    };
    expect(codec.decodePayload(codec.encodePayload(value))).toEqual({ first: 1, second: 2 });
    expect(inner).toEqual({ other: [1, 2, 3] });
  });

  it('A getter that throws leaves the codec usable', () => {
    const codec = new MsgpackCodec();
    const value = {
      get broken(): never {
        throw new RangeError('broken');
      },
    };
    expect(() => codec.encodePayload(value)).toThrow('broken');
    expect(encodePlain({ a: 1 })).not.toBeNull();
  });

  it('Keys of earlier values are not mistaken for other keys', () => {
    const codec = new MsgpackCodec();
    for (const value of [{ id: 1 }, { ix: 1 }, { id: 2, at: 3 }, { at: 3, id: 2 }, { i: 1 }])
      expect(codec.decodePayload(codec.encodePayload(value))).toEqual(value);
  });

  it('The short way counts as many items as the limit allows', () => {
    const codec = new MsgpackCodec();
    const encoded = codec.encodePayload([1, 2, 3]);
    expect(codec.decodePayload(encoded, { maxPayloadItems: 4, maxPayloadBytes: 1024 } as never)).toEqual([1, 2, 3]);
    expect(() => codec.decodePayload(encoded, { maxPayloadItems: 3 })).toThrow(/items/);
  });

  it('A getter that adds items to the array around it leaves the array to the general way', () => {
    const list: unknown[] = [
      {
        get grows() {
          list.push(2);
          return 1;
        },
      },
    ];
    const codec = new MsgpackCodec();
    expect(codec.decodePayload(codec.encodePayload(list))).toEqual([{ grows: 1 }, 2]);
  });

  it('The short way leaves a value of more items than the limit allows, before it makes them', () => {
    expect(decodePlain(Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff), 1_000)).toBe(NOT_PLAIN);
    expect(decodePlain(Uint8Array.of(0x93, 1, 2, 3), 3)).toBe(NOT_PLAIN);
    expect(decodePlain(Uint8Array.of(0x93, 1, 2, 3), 4)).toEqual([1, 2, 3]);
    expect(decodePlain(Uint8Array.of(0x91, 0xc4, 1, 7), 3)).toBe(NOT_PLAIN);
    expect(decodePlain(Uint8Array.of(0x91, 0xc4, 1, 7), 4)).toEqual([Uint8Array.of(7)]);
  });

  it('Bytes that were read have memory of their own', () => {
    const bytes = Uint8Array.of(0x91, 0xc4, 1, 7);
    const [raw] = decodePlain(bytes, 4) as [Uint8Array];
    expect([raw.buffer.byteLength, raw.buffer === bytes.buffer]).toEqual([1, false]);
  });

  it.each([
    [[]],
    [[0xd0]],
    [[0xcc]],
    [[0xcd, 0]],
    [[0xce, 0, 0, 0]],
    [[0xd1, 0]],
    [[0xd2, 0, 0, 0]],
    [[0xcb, 0, 0, 0, 0, 0, 0, 0]],
    [[0xd9]],
    [[0xa2, 0x61]],
    [[0x81]],
    [[0x81, 0xa1]],
    [[0x91]],
    [[0xc1]],
    [[0xc4]],
    [[0xc5, 0]],
    [[0xc5, 0, 1]],
    [[0xc6, 0, 0, 0, 1]],
    [[0xca, 0, 0, 0]],
    [[0xcf, 0, 0, 0, 0, 0, 0, 0]],
    [[0xd3, 0, 0, 0, 0, 0, 0, 0]],
    [[0xda, 0]],
    [[0xda, 0, 1]],
    [[0xdb, 0, 0, 0, 1]],
    [[0xdc, 0]],
    [[0xdd, 0, 0, 0, 1]],
    [[0xde, 0]],
    [[0xdf, 0, 0, 0, 1]],
    [[0x81, 0xd9]],
    [[0x81, 0xd9, 2, 0x61]],
    [[0xa2, 0xc3, 0x28]],
  ])('The short way leaves the cut bytes %j to the general way', (bytes) => {
    expect(decodePlain(Uint8Array.from(bytes), LIMITS.maxItems)).toBe(NOT_PLAIN);
  });

  it('The short way reads values of more keys than it remembers', () => {
    const wide = Array.from({ length: 6 }, (_, row) => Object.fromEntries(Array.from({ length: 15 }, (_each, n) => [`k${row}_${n}`, n])));
    const encoded = encodePlain(wide);
    expect(decodePlain(new Uint8Array(encoded ?? []), LIMITS.maxItems)).toEqual(wide);
  });
});

describe('the short way of msgpack without a Buffer', () => {
  const platform = otherPlatform();

  it('A page reads the same values as Node', async () => {
    platform({ Buffer: undefined });
    jest.resetModules();
    const page = await import('../../src/codec/msgpack-plain.js');
    const value = { name: 'a text of more than a few units', long: 'x'.repeat(300), short: 'x', list: [1, -1, 1.5, null, true] };
    const encoded = new Uint8Array(page.encodePlain(value) ?? []);
    expect(page.decodePlain(encoded, LIMITS.maxItems)).toEqual(value);
    expect(page.decodePlain(encoded.subarray(0, -1), LIMITS.maxItems)).toBe(page.NOT_PLAIN);
  });

  it('A page writes any text, and leaves the reading of other than ASCII, and of more than 4 096 bytes, to the general way', async () => {
    platform({ Buffer: undefined });
    jest.resetModules();
    const page = await import('../../src/codec/msgpack-plain.js');
    for (const value of ['é'.repeat(50), Array.from({ length: 5_000 }, () => 1)]) {
      const encoded = page.encodePlain(value);
      expect(new Uint8Array(encoded ?? [])).toEqual(generally(value));
      expect(page.decodePlain(new Uint8Array(encoded ?? []), LIMITS.maxItems)).toBe(page.NOT_PLAIN);
    }
  });
});

describe('buffers of the msgpack codec', () => {
  const MIB = 1024 * 1024;

  it.each([
    ['plain', { text: 'x'.repeat(2 * MIB) }],
    ['with a date', { text: 'x'.repeat(2 * MIB), at: new Date(0) }],
  ])('A value of 2 MiB and a small one after it arrive as they are: %s', (_what, large) => {
    const codec = new MsgpackCodec();
    for (const value of [large, { small: 1 }, { at: new Date(1) }])
      expect(codec.decodePayload(codec.encodePayload(value), { maxPayloadItems: 10 })).toEqual(value);
  });

  it('A frame that a getter encodes while a payload is written has its own bytes', () => {
    const codec = new MsgpackCodec();
    const inner: unknown[] = [];
    const value = {
      a: 1,
      get b() {
        inner.push(codec.decode(codec.encode({ type: 'data', stream: 1, headers: { h: 1 } })));
        inner.push(codec.encodeAround({ type: 'data', stream: 1 }).map(({ byteLength }) => byteLength > 0));
        return 2;
      },
    };
    expect(codec.decodePayload(codec.encodePayload(value), { maxPayloadItems: 10 })).toEqual({ a: 1, b: 2 });
    expect(inner[0]).toMatchObject({ type: 'data', stream: 1, headers: { h: 1 } });
    expect(inner).toHaveLength(2);
  });
});
