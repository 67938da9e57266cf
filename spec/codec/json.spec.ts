import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { isJsonReady } from '../../src/codec/json-check.js';
import { hasMoreItems } from '../../src/codec/json-text.js';
import { flatJson, JsonCodec, quotedLength } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { RichCodec } from '../../src/codec/rich.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { framesEqual, toMapping } from '../../src/wire/mapping.js';
import { failing, failureOf, nested, REVERSED } from '../support/codec/values.js';
import fc from '../support/fast-check.js';
import { awkwardText, frames, jsonPayload } from '../support/wire/arbitraries.js';

const codec = new JsonCodec();

describe('JsonCodec members', () => {
  it('JsonCodec is named json and declares text', () => {
    expect([codec.name, codec.binary]).toEqual(['json', false]);
  });
});

describe('JsonCodec.encode', () => {
  it.each<[string, Frame, string]>([
    [
      'writes type alone for a frame of defaults',
      { type: 'data', stream: null, more: false, end: false, headers: null },
      '{"type":"data"}',
    ],
    ['writes exactly type and nonce for a ping', { nonce: 'n1', type: 'ping' }, '{"type":"ping","nonce":"n1"}'],
    ['leaves an absent payload out', { type: 'data', stream: 1, payload: ABSENT }, '{"type":"data","stream":1}'],
    ['leaves an undefined payload out', { type: 'data', stream: 1, payload: undefined }, '{"type":"data","stream":1}'],
    ['writes a null payload', { type: 'data', stream: 1, payload: null }, '{"type":"data","stream":1,"payload":null}'],
    ['writes the empty text as fragment', { type: 'data', stream: 1, fragment: '' }, '{"type":"data","stream":1,"fragment":""}'],
    ['keeps an unknown type, escaped', { type: 'win"dow' }, '{"type":"win\\"dow"}'],
    ['keeps an empty map', { type: 'open', headers: {}, trailers: {} }, '{"type":"open","headers":{},"trailers":{}}'],
    ['writes zero without a sign', { type: 'goaway', code: -0, last_stream: -0 }, '{"type":"goaway","code":0,"last_stream":0}'],
    [
      'orders the keys type, stream, then alphabetically',
      REVERSED,
      '{"type":"x","stream":3,"code":5,"end":true,"headers":{"h":1},"last_stream":7,"more":true,"nonce":"n","payload":[1],"reason":"r","trailers":{"t":1}}',
    ],
  ])('JsonCodec %s', (_title, frame, message) => {
    expect(codec.encode(frame)).toBe(message);
  });

  it('JsonCodec writes no white space and leaves non-ASCII characters unescaped', () => {
    expect(codec.encodePayload({ a: [1, 'ж€😀'], b: true })).toBe('{"a":[1,"ж€😀"],"b":true}');
  });

  it('JsonCodec writes a lone surrogate as its lower-case escape', () => {
    expect(codec.encodePayload('\uD83D')).toBe('"\\ud83d"');
  });

  it('JsonCodec writes a mapping byte for byte as JSON.stringify does', () => {
    fc.assert(
      fc.property(frames(jsonPayload()), (frame) => {
        expect(codec.encode(frame)).toBe(JSON.stringify(toMapping(frame)));
      }),
      { numRuns: 2000 },
    );
  });

  it('JsonCodec quotes any fragment as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.oneof(awkwardText(), fc.string({ unit: 'binary' })), fc.boolean(), (fragment, more) => {
        const frame: Frame = { type: 'data', stream: 1, fragment, more };
        expect(codec.encode(frame)).toBe(JSON.stringify(toMapping(frame)));
      }),
    );
  });

  it.each<[string, Frame, string]>([
    ['a fragment of bytes', { type: 'data', fragment: new ArrayBuffer(3) }, "codec 'json': expected the fragment as text, got 3 bytes"],
    ['a stream that is not a number', { type: 'data', stream: NaN }, "codec 'json': expected a finite number as 'stream', got NaN"],
    [
      'an infinite last_stream',
      { type: 'goaway', last_stream: -Infinity },
      "codec 'json': expected a finite number as 'last_stream', got -Infinity",
    ],
    ['an infinite code', { type: 'reset', code: Infinity }, "codec 'json': expected a finite number as 'code', got Infinity"],
  ])('JsonCodec refuses %s', (_title, frame, message) => {
    expect(failureOf(() => codec.encode(frame))).toBe(`TypeError: ${message}`);
  });
});

