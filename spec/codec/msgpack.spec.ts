import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { decode, encode, ExtData } from '@msgpack/msgpack';
import { bytesOf, mayBeIndex } from '../../src/codec/json-check.js';
import { JsonCodec } from '../../src/codec/json.js';
import { decodeCanonical, encodeCanonical, encodePlain } from '../../src/codec/msgpack-plain.js';
import { MsgpackDecoder } from '../../src/codec/msgpack.js';
import { MAX_DEPTH } from '../../src/codec/plain-copy.js';
import { registeredCodecs } from '../../src/codec/registry.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { CompleteFrame, Frame } from '../../src/wire/frame.js';
import { framesEqual, fromMapping, toMapping } from '../../src/wire/mapping.js';
import { bytes, failing, failureOf, nested, REVERSED, utf8 } from '../support/codec/values.js';
import fc from '../support/fast-check.js';
import { awkwardText, binaryPayload, frames, jsonPayload } from '../support/wire/arbitraries.js';

const codec = new MsgpackCodec();

/** Handwritten bytes that a codec would not write. */
const packed = (value: unknown): ArrayBuffer => encode(value, { maxDepth: 500 }).slice().buffer;

/** A timestamp of 8 or 12 bytes at 1 January 1970 plus the given nanoseconds. */
const nanoseconds = (size: 8 | 12, count: number): Uint8Array => {
  const data = new DataView(new ArrayBuffer(size));
  if (size === 8) data.setBigUint64(0, BigInt(count) << 34n);
  else data.setUint32(0, count);
  return new Uint8Array(data.buffer);
};
const ascii = (text: string): number[] => [...Buffer.from(text)];
const hasProtoKey = (value: unknown): boolean => JSON.stringify(value).includes('__proto__');
const roundTrip = (value: unknown): unknown => codec.decodePayload(codec.encodePayload(value));

describe('MsgpackCodec members', () => {
  it('MsgpackCodec is named msgpack and declares binary', () => {
    expect([codec.name, codec.binary]).toEqual(['msgpack', true]);
  });

  it('MsgpackCodec registers nothing when it is imported', () => {
    expect(registeredCodecs()).toEqual([]);
  });
});

describe('MsgpackCodec.encode', () => {
  it.each<[string, Frame]>([
    ['type alone for a frame of defaults', { type: 'data', stream: null, more: false, end: false }],
    ['exactly type and nonce for a ping', { nonce: 'n1', type: 'ping' }],
    ['a null payload', { type: 'data', stream: 1, payload: null }],
    ['a payload as the last key', { type: 'data', stream: 2 ** 40, payload: { a: 1 } }],
    ['a payload before a reason', { type: 'reset', stream: 1, code: 16, payload: { a: 1 }, reason: 'text' }],
    ['a payload before trailers', { type: 'data', stream: 1, payload: 'x', trailers: { rows: 1 }, end: true }],
    ['all keys: type, stream, then alphabetically', REVERSED],
  ])('MsgpackCodec writes %s', (_title, frame) => {
    const message = codec.encode(frame);
    const mapping = decode(message) as Record<string, unknown>;
    expect(mapping).toEqual(toMapping(frame));
    expect(Object.keys(mapping)).toEqual(Object.keys(toMapping(frame)));
    expect(new Uint8Array(message)).toEqual(encode(toMapping(frame)));
  });

  it('MsgpackCodec writes a fragment as bytes, with each length of header', () => {
    for (const size of [0, 1, 255, 256, 65_000, 70_000]) {
      const fragment = new Uint8Array(size).fill(7).buffer;
      const frame = codec.decode(codec.encode({ type: 'data', stream: 1, fragment, more: true }));
      expect([frame.fragment, frame.more]).toEqual([fragment, true]);
    }
  });

  it('MsgpackCodec writes a fragment of another realm as bytes', () => {
    const fragment = runInNewContext('Uint8Array.of(1, 2).buffer') as ArrayBuffer;
    expect(codec.decode(codec.encode({ type: 'data', stream: 1, fragment, more: true })).fragment).toEqual(bytes(1, 2));
  });

  it('MsgpackCodec writes a fragment of text as text, and leaves its meaning to the caller', () => {
    expect(codec.decode(codec.encode({ type: 'data', stream: 1, fragment: 'text' })).fragment).toBe('text');
  });

  it('MsgpackCodec splices in an encoded payload, and the message equals the encoded frame', () => {
    fc.assert(
      fc.property(frames(binaryPayload()), binaryPayload(), (frame, payload) => {
        fc.pre(!hasProtoKey(payload));
        const spliced = codec.encodeWith({ ...frame, payload: 'not looked at' }, codec.encodePayload(payload));
        expect(new Uint8Array(spliced)).toEqual(new Uint8Array(codec.encode({ ...frame, payload })));
        expect(new Uint8Array(spliced)).toEqual(encode(toMapping(utf8({ ...frame, payload }))));
      }),
    );
  });

  it('MsgpackCodec lends the bytes of `encodeWith`, or leaves a frame to it', () => {
    const payload = codec.encodePayload({ a: 1 });
    const frame: Frame = { type: 'data', stream: 7, headers: { h: 1 }, end: true };
    expect(new Uint8Array(codec.encodeWith(frame, payload))).toEqual(codec.lend(frame, payload)?.slice());
    expect(codec.lend({ ...frame, trailers: { t: 1 } }, payload)).toBeNull();
    expect(codec.lend(frame, '{"a":1}')).toBeNull();
  });

  it('MsgpackCodec packs a payload into the bytes of `encodePayload`, which later payloads do not change', () => {
    const pool: (readonly [payload: unknown, packed: Message | Uint8Array])[] = [];
    fc.assert(
      fc.property(frames(binaryPayload()), binaryPayload(), (frame, payload) => {
        fc.pre(!hasProtoKey(payload));
        pool.push([payload, codec.packPayload(payload)]);
        expect(new Uint8Array(codec.encodeWith(frame, codec.packPayload(payload)))).toEqual(
          new Uint8Array(codec.encode({ ...frame, payload })),
        );
      }),
    );
    for (const [payload, each] of pool) expect(bytesOf(each as Uint8Array)).toEqual(new Uint8Array(codec.encodePayload(payload)));
  });

  it('MsgpackCodec packs small payloads one behind the other, and a long one in a buffer of its own', () => {
    const small = Array.from({ length: 3_000 }, (_, n) => codec.packPayload({ n, text: 'small' }));
    expect(small.every((each) => each instanceof Uint8Array)).toBe(true);
    expect(new Set(small.map((each) => (each as Uint8Array).buffer)).size).toBeLessThan(20);
    expect(small.map((each) => (codec.decodePayload(bytesOf(each as Uint8Array).slice().buffer) as { readonly n: number }).n)).toEqual(
      small.map((_, n) => n),
    );
    expect(codec.packPayload('x'.repeat(5_000))).not.toBeInstanceOf(Uint8Array);
  });

  it('MsgpackCodec refuses an encoded payload of text', () => {
    expect(failureOf(() => codec.encodeWith({ type: 'data' }, '1'))).toBe(
      "TypeError: codec 'msgpack': expected the encoded payload as bytes, got text",
    );
  });

  it('MsgpackCodec returns each message and payload in its own buffer of exactly its length', () => {
    const [first, second] = [codec.encodePayload(['a']), codec.encodePayload(['b'])];
    expect([first.byteLength, new Uint8Array(first)]).toEqual([3, Uint8Array.of(0x91, 0xa1, 0x61)]);
    expect(new Uint8Array(second)).toEqual(Uint8Array.of(0x91, 0xa1, 0x62));
    const ping = codec.encode({ type: 'ping', nonce: 'n' });
    codec.encode({ type: 'pong', nonce: 'm' });
    expect(decode(ping)).toEqual({ type: 'ping', nonce: 'n' });
  });
});

