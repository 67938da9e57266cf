import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonCodec } from '../../src/codec/json.js';
import { hasMoreItems } from '../../src/codec/json-items.js';

const codec = new JsonCodec();

/** Items of a value, by their definition: scalars, keys, arrays and maps. */
function itemsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((items, each) => items + itemsOf(each), 1);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((items, each) => items + 1 + itemsOf(each), 1);
}

/** Spaces make a text longer than a count would need, so that each limit is counted. */
const padded = (json: string): string => json + ' '.repeat(2 * json.length + 4);

/** The most items of which a text has more. */
function counted(text: string): number {
  let items = 0;
  while (hasMoreItems(padded(text), items)) items++;
  return items;
}

describe('the items of a JSON text', () => {
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
  ])('of %s are %i', (text, items) => {
    expect(counted(text)).toBe(items);
  });

  it('are counted exactly, with white space and without', () => {
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
  ])('are never more than half the length of a text that is not counted: %s', (_what, text) => {
    const most = Math.ceil(text.length / 2);
    expect([hasMoreItems(text, most), itemsOf(JSON.parse(text)) <= most]).toEqual([false, true]);
  });

  it.each<[what: string, decode: (most: number) => unknown]>([
    ['a payload', (maxPayloadItems) => codec.decodePayload(`[${'[],'.repeat(8)}[]]`, { maxPayloadItems })],
    ['a message', (maxPayloadItems) => codec.decode('{"type":"data","stream":1,"payload":[[],[],[]]}', { maxPayloadItems })],
  ])('over the limit make %s undecodable', (_what, decode) => {
    expect(() => decode(10)).not.toThrow();
    expect(() => decode(9)).toThrow(/^codec 'json': expected at most \d items \(maxPayloadItems\), got more$/);
  });

  it('pass up to a million by default, and none more, however much text stands between them', () => {
    const texts = (count: number): string => JSON.stringify(Array.from({ length: count }, () => ',,,,'));
    expect(codec.decodePayload(texts(999_999))).toHaveLength(999_999);
    expect(() => codec.decodePayload(texts(1_000_000))).toThrow('at most 1000000 items');
    expect(codec.decodePayload(JSON.stringify('[,'.repeat(1_500_000)))).toHaveLength(3_000_000);
  });
});