describe('JsonCodec.encodePayload and encodeWith', () => {
  it('JsonCodec splices in an encoded payload, and the message equals the encoded frame', () => {
    fc.assert(
      fc.property(frames(jsonPayload()), jsonPayload(), (frame, payload) => {
        expect(codec.encodeWith({ ...frame, payload: 'not looked at' }, codec.encodePayload(payload))).toBe(
          codec.encode({ ...frame, payload }),
        );
      }),
    );
  });

  it('JsonCodec refuses an encoded payload of bytes', () => {
    expect(failureOf(() => codec.encodeWith({ type: 'data' }, new ArrayBuffer(2)))).toBe(
      "TypeError: codec 'json': expected the encoded payload as text, got 2 bytes",
    );
  });
});

class Point {
  readonly #secret = 1;
  readonly x = 1;
  get y(): number {
    return this.#secret;
  }
}

class Celsius {
  readonly #degrees = 21;
  toJSON(key: string): unknown {
    return { key, degrees: this.#degrees, toJSON: undefined };
  }
}

class Tagged {
  readonly amount = 3;
  readonly [Symbol.toStringTag] = 'Money';
}

describe('JsonCodec values', () => {
  it.each<[string, unknown]>([
    ['text, numbers, booleans, null', ['', 'a"b', 0, -1.5, 1e21, true, false, null]],
    ['a Date as its ISO text', { at: new Date(0) }],
    ['an invalid Date as null', [new Date(NaN)]],
    ['a URL as its text', new URL('http://localhost/a?b')],
    ['toJSON, called with the key of its object', { a: new Celsius(), b: [new Celsius(), new Celsius()] }],
    ['toJSON, called with an empty key at the top', new Celsius()],
    ['a plain object that calls itself a Map', [new Date(0), { [Symbol.toStringTag]: 'Map', x: 1 }]],
    ['an own toJSON', { toJSON: () => [1, new Date(0)] }],
    ['a toJSON that is no function', { toJSON: 'text' }],
    ['an array with a toJSON', Object.assign([1], { toJSON: () => 'array' })],
    ['own enumerable properties of an instance', new Point()],
    ['an instance without properties', new (class Empty {})()],
    ['an instance with its own tag', new Tagged()],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    [
      'boxed primitives',
      [
        Object(1),
        Object('a'),
        Object(true),
        new (class extends Number {
          override valueOf = () => 7;
        })(5),
      ],
    ],
    ['undefined properties, left out', { a: undefined, b: { c: undefined }, d: { toJSON: () => undefined } }],
    ['undefined and missing elements, as null', Object.assign([undefined], { 2: 1 })],
    ['symbol keys, left out', { [Symbol('key')]: new Map(), a: 1 }],
    ['integer-like keys, in rising order', { b: 1, 10: 2, 9: 3 }],
    ['minus zero, as zero', -0],
  ])('JsonCodec writes a value as JSON.stringify does: %s', (_title, value) => {
    expect(codec.encodePayload(value)).toBe(JSON.stringify(value));
  });

  it('JsonCodec keeps a key named __proto__ as an own property', () => {
    const value: unknown = JSON.parse('{"__proto__":{"admin":{"yes":true}},"a":[{"__proto__":null}]}');
    expect(codec.encodePayload(value)).toBe(JSON.stringify(value));
  });

  it('JsonCodec ignores properties of Object.prototype', () => {
    Object.defineProperty(Object.prototype, 'lent', { value: new Map(), enumerable: true, configurable: true });
    try {
      expect(codec.encodePayload({ a: { b: 1 } })).toBe('{"a":{"b":1}}');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'lent');
    }
  });

  it('JsonCodec does not change the encoded value', () => {
    const at = new Date(0);
    const value = { list: [at, undefined], inner: { at, gone: undefined } };
    codec.encodePayload(value);
    expect(value).toStrictEqual({ list: [at, undefined], inner: { at, gone: undefined } });
  });

  it('JsonCodec calls toJSON once for each place of an object', () => {
    let calls = 0;
    const value = { toJSON: () => ({ calls: ++calls }) };
    expect(codec.encodePayload([value, { value }])).toBe('[{"calls":1},{"value":{"calls":2}}]');
  });

  it('JsonCodec does not call toJSON on the result of toJSON', () => {
    const echo = { a: 1, toJSON: () => Object.create({ toJSON: () => 'asked twice' }, { b: { value: 2, enumerable: true } }) as object };
    expect(codec.encodePayload(echo)).toBe(JSON.stringify(echo));
  });

  it('JsonCodec does not call toJSON on its copy of the value', () => {
    class Rows extends Array<number> {
      calls = 0;
      toJSON(): this {
        this.calls += 1;
        return this;
      }
    }
    const rows = new Rows();
    rows.push(1, 2);
    expect([codec.encodePayload(rows), rows.calls]).toEqual(['[1,2]', 1]);
  });

  it('JsonCodec reads a property twice, to check it and to write it', () => {
    let reads = 0;
    const counting = Object.defineProperty({}, 'value', { enumerable: true, get: () => ++reads });
    expect(codec.encodePayload(counting)).toBe('{"value":2}');
  });

  it.each<[string, unknown]>([
    ['a plain value', { text: 'a', list: [1, -0, null, true, [], {}], nested: { deep: [{ by: undefined }] } }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['an array with holes', new Array(2).concat([undefined, 2])],
    ['an array with its own properties', Object.assign([1], { more: new Map() })],
  ])('JsonCodec writes %s as JSON.stringify does', (_title, value) => {
    expect(codec.encodePayload(value)).toBe(JSON.stringify(value));
  });

  it.each<[string, object]>([
    ['toJSON', { a: { toJSON: failing } }],
    ['a getter', Object.defineProperty({}, 'a', { enumerable: true, get: failing })],
  ])('JsonCodec rethrows an error of %s', (_title, value) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe('RangeError: of the application');
  });
});

