import { describe, expect, it } from '@jest/globals';
import { browserCode, CloseCode } from '../../src/wire/codes.js';

describe('the close code of a browser (C9)', () => {
  it.each([
    [CloseCode.CLEAN, 1000],
    [1001, 4001],
    [CloseCode.PROTOCOL_ERROR, 4002],
    [CloseCode.TOO_BIG, 4009],
    [2999, 5999],
    [3000, 3000],
    [4321, 4321],
  ])('A browser sends the close code %i as %i', (code, sent) => {
    expect(browserCode(code)).toBe(sent);
  });
});
