import { describe, expect, it } from '@jest/globals';
import { cursorBy, cursorOf, sequenceOf } from '../../src/nats/nats-cursor.js';

describe('cursors of NATS', () => {
  it('A cursor has the sequence, and a fingerprint of the id of the message', () => {
    const stored = { seq: 7, time: new Date(1_000) };
    expect(cursorOf(stored, 'a')).toBe(cursorBy(7, 'a'));
    expect(cursorOf(stored, 'a')).not.toBe(cursorOf(stored, 'b'));
    expect(sequenceOf(cursorOf(stored, 'a'))).toBe(7);
  });

  it.each([undefined, ''])('A message with the id %p has the fingerprint of its time', (id) => {
    expect(cursorOf({ seq: 7, time: new Date(1_000) }, id)).toBe(cursorBy(7, '1000'));
  });

  it.each(['', '7', '7:', ':a', 'x:a', '-7:a', '1234567890123456:a', 7, null, { toString: () => '' }])('%p is no cursor', (value) => {
    expect(sequenceOf(value)).toBeNaN();
  });
});
