import { Buffer } from 'node:buffer';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, map, mergeMap, of, share, Subject, take, toArray } from 'rxjs';
import { JsonCodec, encodeOnce, respond } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { RichCodec } from '../../src/rich.js';
import { fromBase64, toBase64 } from '../../src/util/base64.js';
import { ABSENT } from '../../src/wire/frame.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { failing, failureOf, nested } from '../support/codec/values.js';
import fc from '../support/fast-check.js';
import { frames, jsonPayload, richPayload } from '../support/wire/arbitraries.js';

const codec = new RichCodec();
const json = new JsonCodec();

/** Shows all of a value. `toStrictEqual` finds an invalid Date unequal to another, and is misled by a key `constructor`. */
const shown = (value: unknown): string =>
  inspect(value, { depth: Infinity, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });

/** A value as the remote receives it. */
const arrived = (value: unknown): unknown => codec.decodePayload(codec.encodePayload(value));

describe('RichCodec members', () => {
  it('RichCodec is named rich and declares text', () => {
    expect([codec.name, codec.binary]).toEqual(['rich', false]);
  });
});

/** Each kind of tag. A port in another language reads and writes the same text. */
const TAGS: readonly (readonly [what: string, value: unknown, text: string])[] = [
  ['a Date', new Date(1_700_000_000_123), '{"$":["date",1700000000123]}'],
  ['a Date before 1970', new Date(-8.64e15), '{"$":["date",-8640000000000000]}'],
  ['an invalid Date', new Date(NaN), '{"$":["date",null]}'],
  ['a bigint', 2n ** 64n, '{"$":["bigint","18446744073709551616"]}'],
  ['a negative bigint', -1n, '{"$":["bigint","-1"]}'],
  ['zero as a bigint', 0n, '{"$":["bigint","0"]}'],
  ['NaN', NaN, '{"$":["number","NaN"]}'],
  ['Infinity', Infinity, '{"$":["number","Infinity"]}'],
  ['-Infinity', -Infinity, '{"$":["number","-Infinity"]}'],
  ['minus zero', -0, '{"$":["number","-0"]}'],
  ['a property that is undefined', { by: undefined }, '{"by":{"$":["undefined"]}}'],
  ['an element that is undefined', [undefined, 1], '[{"$":["undefined"]},1]'],
  ['bytes', Uint8Array.of(0, 255, 16), '{"$":["bytes","AP8Q"]}'],
  ['bytes with padding', Uint8Array.of(251), '{"$":["bytes","+w=="]}'],
  ['no bytes', new Uint8Array(), '{"$":["bytes",""]}'],
  [
    'a Map',
    new Map<unknown, unknown>([
      ['a', 1],
      [2, new Date(0)],
    ]),
    '{"$":["map","a",1,2,{"$":["date",0]}]}',
  ],
  ['a Map with a Map as a key', new Map([[new Map(), null]]), '{"$":["map",{"$":["map"]},null]}'],
  ['a Set', new Set(['a', ['b'], undefined]), '{"$":["set","a",["b"],{"$":["undefined"]}]}'],
  ['an empty Set', new Set(), '{"$":["set"]}'],
  ['an object with the key of a tag alone', { $: 1 }, '{"$":["$",1]}'],
  ['an object that looks like a tag', { $: ['date', 0] }, '{"$":["$",["date",0]]}'],
  ['an object that looks like a tag of such an object', { $: ['$', { $: 1 }] }, '{"$":["$",["$",{"$":["$",1]}]]}'],
  ['the key of a tag among others', { $: ['date', 0], a: 1n }, '{"$":["date",0],"a":{"$":["bigint","1"]}}'],
];

