import { describe, expect, it, jest } from '@jest/globals';
import { decode, encode } from '@msgpack/msgpack';
import fc from '../support/fast-check.js';
import { encodeFlat, readFlat } from '../../src/codec/msgpack-canonical.js';
import { otherPlatform } from '../support/platform/globals.js';
import { awkwardText } from '../support/wire/arbitraries.js';

const platform = otherPlatform();

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
const ascii = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.constantFrom('', 'a'.repeat(31), 'a'.repeat(32), 'a'.repeat(255), 'a'.repeat(256), '\0', '\x7f', '\x80'),
);
const flat = fc.dictionary(ascii, ascii, { maxKeys: 6 });

function entriesNamed(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

function entriesOf(keys: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}

const letters = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `k${n}`);

describe('flat headers', () => {
  it('`encodeFlat` writes headers as the library does, or returns null', () => {
    fc.assert(
      fc.property(flat, (headers) => {
        const written = encodeFlat(headers);
        if (written !== null) expect(Buffer.from(written)).toEqual(Buffer.from(encode(headers)));
      }),
      { ...SEED, numRuns: 1_000 },
    );
  });

  it('`readFlat` reads headers as the library does, or returns null', () => {
    fc.assert(
      fc.property(fc.oneof(flat, fc.dictionary(awkwardText(4), awkwardText(4))), fc.nat(9), (headers, before) => {
        const message = new Uint8Array([...new Uint8Array(before), ...encode(headers), 0xc0]);
        const read = readFlat(message, before);
        if (read === null) return;
        expect(read.headers).toEqual(decode(message.subarray(before, -1)));
        expect([read.items, read.to]).toEqual([2 * Object.keys(headers).length, message.length - 1]);
      }),
      { ...SEED, numRuns: 1_000 },
    );
  });

  it('`readFlat` reads damaged headers as the library does, or returns null', () => {
    const damage = fc.tuple(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 3 }));
    fc.assert(
      fc.property(flat, damage, (headers, [place, cut, put]) => {
        const bytes = encode(headers);
        const at = place % bytes.length;
        const message = new Uint8Array([...bytes.subarray(0, at), ...put, ...bytes.subarray(at + cut)]);
        const read = readFlat(message, 0);
        if (read !== null) expect(read.headers).toEqual(decode(message.subarray(0, read.to)));
      }),
      { ...SEED, numRuns: 3_000 },
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['none', {}],
    ['one text', { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }],
    ['texts of every short length', entriesNamed([0, 1, 31, 32, 255].map((length) => 'a'.repeat(length)))],
    ['fifteen entries', entriesNamed(letters(15))],
  ])('`encodeFlat` and `readFlat` take %s', (_what, headers) => {
    const message = encode(headers);
    expect(Buffer.from(encodeFlat(headers) ?? [])).toEqual(Buffer.from(message));
    expect(readFlat(message, 0)).toEqual({ headers, items: 2 * Object.keys(headers).length, to: message.length });
  });

  it.each<[string, Record<string, unknown>]>([
    ['sixteen entries', entriesNamed(letters(16))],
    ['a text of 256 characters', { a: 'a'.repeat(256) }],
    ['a key of 256 characters', { ['a'.repeat(256)]: 'a' }],
    ['text beyond ASCII', { a: 'é' }],
    ['a long text beyond ASCII', { a: 'é'.repeat(100) }],
    ['a text beyond ASCII that ends where the room does', { ...entriesOf(['a', 'b', 'c'], 'a'.repeat(255)), d: `${'a'.repeat(241)}é` }],
    ['a key beyond ASCII', { é: 'a' }],
    ['a number', { a: 1 }],
    ['null', { a: null }],
    ['bytes', { a: new Uint8Array(1) }],
    ['a key that may be an index', { '1': 'a' }],
    ['the key __proto__', JSON.parse('{"__proto__":"a"}') as Record<string, unknown>],
  ])('`encodeFlat` and `readFlat` leave %s to the library', (_what, headers) => {
    expect([encodeFlat(headers), readFlat(encode(headers), 0)]).toEqual([null, null]);
  });

  it.each<[string, object]>([
    ['an array', ['a']],
    ['a toJSON', { toJSON: () => 'a' }],
    ['an instance of a class', new (class Row {})()],
    ['a value that is undefined', { a: undefined }],
    ['more than it has room for', entriesNamed(letters(5).map((name) => name.repeat(60)))],
  ])('`encodeFlat` leaves %s to the library', (_what, headers) => {
    expect(encodeFlat(headers as Record<string, unknown>)).toBeNull();
  });

  it('`readFlat` reads a key with a long head as a new key, whatever the last key was', () => {
    const short = encode({ '\u0003abc': 'v' });
    const long = Uint8Array.of(0x81, 0xd9, 3, 0x61, 0x62, 0x63, 0xa1, 0x76);
    expect(readFlat(short, 0)?.headers).toEqual({ '\u0003abc': 'v' });
    expect(readFlat(long, 0)?.headers).toEqual({ abc: 'v' });
    expect(readFlat(encode({ abc: 'w' }), 0)?.headers).toEqual({ abc: 'w' });
  });

  it('`readFlat` needs all of the headers', () => {
    const whole = encode({ a: 'b'.repeat(40), c: 'd' });
    for (let length = 0; length < whole.length; length++) expect(readFlat(whole.subarray(0, length), 0)).toBeNull();
  });

  it('`readFlat` leaves headers to the library where a platform has no TextDecoder', async () => {
    const message = encode({ a: 'b' });
    expect(readFlat(message, 0)).not.toBeNull();
    platform({ TextDecoder: undefined });
    jest.resetModules();
    const bare = await import('../../src/codec/msgpack-canonical.js');
    expect(bare.readFlat(message, 0)).toBeNull();
  });
});
