import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { codePointEnd, edgeBefore, encodedLength, fitsWithin, truncateToBytes, utf8Counter } from '../../src/wire/length.js';
import { awkwardText } from '../support/wire/arbitraries.js';

const ROWS: readonly (readonly [string, string, number])[] = [
  ['an empty text', '', 0],
  ['ASCII', 'abc', 3],
  ['two bytes', 'é', 2],
  ['three bytes', '€', 3],
  ['a surrogate pair', '😀', 4],
  ['a lone high surrogate', '\ud83d', 3],
  ['a lone low surrogate', '\ude00', 3],
  ['halves in the wrong order', '\ude00\ud83d', 6],
  ['a mix', 'aé€😀', 10],
];

describe('Limits: encoded bytes', () => {
  it.each(ROWS)('`encodedLength` measures %s as UTF-8', (_what, text, bytes) => {
    expect(encodedLength(text)).toBe(bytes);
  });

  it('`encodedLength` measures an ArrayBuffer by its bytes', () => {
    expect(encodedLength(new ArrayBuffer(7))).toBe(7);
  });

  it.each(ROWS)('`utf8Counter` measures %s alike on a platform without Buffer', (_what, text, bytes) => {
    expect(utf8Counter({})(text)).toBe(bytes);
  });

  it('`utf8Counter` measures text of many chunks exactly, also with a surrogate pair on every edge', () => {
    const count = utf8Counter({});
    for (const shift of [0, 1, 2]) {
      const text = 'a'.repeat(shift) + '😀'.repeat(70_000) + 'é€';
      expect(count(text)).toBe(shift + 280_000 + 5);
    }
  });

  it('`encodedLength` and utf8Counter agree with the platform on any text', () => {
    const count = utf8Counter({});
    fc.assert(
      fc.property(awkwardText(), (text) => {
        const bytes = new TextEncoder().encode(text).length;
        expect([encodedLength(text), count(text)]).toEqual([bytes, bytes]);
      }),
    );
  });
});

describe('fitsWithin', () => {
  it.each([
    ['bytes at the limit', new ArrayBuffer(4), 4, true],
    ['bytes over the limit', new ArrayBuffer(5), 4, false],
    ['text that is short enough whatever its characters', 'abc', 9, true],
    ['text at the limit', '€€', 6, true],
    ['text one byte over', '€€', 5, false],
    ['text with more units than the limit', 'abcdefg', 6, false],
    ['an empty text, at a limit of 0', '', 0, true],
    ['an empty text, below 0', '', -1, false],
  ])('`fitsWithin` judges %s', (_what, message, limit, verdict) => {
    expect(fitsWithin(message, limit)).toBe(verdict);
  });

  it('`fitsWithin` agrees with the measured length', () => {
    fc.assert(
      fc.property(awkwardText(20), fc.nat(70), (text, limit) => {
        expect(fitsWithin(text, limit)).toBe(encodedLength(text) <= limit);
      }),
    );
  });
});

describe('truncateToBytes', () => {
  it.each([
    ['keeps a text that fits', 'naïve', 6, 'naïve'],
    ['cuts before the code point that does not fit', 'naïve', 3, 'na'],
    ['cuts after the last code point that fits', 'naïve', 4, 'naï'],
    ['never halves a surrogate pair', 'a😀', 4, 'a'],
    ['returns an empty text when no code point fits', '😀', 3, ''],
    ['returns an empty text for a limit below zero', 'abc', -1, ''],
  ])('`truncateToBytes` %s', (_outcome, text, limit, cut) => {
    expect(truncateToBytes(text, limit)).toBe(cut);
  });

  it('`truncateToBytes` returns the longest prefix of whole code points within the limit', () => {
    fc.assert(
      fc.property(awkwardText(), fc.nat(80), (text, limit) => {
        const characters = Array.from(text);
        let best = '';
        for (const character of characters) {
          if (encodedLength(best + character) > limit) break;
          best += character;
        }
        expect(truncateToBytes(text, limit)).toBe(best);
      }),
    );
  });
});

describe('edges of code points', () => {
  it.each([
    ['before a pair', 1, 1],
    ['inside a pair', 2, 1],
    ['after a pair', 3, 3],
    ['at the start', 0, 0],
    ['at the end', 4, 4],
  ])('`edgeBefore` finds the edge %s', (_where, at, edge) => {
    expect(edgeBefore('a😀b', at)).toBe(edge);
  });

  it.each([
    ['a single unit', 'ab', 0, 1],
    ['a pair', '😀b', 0, 2],
    ['the first possible pair', '\u{10000}', 0, 2],
    ['the last possible pair', '\u{10ffff}', 0, 2],
    ['a unit before a high surrogate', 'a\ud83d', 0, 1],
    ['two high surrogates', '\ud83d\ud83d', 0, 1],
    ['a lone high surrogate', '\ud83db', 0, 1],
    ['a high surrogate before the first unit above the low ones', '\ud83d\ue000', 0, 1],
    ['a unit before a lone low surrogate', 'a\ude00', 0, 1],
    ['a lone low surrogate', '\ude00\ude00', 0, 1],
    ['the last unit', 'ab', 1, 2],
  ])('`codePointEnd` finds the end of %s', (_what, text, at, end) => {
    expect(codePointEnd(text, at)).toBe(end);
  });
});