class Point {
  readonly x = 1;
  readonly #secret = 2;
  get y(): number {
    return this.#secret;
  }
}

describe('MsgpackCodec values', () => {
  it.each<[string, unknown, unknown]>([
    ['text, numbers, booleans, null', ['', 'aж€😀', 0, -1, 2 ** 40, -(2 ** 40), 1.5, true, false, null], undefined],
    ['NaN and the infinities', [NaN, Infinity, -Infinity], undefined],
    ['integers up to 2^53', [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER], undefined],
    ['a Date, to the ms', [new Date(0), new Date(1_700_000_000_123), new Date(-1), new Date(8.64e15), new Date(-8.64e15)], undefined],
    ['an ArrayBuffer', { raw: bytes(1, 2) }, { raw: Uint8Array.of(1, 2) }],
    ['a Date of another realm', [runInNewContext('new Date(5)')], [new Date(5)]],
    ['an ArrayBuffer of another realm', [runInNewContext('Uint8Array.of(1, 2).buffer')], [Uint8Array.of(1, 2)]],
    ['a part of a larger buffer', Uint8Array.of(0, 1, 2, 3).subarray(1, 3), Uint8Array.of(1, 2)],
    ['a Buffer', Buffer.from('ab'), Uint8Array.of(0x61, 0x62)],
    ['a view of wider elements', Uint16Array.of(0x0201), Uint8Array.of(1, 2)],
    ['a DataView', new DataView(bytes(0, 1, 2), 1), Uint8Array.of(1, 2)],
    ['no bytes', new Uint8Array(0), undefined],
    ['undefined properties, left out', { a: undefined, b: { c: undefined, d: 1 } }, { b: { d: 1 } }],
    ['undefined and missing elements, as null', Object.assign([undefined], { 2: 1 }), [null, null, 1]],
    ['own enumerable properties of an instance', new Point(), { x: 1 }],
    ['a plain object that calls itself a Map', { [Symbol.toStringTag]: 'Map', x: 1 }, { x: 1 }],
    [
      'an object without a prototype that calls itself a Map',
      Object.assign(Object.create(null) as object, { [Symbol.toStringTag]: 'Map', x: 1 }),
      { x: 1 },
    ],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['boxed primitives', [Object(1), Object('a'), Object(true), Object(NaN)], [1, 'a', true, NaN]],
    ['keys named constructor and prototype', { constructor: { prototype: { admin: true } } }, undefined],
  ])('MsgpackCodec carries %s', (_title, value, expected) => {
    expect(roundTrip(value)).toEqual(expected ?? value);
  });

  it('MsgpackCodec decodes every payload and frame that it encoded', () => {
    fc.assert(
      fc.property(frames(binaryPayload()), binaryPayload(), (frame, any) => {
        fc.pre(!hasProtoKey(any));
        // The library drops the sign of a zero.
        const payload = utf8(decode(encode(any)));
        expect(roundTrip(payload)).toEqual(payload);
        expect(framesEqual(codec.decode(codec.encode({ ...frame, payload })), { ...utf8(frame), payload })).toBe(true);
      }),
    );
  });

  it.each<[string, unknown, string]>([
    ['alone', '\ud800', 'a3efbfbd'],
    ['in a text', 'a\udc00b', 'a561efbfbd62'],
    ['in an array', ['\ud800'], '91a3efbfbd'],
    ['in an object', { k: '\ud800' }, '81a16ba3efbfbd'],
    ['in a key', { '\ud800': 1 }, '81a3efbfbd01'],
    ['in a long key', { [`${'k'.repeat(60)}\ud800`]: 1 }, `81d93f${'6b'.repeat(60)}efbfbd01`],
    ['in a key beside an undefined property', { a: undefined, 'b\udfff': [] }, '81a462efbfbd90'],
    ['in two keys that become equal', { '\ud800': 1, '\ud801': 2 }, '81a3efbfbd02'],
  ])('MsgpackCodec writes U+FFFD for a lone surrogate %s, and keeps a whole pair', (_what, value, bytes) => {
    expect(Buffer.from(codec.encodePayload(value)).toString('hex')).toBe(bytes);
    expect(roundTrip('😀')).toBe('😀');
  });

  it('MsgpackCodec writes every text of an envelope as UTF-8', () => {
    const frame: Frame = { type: 't\ud800', reason: '\ud83d', nonce: 'n\ude00', fragment: 'f\ud800', headers: { 'h\ud800': '\ud800' } };
    expect(codec.decode(codec.encode(frame))).toMatchObject({
      type: 't\ufffd',
      reason: '\ufffd',
      nonce: 'n\ufffd',
      fragment: 'f\ufffd',
      headers: { 'h\ufffd': '\ufffd' },
    });
  });

  it('MsgpackCodec reads a property once, so that a getter cannot falsify the number of entries', () => {
    let reads = 0;
    const changing = Object.defineProperty({}, 'value', { enumerable: true, get: () => (reads++ === 0 ? undefined : new Map()) });
    expect(roundTrip({ changing })).toEqual({ changing: {} });
  });

  it('MsgpackCodec rounds integers beyond 2^53, as JSON does', () => {
    expect(codec.decodePayload(bytes(0xcf, 0, 0x20, 0, 0, 0, 0, 0, 1))).toBe(2 ** 53);
  });

  // The library strips the mark as a signature in texts of more than 200 bytes.
  it.each([200, 201, 255, 256, 65_535, 65_536])('MsgpackCodec keeps a byte order mark at the start of a text of %i bytes', (size) => {
    const text = `\uFEFF${'x'.repeat(size - 3)}`;
    expect(roundTrip(text) === text).toBe(true);
  });

  it('MsgpackCodec keeps all byte order marks in every place of a value', () => {
    const [long, longer] = [`\uFEFF\uFEFF${'x'.repeat(300)}`, `\uFEFF${'é'.repeat(300)}`];
    const payload = { list: [long, 1, longer], [long]: { [longer]: Uint8Array.of(1, 2) }, [`${long}2`]: 'short' };
    expect(roundTrip(payload)).toEqual(payload);
    const frames = [
      { type: 'data', stream: 1, payload: long } as const,
      { type: 'data', stream: 1, headers: { long }, payload: [longer] } as const,
    ];
    expect(frames.map((frame) => codec.decode(codec.encode(frame)))).toMatchObject(frames);
  });

  it('MsgpackCodec encodes on after values that are too large for its kept buffer', () => {
    const large = new Uint8Array(1_100_000).fill(3);
    for (let round = 0; round < 2; round++) expect(Buffer.compare(roundTrip(large) as Uint8Array, large)).toBe(0);
    expect(roundTrip('small')).toBe('small');
  });
});

