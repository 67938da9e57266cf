import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { codePointEnd, edgeBefore, encodedLength, fitsWithin, truncateToBytes, utf8Counter } from '../../src/wire/length.js';
import { awkwardText } from '../support/frame-arbitraries.js';

const ROWS: readonly (readonly [string, string, number])[] = [
  ['nothing', '', 0],
  ['ASCII', 'abc', 3],
  ['two bytes', 'é', 2],
  ['three bytes', '€', 3],
  ['a surrogate pair', '😀', 4],
  ['a lone high surrogate', '\ud83d', 3],
  ['a lone low surrogate', '\ude00', 3],
  ['halves in the wrong order', '\ude00\ud83d', 6],
  ['a mix', 'aé€😀', 10],
];

describe('Limits: the unit of measure is encoded bytes', () => {
  it.each(ROWS)('measures %s as UTF-8', (_what, text, bytes) => {
    expect(encodedLength(text)).toBe(bytes);
  });

  it('measures an ArrayBuffer as it is', () => {
    expect(encodedLength(new ArrayBuffer(7))).toBe(7);
  });

  it.each(ROWS)('measures %s alike where there is no Buffer', (_what, text, bytes) => {
    expect(utf8Counter({})(text)).toBe(bytes);
  });

  it('measures text of many chunks exactly, a surrogate pair on every edge included', () => {
    const count = utf8Counter({});
    for (const shift of [0, 1, 2]) {
      const text = 'a'.repeat(shift) + '😀'.repeat(70_000) + 'é€';
      expect(count(text)).toBe(shift + 280_000 + 5);
    }
  });

  it('agrees with the platform on any text', () => {
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
    ['bytes over it', new ArrayBuffer(5), 4, false],
    ['text that is short enough whatever it holds', 'abc', 9, true],
    ['text at the limit', '€€', 6, true],
    ['text one byte over', '€€', 5, false],
    ['text with more units than the limit', 'abcdefg', 6, false],
    ['nothing, at a limit of 0', '', 0, true],
    ['nothing, below 0', '', -1, false],
  ])('tells of %s', (_what, message, limit, verdict) => {
    expect(fitsWithin(message, limit)).toBe(verdict);
  });

  it('is the comparison with the measured length', () => {
    fc.assert(
      fc.property(awkwardText(20), fc.nat(70), (text, limit) => {
        expect(fitsWithin(text, limit)).toBe(encodedLength(text) <= limit);
      }),
    );
  });
});

describe('truncateToBytes', () => {
  it.each([
    ['keeps what fits', 'naïve', 6, 'naïve'],
    ['cuts before the code point that does not', 'naïve', 3, 'na'],
    ['cuts after the one that does', 'naïve', 4, 'naï'],
    ['never halves a surrogate pair', 'a😀', 4, 'a'],
    ['cuts to nothing', '😀', 3, ''],
    ['gives nothing for a limit below zero', 'abc', -1, ''],
  ])('%s', (_outcome, text, limit, cut) => {
    expect(truncateToBytes(text, limit)).toBe(cut);
  });

  it('gives the longest whole-code-point prefix within the limit', () => {
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
    ['inside it', 2, 1],
    ['after it', 3, 3],
    ['at the start', 0, 0],
    ['at the end', 4, 4],
  ])('finds the edge %s', (_where, at, edge) => {
    expect(edgeBefore('a😀b', at)).toBe(edge);
  });

  it.each([
    ['a unit of its own', 'ab', 0, 1],
    ['a pair', '😀b', 0, 2],
    ['the first pair there is', '\u{10000}', 0, 2],
    ['the last pair there is', '\u{10ffff}', 0, 2],
    ['what stands before a high surrogate', 'a\ud83d', 0, 1],
    ['two high surrogates', '\ud83d\ud83d', 0, 1],
    ['a lone high surrogate', '\ud83db', 0, 1],
    ['a high surrogate before the first unit above the low ones', '\ud83d\ue000', 0, 1],
    ['what stands before a lone low surrogate', 'a\ude00', 0, 1],
    ['a lone low surrogate', '\ude00\ude00', 0, 1],
    ['the last unit', 'ab', 1, 2],
  ])('finds the end of %s', (_what, text, at, end) => {
    expect(codePointEnd(text, at)).toBe(end);
  });
});