describe('JsonCodec rule 3: TypeErrors of encode', () => {
  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['ABSENT', ABSENT, 'a symbol'],
    ['an ArrayBuffer', new ArrayBuffer(1), 'bytes (ArrayBuffer): try rxmux/msgpack or rxmux/rich'],
    ['an ArrayBuffer of another realm', runInNewContext('new ArrayBuffer(1)'), 'bytes (ArrayBuffer): try rxmux/msgpack or rxmux/rich'],
    ['a typed array', new Float32Array(2), 'bytes (Float32Array): try rxmux/msgpack or rxmux/rich'],
    ['a DataView', new DataView(new ArrayBuffer(1)), 'bytes (DataView): try rxmux/msgpack or rxmux/rich'],
    ['a Buffer, which has a toJSON', Buffer.of(1), 'bytes (Uint8Array): try rxmux/msgpack or rxmux/rich'],
    ['a SharedArrayBuffer', new SharedArrayBuffer(1), 'a SharedArrayBuffer'],
    ['a Map', new Map([['a', 1]]), 'a Map: try Object.fromEntries(map) or rxmux/rich'],
    ['a Map with properties', Object.assign(new Map(), { a: 1 }), 'a Map: try Object.fromEntries(map) or rxmux/rich'],
    ['a Set', new Set([1]), 'a Set: try [...set] or rxmux/rich'],
    ['a WeakMap', new WeakMap(), 'a WeakMap'],
    ['a WeakSet', new WeakSet(), 'a WeakSet'],
    ['a WeakRef', new WeakRef({}), 'a WeakRef'],
    ['a Promise', Promise.resolve(1), 'a promise (await it first)'],
    [
      'a query that starts at its `then`',
      new (class Query {
        readonly row = 1;
        then(): void {
          this.row.toFixed();
        }
      })(),
      'a promise (await it first)',
    ],
    ['a RegExp', /a/g, 'a RegExp'],
    ['an Error', new Error('lost'), 'an Error'],
    ['an Error with properties', Object.assign(new RangeError('lost'), { code: 'E' }), 'an Error'],
    ['URLSearchParams', new URLSearchParams('a=1'), 'a URLSearchParams'],
    ['a bigint', 1n, 'a bigint: try String(n) or rxmux/rich'],
    ['a boxed bigint', Object(1n), 'a BigInt: try String(n) or rxmux/rich'],
    ['a boxed symbol', Object(Symbol('s')), 'a Symbol'],
    ['a boxed NaN', Object(NaN), 'NaN: try null or rxmux/rich'],
    ['a function', () => 1, 'a function'],
    ['a function with properties', Object.assign(() => 1, { a: 1 }), 'a function'],
    ['a symbol', Symbol('s'), 'a symbol'],
    ['NaN', NaN, 'NaN: try null or rxmux/rich'],
    ['Infinity', Infinity, 'Infinity: try null or rxmux/rich'],
    ['-Infinity', -Infinity, '-Infinity: try null or rxmux/rich'],
    ['a toJSON that returns undefined', { toJSON: () => undefined }, 'an Object'],
    ['a toJSON that returns a Set', { toJSON: () => new Set() }, 'a Set: try [...set] or rxmux/rich'],
    ['a toJSON that returns bytes', { toJSON: () => Buffer.of(1) }, 'bytes (Uint8Array): try rxmux/msgpack or rxmux/rich'],
  ])('JsonCodec refuses %s with a TypeError', (_title, value, got) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(
      `TypeError: codec 'json': expected a value it can carry at payload, got ${got}`,
    );
  });

  it.each<[string, unknown, string]>([
    ['in an object', { user: { tags: new Set() } }, 'payload.user.tags'],
    ['in an array', [1, [2, new Set()]], 'payload[1][1]'],
    ['under a key that is not a name', { 'first name': { 'a"b': new Set() } }, 'payload["first name"]["a\\"b"]'],
    ['in the result of toJSON', { at: { toJSON: () => ({ deep: new Set() }) } }, 'payload.at.deep'],
    ['after siblings', { a: { b: 1 }, c: [{}], d: new Set() }, 'payload.d'],
  ])('JsonCodec names the place of an invalid value %s', (_title, value, place) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(
      `TypeError: codec 'json': expected a value it can carry at ${place}, got a Set: try [...set] or rxmux/rich`,
    );
  });

  it('JsonCodec names the place of bytes with a toJSON', () => {
    expect(failureOf(() => codec.encodePayload([1, { raw: Buffer.of(1) }]))).toBe(
      "TypeError: codec 'json': expected a value it can carry at payload[1].raw, got bytes (Uint8Array): try rxmux/msgpack or rxmux/rich",
    );
  });

  it.each(['headers', 'trailers'] as const)('JsonCodec refuses an invalid value in %s', (field) => {
    const expected = `TypeError: codec 'json': expected a value it can carry at ${field}.at, got a bigint: try String(n) or rxmux/rich`;
    expect(failureOf(() => codec.encode({ type: 'open', [field]: { at: 1n } }))).toBe(expected);
    expect(failureOf(() => codec.encodeWith({ type: 'open', [field]: { at: 1n } }, '1'))).toBe(expected);
  });

  it.each<[string, object, string]>([
    ['an array', ['a'], 'an Array'],
    ['a Date, which JSON carries as text', new Date(0), 'a Date'],
    ['a URL, which JSON carries as text', new URL('http://localhost'), 'a URL'],
  ])('JsonCodec refuses headers that would not arrive as a map: %s', (_title, headers, got) => {
    expect(failureOf(() => codec.encode({ type: 'open', headers: headers as Record<string, unknown> }))).toBe(
      `TypeError: codec 'json': expected a map with string keys as headers, got ${got}`,
    );
  });
});

