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
    let short = 0;
    fc.assert(
      fc.property(sendable, (value) => {
        const plain = encodePlain(value);
        if (plain === null) return;
        short++;
        expect(Buffer.from(plain)).toEqual(Buffer.from(generally(value)));
      }),
      { numRuns: 2_000 },
    );
    expect(short).toBeGreaterThan(200);
  });

  it('The short way reads the value of the general way, or nothing', () => {
    let short = 0;
    fc.assert(
      fc.property(sendable, (value) => {
        const encoded = generally(value);
        const plain = decodePlain(encoded);
        if (plain === NOT_PLAIN) return;
        short++;
        expect(isDeepStrictEqual(plain, new MsgpackDecoder().decode(encoded, LIMITS))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(short).toBeGreaterThan(200);
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
    ['a text of 255 bytes', 'x'.repeat(255)],
    ['fifteen items', Array.from({ length: 15 }, (_, n) => n)],
    ['an omitted property', { a: undefined, b: [1] }],
    ['nested values', { a: [{ b: [null, true, false, 1.5, -1] }] }],
  ])('The short way writes and reads %s', (_what, value) => {
    const encoded = encodePlain(value);
    expect(encoded === null ? null : decodePlain(new Uint8Array(encoded))).toEqual(value);
  });

  it.each<[what: string, value: unknown]>([
    ['a longer text', 'x'.repeat(256)],
    ['text beyond ASCII', 'é'],
    ['sixteen items', Array.from({ length: 16 }, (_, n) => n)],
    ['sixteen keys', Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, n]))],
    ['a method toJSON', { toJSON: () => 1 }],
    ['a class', new (class Point {})()],
    ['no prototype', Object.create(null)],
    ['inherited properties', Object.create({ a: 1 })],
    ['a tag', { [Symbol.toStringTag]: 'Tagged' }],
    ['a Map', new Map()],
    ['a bigint', 1n],
    ['33 levels', Array.from({ length: 33 }).reduce<unknown>((inner) => [inner], 1)],
    ['more bytes than 4 096', Array.from({ length: 15 }, () => Array.from({ length: 2 }, () => 'x'.repeat(200)))],
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

  it('A message of numbers up to the last bytes of the short way is left to the general way', () => {
    const rows = Array.from({ length: 15 }, () => Array.from({ length: 15 }, () => Array.from({ length: 2 }, () => 1.5)));
    expect(encodePlain(rows)).toBeNull();
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
  ])('The short way leaves the cut bytes %j to the general way', (bytes) => {
    expect(decodePlain(Uint8Array.from(bytes))).toBe(NOT_PLAIN);
  });

  it('The short way reads values of more keys than it remembers', () => {
    const wide = Array.from({ length: 6 }, (_, row) => Object.fromEntries(Array.from({ length: 15 }, (_each, n) => [`k${row}_${n}`, n])));
    const encoded = encodePlain(wide);
    expect(encoded === null ? null : decodePlain(new Uint8Array(encoded))).toEqual(wide);
  });
});

describe('the short way of msgpack without a Buffer', () => {
  const platform = otherPlatform();

  it('A page reads the same values as Node', async () => {
    platform({ Buffer: undefined });
    jest.resetModules();
    const page = await import('../../src/codec/msgpack-plain.js');
    const value = { name: 'a text of more than a few units', short: 'x', list: [1, -1, 1.5, null, true] };
    const encoded = page.encodePlain(value);
    expect(encoded === null ? null : page.decodePlain(new Uint8Array(encoded))).toEqual(value);
  });
});
