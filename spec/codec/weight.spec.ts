import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { weightOf } from '../../src/codec/weight.js';

describe('the weight of a value', () => {
  it.each<[what: string, value: unknown, bytes: number]>([
    ['null', null, 0],
    ['a small integer', 7, 0],
    ['a fraction', 0.5, 16],
    ['a short text', 'abc', 30],
    ['a long ASCII text', 'a'.repeat(1_000), 1_024],
    ['a long text with one character beyond Latin-1', `${'a'.repeat(999)}☃`, 2_024],
    ['arrays', [[], []], 160],
    ['a date', new Date(0), 104],
    ['bytes', new Uint8Array(10), 210],
    ['an empty map', {}, 64],
    ['a map', { a: 1 }, 64 + 96 + 58],
    ['an index', { 1: 1 }, 64 + 288 + 58],
  ])('The weight of %s is as expected', (_what, value, bytes) => {
    expect(weightOf(value)).toBe(bytes);
    expect([new JsonCodec().weigh(value), new MsgpackCodec().weigh(value)]).toEqual([bytes, bytes]);
  });

  it('The weight of a value counts a key once, however many maps share it', () => {
    const maps = Array.from({ length: 1_000 }, () => ({ key: 0 }));
    const perMap = 8 + 64 + 96;
    const counted = weightOf(maps) - 48 - 1_000 * perMap;
    expect(counted).toBeLessThan(66 * 62);
    expect(weightOf(maps)).toBe(48 + 1_000 * perMap + counted);
  });
});
