import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { completeFrame } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { fromMapping, toMapping } from '../../src/wire/mapping.js';
import { frames, jsonPayload } from '../support/wire/arbitraries.js';

const BYTES = Uint8Array.of(1, 2).buffer;
const HIGHEST = Number.MAX_SAFE_INTEGER;

describe('Envelope rules', () => {
  it('Rule 1: toMapping returns type, then stream, then the other keys alphabetically', () => {
    const mapping = toMapping({
      trailers: { t: 1 },
      reason: 'r',
      payload: 1,
      nonce: 'n',
      more: true,
      last_stream: 4,
      headers: { h: 1 },
      fragment: 'f',
      end: true,
      code: 8,
      stream: 3,
      type: 'data',
    });
    expect(Object.keys(mapping)).toEqual([
      'type',
      'stream',
      'code',
      'end',
      'fragment',
      'headers',
      'last_stream',
      'more',
      'nonce',
      'payload',
      'reason',
      'trailers',
    ]);
  });

  it('Rule 2: a ping has exactly the keys type and nonce', () => {
    expect(toMapping({ type: 'ping', nonce: 'n1' })).toEqual({ type: 'ping', nonce: 'n1' });
  });

  it('Rule 3: fromMapping drops unknown keys', () => {
    expect(fromMapping({ type: 'pong', later: 1, __proto__: null })).toEqual(completeFrame({ type: 'pong' }));
  });

  it('Rule 4: fromMapping keeps an unknown type', () => {
    expect(fromMapping({ type: 'window_update' }).type).toBe('window_update');
  });
});

describe('to_mapping', () => {
  it.each<[string, Frame, object]>([
    ['every default', completeFrame({ type: 'data' }), { type: 'data' }],
    [
      'every undefined',
      { type: 'data', stream: undefined, payload: undefined, fragment: undefined, more: undefined, end: undefined },
      { type: 'data' },
    ],
    ['no other key', { type: '' }, { type: '' }],
  ])('`toMapping` omits %s', (_what, frame, mapping) => {
    expect(toMapping(frame)).toStrictEqual(mapping);
  });

  it.each<[string, Frame]>([
    ['a payload of null', { type: 'data', payload: null }],
    ['a payload of false', { type: 'data', payload: false }],
    ['stream 0', { type: 'data', stream: 0 }],
    ['code 0', { type: 'reset', code: 0 }],
    ['last_stream 0', { type: 'goaway', last_stream: 0 }],
    ['empty texts', { type: 'data', fragment: '', reason: '', nonce: '' }],
    ['empty metadata', { type: 'data', headers: {}, trailers: {} }],
    ['byte fragments', { type: 'data', fragment: BYTES }],
  ])('`toMapping` writes %s', (_what, frame) => {
    expect(toMapping(frame)).toStrictEqual(frame);
  });

  it('`toMapping` changes nothing, returns a new object each time and copies no value', () => {
    const frame = Object.freeze({ type: 'data', payload: Object.freeze({ a: 1 }) });
    expect(toMapping(frame)).not.toBe(toMapping(frame));
    expect(toMapping(frame)['payload']).toBe(frame.payload);
  });
});

