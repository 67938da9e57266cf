import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { bundled } from '../support/process/bundled.js';

const bundle = bundled(`export { JsonCodec } from './codec/json.js'; export { MsgpackCodec } from './codec/msgpack.js';`);

// Runs in its own process, so that the heap holds nothing else. Compares the estimate with the heap after a full collection.
const CHILD = `
  const [, bundle, codecName, shape] = process.argv;
  const codecs = require(bundle);
  const codec = codecName === 'json' ? new codecs.JsonCodec() : new codecs.MsgpackCodec();
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

describe.each(['json', 'msgpack'])('the weight of values decoded by %s', (codec) => {
  it.each(SHAPES)('The weight of a value is at least two thirds of its size on the heap: %s', (_what, shape) => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '-e', CHILD, bundle, codec, shape]);
    expect(String(stderr)).toBe('');
    const { real, weight } = JSON.parse(String(stdout)) as { real: number; weight: number };
    expect([real / weight < 1.5, real > 100_000]).toEqual([true, true]);
  });
});
