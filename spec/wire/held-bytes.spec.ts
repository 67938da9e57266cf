import { describe, expect, it } from '@jest/globals';
import { HeldBytes } from '../../src/wire/held-bytes.js';

describe('HeldBytes', () => {
  it('HeldBytes accepts bytes up to its limit, and counts no bytes that it refuses', () => {
    const held = new HeldBytes(10);
    expect([held.take(6), held.take(5), held.take(4), held.take(1)]).toEqual([true, false, true, false]);
    expect(held.used).toBe(10);
  });

  it('HeldBytes accepts released bytes again', () => {
    const held = new HeldBytes(10);
    held.take(10);
    held.give(3);
    expect([held.used, held.take(4), held.take(3), held.used]).toEqual([7, false, true, 10]);
  });
});