describe('MsgpackCodec rule 4: TypeErrors of encode', () => {
  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['ABSENT', ABSENT, 'a symbol'],
    ['a function', () => 1, 'a function'],
    ['a function with properties', Object.assign(() => 1, { a: 1 }), 'a function'],
    ['a bigint', 1n, 'a bigint: try String(n) or rxmux/rich'],
    ['an invalid Date', new Date(NaN), 'an invalid Date'],
    ['an invalid Date of another realm', runInNewContext('new Date(NaN)'), 'an invalid Date'],
    ['a Map', new Map([['a', 1]]), 'a Map: try Object.fromEntries(map) or rxmux/rich'],
    ['a Set', new Set([1]), 'a Set: try [...set] or rxmux/rich'],
    ['a WeakMap', new WeakMap(), 'a WeakMap'],
    ['a Promise', Promise.resolve(), 'a promise (await it first)'],
    ['a RegExp', /a/, 'a RegExp'],
    ['an Error', new Error('lost'), 'an Error'],
    ['URLSearchParams', new URLSearchParams('a=1'), 'a URLSearchParams'],
    ['a SharedArrayBuffer', new SharedArrayBuffer(1), 'a SharedArrayBuffer'],
  ])('MsgpackCodec refuses %s at any depth', (_title, value, got) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(
      `TypeError: codec 'msgpack': expected a value it can carry at payload, got ${got}`,
    );
    const inside = failureOf(() => codec.encodePayload({ a: [value] }));
    expect(inside).toBe(
      value === undefined ? 'returns' : `TypeError: codec 'msgpack': expected a value it can carry at payload.a[0], got ${got}`,
    );
  });

  it.each<[string, unknown, string]>([
    ['at the top', JSON.parse('{"__proto__":1}'), 'payload.__proto__'],
    ['inside', JSON.parse('{"a":[{"b":1,"__proto__":{}}]}'), 'payload.a[0].__proto__'],
  ])('MsgpackCodec refuses a key __proto__ %s', (_title, value, place) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(`TypeError: codec 'msgpack': expected any key but '__proto__', got ${place}`);
  });

  it.each(['headers', 'trailers'] as const)('MsgpackCodec refuses an invalid value in %s', (field) => {
    const frame = (metadata: object): Frame => ({ type: 'open', [field]: metadata });
    expect(failureOf(() => codec.encode(frame({ a: 1n })))).toBe(
      `TypeError: codec 'msgpack': expected a value it can carry at ${field}.a, got a bigint: try String(n) or rxmux/rich`,
    );
    expect(failureOf(() => codec.encodeWith(frame(JSON.parse('{"__proto__":1}') as object), bytes(1)))).toMatch(/^TypeError: .*__proto__/);
    for (const [metadata, got] of [
      [new Date(0), 'a Date'],
      [Buffer.of(1), 'bytes (Uint8Array)'],
      [[1], 'an Array'],
    ] as const) {
      // prettier-ignore
      expect(failureOf(() => codec.encode(frame(metadata)))).toBe(`TypeError: codec 'msgpack': expected a map with string keys as ${field}, got ${got}`);
    }
  });

  it('MsgpackCodec carries 95 levels of nesting both ways and refuses 96', () => {
    const make = (levels: number): unknown => nested(levels, (inner, level) => (level % 2 === 0 ? [inner] : { a: inner }));
    expect(roundTrip(make(95))).toEqual(make(95));
    expect(codec.decode(codec.encode({ type: 'data', payload: make(95), headers: { deep: make(94) } })).payload).toEqual(make(95));
    expect(failureOf(() => codec.encodePayload(make(96)))).toBe(
      "TypeError: codec 'msgpack': expected at most 95 levels of nesting in payload, got more or a circular structure",
    );
    expect(failureOf(() => codec.decodePayload(packed(make(96))))).toMatch(/^ProtocolError: .*at most 95 levels/);
    expect(failureOf(() => codec.decode(packed({ type: 'data', payload: make(96) })))).toMatch(/^ProtocolError: .*at most 95 levels/);
  });

  it('MsgpackCodec refuses a circular structure', () => {
    const circular: unknown[] = [];
    circular.push({ circular });
    expect(failureOf(() => codec.encodePayload(circular))).toMatch(/^TypeError: .*circular structure/);
  });
});

