import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { flatJson } from '../../src/codec/json.js';
import { JsonCodec } from '../../src/codec/json.js';
import { awkwardText } from '../support/wire/arbitraries.js';

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
const scalar = fc.oneof(awkwardText(), fc.double(), fc.integer(), fc.boolean(), fc.constantFrom(null, -0, NaN, undefined, []));

describe('flatJson', () => {
  it('`flatJson` writes headers as `JSON.stringify` does, or returns null', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.oneof(awkwardText(5), fc.string()), scalar, { maxKeys: 4 }), (headers) => {
        const written = flatJson(headers);
        const isFlat = Object.values(headers).every(
          (value) => value !== undefined && !Number.isNaN(value) && Math.abs(Number(value ?? 0)) !== Infinity && !Array.isArray(value),
        );
        expect(written).toBe(isFlat || typeof written === 'string' ? JSON.stringify(headers) : null);
      }),
      { ...SEED, numRuns: 1_000 },
    );
  });

  it.each<[string, object]>([
    ['an inner object', { a: 'a', b: {} }],
    ['an inner array', { a: [] }],
    ['NaN', { a: NaN }],
    ['undefined', { a: undefined }],
    ['a bigint', { a: 1n }],
    ['a toJSON', { toJSON: () => ({}) }],
    ['an instance of a class', new (class Row {})()],
    ['an array', ['a']],
    ['an array with the prototype of an object', Object.setPrototypeOf(['a'], Object.prototype) as object],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(1)],
  ])('`flatJson` leaves %s to `JSON.stringify`', (_what, headers) => {
    expect(flatJson(headers as Record<string, unknown>)).toBeNull();
  });

  it('`flatJson` writes no property that a program has added to `Object.prototype`', () => {
    Object.defineProperty(Object.prototype, 'added', { value: 'x', enumerable: true, configurable: true });
    try {
      expect(flatJson({ a: 'a' })).toBe('{"a":"a"}');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'added');
    }
  });

  it('`flatJson` writes text that was joined from pieces', () => {
    const pieces = Array.from({ length: 20 }, (_, n) => String(n));
    const [plain, quoted] = [pieces.join(''), pieces.join('"')].map((text) => `${text}-${text}-end`);
    expect(flatJson({ plain, quoted })).toBe(JSON.stringify({ plain, quoted }));
  });

  it('`flatJson` reads a property once', () => {
    let reads = 0;
    const headers = {
      get a(): string {
        reads++;
        return 'a';
      },
    };
    expect([flatJson(headers), reads]).toEqual(['{"a":"a"}', 1]);
  });

  it('JsonCodec writes trailers and headers without entries', () => {
    expect(new JsonCodec().encode({ type: 'data', headers: {}, trailers: { a: 1 } })).toBe(
      '{"type":"data","headers":{},"trailers":{"a":1}}',
    );
  });
});