describe('from_mapping', () => {
  it('`fromMapping` returns a frame with all twelve fields, with ABSENT for a missing payload', () => {
    expect(fromMapping({ type: 'ping' })).toStrictEqual(completeFrame({ type: 'ping' }));
  });

  it.each<[string, unknown[]]>([
    ['type', ['open', '', 'constructor']],
    ['stream', [0, 1, HIGHEST, null]],
    ['last_stream', [0, 2, HIGHEST, null]],
    ['code', [0, -1, 256, 2 ** 60, null]],
    ['fragment', ['', 'slice', BYTES, runInNewContext('new ArrayBuffer(2)'), null]],
    ['more', [true, false]],
    ['end', [true, false]],
    ['headers', [{}, { a: [1] }, Object.create(null), null]],
    ['trailers', [{}, { a: { b: 1 } }, Object.create(null), null]],
    ['reason', ['', 'why', null]],
    ['nonce', ['', '\ud800', null]],
    ['payload', [null, 0, '', [], {}, BYTES, new Date(0)]],
  ])('`fromMapping` accepts these values for %s', (key, values) => {
    for (const value of values) expect(fromMapping({ type: 'data', [key]: value })).toMatchObject({ [key]: value });
  });

  it.each<[string, unknown, string]>([
    ['type', null, 'null'],
    ['type', 1, '1'],
    ['type', {}, 'an object'],
    ['stream', -1, '-1'],
    ['stream', 1.5, '1.5'],
    ['stream', '1', 'a string'],
    ['stream', true, 'true'],
    ['stream', Number.NaN, 'NaN'],
    ['stream', Number.POSITIVE_INFINITY, 'Infinity'],
    ['stream', HIGHEST + 1, '9007199254740992'],
    ['stream', 1n, 'a bigint'],
    ['stream', [], 'an array'],
    ['last_stream', -1, '-1'],
    ['last_stream', 0.5, '0.5'],
    ['last_stream', HIGHEST + 1, '9007199254740992'],
    ['code', 1.5, '1.5'],
    ['code', '8', 'a string'],
    ['code', Number.NaN, 'NaN'],
    ['code', false, 'false'],
    ['fragment', 1, '1'],
    ['fragment', ['a'], 'an array'],
    ['fragment', {}, 'an object'],
    ['fragment', Uint8Array.of(1), 'bytes'],
    ['nonce', runInNewContext('new ArrayBuffer(2)'), 'bytes'],
    ['more', 1, '1'],
    ['more', null, 'null'],
    ['more', 'true', 'a string'],
    ['end', 0, '0'],
    ['end', null, 'null'],
    ['headers', [], 'an array'],
    ['headers', 'a', 'a string'],
    ['headers', BYTES, 'bytes'],
    ['headers', Uint8Array.of(1), 'bytes'],
    ['headers', new Date(0), 'an object'],
    ['headers', new Map(), 'an object'],
    ['trailers', [], 'an array'],
    ['trailers', 1, '1'],
    ['trailers', new Map(), 'an object'],
    ['reason', 1, '1'],
    ['reason', {}, 'an object'],
    ['nonce', 1, '1'],
    ['nonce', [], 'an array'],
  ])('`fromMapping` refuses for %s the value %p', (key, value, got) => {
    const refusal = thrownBy(() => fromMapping({ type: 'data', [key]: value }));
    expect(refusal).toBeInstanceOf(ProtocolError);
    expect(refusal.message).toMatch(new RegExp(`^field '${key}': expected an? .*, got ${got}$`));
  });

  it.each([
    ['no type', {}, "field 'type': expected a string, got none"],
    ['a type of undefined', { type: undefined }, "field 'type': expected a string, got none"],
    ['payload and fragment', { type: 'data', payload: 1, fragment: 'a' }, "expected 'payload' or 'fragment', got both"],
    ['a payload of null and a fragment', { type: 'data', payload: null, fragment: '' }, "expected 'payload' or 'fragment', got both"],
    [
      'a view as the fragment',
      { type: 'data', fragment: Uint8Array.of(1) },
      "field 'fragment': expected a string, an ArrayBuffer or null, got bytes",
    ],
    ['no type, on a stream', { stream: 3 }, "stream 3: field 'type': expected a string, got none"],
    ['a wrong field, on a stream', { type: 'data', stream: 3, more: 1 }, "stream 3: field 'more': expected a boolean, got 1"],
    ['a wrong field, on stream 0', { type: 'data', stream: 0, more: 1 }, "stream 0: field 'more': expected a boolean, got 1"],
    ['a wrong field, on no stream', { type: 'data', stream: null, end: 1 }, "field 'end': expected a boolean, got 1"],
  ])('`fromMapping` refuses %s', (_what, mapping, message) => {
    expect(thrownBy(() => fromMapping(mapping))).toEqual(new ProtocolError(message));
  });

  it.each([
    ['null', null, 'null'],
    ['an array', [], 'an array'],
    ['a string', 'type', 'a string'],
    ['bytes', BYTES, 'bytes'],
    ['a Map', new Map(), 'an object'],
    ['undefined', undefined, 'nothing'],
  ])('`fromMapping` refuses %s as the envelope', (_what, mapping, got) => {
    expect(thrownBy(() => fromMapping(mapping))).toEqual(new ProtocolError(`expected a map as the envelope, got ${got}`));
  });

  it('`fromMapping` accepts a payload beside a fragment of null, which is the default', () => {
    expect(fromMapping({ type: 'data', payload: 1, fragment: null })).toMatchObject({ payload: 1, fragment: null });
  });

  it('`fromMapping` never repeats the text of a field in an error', () => {
    expect(thrownBy(() => fromMapping({ type: 'data', headers: 'secret' })).message).not.toContain('secret');
  });

  it.each(['stream', 'last_stream', 'code'])('`fromMapping` turns -0 into 0 for %s', (key) => {
    expect(fromMapping({ type: 'data', [key]: -0 })).toMatchObject({ [key]: 0 });
  });

  it('`fromMapping` reads own keys only, as if Object.prototype had been polluted', () => {
    const polluted = (own: object): unknown => Object.setPrototypeOf(own, { __proto__: null, type: 'open', stream: 9, more: true });
    expect(thrownBy(() => fromMapping(polluted({ stream: 1 }))).message).toBe("stream 1: field 'type': expected a string, got none");
    expect(fromMapping(polluted({ type: 'data' })).more).toBe(false);
    expect(thrownBy(() => fromMapping(polluted({}))).message).toBe("field 'type': expected a string, got none");
  });

  it('`fromMapping` keeps metadata keys that name a prototype as data', () => {
    const { headers } = fromMapping(JSON.parse('{"type":"open","headers":{"__proto__":{"admin":true},"constructor":1}}'));
    expect(Object.keys(headers ?? {})).toEqual(['__proto__', 'constructor']);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect(JSON.stringify(toMapping({ type: 'open', headers }))).toBe(
      '{"type":"open","headers":{"__proto__":{"admin":true},"constructor":1}}',
    );
  });

  it('`fromMapping` is the inverse of toMapping', () => {
    fc.assert(
      fc.property(frames(jsonPayload()), (frame) => {
        expect(fromMapping(toMapping(frame))).toStrictEqual(completeFrame(frame));
      }),
    );
  });
});

function thrownBy(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected an error, got none');
}