describe('RichCodec tags', () => {
  it.each(TAGS)('RichCodec writes %s as its tag, and reads it', (_what, value, text) => {
    expect(codec.encodePayload(value)).toBe(text);
    expect(shown(codec.decodePayload(text))).toBe(shown(value));
    expect(codec.encode({ type: 'data', stream: 1, payload: value })).toBe(`{"type":"data","stream":1,"payload":${text}}`);
    expect(shown(codec.decode(`{"type":"data","stream":1,"payload":${text}}`).payload)).toBe(shown(value));
    expect(shown(codec.decode(`{"payload":${text},"type":"data","stream":1}`).payload)).toBe(shown(value));
  });

  it('RichCodec restores every value that it carries, and writes the restored value as the same text', () => {
    fc.assert(
      fc.property(richPayload(), (value) => {
        const text = codec.encodePayload(value);
        const restored = codec.decodePayload(text);
        expect(shown(restored)).toBe(shown(value));
        expect(codec.encodePayload(restored)).toBe(text);
      }),
      { numRuns: 4_000 },
    );
  });

  it('RichCodec restores every frame, with tags in its headers and trailers', () => {
    const metadata = fc.option(
      fc.uniqueArray(fc.tuple(fc.constantFrom('$', 'at', '__proto__'), richPayload()), { minLength: 1, selector: ([key]) => key }),
    );
    fc.assert(
      fc.property(richPayload(), metadata, metadata, (payload, headers, trailers) => {
        const [given, after] = [headers, trailers].map((entries) => (entries === null ? null : Object.fromEntries(entries)));
        const frame = { type: 'data', stream: 1, payload, headers: given, trailers: after, end: true };
        const { payload: restored, headers: before, trailers: behind } = codec.decode(codec.encode(frame));
        expect(shown([restored, before, behind])).toBe(shown([payload, given, after]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('RichCodec restores an invalid Date in headers', () => {
    const { headers } = codec.decode(codec.encode({ type: 'data', stream: 1, payload: 1, headers: { at: new Date(NaN) } }));
    expect(shown(headers)).toBe(shown({ at: new Date(NaN) }));
  });

  it('RichCodec writes a frame that needs no tag as JsonCodec does, and reads it alike', () => {
    const untagged = jsonPayload().filter(
      (payload) => arrived(payload) !== undefined && codec.encodePayload(payload) === JSON.stringify(payload),
    );
    fc.assert(
      fc.property(frames(untagged), (frame) => {
        const message = codec.encode(frame);
        expect(message).toBe(json.encode(frame));
        expect(codec.decode(message)).toStrictEqual(json.decode(message));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[string, string, unknown]>([
    ['white space', '{ "$" : [ "date" , 0 ] }', new Date(0)],
    ['escapes', String.raw`{"\u0024":["\u0064ate",0]}`, new Date(0)],
    ['an exponent', '{"$":["date",1e3]}', new Date(1000)],
    ['a key twice, of which the last counts', '{"$":1,"$":["bigint","7"]}', 7n],
    ['a key of a Map twice, of which the last counts', '{"$":["map","a",1,"a",2]}', new Map([['a', 2]])],
  ])('RichCodec reads a tag that is spelled with %s', (_what, text, value) => {
    expect(codec.decodePayload(text)).toStrictEqual(value);
    expect(codec.decode(`{"type":"data","stream":1,"payload":${text}}`).payload).toStrictEqual(value);
  });

  it('RichCodec leaves text alone that looks like a tag', () => {
    for (const text of ['{"$":["date",0]}', '$', '\\u0024']) expect(arrived([text, { text }])).toStrictEqual([text, { text }]);
  });

  it('RichCodec reads no tag under an unknown key of the envelope', () => {
    expect(codec.decode('{"type":"ping","later":{"$":["x"]},"nonce":"n"}')).toMatchObject({ type: 'ping', nonce: 'n', payload: ABSENT });
  });

  it('RichCodec leaves out an entry of headers that is undefined, and no other undefined in headers', () => {
    const message = codec.encode({ type: 'open', stream: 1, headers: { a: undefined, b: [undefined] } });
    expect(message).toBe('{"type":"open","stream":1,"headers":{"b":[{"$":["undefined"]}]}}');
  });

  it('RichCodec keeps headers with the key of a tag alone as a map', () => {
    const message = codec.encode({ type: 'open', stream: 1, headers: { $: ['date', 0] } });
    expect(message).toBe('{"type":"open","stream":1,"headers":{"$":["date",0]}}');
    expect(codec.decode(message).headers).toEqual({ $: ['date', 0] });
  });
});

class Celsius {
  constructor(readonly degrees: number) {}
  toJSON(key: string): unknown {
    return { key, degrees: this.degrees, at: new Date(0) };
  }
}

describe('RichCodec values', () => {
  it.each<[string, unknown, unknown]>([
    ['a Buffer', Buffer.of(1, 2), Uint8Array.of(1, 2)],
    ['an ArrayBuffer', Uint8Array.of(1, 2).buffer, Uint8Array.of(1, 2)],
    ['a view of a part', new DataView(Uint8Array.of(1, 2, 3).buffer, 1, 1), Uint8Array.of(2)],
    ['empty places of an array', Object.assign([1], { 2: 3 }), [1, undefined, 3]],
    ['a URL as its text', new URL('http://localhost/a?b'), 'http://localhost/a?b'],
    ['toJSON in a Map, with an empty key', new Map([['a', { toJSON: (key: string) => ({ key }) }]]), new Map([['a', { key: '' }]])],
    ['toJSON with its key, and a tag in its result', { a: new Celsius(21) }, { a: { key: 'a', degrees: 21, at: new Date(0) } }],
    ['a boxed NaN', [Object(NaN)], [NaN]],
    [
      'an instance by its own properties',
      [
        new (class Row {
          readonly at = new Date(0);
        })(),
      ],
      [{ at: new Date(0) }],
    ],
    ['a Map of another realm', runInNewContext('new Map([[1, new Set([new Date(0)])]])'), new Map([[1, new Set([new Date(0)])]])],
    ['a subclass of Map by its entries', new (class Prices extends Map<string, number> {})([['a', 1]]), new Map([['a', 1]])],
    ['an array of a subclass', Object.assign(new (class Rows extends Array<unknown> {})(), { 0: 1n }), [1n]],
    ['a Date with a toJSON', Object.assign(new Date(5), { toJSON: () => 'text' }), new Date(5)],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { n: 1n }), { n: 1n }],
    ['symbol keys, left out', { [Symbol('key')]: new Error(), n: 1n }, { n: 1n }],
    ['the longest bigint', 10n ** 4096n - 1n, 10n ** 4096n - 1n],
    ['the longest negative bigint', 1n - 10n ** 4096n, 1n - 10n ** 4096n],
  ])('RichCodec carries %s', (_what, value, expected) => {
    expect(arrived(value)).toStrictEqual(expected);
  });

  it('RichCodec returns bytes with memory of their own', () => {
    const bytes = arrived(Uint8Array.of(1, 2)) as Uint8Array;
    expect([bytes.constructor, bytes.buffer.byteLength]).toEqual([Uint8Array, 2]);
  });

  it('RichCodec does not call a toJSON that a program has added to bigint', () => {
    Object.defineProperty(BigInt.prototype, 'toJSON', { value: () => 'text', configurable: true });
    try {
      expect(arrived({ n: 1n })).toStrictEqual({ n: 1n });
    } finally {
      Reflect.deleteProperty(BigInt.prototype, 'toJSON');
    }
  });

  it('RichCodec reads a property that needs a tag once, and calls `toJSON` once', () => {
    let reads = 0;
    let calls = 0;
    const value = {
      at: new Date(0),
      get value(): number {
        return ++reads;
      },
      of: { toJSON: () => ({ calls: ++calls }) },
    };
    expect(arrived(value)).toStrictEqual({ at: new Date(0), value: reads, of: { calls: 1 } });
  });

  it('RichCodec reads a property of a payload without tags as often as JsonCodec', () => {
    const readsBy = (by: JsonCodec): number => {
      let reads = 0;
      by.encodePayload(Object.defineProperty({}, 'value', { enumerable: true, get: () => ++reads }));
      return reads;
    };
    expect(readsBy(codec)).toBe(readsBy(json));
  });

  it('RichCodec does not change the encoded value', () => {
    const at = new Date(0);
    const value = { list: [at, undefined], inner: new Map([[at, { gone: undefined }]]) };
    codec.encodePayload(value);
    expect(value).toStrictEqual({ list: [at, undefined], inner: new Map([[at, { gone: undefined }]]) });
  });

  it.each([
    ['toJSON', { at: new Date(0), a: { toJSON: failing } }],
    ['a getter', Object.defineProperty({ at: new Date(0) }, 'a', { enumerable: true, get: failing })],
  ])('RichCodec rethrows an error of %s', (_what, value) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe('RangeError: of the application');
  });
});

describe('RichCodec TypeErrors', () => {
  it.each<[string, unknown, string]>([
    ['undefined as the payload', undefined, 'payload, got undefined'],
    ['a toJSON that returns undefined as the payload', { toJSON: () => undefined }, 'payload, got an Object'],
    ['a function', { user: { tags: [() => 1] } }, 'payload.user.tags[0], got a function'],
    ['a symbol', [Symbol('s')], 'payload[0], got a symbol'],
    ['ABSENT', ABSENT, 'payload, got a symbol'],
    ['a Promise', [Promise.resolve(1)], 'payload[0], got a promise (await it first)'],
    ['a RegExp', [/a/g], 'payload[0], got a RegExp'],
    ['an Error', { e: new RangeError('lost') }, 'payload.e, got an Error'],
    ['a WeakMap', [new WeakMap()], 'payload[0], got a WeakMap'],
    ['a SharedArrayBuffer', [new SharedArrayBuffer(1)], 'payload[0], got a SharedArrayBuffer'],
    ['a boxed bigint', [Object(1n)], 'payload[0], got a BigInt'],
    ['an object that only inherits from Map', [Object.create(Map.prototype)], 'payload[0], got a Map'],
    [
      'a function in a Map, by its key',
      { prices: new Map([['AC"ME', { at: failing }]]) },
      'payload.prices.get("AC\\"ME").at, got a function',
    ],
    [
      'a function in a Map, by the place of its key',
      [
        new Map<unknown, unknown>([
          [1, 1],
          [{}, failing],
        ]),
      ],
      'payload[0].values()[1], got a function',
    ],
    ['a function as a key of a Map', new Map([[failing, 1]]), 'payload.keys()[0], got a function'],
    ['a function in a Set', { of: new Set([1, failing]) }, 'payload.of.values()[1], got a function'],
    ['a function in an object that looks like a tag', { a: { $: failing } }, 'payload.a.$, got a function'],
    ['a function under a key that is not a name', { 'first name': failing }, 'payload["first name"], got a function'],
  ])('RichCodec refuses %s', (_what, value, text) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(`TypeError: codec 'rich': expected a value it can carry at ${text}`);
  });

  it.each(['headers', 'trailers'] as const)('RichCodec names the place of a wrong value in %s', (field) => {
    const expected = `TypeError: codec 'rich': expected a value it can carry at ${field}.of.get("a"), got a symbol`;
    const frame = { type: 'open', [field]: { of: new Map([['a', Symbol('s')]]) } };
    expect(failureOf(() => codec.encode(frame))).toBe(expected);
    expect(failureOf(() => codec.encodeWith(frame, '1'))).toBe(expected);
    expect(failureOf(() => codec.encodeAround(frame))).toBe(expected);
  });

  it.each<[string, object, string]>([
    ['an array', ['a'], 'an Array'],
    ['a Date', new Date(0), 'a Date'],
    ['a Map', new Map(), 'a Map'],
    ['bytes', Buffer.of(1), 'bytes (Uint8Array)'],
    ['a URL', new URL('http://localhost'), 'a URL'],
  ])('RichCodec refuses headers that would not arrive as a map: %s', (_what, headers, got) => {
    expect(failureOf(() => codec.encode({ type: 'open', headers: headers as Record<string, unknown> }))).toBe(
      `TypeError: codec 'rich': expected a map with string keys as headers, got ${got}`,
    );
  });

  it.each([10n ** 4096n, -(10n ** 4096n), 2n ** 100_000n])('RichCodec refuses a bigint of more than 4 096 digits', (value) => {
    expect(failureOf(() => codec.encodePayload([value]))).toBe(
      "TypeError: codec 'rich': expected a bigint of at most 4096 digits at payload[0], got a longer one",
    );
  });

  it.each<[string, () => unknown, string]>([
    [
      'a fragment of bytes',
      () => codec.encode({ type: 'data', fragment: new ArrayBuffer(3) }),
      'expected the fragment as text, got 3 bytes',
    ],
    [
      'an encoded payload of bytes',
      () => codec.encodeWith({ type: 'data' }, new ArrayBuffer(3)),
      'expected the encoded payload as text, got 3 bytes',
    ],
    ['a stream that is not a number', () => codec.encode({ type: 'data', stream: NaN }), "expected a finite number as 'stream', got NaN"],
  ])('RichCodec refuses %s in its own name', (_what, encode, text) => {
    expect(failureOf(encode)).toBe(`TypeError: codec 'rich': ${text}`);
  });
});

describe('RichCodec nesting limit of 256 levels', () => {
  const tooDeep = "TypeError: codec 'rich': expected at most 256 levels of nesting in payload, got more or a circular structure";
  const cyclic: unknown[] = [new Date(0)];
  cyclic.push(cyclic);
  const cyclicMap = new Map<string, unknown>();
  cyclicMap.set('self', cyclicMap);

  it.each<[string, number, (levels: number) => unknown]>([
    ['arrays', 256, (levels) => nested(levels, (inner) => [inner])],
    ['objects', 256, (levels) => nested(levels, (inner) => ({ a: inner }))],
    ['arrays beside a tag', 256, (levels) => [new Date(0), nested(levels - 1, (inner) => [inner])]],
    ['levels, two of which are a Date', 256, (levels) => nested(levels - 1, (inner, level) => (level === 1 ? [new Date(0)] : [inner]))],
    ['levels, two of which are undefined', 256, (levels) => nested(levels - 1, (inner, level) => (level === 1 ? [undefined] : [inner]))],
    ['Maps, which take two levels', 127, (maps) => Array.from({ length: maps }).reduce((inner) => new Map([[1, inner]]), [[1]])],
    ['Sets, which take two levels', 127, (sets) => Array.from({ length: sets }).reduce((inner) => new Set([inner]), [[1]])],
    [
      'objects that look like tags, which take two levels',
      127,
      (forms) => Array.from({ length: forms }).reduce((inner) => ({ $: inner }), [[1]]),
    ],
  ])('RichCodec carries the most nested %s both ways, and refuses one more', (_what, most, make) => {
    expect(arrived(make(most))).toStrictEqual(make(most));
    expect(failureOf(() => codec.encodePayload(make(most + 1)))).toBe(tooDeep);
  });

  it.each<[string, unknown]>([
    ['array', cyclic],
    ['Map', cyclicMap],
  ])('RichCodec refuses a circular %s', (_what, value) => {
    expect(failureOf(() => codec.encodePayload(value))).toBe(tooDeep);
  });

  it('RichCodec refuses more levels in a text', () => {
    const text = (levels: number): string => `${'{"$":["set",'.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`;
    expect(failureOf(() => codec.decodePayload(text(256)))).toBe('returns');
    expect(failureOf(() => codec.decodePayload(text(258)))).toBe(
      "ProtocolError: codec 'rich': expected at most 256 levels of nesting, got more",
    );
    expect(failureOf(() => codec.decode(`{"type":"data","stream":1,"payload":${text(258)}}`))).toBe(
      "ProtocolError: codec 'rich': expected at most 256 levels of nesting, got more",
    );
  });
});

describe('RichCodec ProtocolErrors', () => {
  const kind = 'expected a known kind in a tagged value, got another';
  const content = (expected: string, of: string): string => `expected ${expected} in a tagged value of the kind '${of}', got another`;
  const integer = 'an integer of at most 4096 digits';
  const number = 'NaN, Infinity, -Infinity or -0';
  const time = 'an integer of ms within ±8.64e15, or null';

  it.each<[text: string, message: string]>([
    ['{"$":1}', kind],
    ['{"$":null}', kind],
    ['{"$":{}}', kind],
    ['{"$":[]}', kind],
    ['{"$":[1]}', kind],
    ['{"$":["x"]}', kind],
    ['{"$":["__proto__",1]}', kind],
    ['{"$":["constructor",1]}', kind],
    ['{"$":["Date",1]}', kind],
    ['{"$":["undefined",1]}', content('no content', 'undefined')],
    ['{"$":["number"]}', content(number, 'number')],
    ['{"$":["number",1]}', content(number, 'number')],
    ['{"$":["number","1"]}', content(number, 'number')],
    ['{"$":["number","NaN",1]}', content(number, 'number')],
    ['{"$":["bigint"]}', content(integer, 'bigint')],
    ['{"$":["bigint",1]}', content(integer, 'bigint')],
    ['{"$":["bigint",""]}', content(integer, 'bigint')],
    ['{"$":["bigint","-0"]}', content(integer, 'bigint')],
    ['{"$":["bigint","01"]}', content(integer, 'bigint')],
    ['{"$":["bigint","0x1"]}', content(integer, 'bigint')],
    ['{"$":["bigint"," 1"]}', content(integer, 'bigint')],
    ['{"$":["bigint","1n"]}', content(integer, 'bigint')],
    [`{"$":["bigint","${'9'.repeat(4097)}"]}`, content(integer, 'bigint')],
    [`{"$":["bigint","-${'9'.repeat(4097)}"]}`, content(integer, 'bigint')],
    ['{"$":["date"]}', content(time, 'date')],
    ['{"$":["date","0"]}', content(time, 'date')],
    ['{"$":["date",0.5]}', content(time, 'date')],
    ['{"$":["date",8640000000000001]}', content(time, 'date')],
    ['{"$":["date",1e400]}', content(time, 'date')],
    ['{"$":["date",0,0]}', content(time, 'date')],
    ['{"$":["bytes"]}', content('base64', 'bytes')],
    ['{"$":["bytes",1]}', content('base64', 'bytes')],
    ['{"$":["bytes","AP8"]}', content('base64', 'bytes')],
    ['{"$":["bytes","A=8="]}', content('base64', 'bytes')],
    ['{"$":["bytes","===="]}', content('base64', 'bytes')],
    ['{"$":["bytes","AP-_"]}', content('base64', 'bytes')],
    ['{"$":["bytes","AP8 "]}', content('base64', 'bytes')],
    ['{"$":["map","a"]}', "expected a value for each key in a tagged value of the kind 'map', got none"],
    ['{"$":["$"]}', content('one value', '$')],
    ['{"$":["$",1,2]}', content('one value', '$')],
    ['{"$":["undefined"]}', 'expected a value as the payload, got undefined'],
    ['[{"a":{"$":["set",{"$":["x"]}]}}]', kind],
    ['"$', 'expected JSON, got 2 characters that are not'],
  ])('RichCodec refuses %s', (text, message) => {
    expect(failureOf(() => codec.decodePayload(text))).toBe(`ProtocolError: codec 'rich': ${message}`);
    if (!text.endsWith('}')) return;
    expect(failureOf(() => codec.decode(`{"type":"data","stream":1,"payload":${text}}`))).toBe(`ProtocolError: codec 'rich': ${message}`);
    if (text === '{"$":["undefined"]}') return;
    for (const field of ['headers', 'trailers'])
      expect(failureOf(() => codec.decode(`{"type":"data","stream":1,"${field}":{"a":${text}}}`))).toBe(
        `ProtocolError: codec 'rich': ${message}`,
      );
  });

  it.each<[string, () => unknown, string]>([
    ['bytes', () => codec.decode(new ArrayBuffer(2)), 'expected text, got 2 bytes'],
    ['an envelope of a tag', () => codec.decode('{"$":["map","type","data"]}'), ''],
    [
      'more items than the limit',
      () => codec.decodePayload('{"$":["set",1,2,3,4,5,6]}', { maxPayloadItems: 9 }),
      'expected at most 9 items (maxPayloadItems), got more',
    ],
  ])('RichCodec refuses %s', (_what, decode, text) => {
    expect(failureOf(decode)).toMatch(text === '' ? /^ProtocolError: / : `ProtocolError: codec 'rich': ${text}`);
  });

  it('RichCodec counts the items of a text, tags included', () => {
    expect(codec.decodePayload('{"$":["set",1,2,3,4,5,6]}', { maxPayloadItems: 10 })).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  });

  it('RichCodec returns a value or throws a ProtocolError for any text of the characters of tags', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"$"',
      '"map"',
      '"set"',
      '"date"',
      '"bytes"',
      '"AA=="',
      '0',
      '-1',
      '"__proto__"',
      'null',
      '{"$":[',
      ']}',
      '"bigint"',
      '"1"',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        expect(failureOf(() => codec.decodePayload(tokens.join('')))).toMatch(/^(returns|ProtocolError: codec 'rich': )/);
      }),
      { numRuns: 4_000 },
    );
  });

  it('RichCodec changes no prototype, whatever the keys around and within tags are', () => {
    const texts = [
      '{"__proto__":{"$":["set",1]},"a":1}',
      '{"a":{"__proto__":{"$":["$",{"admin":true}]}}}',
      '{"$":["map","__proto__",{"admin":true}]}',
      '{"$":["$",{"__proto__":{"admin":true}}]}',
      '{"constructor":{"prototype":{"admin":{"$":["bigint","1"]}}}}',
    ];
    for (const text of texts) {
      const value = codec.decodePayload(text) as object;
      expect([Object.prototype, Map.prototype].includes(Object.getPrototypeOf(value) as object)).toBe(true);
      expect((value as { admin?: unknown }).admin).toBeUndefined();
      expect(codec.encodePayload(value)).toBe(text);
    }
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
    expect(Object.keys(codec.decodePayload('{"__proto__":{"$":["set",1]},"a":1}') as object)).toEqual(['__proto__', 'a']);
  });

  it('RichCodec makes no property of a key that a program has added to Object.prototype', () => {
    Object.defineProperty(Object.prototype, 'lent', { value: { a: 1n }, enumerable: true, configurable: true });
    try {
      expect(Object.keys(codec.decodePayload('{"n":{"$":["bigint","1"]}}') as object)).toEqual(['n']);
      expect(codec.encodePayload({ n: 1n })).toBe('{"n":{"$":["bigint","1"]}}');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'lent');
    }
  });
});

describe('RichCodec weights', () => {
  it.each<[string, unknown, number]>([
    ['a bigint of 64 bits', -(2n ** 63n), 24],
    ['a bigint of 1 024 bits', 2n ** 1024n - 1n, 24 + 128],
    ['an empty Map', new Map(), 200],
    ['a Map', new Map([['abc', [new Date(0)]]]), 200 + 56 + 30 + 48 + 8 + 104],
    ['a Set in an array', [new Set([0.5])], 48 + 8 + 200 + 40 + 16],
    ['a plain object', { a: 1 }, json.weigh({ a: 1 })],
  ])('The weight of %s is as expected', (_what, value, bytes) => {
    expect(codec.weigh(value)).toBe(bytes);
  });

  it('JsonCodec weighs as before after RichCodec has weighed', () => {
    codec.weigh([new Map()]);
    expect(json.weigh(new Map())).toBe(64);
  });
});

describe('base64', () => {
  const node = { from: (...args: [never, never, never]) => Buffer.from(...args) } as unknown as Parameters<typeof toBase64>[1];

  it.each([0, 1, 2, 3, 255, 8_191, 8_192, 8_193, 50_000])(
    '%i bytes have the same text with and without a Buffer, and are restored',
    (size) => {
      const bytes = Uint8Array.from({ length: size }, (_, at) => at * 7);
      const text = Buffer.from(bytes).toString('base64');
      for (const buffer of [node, null]) expect([toBase64(bytes, buffer), fromBase64(text, buffer)]).toEqual([text, bytes]);
      expect(toBase64(bytes.subarray(1))).toBe(Buffer.from(bytes.subarray(1)).toString('base64'));
    },
  );
});

describe('peers under rich', () => {
  // The server logs the refused upgrade.
  collectLogs();

  let server: MuxServer | undefined;

  afterEach(() => server?.close());

  const price = { at: new Date(0), sizes: new Map([[12.5, 100n]]), tags: new Set(['a']), raw: Uint8Array.of(1), low: undefined, high: NaN };

  it('A call, its headers, a stream and trailers carry rich values over a socket, under mux.v1.rich', async () => {
    const http = serve({ port: 0, host: '127.0.0.1', codec: new RichCodec() });
    server = http;
    http.peers$.pipe(mergeMap(({ streams$ }) => streams$.pipe(respond((payload, { headers }) => of(payload, headers))))).subscribe();
    const { port } = (await http.listening) as { port: number };
    const peer = connect(`ws://127.0.0.1:${port}`, { codec: new RichCodec() });
    const answers = await lastValueFrom(peer.open$(price, { headers: { since: new Date(5) } }).pipe(toArray()));
    expect(answers).toStrictEqual([price, { since: new Date(5) }]);
    await expect(connect(`ws://127.0.0.1:${port}`, { codec: new JsonCodec() }).opened).rejects.toMatchObject({ code: 'CODEC_MISMATCH' });
    await peer.close();
  });

  it('Rich values travel in fragments, and arrive whole', async () => {
    const { dialer, acceptor } = createPair({ codec });
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const whole = { rows: new Map(Array.from({ length: 5_000 }, (_, n) => [BigInt(n), { at: new Date(n), raw: Uint8Array.of(n) }])) };
    expect(codec.encodePayload(whole).length).toBeGreaterThan(3 * 65_536);
    expect(await dialer.request(whole)).toStrictEqual(whole);
  });

  it('Many subscribers share the text of a rich value', async () => {
    let encoded = 0;
    class Counting extends RichCodec {
      override encodePayload(payload: unknown): string {
        encoded++;
        return super.encodePayload(payload);
      }
    }
    const { dialer, acceptor } = createPair({ dialer: { codec }, acceptor: { codec: new Counting() } });
    const feed$ = new Subject<unknown>();
    const shared$ = feed$.pipe(encodeOnce(), share());
    acceptor.streams$.pipe(respond(() => shared$)).subscribe();
    const all = Promise.all(
      [1, 2, 3].map(() =>
        lastValueFrom(
          dialer.open$(null).pipe(
            take(1),
            map((value) => value),
          ),
        ),
      ),
    );
    await dialer.ping();
    feed$.next(price);
    expect(await all).toStrictEqual([price, price, price]);
    expect(encoded).toBe(1);
  });
});
