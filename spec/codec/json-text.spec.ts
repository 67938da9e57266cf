import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson, quote } from '../../src/codec/json-text.js';
import { awkwardText } from '../support/frame-arbitraries.js';

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

/** Lengths on both sides of where a text is long, and of what is looked at in one piece; the last fits no buffer. */
const LENGTHS = [0, 1, 1_023, 1_024, 1_025, 1_026, 1_027, 1_028, 8_191, 8_192, 8_193, 30_001];

/** Text of `length` units with `part` at one place of it. */
const textWith = (part: string, at: number, length: number): string => 'x'.repeat(at) + part + 'x'.repeat(length - at - part.length);

describe('a text between quotes', () => {
  it.each(LENGTHS)('stays as it is where nothing has to be escaped: %i units', (length) => {
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
    ['a space, which is the first that is none', ' '],
    ['a delete, which JSON lets be', '\u007f'],
    ['a character of two bytes', 'é'],
    ['a character of three bytes', '€'],
    ['a pair of surrogates', '😀'],
    ['the first half of a pair', '\ud83d'],
    ['the second half of a pair', '\ude00'],
    ['a line separator', '\u2028'],
  ];

  it.each(PARTS)('is written as JSON.stringify writes it, and read back: %s', (_what, part) => {
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

  it('is not confused with a longer one before it', () => {
    const lines = '\n'.repeat(9_000);
    for (const length of LENGTHS) {
      expect(quote(lines)).toBe(JSON.stringify(lines));
      expect(quote('x'.repeat(length))).toBe(`"${'x'.repeat(length)}"`);
    }
  });

  it('is written as JSON.stringify writes it, whatever it is', () => {
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

describe('a long JSON text between quotes', () => {
  const x = 'x'.repeat(2_000);

  it.each([
    ['two strings', `"${x}","${x}"`],
    ['no quote before it', `${x}"`],
    ['no quote after it', `"${x}`],
    ['no quotes', x],
    ['a control character as it is', `"${x}\n"`],
    ['a quote as it is', `"${x}"${x}"`],
    ['a backslash before the last quote', `"${x}\\"`],
    ['an escape that is none', `"${x}\\x"`],
  ])('is refused as JSON.parse refuses it: %s', (_what, json) => {
    expect(() => parseJson(json)).toThrow(SyntaxError);
  });

  it.each([
    ['space around it', ` "${x}"`, x],
    ['space behind it', `"${x}" `, x],
    ['escapes', `"${x}\\u0041\\/"`, `${x}A/`],
    ['half of a pair as it is', `"${x}\ud83d"`, `${x}\ud83d`],
    ['an object', `{"a":"${x}"}`, { a: x }],
    ['a list of strings', `["${x}"]`, [x]],
  ])('is read as JSON.parse reads it: %s', (_what, json, value) => {
    expect(parseJson(json)).toEqual(value);
  });
});
