import { describe, expect, it } from '@jest/globals';
import { cursorBy, cursorOf, sequenceOf } from '../../src/nats/nats-cursor.js';

describe('cursors of NATS', () => {
  it('A cursor has the sequence, and a fingerprint of the random id of the message', () => {
    const stored = { seq: 7, time: new Date(1_000) };
    expect(cursorOf(stored, 'rxmux-a')).toBe(cursorBy(7, 'rxmux-a'));
    expect(cursorOf(stored, 'rxmux-a')).not.toBe(cursorOf(stored, 'rxmux-b'));
    expect(sequenceOf(cursorOf(stored, 'rxmux-a'))).toBe(7);
  });

  it.each([undefined, '', 'a', 'key:0 topics.a rxmux-a'])('A message with the id %p has the fingerprint of its time', (id) => {
    expect(cursorOf({ seq: 7, time: new Date(1_000) }, id)).toBe(cursorBy(7, '1000'));
  });

  it.each(['', '7', '7:', ':a', 'x:a', '-7:a', '1234567890123456:a', 7, null, { toString: () => '' }])('%p is no cursor', (value) => {
    expect(sequenceOf(value)).toBeNaN();
  });
});
