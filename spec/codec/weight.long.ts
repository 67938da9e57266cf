import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { bundled } from '../support/process/bundled.js';

const bundle = bundled(`export { JsonCodec } from './codec/json.js'; export { MsgpackCodec } from './codec/msgpack.js';
  export { RichCodec } from './codec/rich.js';`);

// Runs in its own process, so that the heap holds nothing else. Compares the estimate with the heap after a full collection.
const CHILD = `
  const [, bundle, codecName, shape] = process.argv;
  const codecs = require(bundle);
  const codec = new codecs[codecName]();
  const key = (n) => 'k' + n.toString(36);
  const many = (of) => Array.from({ length: 60_000 }, (_, n) => of(n));
  const map = (n, keyOf) => Object.fromEntries(Array.from({ length: n }, (_, nth) => [keyOf(nth), 0]));
  const encoded = codec.encodePayload(eval(shape)(many, map, key));
  // A flat string, not a slice of a larger text.
  const data = typeof encoded === 'string' ? Buffer.from(encoded).toString() : encoded;
  const used = () => { gc(); gc(); return process.memoryUsage().heapUsed; };
  const kept = [];
  // The median: compiled code of the decoder comes in between, and goes.
  const sizes = Array.from({ length: 3 }, () => {
    const before = used();
    kept.push(codec.decodePayload(data));
    return used() - before;
  });
  process.stdout.write(JSON.stringify({ real: sizes.sort((one, other) => one - other)[1], weight: codec.weigh(kept[0]) }));
`;

const SHAPES: readonly (readonly [what: string, shape: string])[] = [
  ['empty arrays', '(many) => many(() => [])'],
  ['empty maps', '(many) => many(() => ({}))'],
  ['arrays in arrays', '(many) => many(() => [[[[]]]])'],
  ['integers', '(many) => many((n) => n)'],
  ['fractions', '(many) => many((n) => n / 7)'],
  ['texts', '(many, map, key) => many((n) => key(n))'],
  ['texts beyond Latin-1', '(many) => many((n) => "☃☃☃☃" + n)'],
  ['maps of one unique key', '(many, map, key) => many((n) => ({ [key(n)]: 0 }))'],
  ['maps of two unique keys', '(many, map, key) => many((n) => ({ [key(2 * n)]: 0, [key(2 * n + 1)]: 0 }))'],
  ['maps of 20 unique keys', '(many, map, key) => many((n) => (n > 3_000 ? 0 : map(20, (k) => key(n * 20 + k))))'],
  ['maps of 100 unique keys', '(many, map, key) => many((n) => (n > 600 ? 0 : map(100, (k) => key(n * 100 + k))))'],
  ['one map', '(many, map, key) => map(60_000, key)'],
  ['maps with a hole before their index', '(many) => many(() => ({ 34: 0 }))'],
  ['maps of a high index', '(many) => many((n) => ({ [4e9 + n]: 0 }))'],
  ['maps of low and high indices', '(many) => many(() => ({ 0: 0, 1: 0, 2: 0, 70: 0 }))'],
  ['records', '(many) => many((n) => ({ id: n, name: "user " + n, tags: ["a", "b"], score: n / 7 }))'],
];

const RICH_SHAPES: typeof SHAPES = [
  ['empty Maps', '(many) => many(() => new Map())'],
  ['empty Sets', '(many) => many(() => new Set())'],
  ['Maps of one entry', '(many) => many((n) => new Map([[n, n]]))'],
  ['Maps of five entries', '(many) => many((n) => (n > 12_000 ? 0 : new Map([1, 2, 3, 4, 5].map((key) => [key, n]))))'],
  ['Sets of nine items', '(many) => many((n) => (n > 12_000 ? 0 : new Set([1, 2, 3, 4, 5, 6, 7, 8, 9])))'],
  ['one Map', '(many) => new Map(many((n) => [n, n]))'],
  ['one Map of 70 000 entries', '() => new Map(Array.from({ length: 70_000 }, (_, n) => [n, n]))'],
  ['one Set', '(many) => new Set(many((n) => n))'],
  ['bigints', '(many) => many((n) => BigInt(n))'],
  ['long bigints', '(many) => many((n) => (n > 3_000 ? 0 : 10n ** 1000n + BigInt(n)))'],
  ['dates', '(many) => many((n) => new Date(n))'],
  ['bytes', '(many) => many((n) => (n > 20_000 ? 0 : new Uint8Array(3)))'],
];

const ROWS = [
  ...['JsonCodec', 'MsgpackCodec', 'RichCodec'].flatMap((codec) => SHAPES.map((row) => [codec, ...row] as const)),
  ...RICH_SHAPES.map((row) => ['RichCodec', ...row] as const),
];

describe('the weight of decoded values', () => {
  it.each(ROWS)('The weight of a value by %s is at least two thirds of its size on the heap: %s', (codec, _what, shape) => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '-e', CHILD, bundle, codec, shape]);
    expect(String(stderr)).toBe('');
    const { real, weight } = JSON.parse(String(stdout)) as { real: number; weight: number };
    expect([real / weight < 1.5, real > 100_000]).toEqual([true, true]);
  });
});
