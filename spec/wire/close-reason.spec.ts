import { describe, expect, it } from '@jest/globals';
import { browserCode, CloseCode } from '../../src/wire/close-reason.js';

describe('the code that a browser sends (C9)', () => {
  it.each([
    [CloseCode.CLEAN, 1000],
    [1001, 4001],
    [CloseCode.PROTOCOL_ERROR, 4002],
    [CloseCode.TOO_BIG, 4009],
    [2999, 5999],
    [3000, 3000],
    [4321, 4321],
  ])('for %i is %i', (code, sent) => {
    expect(browserCode(code)).toBe(sent);
  });
});
