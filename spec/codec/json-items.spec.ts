import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { JsonCodec } from '../../src/codec/json.js';
import { hasMoreItems } from '../../src/codec/json-text.js';

const codec = new JsonCodec();

/** Counts the items of a value as they are defined: scalars, keys, arrays and maps. */
function itemsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((items, each) => items + itemsOf(each), 1);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((items, each) => items + 1 + itemsOf(each), 1);
}

/** Pads a text with spaces, so that no limit is settled by its length alone. */
const padded = (json: string): string => json + ' '.repeat(2 * json.length + 4);

/** The number of items that `hasMoreItems` finds in a text. */
function counted(text: string): number {
  let items = 0;
  while (hasMoreItems(padded(text), items)) items++;
  return items;
}

describe('hasMoreItems', () => {
  it.each<[text: string, items: number]>([
    ['null', 1],
    ['"a,b:[{"', 1],
    ['[]', 1],
    ['{}', 1],
    ['[ \n]', 1],
    ['{ }', 1],
    ['[1,2]', 3],
    ['[[],[]]', 3],
    ['{"a":1,"b":{}}', 5],
    [String.raw`["\"","\\","\\\",[",""]`, 5],
    ['[[[1]]]', 4],
    ['"never closed', 1],
  ])('`hasMoreItems` counts the items of %s: %i', (text, items) => {
    expect(counted(text)).toBe(items);
  });

  it('`hasMoreItems` counts exactly, with and without white space', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1), (value, indent) => {
        const text = padded(JSON.stringify(value, null, indent));
        const items = itemsOf(value);
        expect([hasMoreItems(text, items), hasMoreItems(text, items - 1)]).toEqual([false, true]);
      }),
    );
  });

  it.each<[what: string, text: string]>([
    ['numbers', `[${Array.from({ length: 9 }, () => 0).join()}]`],
    ['arrays', '['.repeat(10) + ']'.repeat(10)],
    ['keys', `{${Array.from({ length: 5 }, () => '"":0').join()}}`],
  ])('`hasMoreItems` may skip short texts, which have at most one item per two characters: %s', (_what, text) => {
    const most = Math.ceil(text.length / 2);
    expect([hasMoreItems(text, most), itemsOf(JSON.parse(text)) <= most]).toEqual([false, true]);
  });

  it.each<[what: string, decode: (most: number) => unknown]>([
    ['a payload', (maxPayloadItems) => codec.decodePayload(`[${'[],'.repeat(8)}[]]`, { maxPayloadItems })],
    ['a message', (maxPayloadItems) => codec.decode('{"type":"data","stream":1,"payload":[[],[],[]]}', { maxPayloadItems })],
  ])('JsonCodec refuses %s with more items than the limit', (_what, decode) => {
    expect(() => decode(10)).not.toThrow();
    expect(() => decode(9)).toThrow(/^codec 'json': expected at most \d items \(maxPayloadItems\), got more$/);
  });

  it('JsonCodec accepts a million items by default, and ignores separators within strings', () => {
    const texts = (count: number): string => JSON.stringify(Array.from({ length: count }, () => ',,,,'));
    expect(codec.decodePayload(texts(999_999))).toHaveLength(999_999);
    expect(() => codec.decodePayload(texts(1_000_000))).toThrow('at most 1000000 items');
    expect(codec.decodePayload(JSON.stringify('[,'.repeat(1_500_000)))).toHaveLength(3_000_000);
  });
});
