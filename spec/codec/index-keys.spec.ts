import { describe, expect, it } from '@jest/globals';
import { mayBeIndex } from '../../src/codec/json-check.js';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';

const HIGHEST_INDEX = 2 ** 32 - 2;
const [json, msgpack] = [new JsonCodec(), new MsgpackCodec()];
/** A codec writes neither value unchanged, so it copies the object around them. */
const COPIED = { left: undefined, boxed: Object('b') as unknown };

const VALUES: readonly (readonly [what: string, value: object])[] = [
  ['one high index', { 1023: 'a' }],
  ['many indices, close together', Object.fromEntries(Array.from({ length: 100 }, (_, at) => [at, `v${at}`]))],
  ['some indices, far apart', { 7: 'a', 1023: 'b', 70000: 'c' }],
  ['an index beside names', { 1023: 'a', z: 'b', a: 'c' }],
  ['the highest index, and the number after it', { [HIGHEST_INDEX]: 'a', [HIGHEST_INDEX + 1]: 'b' }],
  ['indices in nested objects', { 1023: { 1022: [{ 1021: null }] } }],
  ['numerals that are no indices', { '007': 1, '1.5': 2, '-1': 3 }],
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
  ])("`mayBeIndex` looks only at how '%s' begins and returns %s", (key, may) => {
    expect(mayBeIndex(key)).toBe(may);
  });
});

describe('copies of objects with index keys', () => {
  it.each(VALUES.flatMap(([what, value]) => [json, msgpack].map((codec) => ({ what, value, codec }))))(
    'A copy under $codec.name keeps the order of its keys: $what',
    ({ value, codec }) => {
      expect(sentOn(codec, value)).toBe(JSON.stringify({ ...value, boxed: 'b' }));
    },
  );

  it('A copy keeps a key __proto__ beside indices', () => {
    const value = '{"1023":"a","__proto__":{"b":1}}';
    const copied = json.encodePayload({ list: JSON.parse(value) as unknown, ...COPIED });
    expect(copied).toBe(`{"list":${value},"boxed":"b"}`);
  });
});
