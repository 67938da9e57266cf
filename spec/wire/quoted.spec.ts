import { describe, expect, it } from '@jest/globals';
import { oneLine, quoted } from '../../src/util/check.js';

describe('quoted', () => {
  it.each<readonly [what: string, text: string, shown: string]>([
    ['keeps plain text', 'https://example.org', '"https://example.org"'],
    ['keeps letters beyond ASCII', 'é 日本 😀', '"é 日本 😀"'],
    ['escapes quotes and backslashes', 'a"b\\c', '"a\\"b\\\\c"'],
    ['escapes line ends', 'a\r\nb', '"a\\r\\nb"'],
    ['escapes other C0 controls and DEL', '\0\u001b[2J\u007f', '"\\u0000\\u001b[2J\\u007f"'],
    ['escapes C1 controls', '\u0085\u009b31m', '"\\u0085\\u009b31m"'],
    ['escapes characters that reorder text', 'a\u202eb', '"a\\u202eb"'],
    ['escapes invisible characters beyond the first plane', '\u{e0041}', '"\\udb40\\udc41"'],
    ['escapes line separators', '\u2028\u2029', '"\\u2028\\u2029"'],
    ['escapes a lone surrogate', '\ud83d', '"\\ud83d"'],
    ['keeps 100 characters', 'x'.repeat(100), `"${'x'.repeat(100)}"`],
    ['cuts a text of more than 100 characters', 'x'.repeat(101), `"${'x'.repeat(100)}…"`],
    ['never cuts a pair', `${'x'.repeat(99)}😀`, `"${'x'.repeat(99)}…"`],
    ['never cuts an escape', '\u009b'.repeat(17), `"${'\\u009b'.repeat(16)}…"`],
  ])('`quoted` %s', (_what, text, shown) => {
    expect(quoted(text)).toBe(shown);
  });
});

describe('oneLine', () => {
  it.each<readonly [what: string, text: string, shown: string]>([
    ['keeps quotes and backslashes, so that it may be called twice', 'a"b\\c\\n', 'a"b\\c\\n'],
    ['escapes line ends', 'a\r\nb', 'a\\r\\nb'],
    ['escapes C1 controls', '\u009b31m', '\\u009b31m'],
    ['escapes a lone surrogate', '\ud83d', '\\ud83d'],
    ['cuts a text of more than 100 characters', 'x'.repeat(101), `${'x'.repeat(100)}…`],
  ])('`oneLine` %s', (_what, text, shown) => {
    expect(oneLine(text)).toBe(shown);
  });

  it('`oneLine` cuts to the length that its caller passes', () => {
    expect([oneLine('abcd', 4), oneLine('abcd', 3)]).toEqual(['abcd', 'abc…']);
  });
});
