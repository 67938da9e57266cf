import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/wire/codec.js';
import { HeldBytes, weightOfPiece } from '../../src/wire/reassembly.js';
import { encodedLength } from '../../src/wire/length.js';

describe('HeldBytes', () => {
  it('HeldBytes accepts bytes up to its limit, and counts no bytes that it refuses', () => {
    const held = new HeldBytes({ maxHeldBytes: 10 });
    expect([held.take(6), held.take(5), held.take(4), held.take(1)]).toEqual([true, false, true, false]);
    expect(held.used).toBe(10);
  });

  it('HeldBytes reads its limit at each use', () => {
    const limits = { maxHeldBytes: 10 };
    const held = new HeldBytes(limits);
    expect([held.take(11), held.refusal(11)]).toEqual([false, '11 bytes held by this connection are over the limit of 10 (maxHeldBytes)']);
    limits.maxHeldBytes = 20;
    expect([held.take(11), held.take(10), held.refusal(10)]).toEqual([
      true,
      false,
      '21 bytes held by this connection are over the limit of 20 (maxHeldBytes)',
    ]);
  });

  it('HeldBytes keeps its share of the limit from the other that counts against it', () => {
    const limits = { maxHeldBytes: 16 };
    const other = new HeldBytes(limits);
    const held = new HeldBytes(limits, other, 1 / 4);
    expect([other.take(16), held.take(4), held.take(1)]).toEqual([true, true, false]);
    limits.maxHeldBytes = 20;
    expect([held.take(1), held.take(1)]).toEqual([true, false]);
  });

  it('HeldBytes accepts released bytes again', () => {
    const held = new HeldBytes({ maxHeldBytes: 10 });
    held.take(10);
    held.release(3);
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