describe('MsgpackCodec.decode: ProtocolErrors', () => {
  const heads = Array.from({ length: 0xe0 - 0xc4 }, (_, nth) => 0xc4 + nth);

  it.each(heads.map((head) => head.toString(16)))('MsgpackCodec refuses the head 0x%s without what belongs to it', (head) => {
    const message = /^ProtocolError: codec 'msgpack': .*more bytes, got 0/;
    for (const data of [bytes(Number.parseInt(head, 16)), bytes(0x91, Number.parseInt(head, 16))])
      expect(failureOf(() => codec.decodePayload(data))).toMatch(message);
  });

  it.each<[string, Message, RegExp]>([
    ['text', '{"type":"data"}', /expected bytes, got text/],
    ['no bytes', bytes(), /at least 1 more bytes, got 0/],
    ['a truncated value', bytes(0xa5, 0x61), /at least 4 more bytes/],
    ['trailing bytes', bytes(1, 2), /got 1 more bytes behind it/],
    ['the unused byte', bytes(0xc1), /0xc1/],
    ['a key __proto__', bytes(0x81, 0xa9, ...ascii('__proto__'), 0x80), /__proto__ is not allowed/],
    ['a key __proto__ in overlong UTF-8', bytes(0x81, 0xaa, 0xc1, 0x9f, ...ascii('_proto__'), 0x80), /expected text as UTF-8/],
    ['a key __proto__ inside', packed([1, { a: JSON.parse('{"__proto__":1}') as unknown }]), /__proto__ is not allowed/],
    ['1 and its numeral as keys', bytes(0x82, 1, 0, 0xa1, 0x31, 0), /a number and a numeral/],
    ['a float as a key', bytes(0x81, 0xca, 0x3f, 0xc0, 0, 0, 0), /text or an integer up to 2\^53 - 1 as a key/],
    ['an integer beyond 2^53 as a key', bytes(0x81, 0xcf, 0, 0x20, 0, 0, 0, 0, 0, 0, 0), /text or an integer/],
    ['nil as a key', bytes(0x81, 0xc0, 0), /text or an integer/],
    ['bytes as a key', bytes(0x81, 0xc4, 1, 0, 0), /text or an integer/],
    ['a map as a key', bytes(0x81, 0x80, 0), /text or an integer/],
    [
      'an unknown extension',
      packed(new ExtData(5, Uint8Array.of(1))),
      /^ProtocolError: codec 'msgpack': expected no extension but timestamp \(-1\), got type 5$/,
    ],
    ['an unknown reserved extension', packed([new ExtData(-2, Uint8Array.of(1))]), /got type -2/],
    ['a timestamp of a wrong size', packed(new ExtData(-1, Uint8Array.of(1, 2))), /timestamp \(expected 4, 8, or 12\): 2/],
    [
      'a timestamp of 8 bytes with a second of nanoseconds',
      packed(new ExtData(-1, nanoseconds(8, 10 ** 9))),
      /at most 999 999 999 nanoseconds in a timestamp, got 1000000000/,
    ],
    [
      'a timestamp of 12 bytes with a second of nanoseconds',
      packed(new ExtData(-1, nanoseconds(12, 10 ** 9))),
      /nanoseconds in a timestamp/,
    ],
    ['a timestamp beyond Date', packed(new ExtData(-1, new Uint8Array(12).fill(0x7f, 4))), /within the range of Date/],
  ])('MsgpackCodec refuses a payload: %s', (_title, data, message) => {
    const failure = failureOf(() => codec.decodePayload(data));
    expect(failure).toMatch(/^ProtocolError: codec 'msgpack': /);
    expect(failure).toMatch(message);
  });

  const notUtf8 = "ProtocolError: codec 'msgpack': expected text as UTF-8, got bytes that are not";

  it.each<[string, readonly number[]]>([
    ['an invalid first byte', [0xa1, 0xff]],
    ['a lone continuation byte', [0xa1, 0x80]],
    ['an overlong form', [0xa2, 0xc0, 0x81]],
    ['half of a surrogate pair', [0xa3, 0xed, 0xa0, 0x80]],
    ['a code point above U+10FFFF', [0xa4, 0xf4, 0x90, 0x80, 0x80]],
    ['a sequence across two texts', [0x92, 0xa2, 0xe2, 0x82, 0xa1, 0x41]],
    ['a long text of invalid bytes', [0xd9, 0xff, ...Array.from({ length: 255 }, () => 0xff)]],
    ['a key of a map', [0x81, 0xa1, 0xff, 0]],
    ['a key of a map inside', [0x91, 0x81, 0xa1, 0x61, 0x81, 0xa2, 0xc3, 0x28, 0]],
  ])('MsgpackCodec refuses a payload with text that is not UTF-8: %s', (_title, data) => {
    expect(failureOf(() => codec.decodePayload(bytes(...data)))).toBe(notUtf8);
    const whole = [0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('data'), 0xa7, ...ascii('payload'), ...data];
    const canonical = [
      0x83,
      0xa4,
      ...ascii('type'),
      0xa4,
      ...ascii('data'),
      0xa6,
      ...ascii('stream'),
      1,
      0xa7,
      ...ascii('payload'),
      ...data,
    ];
    expect([whole, canonical].map((message) => failureOf(() => codec.decode(bytes(...message))))).toEqual([notUtf8, notUtf8]);
  });

  it.each<[string, readonly number[]]>([
    ['its type', [0x81, 0xa4, ...ascii('type'), 0xa1, 0xff]],
    ['a reason', [0x82, 0xa4, ...ascii('type'), 0xa5, ...ascii('reset'), 0xa6, ...ascii('reason'), 0xa2, 0xc1, 0x81]],
    ['an unknown key', [0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('ping'), 0xa1, 0x80, 0]],
    ['a key of headers', [0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('open'), 0xa7, ...ascii('headers'), 0x81, 0xa1, 0xc3, 0]],
    [
      'a value of trailers',
      [0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('data'), 0xa8, ...ascii('trailers'), 0x81, 0xa1, 0x61, 0xa1, 0xf0],
    ],
  ])('MsgpackCodec refuses a message with text that is not UTF-8 as %s', (_title, message) => {
    expect(failureOf(() => codec.decode(bytes(...message)))).toBe(notUtf8);
  });

  it.each<[string, readonly number[], number]>([
    ['after bytes that are not UTF-8', [0xa5, 0xff, 0xfe], 3],
    ['within a code point', [0xa3, 0xe2, 0x82], 1],
    ['as a key', [0x81, 0xa5, 0xff], 1],
    ['after many bytes', [0xdb, 0xff, 0xff, 0xff, 0xff, ...Array.from({ length: 300 }, () => 0xff)], 2 ** 32 - 301],
  ])('MsgpackCodec reports how many bytes of a cut text are missing %s', (_title, data, missing) => {
    expect(failureOf(() => codec.decodePayload(bytes(...data)))).toBe(
      `ProtocolError: codec 'msgpack': expected at least ${missing} more bytes, got 0`,
    );
  });

  it('MsgpackCodec keeps the error of its library as the cause', () => {
    const refusal = (): unknown => codec.decodePayload(bytes(0x81, 0xa9, ...ascii('__proto__'), 0x80));
    expect(refusal).toThrow(ProtocolError);
    expect(refusal).toThrow(expect.objectContaining({ cause: expect.objectContaining({ name: 'DecodeError' }) }));
  });

  it.each<[string, Message, RegExp]>([
    ['text', '{"type":"data"}', /expected bytes, got text/],
    ['an array', packed([]), /expected a map as the envelope, got an array/],
    ['bytes', packed(Uint8Array.of(1)), /expected a map as the envelope, got bytes/],
    ['nil', bytes(0xc0), /got null/],
    ['a date', packed(new Date(0)), /got an object/],
    ['no type', packed({ stream: 1 }), /'type'/],
    ['both payload and fragment', packed({ type: 'data', payload: null, fragment: Uint8Array.of(1) }), /got both/],
    ['a NaN as stream', packed({ type: 'data', stream: NaN }), /'stream'/],
    ['bytes as reason', packed({ type: 'reset', stream: 1, reason: Uint8Array.of(1) }), /'reason'/],
    ['a date as headers', packed({ type: 'open', stream: 1, headers: new Date(0) }), /'headers'/],
    ['bytes as headers', packed({ type: 'open', stream: 1, headers: Uint8Array.of(1) }), /'headers'/],
    ['an integer key', bytes(0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('ping'), 1, 0), /text as each key/],
    [
      'headers with an integer key',
      bytes(0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('open'), 0xa7, ...ascii('headers'), 0x81, 1, 0),
      /text as each key/,
    ],
  ])('MsgpackCodec refuses a message: %s', (_title, message, expected) => {
    const failure = failureOf(() => codec.decode(message));
    expect(failure).toMatch(/^ProtocolError: /);
    expect(failure).toMatch(expected);
  });

  it('A new MsgpackCodec demands text keys only of messages, and allows messages one more level than payloads', () => {
    const made = new MsgpackCodec();
    const deepest = nested(95, (inner) => [inner]);
    expect(made.decodePayload(bytes(0x81, 1, 2))).toEqual({ 1: 2 });
    expect(failureOf(() => made.decodePayload(bytes(0x81, 0xca, 0x3f, 0xc0, 0, 0, 0)))).toMatch(/text or an integer/);
    expect(failureOf(() => made.decodePayload(packed(new ExtData(5, Uint8Array.of(1)))))).toMatch(/no extension but timestamp/);
    expect(made.decodePayload(packed(deepest))).toEqual(deepest);
    expect(made.decode(packed({ type: 'data', payload: deepest })).payload).toEqual(deepest);
    expect(failureOf(() => made.decode(bytes(0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('ping'), 1, 0)))).toMatch(/text as each key/);
    expect(failureOf(() => made.decode(packed({ type: 'data', payload: nested(96, (inner) => [inner]) })))).toMatch(/at most 95 levels/);
  });

  it('MsgpackCodec refuses more items than `maxPayloadItems`, by default a million', () => {
    const strictly = (value: unknown): unknown => codec.decodePayload(packed(value), { maxPayloadItems: 3 });
    expect(strictly([1, 2])).toEqual([1, 2]);
    expect(failureOf(() => strictly([1, 2, 3]))).toMatch(/^ProtocolError: .*at most 3 items/);
    expect(strictly(Uint8Array.of(1, 2))).toEqual(Uint8Array.of(1, 2));
    expect(failureOf(() => strictly([new Date(0)]))).toMatch(/^ProtocolError: .*at most 3 items/);
    const million = (items: number): ArrayBuffer => {
      const data = new Uint8Array(5 + items).fill(0xc0);
      data.set([0xdd, items >>> 24, (items >> 16) & 0xff, (items >> 8) & 0xff, items & 0xff]);
      return data.buffer;
    };
    expect(codec.decodePayload(million(999_999))).toHaveLength(999_999);
    expect(failureOf(() => codec.decodePayload(million(1_000_000)))).toMatch(/^ProtocolError: .*at most 1000000 items/);
    expect(codec.decodePayload(million(1_000_000), { maxPayloadItems: Infinity })).toHaveLength(1_000_000);
    const blobs = (count: number): ArrayBuffer => packed(Array.from({ length: count }, () => new Uint8Array(0)));
    expect(codec.decodePayload(blobs(333_333))).toHaveLength(333_333);
    expect(failureOf(() => codec.decodePayload(blobs(333_334)))).toMatch(/^ProtocolError: .*at most 1000000 items/);
  });

  it('MsgpackCodec returns a value or throws a ProtocolError for any bytes', () => {
    const envelope = fc.tuple(fc.uint8Array({ maxLength: 24 }), fc.nat(40)).map(([noise, at]) => {
      const message = new Uint8Array(
        codec.encode({ type: 'open', stream: 1, headers: { a: [1, 'b'] }, payload: { c: Uint8Array.of(1, 2), d: 1.5 } }),
      );
      message.set(noise.subarray(0, Math.max(0, message.length - at)), Math.min(at, message.length));
      return message;
    });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 40 }), envelope), (noise) => {
        const data = noise.slice().buffer;
        expect(failureOf(() => codec.decode(data))).toMatch(/^(returns$|ProtocolError: )/);
        expect(failureOf(() => codec.decodePayload(data))).toMatch(/^(returns$|ProtocolError: )/);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('MsgpackCodec.decode: accepted input', () => {
  it.each([8, 12] as const)('MsgpackCodec rounds a timestamp of %i bytes down to the ms', (size) => {
    expect(codec.decodePayload(packed(new ExtData(-1, nanoseconds(size, 999_999_999))))).toEqual(new Date(999));
  });

  it('MsgpackCodec returns all twelve fields, drops unknown keys and keeps an unknown type', () => {
    const frame = codec.decode(packed({ type: 'later', stream: 1, extra: { a: 1 } }));
    expect(framesEqual(frame, { type: 'later', stream: 1 })).toBe(true);
    expect(Object.keys(frame)).toHaveLength(12);
  });

  it('MsgpackCodec decodes a map with integer keys in a payload as an object', () => {
    expect(codec.decodePayload(bytes(0x83, 1, 0xa1, 0x61, 0xff, 0xa1, 0x62, 0xa1, 0x6e, 0xc0))).toEqual({ 1: 'a', '-1': 'b', n: null });
    expect(
      codec.decode(bytes(0x82, 0xa4, ...ascii('type'), 0xa4, ...ascii('data'), 0xa7, ...ascii('payload'), 0x81, 7, 0xc3)).payload,
    ).toEqual({ 7: true });
  });

  it.each<[string, unknown]>([
    ['numbers', { 0: 'a', 9: 'b', 1023: 'c' }],
    ['numerals that are no indices', { '007': 1, '1.5': 2, '-1': 3 }],
    ['the mark that the decoder puts before numbers', { '\0': 1, '\x001023': 2, '\0\x001023': 3 }],
    ['that mark beside numbers', { 1023: 1, '\0': 2, '\x001023': 3, '': 4 }],
    ['numbers in maps in each other', { 1: { 2: [{ 3: new Date(0) }] }, a: { 4: Uint8Array.of(1) } }],
  ])('MsgpackCodec restores keys unchanged: %s', (_what, value) => {
    const decoded = codec.decodePayload(codec.encodePayload(value));
    expect(decoded).toEqual(value);
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
  });

  it('MsgpackCodec uses the last of duplicate keys', () => {
    expect(codec.decodePayload(bytes(0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2))).toEqual({ a: 2 });
  });

  it('MsgpackCodec also reads a view, and only the bytes within it', () => {
    const pooled = Buffer.concat([Buffer.of(0xc1), Buffer.from(codec.encode({ type: 'ping', nonce: 'n' })), Buffer.of(0xc1)]);
    expect(codec.decode(pooled.subarray(1, -1) as unknown as ArrayBuffer).nonce).toBe('n');
  });

  it('MsgpackCodec copies decoded bytes, so that the message may be overwritten', () => {
    const message = codec.encode({
      type: 'data',
      stream: 1,
      payload: { raw: Uint8Array.of(1, 2), all: [Uint8Array.of(3)], at: new Date(0) },
      headers: { id: Uint8Array.of(4) },
    });
    const frame = codec.decode(message);
    new Uint8Array(message).fill(0xff);
    expect(frame.payload).toEqual({ raw: Uint8Array.of(1, 2), all: [Uint8Array.of(3)], at: new Date(0) });
    expect(frame.headers).toEqual({ id: Uint8Array.of(4) });
    const raw = codec.decodePayload(codec.encodePayload(Uint8Array.of(1, 2))) as Uint8Array;
    expect([raw.constructor, raw.byteOffset, raw.buffer.byteLength]).toEqual([Uint8Array, 0, 2]);
  });

  it('MsgpackCodec copies a fragment into its own ArrayBuffer', () => {
    const message = codec.encode({ type: 'data', stream: 1, fragment: bytes(1, 2), more: true });
    const { fragment } = codec.decode(message);
    new Uint8Array(message).fill(0xff);
    expect(fragment).toEqual(bytes(1, 2));
  });
});

const BULK = 65_536;

/** Encodes a value with the library alone, without the shortcut. */
function expected(value: unknown): Buffer {
  return Buffer.from(encode(value));
}

describe('bulk payloads', () => {
  it.each([
    ['ASCII', 'x'.repeat(BULK)],
    ['escapes', '"\\\n'.repeat(30_000)],
    ['two bytes a unit', 'é'.repeat(BULK)],
    ['pairs of surrogates', '😀'.repeat(BULK)],
    ['lone surrogates, which become replacement characters', '\ud800'.repeat(BULK)],
  ])('A bulk payload is written as msgpack writes it: text of %s', (_, text) => {
    const encoded = encodePlain(text);
    expect(encoded).not.toBeNull();
    expect(Buffer.from(new Uint8Array(encoded ?? [])).equals(expected(text))).toBe(true);
  });

  const bytes = Uint8Array.from({ length: BULK + 8 }, (_, at) => at % 251);

  it.each([
    ['a Uint8Array', bytes],
    ['a part of a Uint8Array', bytes.subarray(3, BULK + 3)],
    ['a Buffer', Buffer.from(bytes)],
    ['an ArrayBuffer', bytes.buffer],
  ])('A bulk payload is written as msgpack writes it: %s', (_, value) => {
    const encoded = encodePlain(value);
    const view = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
    expect(encoded).not.toBeNull();
    expect(Buffer.from(new Uint8Array(encoded ?? [])).equals(expected(view))).toBe(true);
  });

  it('A bulk payload is a copy, so later changes are not sent', () => {
    const value = new Uint8Array(BULK);
    const encoded = encodePlain(value);
    value.fill(1);
    expect(new Uint8Array(encoded ?? new ArrayBuffer(0)).at(-1)).toBe(0);
  });

  it.each([
    ['a text', 'x'.repeat(BULK)],
    ['bytes', new Uint8Array(BULK)],
    ['a text that is one of two', ['x'.repeat(BULK), 'x'.repeat(BULK)]],
  ])('The buffer of a bulk payload holds no later value: %s', (_, value) => {
    const first = encodePlain(value);
    const before = Buffer.from(new Uint8Array(first ?? [])).toString('hex');
    encodePlain('y'.repeat(BULK));
    encodePlain(new Uint8Array(2 * BULK).fill(9));
    expect(Buffer.from(new Uint8Array(first ?? [])).toString('hex')).toBe(before);
  });

  it.each([
    ['numbers that are no bytes', new Float64Array(BULK)],
    ['an object around it', { at: new Date(0), text: 'x'.repeat(BULK) }],
  ])('`encodePlain` returns null and leaves the value to the encoder: %s', (_, value) => {
    expect(encodePlain(value)).toBeNull();
  });

  it('MsgpackCodec encodes large maps, small values and bulk payloads in turn', () => {
    const codec = new MsgpackCodec();
    for (const value of [{ text: 'x'.repeat(32 * BULK) }, { n: 1 }, { bytes: new Uint8Array(32 * BULK) }, 'x'.repeat(BULK), [2]])
      expect(Buffer.from(codec.encodePayload(value)).equals(expected(value))).toBe(true);
  });

  it.each([
    ['text', 'y'.repeat(BULK), 'y'.repeat(BULK)],
    ['bytes', new Uint8Array(BULK).fill(7), new Uint8Array(BULK).fill(7)],
  ])('MsgpackCodec encodes and decodes a bulk payload: %s', (_, value, arrived) => {
    const codec = new MsgpackCodec();
    expect(codec.decodePayload(codec.encodePayload(value))).toEqual(arrived);
    expect(codec.encodePayload(value).byteLength).toBe(5 + BULK);
  });
});

describe('canonical envelopes', () => {
  const codec = new MsgpackCodec();
  const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
  const NIL = Uint8Array.of(0xc0);
  const MOST_ITEMS = 1_000_000;

  /** Reads an envelope the short way, and fails where its payload needs the general way. */
  function readShort(message: Uint8Array): CompleteFrame | null {
    return decodeCanonical(message, MOST_ITEMS, () => {
      throw new Error('expected a plain payload');
    });
  }

  /** Reads an envelope the general way. */
  function readGenerally(message: Uint8Array, maxItems = MOST_ITEMS): CompleteFrame {
    const mapping = new MsgpackDecoder().decode(message, { maxDepth: MAX_DEPTH + 1, maxItems, envelope: true }) as Record<string, unknown>;
    const { fragment } = mapping;
    return fromMapping(fragment instanceof Uint8Array ? { ...mapping, fragment: fragment.buffer } : mapping);
  }

  const canonical = fc.record({
    type: fc.constantFrom<'open' | 'data'>('open', 'data'),
    stream: fc.oneof(fc.nat(300), fc.nat(70_000), fc.nat(2 ** 32 - 1)),
    end: fc.boolean(),
    headers: fc.option(fc.dictionary(fc.oneof(fc.string({ minLength: 1, maxLength: 4 }), awkwardText(3)), awkwardText(6)), {
      nil: undefined,
    }),
  });

  it.each([0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1])(
    'A canonical envelope equals the map that the library writes, with stream %d',
    (stream) => {
      for (const type of ['open', 'data'] as const)
        for (const end of [true, false]) {
          const frame = { type, stream, end, payload: null };
          const message = new Uint8Array(encodeCanonical(frame, NIL) ?? new ArrayBuffer(0));
          expect(message).toEqual(encode(toMapping(utf8(frame))));
          expect(readShort(message)).toEqual(fromMapping(frame));
        }
    },
  );

  it.each([true, false])('A canonical envelope with headers equals the map that the library writes, with end %s', (end) => {
    const headers = { trace: 't1', to: 'a'.repeat(40), attempt: 2, tags: ['x', null], deep: { at: 1.5, wide: 'é'.repeat(300) } };
    const frame = { type: 'open', stream: 1, end, headers, payload: null } as const;
    const message = new Uint8Array(encodeCanonical(frame, NIL) ?? new ArrayBuffer(0));
    expect(message).toEqual(encode(toMapping(utf8(frame))));
    expect(readShort(message)).toEqual(fromMapping(frame));
    for (let length = 0; length < message.length; length++) expect(readShort(message.subarray(0, length))).toBeNull();
  });

  it.each<[string, Frame]>([
    ['a fragment', { type: 'data', stream: 1, fragment: Uint8Array.of(1, 2).buffer }],
    ['an empty fragment', { type: 'data', stream: 1, fragment: new ArrayBuffer(0), more: true }],
    ['a fragment of 256 bytes', { type: 'data', stream: 1, end: true, fragment: new ArrayBuffer(256) }],
    ['a fragment of 65 536 bytes', { type: 'data', stream: 1, fragment: new ArrayBuffer(65_536), more: true }],
    ['a fragment and headers', { type: 'open', stream: 1, fragment: new ArrayBuffer(3), headers: { a: 'a' }, more: true }],
    ['neither payload nor fragment', { type: 'data', stream: 1, end: true }],
    ['no headers but an empty map', { type: 'open', stream: 1, headers: {} }],
  ])('A canonical envelope of %s equals the map that the library writes', (_what, frame) => {
    const message = new Uint8Array(encodeCanonical(frame, null) ?? new ArrayBuffer(0));
    const { fragment } = frame;
    const mapping = { ...toMapping(frame), ...(fragment instanceof ArrayBuffer ? { fragment: new Uint8Array(fragment) } : {}) };
    expect(message).toEqual(encode(mapping));
    expect(readShort(message)).toEqual(fromMapping(toMapping(frame)));
    for (const cut of [1, 2, 9]) expect(readShort(message.subarray(0, -cut))).toBeNull();
    expect(readShort(Uint8Array.of(...message, 0xc0))).toBeNull();
  });

  it('A fragment that was read has memory of its own', () => {
    const message = new Uint8Array(codec.encode({ type: 'data', stream: 1, fragment: Uint8Array.of(1, 2).buffer }));
    const { fragment } = codec.decode(message.buffer);
    message.fill(0);
    expect(fragment).toEqual(Uint8Array.of(1, 2).buffer);
  });

  it.each<[string, Frame]>([
    ['of another type', { type: 'reset', stream: 1 }],
    ['without a stream', { type: 'data' }],
    ['of a stream above 2^53', { type: 'data', stream: 2 ** 53 }],
    ['of a negative stream', { type: 'data', stream: -1 }],
    ['of a stream with a fraction', { type: 'data', stream: 1.5 }],
    ['of a stream that is no number', { type: 'data', stream: NaN }],
    ['with headers that hold a Date', { type: 'open', stream: 1, headers: { at: new Date(0) } }],
    ['with headers of a class', { type: 'open', stream: 1, headers: new (class Row {})() as Record<string, unknown> }],
    [
      'with headers that have the key __proto__',
      { type: 'open', stream: 1, headers: JSON.parse('{"__proto__":1}') as Record<string, unknown> },
    ],
    ['with trailers', { type: 'data', stream: 1, trailers: {} }],
    ['with more', { type: 'data', stream: 1, more: true }],
    ['with a payload and a fragment', { type: 'data', stream: 1, fragment: new ArrayBuffer(1) }],
    ['with a code', { type: 'data', stream: 1, code: 0 }],
    ['with a reason', { type: 'data', stream: 1, reason: '' }],
    ['with a nonce', { type: 'data', stream: 1, nonce: '' }],
    ['with a last stream', { type: 'data', stream: 1, last_stream: 0 }],
  ])('`encodeCanonical` returns null for a frame %s', (_what, frame) => {
    expect(encodeCanonical(frame, NIL)).toBeNull();
  });

  it.each<[string, unknown]>([
    ['another type', { type: 'reset', stream: 1, payload: 1 }],
    ['another order', { stream: 1, type: 'data', payload: 1 }],
    ['a stream above 2^53', { type: 'data', stream: 2 ** 53, payload: 1 }],
    ['a negative stream', { type: 'data', stream: -1, payload: 1 }],
    ['a stream that is a map', { type: 'data', stream: {}, payload: 1 }],
    ['a stream that is text', { type: 'data', stream: '1', payload: 1 }],
    ['an end that is false', { type: 'data', stream: 1, end: false, payload: 1 }],
    ['another key behind the stream', { type: 'data', stream: 1, more: true, payload: 1 }],
    ['a fragment that is text', { type: 'data', stream: 1, fragment: 'text' }],
    ['a fragment and a payload', { type: 'data', stream: 1, fragment: NIL, payload: 1 }],
    ['more behind the payload', { type: 'data', stream: 1, payload: 1, reason: 'r', trailers: {} }],
    ['headers that hold a date', { type: 'open', stream: 1, headers: { at: new Date(0) }, payload: 1 }],
    ['headers that are an array', { type: 'open', stream: 1, headers: [], payload: 1 }],
    ['headers that are null', { type: 'open', stream: 1, headers: null, payload: 1 }],
    ['headers behind the payload', { type: 'open', stream: 1, payload: 1, headers: { a: 'a' } }],
    ['headers and more keys', { type: 'open', stream: 1, headers: { a: 'a' }, payload: 1, reason: 'r' }],
    ['fewer keys than its header says', { type: 'data', stream: 1, end: true, reason: 'r' }],
    ['no map', [1, 2, 3]],
  ])('`decodeCanonical` returns null for another map: %s', (_what, mapping) => {
    expect(readShort(encode(mapping))).toBeNull();
  });

  it('`decodeCanonical` returns null when the stream is a short float', () => {
    expect(readShort(encode({ type: 'data', stream: 1.5, payload: 1 }, { forceFloat32: true }))).toBeNull();
  });

  it('`decodeCanonical` reads a stream of -0 as 0', () => {
    const bytes = Uint8Array.of(...encode({ type: 'data' }), 0xa6, ...Buffer.from('stream'), 0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0);
    bytes[0] = 0x82;
    expect(Object.is(readShort(bytes)?.stream, 0)).toBe(true);
    expect(readShort(bytes)).toEqual(readGenerally(bytes));
  });

  it('MsgpackCodec reads damaged envelopes as the general way does, value or error', () => {
    const fragments = fc.record({ fragment: fc.uint8Array({ maxLength: 6 }).map((bytes) => bytes.slice().buffer), more: fc.boolean() });
    const content = fc.oneof(
      fragments,
      jsonPayload().map((payload) => ({ payload })),
    );
    const damage = fc.tuple(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 3 }), fc.constantFrom(MOST_ITEMS, 9, 14));
    const outcome = (read: () => unknown): unknown => {
      try {
        return { read: read() };
      } catch (error) {
        return { failed: String(error) };
      }
    };
    fc.assert(
      fc.property(canonical, content, damage, (envelope, more, [place, cut, put, maxPayloadItems]) => {
        const whole = new Uint8Array(codec.encode({ ...envelope, ...more }));
        const at = place % whole.length;
        const message = Uint8Array.of(...whole.subarray(0, at), ...put, ...whole.subarray(at + cut));
        const read = outcome(() => codec.decode(message.buffer, { maxPayloadItems }));
        expect(read).toEqual(outcome(() => readGenerally(message, maxPayloadItems)));
      }),
      { ...SEED, numRuns: 3_000 },
    );
  });

  it('MsgpackCodec writes and reads random canonical envelopes as the library does', () => {
    fc.assert(
      fc.property(canonical, jsonPayload(), (envelope, payload) => {
        const frame = { ...envelope, payload };
        const message = codec.encode(frame);
        expect(new Uint8Array(message)).toEqual(encode(toMapping(utf8(frame))));
        expect(codec.decode(message)).toEqual(fromMapping(decode(message)));
      }),
      SEED,
    );
  });

  it('MsgpackCodec refuses a canonical envelope with an invalid payload', () => {
    const bad: readonly [string, Uint8Array][] = [
      ['nothing', new Uint8Array()],
      ['too much', Uint8Array.of(0xc0, 0xc0)],
      ['cut off', Uint8Array.of(0x92, 0xc0)],
      ['an unused head', Uint8Array.of(0xc1)],
      ['an extension', Uint8Array.of(0xd4, 1, 0)],
      ['too deep', new Uint8Array(96).fill(0x91)],
    ];
    for (const [what, payload] of bad) {
      const message = encodeCanonical({ type: 'data', stream: 1 }, payload)?.slice().buffer ?? new ArrayBuffer(0);
      expect([what, failureOf(() => codec.decode(message))]).toEqual([
        what,
        expect.stringMatching(/^ProtocolError: codec 'msgpack': expected /),
      ]);
    }
  });

  it.each<[number, number, Frame]>([
    [3, 6, { type: 'data', stream: 1 }],
    [4, 8, { type: 'data', stream: 1, end: true }],
    [5, 14, { type: 'data', stream: 1, end: true, headers: { a: 'a', b: 'b' } }],
    [5, 15, { type: 'data', stream: 1, end: true, headers: { a: ['a'], b: 'b' } }],
  ])('MsgpackCodec counts all items of a canonical map of %d entries', (_entries, others, frame) => {
    const payload = [1, 2, 3];
    const message = codec.encode({ ...frame, payload });
    const items = others + 1 + payload.length;
    expect(codec.decode(message, { maxPayloadItems: items }).payload).toEqual(payload);
    expect(() => codec.decode(message, { maxPayloadItems: items - 1 })).toThrow(
      `expected at most ${items - 1} items (maxPayloadItems), got more`,
    );
    const scalar = codec.encode({ ...frame, payload: null });
    expect(() => codec.decode(scalar, { maxPayloadItems: others })).toThrow(`expected at most ${others} items (maxPayloadItems), got more`);
    expect(codec.decode(scalar, { maxPayloadItems: others + 1 }).payload).toBeNull();
  });

  it('MsgpackCodec copies the bytes in the payload of a canonical envelope', () => {
    const message = codec.encode({ type: 'data', stream: 1, payload: { raw: Uint8Array.of(1, 2, 3) } });
    const { raw } = codec.decode(message).payload as { raw: Uint8Array };
    expect([raw.buffer.byteLength, [...raw]]).toEqual([3, [1, 2, 3]]);
  });
});

