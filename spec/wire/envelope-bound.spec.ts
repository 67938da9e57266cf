import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { envelopeBound } from '../../src/wire/outgoing.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { CODECS } from '../support/codec/shipped.js';
import { frames } from '../support/wire/arbitraries.js';

describe('envelopeBound', () => {
  it.each(CODECS)('`envelopeBound` is never below an envelope of %s', (_name, codec) => {
    fc.assert(
      fc.property(frames(fc.constant(ABSENT)), (frame) => {
        expect(envelopeBound(frame)).toBeGreaterThanOrEqual(encodedLength(codec.encode(frame)));
      }),
      { numRuns: 500 },
    );
  });

  const text = '\u0000'.repeat(1000);
  const numbers = Object.fromEntries(Array.from('abcdefghijklmnopqrstuvwxyz', (key) => [key, -1.2345678901234567e-300]));
  const longest: Frame = {
    type: '',
    stream: Number.MAX_SAFE_INTEGER,
    payload: 0,
    more: true,
    headers: {},
    end: true,
    trailers: {},
    code: -Number.MAX_VALUE,
    reason: '',
    nonce: '',
    last_stream: Number.MAX_SAFE_INTEGER,
  };

  it.each<[string, Frame]>([
    ['all keys, numbers and flags, with a payload key too', longest],
    ['long texts', { ...longest, type: text, reason: text, nonce: text }],
    ['long keys and values', { ...longest, headers: { [text]: text } }],
    ['many numbers', { ...longest, headers: numbers, trailers: numbers }],
    ['every scalar', { ...longest, headers: { '': '', a: true, b: false, c: null, d: -0 } }],
  ])('`envelopeBound` holds for %s', (_what, frame) => {
    for (const codec of [new JsonCodec(), new MsgpackCodec()]) {
      expect(envelopeBound(frame)).toBeGreaterThanOrEqual(encodedLength(codec.encode(frame)));
    }
  });

  it.each<[string, Frame]>([
    ['a fragment', { type: 'data', fragment: '' }],
    ['a nested header', { type: 'open', headers: { a: [1] } }],
    ['a header that no codec carries', { type: 'open', headers: { a: 1n } }],
    ['a header that JSON does not carry', { type: 'open', headers: { a: Number.NaN } }],
    ['a header that msgpack does not carry', { type: 'open', headers: JSON.parse('{"__proto__":1}') as Record<string, unknown> }],
    ['a trailer of undefined', { type: 'data', trailers: { a: undefined } }],
    ['headers of a class', { type: 'open', headers: Object.assign(new (class Token {})(), { a: 1 }) }],
  ])('`envelopeBound` leaves %s to the encoder', (_what, frame) => {
    expect(envelopeBound(frame)).toBe(Number.POSITIVE_INFINITY);
  });
});
