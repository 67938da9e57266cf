import { describe, expect, it } from '@jest/globals';
import { mayBeIndex } from '../../src/codec/index-keys.js';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';

const HIGHEST_INDEX = 2 ** 32 - 2;
const [json, msgpack] = [new JsonCodec(), new MsgpackCodec()];
/** Neither is what a codec writes as it is, so the object around them is copied. */
const COPIED = { left: undefined, boxed: Object('b') as unknown };

const VALUES: readonly (readonly [what: string, value: object])[] = [
  ['one that is high', { 1023: 'a' }],
  ['many, close together', Object.fromEntries(Array.from({ length: 100 }, (_, at) => [at, `v${at}`]))],
  ['some, far apart', { 7: 'a', 1023: 'b', 70000: 'c' }],
  ['beside text', { 1023: 'a', z: 'b', a: 'c' }],
  ['the highest, and one beyond', { [HIGHEST_INDEX]: 'a', [HIGHEST_INDEX + 1]: 'b' }],
  ['in each other', { 1023: { 1022: [{ 1021: null }] } }],
  ['numerals that are none', { '007': 1, '1.5': 2, '-1': 3 }],
];

function sentOn(codec: Codec, value: object): string {
  return JSON.stringify(codec.decodePayload(codec.encodePayload({ ...value, ...COPIED })));
}

describe('mayBeIndex', () => {
  it.each<[key: string, may: boolean]>([
    ['0', true],
    ['9', true],
    ['1023', true],
    ['007', true],
    ['/', false],
    [':', false],
    ['-1', false],
    ['a1', false],
    ['', false],
  ])("judges '%s' by how it begins: %s", (key, may) => {
    expect(mayBeIndex(key)).toBe(may);
  });
});

describe('a copy of an object with indices as keys', () => {
  it.each(VALUES.flatMap(([what, value]) => [json, msgpack].map((codec) => ({ what, value, codec }))))(
    'has the same keys in the same order under $codec.name: $what',
    ({ value, codec }) => {
      expect(sentOn(codec, value)).toBe(JSON.stringify({ ...value, boxed: 'b' }));
    },
  );

  it('keeps a key __proto__ beside them', () => {
    const value = '{"1023":"a","__proto__":{"b":1}}';
    const copied = json.encodePayload({ list: JSON.parse(value) as unknown, ...COPIED });
    expect(copied).toBe(`{"list":${value},"boxed":"b"}`);
  });
});
