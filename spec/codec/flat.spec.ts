import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { awkwardText } from '../support/wire/arbitraries.js';

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
const CODECS = [new JsonCodec(), new MsgpackCodec()] as const;
const key = fc.oneof(fc.string(), awkwardText(4), fc.constantFrom('1', '-1', 'toJSON')).filter((name) => name !== '__proto__');
const value = fc.oneof(fc.anything(), awkwardText(8), fc.double(), fc.integer(), fc.constantFrom(-0, NaN, 1n, undefined, 2 ** 60));

describe('carries', () => {
  it.each(CODECS)('$name carries no entry that its decoder changes', (codec) => {
    fc.assert(
      fc.property(key, value, (name, given) => {
        if (!codec.carries(name, given)) return;
        const headers = Object.fromEntries([[name, given]]);
        const frame = codec.decode(codec.encode({ type: 'open', stream: 1, headers, payload: 0 }));
        expect([frame.headers, codec.decodePayload(codec.encodePayload(headers))]).toStrictEqual([headers, headers]);
      }),
      { ...SEED, numRuns: 1_000 },
    );
  });

  it.each(CODECS)('$name carries text, numbers, booleans and null', (codec) => {
    for (const given of ['', 'é😀', 1, -1.5, true, false, null]) expect([given, codec.carries('näme', given)]).toEqual([given, true]);
  });

  it.each(CODECS)('$name does not carry what it refuses or changes', (codec) => {
    for (const given of [undefined, NaN, -0, 1n, {}, [], () => 1]) expect([given, codec.carries('a', given)]).toEqual([given, false]);
    expect(codec.carries('1', 'a')).toBe(false);
  });

  it('MsgpackCodec does not carry half of a surrogate pair', () => {
    const [json, msgpack] = CODECS;
    const half = '\ud83d';
    expect([msgpack.carries(half, 'a'), msgpack.carries('a', half), json.carries('a', half)]).toEqual([false, false, true]);
  });
});