describe('JsonCodec nesting limit of 256 levels', () => {
  const tooDeep = "TypeError: codec 'json': expected at most 256 levels of nesting in payload, got more or a circular structure";

  it.each<[string, (levels: number) => unknown]>([
    ['arrays', (levels) => nested(levels, (inner) => [inner])],
    ['objects', (levels) => nested(levels, (inner) => ({ a: inner }))],
    ['arrays and objects', (levels) => nested(levels, (inner, level) => (level % 2 === 0 ? [0, inner] : { a: '}', b: inner }))],
  ])('JsonCodec carries 256 nested %s both ways and refuses 257', (_title, make) => {
    expect(codec.decodePayload(codec.encodePayload(make(256)))).toEqual(make(256));
    expect(codec.decode(codec.encode({ type: 'data', payload: make(256), headers: { deep: make(255) } })).payload).toEqual(make(256));
    expect(failureOf(() => codec.encodePayload(make(257)))).toBe(tooDeep);
    expect(failureOf(() => codec.decodePayload(JSON.stringify(make(257))))).toBe(
      "ProtocolError: codec 'json': expected at most 256 levels of nesting, got more",
    );
    expect(failureOf(() => codec.decode(JSON.stringify({ type: 'data', payload: make(257) })))).toBe(
      "ProtocolError: codec 'json': expected at most 256 levels of nesting, got more",
    );
  });

  it('JsonCodec does not count scalars as a level', () => {
    const value = nested(257, (inner, level) => (level === 1 ? ['leaf', 1, null, true] : [inner]));
    expect(codec.decodePayload(codec.encodePayload(value))).toEqual(value);
  });

  it('JsonCodec refuses a circular structure', () => {
    const circular: Record<string, unknown> = { a: 1 };
    circular['self'] = { circular };
    expect(failureOf(() => codec.encodePayload(circular))).toBe(tooDeep);
  });

  it('JsonCodec carries a value that occurs in several places', () => {
    const shared = { a: 1 };
    expect(codec.encodePayload([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  it('JsonCodec ignores brackets within strings when it counts levels', () => {
    const text = '[{'.repeat(500) + '"\\'.repeat(500) + '}]'.repeat(500);
    expect(codec.decodePayload(codec.encodePayload({ text, more: [text] }))).toEqual({ text, more: [text] });
  });

  it.each(['[', '{"a":', '[{"":'])('JsonCodec throws a ProtocolError, not a RangeError, for 65 535 times %s', (unit) => {
    const closed = unit.repeat(65_535) + '0' + (unit.startsWith('[{') ? '}]' : unit === '[' ? ']' : '}').repeat(65_535);
    expect(failureOf(() => codec.decodePayload(unit.repeat(65_535)))).toMatch(/^ProtocolError: /);
    expect(failureOf(() => codec.decodePayload(closed))).toMatch(/^ProtocolError: /);
    expect(failureOf(() => codec.decode(`{"type":"data","payload":${closed}}`))).toMatch(/^ProtocolError: /);
  });

  it('JsonCodec throws a TypeError, not a RangeError, for 100 000 levels', () => {
    expect(failureOf(() => codec.encodePayload(nested(100_000, (inner) => [inner])))).toBe(tooDeep);
  });
});

describe('JsonCodec.decode', () => {
  it('JsonCodec returns all twelve fields, drops unknown keys and keeps an unknown type', () => {
    const frame = codec.decode('{"type":"later","stream":1,"extra":{"a":1},"last_stream":4}');
    expect(framesEqual(frame, { type: 'later', stream: 1, last_stream: 4 })).toBe(true);
    expect(Object.keys(frame)).toHaveLength(12);
  });

  it('JsonCodec returns ABSENT without a payload key, and null for a null payload', () => {
    expect(codec.decode('{"type":"data"}').payload).toBe(ABSENT);
    expect(codec.decode('{"type":"data","payload":null}').payload).toBeNull();
  });

  it('JsonCodec uses the last of duplicate keys', () => {
    expect(codec.decode('{"type":"data","stream":1,"stream":3}').stream).toBe(3);
  });

  it('JsonCodec decodes every frame that it encoded', () => {
    fc.assert(
      fc.property(frames(jsonPayload()), (frame) => {
        const payload: unknown = frame.payload === ABSENT ? ABSENT : JSON.parse(JSON.stringify(frame.payload));
        expect(framesEqual(codec.decode(codec.encode(frame)), { ...frame, payload })).toBe(true);
      }),
    );
  });

  it.each<[string, string | ArrayBuffer, string]>([
    ['bytes', new TextEncoder().encode('{"type":"data"}').buffer, "codec 'json': expected text, got 15 bytes"],
    ['text that is not JSON', '{"type":secret}', "codec 'json': expected JSON, got 15 characters that are not"],
    ['the empty text', '', "codec 'json': expected JSON, got 0 characters that are not"],
    ['a byte order mark', '\uFEFF{"type":"data"}', "codec 'json': expected JSON, got 16 characters that are not"],
    ['trailing text', '{"type":"data"}secret', "codec 'json': expected JSON, got 21 characters that are not"],
  ])('JsonCodec refuses %s without quoting it', (_title, message, text) => {
    expect(failureOf(() => codec.decode(message))).toBe(`ProtocolError: ${text}`);
  });

  it('JsonCodec sets no cause on its errors, because a cause would quote the text', () => {
    expect(() => codec.decode('{"secret":1')).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
  });

  it.each(['[]', '"data"', 'null', '1', 'true', '[{"type":"data"}]'])('JsonCodec refuses %s, which is not an object', (message) => {
    expect(failureOf(() => codec.decode(message))).toMatch(/^ProtocolError: /);
  });

  it('JsonCodec refuses a payload of bytes or of invalid JSON', () => {
    expect(failureOf(() => codec.decodePayload(new ArrayBuffer(4)))).toBe("ProtocolError: codec 'json': expected text, got 4 bytes");
    expect(failureOf(() => codec.decodePayload('[1,'))).toBe("ProtocolError: codec 'json': expected JSON, got 3 characters that are not");
  });

  it('JsonCodec decodes __proto__, constructor and prototype as own properties', () => {
    const { headers, payload } = codec.decode(
      '{"type":"open","__proto__":{"end":true},"headers":{"__proto__":{"admin":true}},"payload":{"constructor":{"prototype":{"admin":true}}}}',
    );
    expect(Object.keys(headers ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    expect(payload).toEqual({ constructor: { prototype: { admin: true } } });
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  it('JsonCodec rounds integers beyond 2^53 and reads 1e400 as Infinity, as JSON.parse does', () => {
    expect(codec.decodePayload('[9007199254740993,1e400]')).toEqual([9007199254740992, Infinity]);
  });

  it('JsonCodec returns a value or throws a ProtocolError for any text', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '1', 'null', 'type', '"type"', '"data"', '\\', '\u0000', ' '), {
          maxLength: 40,
        })
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        expect(failureOf(() => codec.decode(text))).toMatch(/^(returns$|ProtocolError: )/);
        expect(failureOf(() => codec.decodePayload(text))).toMatch(/^(returns$|ProtocolError: )/);
      }),
      { numRuns: 1500 },
    );
  });
});

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

describe('quotedLength', () => {
  const expectQuoted = (json: string): void => {
    expect(quotedLength(json)).toBe(encodedLength(JSON.stringify(json)) - 2);
  };

  it('`quotedLength` measures random JSON text as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(awkwardText(20), fc.nat(2_100), (value, spread) => {
        expectQuoted(JSON.stringify(`${value}${'x'.repeat(spread)}`.repeat(4)));
      }),
      { ...SEED, numRuns: 500 },
    );
  });

  it.each(['"', '\\', 'é', '€', '😀', '!', '#', '[', ']', '\u0022\u0023', '\u00a2', '\u00dc'])(
    '`quotedLength` measures a text of many %j as JSON.stringify writes it, at each length around a piece and a word',
    (character) => {
      for (const units of [0, 1, 2, 3, 4, 5, 1_022, 1_023, 1_024, 1_025, 1_026, 3_000]) {
        for (const around of ['', '"', 'x"', '\\xx']) expectQuoted(around + character.repeat(units) + around);
      }
    },
  );

  it('`quotedLength` counts no quote that the text before it left behind', () => {
    quotedLength('"'.repeat(1_024));
    expect(quotedLength('"xx')).toBe(4);
  });
});

