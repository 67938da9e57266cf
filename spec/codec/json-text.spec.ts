import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { parseJson, quote } from '../../src/codec/json-text.js';
import { awkwardText } from '../support/wire/arbitraries.js';

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

/** Lengths around the limit of a long text and around the size of a piece; the last exceeds every buffer. */
const LENGTHS = [0, 1, 1_023, 1_024, 1_025, 1_026, 1_027, 1_028, 8_191, 8_192, 8_193, 30_001];

/** A text of `length` units with `part` at one place. */
const textWith = (part: string, at: number, length: number): string => 'x'.repeat(at) + part + 'x'.repeat(length - at - part.length);

describe('quote and parseJson', () => {
  it.each(LENGTHS)('`quote` keeps a text without escapes unchanged: %i units', (length) => {
    const text = 'a b'.repeat(length).slice(0, length);
    expect(quote(text)).toBe(`"${text}"`);
    expect(parseJson(`"${text}"`)).toBe(text);
  });

  const PARTS: readonly [string, string][] = [
    ['a quote', '"'],
    ['a backslash', '\\'],
    ['the first control character', '\u0000'],
    ['the last control character', '\u001f'],
    ['a line feed', '\n'],
    ['a space, the first character after the control characters', ' '],
    ['a delete, which JSON does not escape', '\u007f'],
    ['a character of two bytes', 'é'],
    ['a character of three bytes', '€'],
    ['a pair of surrogates', '😀'],
    ['the first half of a pair', '\ud83d'],
    ['the second half of a pair', '\ude00'],
    ['a line separator', '\u2028'],
  ];

  it.each(PARTS)('`quote` writes a text as JSON.stringify does, and `parseJson` reads it back: %s', (_what, part) => {
    for (const length of LENGTHS.filter((length) => length >= part.length)) {
      for (const at of new Set([0, 1, 2, 3, 1_024, 8_191, 8_192, length - 4, length - part.length])) {
        if (at < 0 || at + part.length > length) continue;
        const text = textWith(part, at, length);
        const json = JSON.stringify(text);
        expect({ at, length, is: quote(text) === json }).toEqual({ at, length, is: true });
        expect({ at, length, is: parseJson(json) === text }).toEqual({ at, length, is: true });
      }
    }
  });

  it('`quote` writes a text correctly after a longer one', () => {
    const lines = '\n'.repeat(9_000);
    for (const length of LENGTHS) {
      expect(quote(lines)).toBe(JSON.stringify(lines));
      expect(quote('x'.repeat(length))).toBe(`"${'x'.repeat(length)}"`);
    }
  });

  it('`quote` writes random texts as JSON.stringify does', () => {
    fc.assert(
      fc.property(awkwardText(40), fc.constantFrom(...LENGTHS), (text, length) => {
        const long = 'x'.repeat(length) + text + 'x'.repeat(length);
        expect(quote(long)).toBe(JSON.stringify(long));
        expect(parseJson(JSON.stringify(long))).toBe(long);
      }),
      SEED,
    );
  });
});

describe('parseJson of long texts', () => {
  const x = 'x'.repeat(2_000);

  it.each([
    ['two strings', `"${x}","${x}"`],
    ['no quote before it', `${x}"`],
    ['no quote after it', `"${x}`],
    ['no quotes', x],
    ['a raw control character', `"${x}\n"`],
    ['an unescaped quote', `"${x}"${x}"`],
    ['a backslash before the last quote', `"${x}\\"`],
    ['an unknown escape', `"${x}\\x"`],
  ])('`parseJson` refuses what JSON.parse refuses: %s', (_what, json) => {
    expect(() => parseJson(json)).toThrow(SyntaxError);
  });

  it.each([
    ['space around it', ` "${x}"`, x],
    ['space behind it', `"${x}" `, x],
    ['escapes', `"${x}\\u0041\\/"`, `${x}A/`],
    ['an unescaped lone surrogate', `"${x}\ud83d"`, `${x}\ud83d`],
    ['an object', `{"a":"${x}"}`, { a: x }],
    ['a list of strings', `["${x}"]`, [x]],
  ])('`parseJson` reads a text as JSON.parse does: %s', (_what, json, value) => {
    expect(parseJson(json)).toEqual(value);
  });
});