describe('msgpack to json', () => {
  const codec = new MsgpackCodec();
  const roundTrip = (value: unknown): unknown => codec.decodePayload(codec.encodePayload(value));

  class User {
    readonly name = 'ada';
    readonly passwordHash = '$2b$10$';
    toJSON(): unknown {
      return { name: this.name };
    }
  }

  class Celsius {
    readonly #degrees = 21;
    toJSON(key: string): unknown {
      return { key, degrees: this.#degrees };
    }
  }

  class Moment extends Date {
    override toJSON(): string {
      return 'a text';
    }
  }

  const loop: { toJSON(): unknown } = { toJSON: () => ({ again: loop }) };

  describe('MsgpackCodec and toJSON', () => {
    it.each<[string, unknown]>([
      ['at the top', new User()],
      ['in an object and in an array', { user: new User(), users: [new User(), { friend: new User() }] }],
      ['with the key as the argument', { a: new Celsius(), b: [new Celsius(), new Celsius()] }],
      ['with an empty key at the top', new Celsius()],
      ['of a plain object', { toJSON: () => [1, 'a'] }],
      ['of an array', Object.assign([1], { toJSON: () => 'array' })],
      ['that returns an object with another toJSON', { toJSON: () => ({ user: new User() }) }],
      ['that returns undefined, and drops the property', { a: { toJSON: () => undefined }, b: [{ toJSON: () => undefined }] }],
      ['unless it is not a function', { toJSON: 'text' }],
      ['of a URL', new URL('http://localhost/a?b')],
    ])('MsgpackCodec calls toJSON as JSON.stringify does: %s', (_title, value) => {
      expect(roundTrip(value)).toEqual(JSON.parse(JSON.stringify(value)));
    });

    it.each(['headers', 'trailers'] as const)('MsgpackCodec calls toJSON in %s', (field) => {
      const frame = codec.decode(codec.encode({ type: 'data', stream: 1, payload: 1, [field]: { user: new User() } }));
      expect(frame[field]).toEqual({ user: { name: 'ada' } });
    });

    it('MsgpackCodec calls toJSON once for each place of an object', () => {
      let calls = 0;
      const value = { toJSON: () => ({ calls: ++calls }) };
      expect(roundTrip([value, { value }])).toEqual([{ calls: 1 }, { value: { calls: 2 } }]);
    });

    it('MsgpackCodec does not call toJSON on the result of toJSON', () => {
      const echo = { a: 1, toJSON: () => Object.create({ toJSON: () => 'asked twice' }, { b: { value: 2, enumerable: true } }) as object };
      expect(roundTrip(echo)).toEqual({ b: 2 });
    });

    it('MsgpackCodec sends a Date as a Date and bytes as bytes, although both have a toJSON', () => {
      const value = { at: new Date(5), moment: new Moment(6), raw: Buffer.of(1, 2), answer: { toJSON: () => [new Date(7), Buffer.of(3)] } };
      expect(roundTrip(value)).toEqual({
        at: new Date(5),
        moment: new Date(6),
        raw: Uint8Array.of(1, 2),
        answer: [new Date(7), Uint8Array.of(3)],
      });
    });
  });

  describe('MsgpackCodec and a faulty toJSON', () => {
    const at = (place: string, got: string): string => `TypeError: codec 'msgpack': expected a value it can carry at ${place}, got ${got}`;
    const tooDeep = "TypeError: codec 'msgpack': expected at most 95 levels of nesting in payload, got more or a circular structure";

    it.each<[string, unknown, string]>([
      ['rethrows an error of toJSON', { a: { toJSON: failing } }, 'RangeError: of the application'],
      [
        'names the place of a value that it cannot carry',
        { a: [{ toJSON: () => ({ deep: new Set() }) }] },
        at('payload.a[0].deep', 'a Set: try [...set] or rxmux/rich'),
      ],
      ['refuses an undefined result at the top', { toJSON: () => undefined }, at('payload', 'an Object')],
      ['refuses a result that is circular', loop, tooDeep],
      ['accepts a result with 95 levels', nested(95, (inner) => ({ toJSON: () => [inner] })), 'returns'],
      ['refuses a result with 96 levels', nested(96, (inner) => ({ toJSON: () => [inner] })), tooDeep],
    ])('MsgpackCodec %s', (_title, value, outcome) => {
      expect(failureOf(() => codec.encodePayload(value))).toBe(outcome);
    });
  });
});

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