describe('isJsonReady', () => {
  class Row {
    readonly id = 1;
  }

  class Tagged {
    readonly [Symbol.toStringTag] = 'Row';
  }

  it.each<[string, unknown]>([
    ['text', 'a'],
    ['a number', -1.5],
    ['true', true],
    ['null', null],
    ['an empty array', []],
    ['an empty object', {}],
    ['an array of scalars', ['a', 1, false, null]],
    ['an object of scalars', { a: 'a', b: 1, c: false, d: null }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
    ['an object with its own tag', { [Symbol.toStringTag]: 'Row', a: 1 }],
    ['an object whose prototype is a plain object', Object.assign(Object.create({ inherited: 1 }) as object, { a: 1 })],
    ['an instance of a class', new Row()],
    ['a date', new Date(0)],
    ['an invalid date, which JSON writes as null', new Date(NaN)],
    ['a property named constructor', { constructor: 'a' }],
    ['a property that is undefined, which JSON leaves out', { a: undefined }],
    ['objects in arrays in objects', { a: [{ b: ['c'] }] }],
  ])('`isJsonReady` accepts %s', (_what, value) => {
    expect(isJsonReady(value, 3 + 1)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['a bigint', 1n],
    ['a symbol', Symbol('a')],
    ['a function', () => 1],
    ['a date with a toJSON of its own', Object.assign(new Date(0), { toJSON: () => 1 })],
    ['a date with a toISOString of its own', Object.assign(new Date(0), { toISOString: () => 1 })],
    ['a plain object with a toJSON', { toJSON: () => 1 }],
    ['an array with a toJSON', Object.assign([], { toJSON: () => 1 })],
    ['a map', new Map()],
    ['an error', new Error('lost')],
    ['an instance with its own tag', new Tagged()],
    ['a built-in iterator', new Map().values()],
    ['bytes', new Uint8Array(1)],
    ['an array of a subclass', new (class extends Array<number> {})()],
  ])('`isJsonReady` refuses %s, at any depth', (_what, value) => {
    expect(isJsonReady(value, 9)).toBe(false);
    if (value !== undefined) expect([isJsonReady({ a: 'a', b: value }, 9), isJsonReady(['a', value], 9)]).toEqual([false, false]);
  });

  it.each<[string, (inner: unknown) => unknown]>([
    ['arrays', (inner) => ['a', inner]],
    ['objects', (inner) => ({ a: 'a', b: inner })],
  ])('`isJsonReady` accepts %s up to the given depth', (_what, around) => {
    expect([isJsonReady(nested(5, around), 5), isJsonReady(nested(6, around), 5)]).toEqual([true, false]);
  });
});

describe('hasMoreItems', () => {
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

describe('flatJson', () => {
  const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
  const scalar = fc.oneof(awkwardText(), fc.double(), fc.integer(), fc.boolean(), fc.constantFrom(null, -0, NaN, undefined, []));

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

describe('carries', () => {
  const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };
  const CODECS = [new JsonCodec(), new MsgpackCodec(), new RichCodec()] as const;
  const key = fc.oneof(fc.string(), awkwardText(4), fc.constantFrom('1', '-1', 'toJSON')).filter((name) => name !== '__proto__');
  const value = fc.oneof(fc.anything(), awkwardText(8), fc.double(), fc.integer(), fc.constantFrom(-0, NaN, 1n, undefined, 2 ** 60));

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
