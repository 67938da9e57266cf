import { describe, expect, it } from '@jest/globals';
import { checkedCodec } from '../../src/wire/codec.js';
import type { Codec } from '../../src/wire/codec.js';

const CALLS = { encode: () => '', decode: () => ({ type: '' }), encodePayload: () => '', decodePayload: () => null };
const CODEC: Codec = { name: 'none', binary: false, ...CALLS };
const given = (codec: unknown): Codec => codec as Codec;

describe('checkedCodec', () => {
  it('`checkedCodec` returns a codec', () => {
    expect(checkedCodec(CODEC)).toBe(CODEC);
  });

  it.each<[unknown, string]>([
    ['json', "'json'"],
    [null, 'null'],
    [Object.assign((): null => null, { binary: false, ...CALLS }), 'a function'],
    ...Object.keys(CALLS).map((call): [unknown, string] => [{ ...CODEC, [call]: undefined }, 'an object']),
    [{ ...CODEC, name: undefined }, 'one without a name'],
    [{ ...CODEC, binary: undefined }, 'one without binary'],
  ])('`checkedCodec` throws for %p', (codec, got) => {
    expect(() => checkedCodec(given(codec))).toThrow(new TypeError(`codec: expected a codec, such as new JsonCodec(), got ${got}`));
  });
});
