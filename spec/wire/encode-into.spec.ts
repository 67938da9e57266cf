import { describe, expect, it, jest } from '@jest/globals';
import fc from '../support/fast-check.js';
import { encodeInto, encodeIntoByHand } from '../../src/wire/length.js';
import { awkwardText } from '../support/wire/arbitraries.js';
import { otherPlatform } from '../support/platform/globals.js';

/** Encodes a text into a buffer of `size` bytes. */
function result(encode: typeof encodeInto, text: string, size: number): readonly [read: number, written: number, bytes: Uint8Array] {
  const bytes = new Uint8Array(size);
  const { read, written } = encode(text, bytes);
  return [read, written, bytes];
}

describe.each([
  ['encodeInto', encodeInto],
  ['encodeIntoByHand', encodeIntoByHand],
])('%s', (name, encode) => {
  it.each<[string, string, number, number, number[]]>([
    ['ASCII', 'ab', 2, 2, [0x61, 0x62]],
    ['two bytes', 'é', 2, 1, [0xc3, 0xa9]],
    ['three bytes', '€', 3, 1, [0xe2, 0x82, 0xac]],
    ['four bytes', '😀', 4, 2, [0xf0, 0x9f, 0x98, 0x80]],
    ['the first half of a pair, which is replaced', '\ud800', 3, 1, [0xef, 0xbf, 0xbd]],
    ['the last half of a pair, which is replaced', '\udfff', 3, 1, [0xef, 0xbf, 0xbd]],
    ['the last unit below the surrogates', '\ud7ff', 3, 1, [0xed, 0x9f, 0xbf]],
    ['the first unit above the surrogates', '\ue000', 3, 1, [0xee, 0x80, 0x80]],
    ['the last character of three bytes', '\uffff', 3, 1, [0xef, 0xbf, 0xbf]],
    ['the first character of four bytes', '\u{10000}', 4, 2, [0xf0, 0x90, 0x80, 0x80]],
    ['a text without the code point that does not fit', 'a😀', 4, 1, [0x61]],
    ['a text up to the first code point that does not fit', 'a€b', 3, 1, [0x61]],
    ['an empty text', '', 1, 0, []],
  ])(`\`${name}\` encodes %s`, (_what, text, size, read, encoded) => {
    const bytes = new Uint8Array(size);
    bytes.set(encoded);
    expect(result(encode, text, size)).toEqual([read, encoded.length, bytes]);
  });
});

it('`encodeIntoByHand` encodes any text as the platform does', () => {
  fc.assert(
    fc.property(awkwardText(), fc.nat(64), (text, size) => {
      expect(result(encodeIntoByHand, text, size)).toEqual(result(encodeInto, text, size));
    }),
  );
});

describe('a platform without TextEncoder', () => {
  const pretend = otherPlatform();

  it('`encodeInto` encodes by hand on a platform without TextEncoder', async () => {
    pretend({ TextEncoder: undefined });
    await jest.isolateModulesAsync(async () => {
      const bare = await import('../../src/wire/length.js');
      expect(bare.encodeInto).toBe(bare.encodeIntoByHand);
    });
  });
});
