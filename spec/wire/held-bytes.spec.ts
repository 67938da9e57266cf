import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/wire/codec.js';
import { HeldBytes, weightOfPiece } from '../../src/wire/held-bytes.js';
import { encodedLength } from '../../src/wire/length.js';

describe('HeldBytes', () => {
  it('HeldBytes accepts bytes up to its limit, and counts no bytes that it refuses', () => {
    const held = new HeldBytes({ maxHeldBytes: 10 });
    expect([held.take(6), held.take(5), held.take(4), held.take(1)]).toEqual([true, false, true, false]);
    expect(held.used).toBe(10);
  });

  it('HeldBytes accepts released bytes again', () => {
    const held = new HeldBytes({ maxHeldBytes: 10 });
    held.take(10);
    held.give(3);
    expect([held.used, held.take(4), held.take(3), held.used]).toEqual([7, false, true, 10]);
  });
});

describe('weightOfPiece()', () => {
  it.each<[what: string, piece: Message, bytes: number]>([
    ['bytes', new ArrayBuffer(10), 10],
    ['ASCII text', 'a'.repeat(10), 10],
    ['text with one character beyond ASCII', `${'a'.repeat(9)}☃`, 20],
    ['text of which each character is encoded to three bytes', '☃'.repeat(10), 30],
  ])('A piece weighs what it takes in memory: %s', (_what, piece, weight) => {
    expect(weightOfPiece(piece, encodedLength(piece))).toBe(weight);
  });
});
