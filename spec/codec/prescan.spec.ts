import { describe, expect, it } from '@jest/globals';
import { Decoder, encode } from '@msgpack/msgpack';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { wellFormed, wellFormer } from '../../src/codec/plain-copy.js';
import { prescan } from '../../src/codec/prescan.js';
import type { PrescanLimits, Scanned } from '../../src/codec/prescan.js';
import { weightOf } from '../../src/codec/weight.js';
import { failureOf, nested } from '../support/codec/values.js';
import fc from '../support/fast-check.js';

const LIMITS: PrescanLimits = { maxDepth: 95, maxItems: 1_000_000, envelope: false };
const ENVELOPE: PrescanLimits = { ...LIMITS, envelope: true };

const scan = (bytes: readonly number[], limits: Partial<PrescanLimits> = {}): Scanned =>
  prescan(Uint8Array.from(bytes), { ...LIMITS, ...limits });
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
const text = (value: string): number[] => [0xa0 + value.length, ...Buffer.from(value)];

/** Every head byte that starts a value, with a matching body. */
const VALUES: readonly (readonly [string, readonly number[]])[] = [
  ['positive fixint', [0x7f]],
  ['empty fixmap', [0x80]],
  ['fixmap', [0x81, 1, 2]],
  ['fullest fixmap', [0x8f, ...Array.from({ length: 30 }, (_, index) => index)]],
  ['empty fixarray', [0x90]],
  ['fullest fixarray', [0x9f, ...zeros(15)]],
  ['empty fixstr', [0xa0]],
  ['longest fixstr', [0xbf, ...zeros(31)]],
  ['nil', [0xc0]],
  ['false', [0xc2]],
  ['true', [0xc3]],
  ['bin 8', [0xc4, 3, ...zeros(3)]],
  ['bin 16', [0xc5, 1, 0, ...zeros(256)]],
  ['bin 32', [0xc6, 0, 0, 1, 1, ...zeros(257)]],
  ['ext 8', [0xc7, 3, 5, ...zeros(3)]],
  ['ext 16', [0xc8, 1, 0, 5, ...zeros(256)]],
  ['ext 32', [0xc9, 0, 0, 0, 0, 5]],
  ['float 32', [0xca, ...zeros(4)]],
  ['float 64', [0xcb, ...zeros(8)]],
  ['uint 8', [0xcc, 0xff]],
  ['uint 16', [0xcd, ...zeros(2)]],
  ['uint 32', [0xce, ...zeros(4)]],
  ['uint 64', [0xcf, ...zeros(8)]],
  ['int 8', [0xd0, 0x80]],
  ['int 16', [0xd1, ...zeros(2)]],
  ['int 32', [0xd2, ...zeros(4)]],
  ['int 64', [0xd3, ...zeros(8)]],
  ['fixext 1', [0xd4, 5, ...zeros(1)]],
  ['fixext 2', [0xd5, 5, ...zeros(2)]],
  ['fixext 4', [0xd6, 5, ...zeros(4)]],
  ['fixext 8', [0xd7, 5, ...zeros(8)]],
  ['fixext 16', [0xd8, 5, ...zeros(16)]],
  ['str 8', [0xd9, 3, ...zeros(3)]],
  ['str 16', [0xda, 1, 0, ...zeros(256)]],
  ['str 32', [0xdb, 0, 0, 0, 2, ...zeros(2)]],
  ['array 16', [0xdc, 0, 3, ...zeros(3)]],
  ['array 32', [0xdd, 0, 0, 0, 3, ...zeros(3)]],
  ['map 16', [0xde, 0, 2, 1, 2, 3, 4]],
  ['map whose key is a numeral', [0x81, 0xa4, 0x2d, 0x31, 0x32, 0x33, 4]],
  ['map 32', [0xdf, 0, 0, 0, 1, 3, 4]],
  ['negative fixint', [0xe0]],
];

describe('prescan of one value', () => {
  it.each(VALUES)('`prescan` accepts %s, alone and among other values', (_name, value) => {
    expect(failureOf(() => scan(value))).toBe('returns');
    expect(failureOf(() => scan([0x93, 1, ...value, 2]))).toBe('returns');
    expect(failureOf(() => scan([0x82, 1, ...value, 2, ...value]))).toBe('returns');
  });

  it.each(VALUES)('`prescan` refuses %s cut after any byte', (_name, value) => {
    for (let end = 0; end < value.length; end++) {
      expect(failureOf(() => scan(value.slice(0, end)))).toMatch(
        /^ProtocolError: codec 'msgpack': expected at least \d+ more bytes, got \d+$/,
      );
    }
  });

  it.each(VALUES)('`prescan` refuses a byte after %s', (_name, value) => {
    expect(failureOf(() => scan([...value, 0]))).toBe("ProtocolError: codec 'msgpack': expected one value, got 1 more bytes behind it");
  });

  it.each<[string, readonly number[]]>([
    ['alone', [0xa2, 0xc3, 0x28]],
    ['in every format', [0x93, 0xd9, 1, 0x61, 0xda, 0, 1, 0x61, 0xdb, 0, 0, 0, 1, 0x80]],
    ['across two items', [0x92, 0xa2, 0xe2, 0x82, 0xa1, 0x41]],
    ['as a key', [0x81, 0xa1, 0xff, 0]],
    ['in a long text', [0xda, 1, 0, ...zeros(255), 0xc3]],
  ])('`prescan` refuses text that is not UTF-8 %s', (_where, bytes) => {
    expect(failureOf(() => scan(bytes))).toBe("ProtocolError: codec 'msgpack': expected text as UTF-8, got bytes that are not");
  });

  it('`prescan` refuses the unused byte 0xc1', () => {
    expect(failureOf(() => scan([0xc1]))).toBe("ProtocolError: codec 'msgpack': expected a msgpack value, got the byte 0xc1");
  });

  it('`prescan` counts the values that are bytes', () => {
    expect(scan([0x94, 0xc4, 0, 0xc4, 1, 0xc4, 0x91, 0xc5, 0, 0, 0xa2, 0xc4, 0x80])).toEqual({ blobs: 3, bomTexts: null });
  });

  it('`prescan` reports texts of more than 200 bytes that begin with a byte order mark', () => {
    const bomTexts = (size: number): number[] => [0xef, 0xbb, 0xbf, ...zeros(size - 3)];
    const bytes = [
      0x95,
      0xd9,
      200,
      ...bomTexts(200),
      0xd9,
      201,
      ...bomTexts(201),
      0xc4,
      201,
      ...bomTexts(201),
      0xd9,
      201,
      0xef,
      0xbb,
      0xbc,
      ...zeros(198),
    ];
    expect(scan([...bytes, 0xda, 1, 0, ...bomTexts(256)])).toEqual({
      blobs: 1,
      bomTexts: [
        { head: 203, from: 205, size: 201 },
        { head: 812, from: 815, size: 256 },
      ],
    });
  });

  it('`prescan` reads a view, not the buffer behind it', () => {
    expect(failureOf(() => prescan(Uint8Array.of(0x91, 0x92, 1, 2, 0xc1).subarray(1, 4), LIMITS))).toBe('returns');
  });
});

describe('prescan of missing items', () => {
  it.each<[string, readonly number[], number, number]>([
    ['array 32', [0xdd, 0xff, 0xff, 0xff, 0xff, ...zeros(10)], 2 ** 32 - 1, 10],
    ['map 32', [0xdf, 0xff, 0xff, 0xff, 0xff, ...zeros(10)], 2 * (2 ** 32 - 1), 10],
    ['array 16', [0xdc, 0, 11, ...zeros(10)], 11, 10],
    ['map 16, whose entries are two items', [0xde, 0, 6, ...zeros(11)], 12, 11],
    ['fixarray', [0x9b, ...zeros(10)], 11, 10],
    ['an inner array that leaves no bytes for the outer one', [0x92, 0x98, ...zeros(8)], 9, 8],
    ['a text that leaves too few bytes for the other items', [0x94, 0xa8, ...zeros(10)], 3, 2],
    ['bin 32', [0xc6, 0xff, 0xff, 0xff, 0xff, ...zeros(10)], 2 ** 32 - 11, 0],
    ['str 32', [0xdb, 0xff, 0xff, 0xff, 0xff, ...zeros(10)], 2 ** 32 - 11, 0],
    ['ext 32', [0xc9, 0xff, 0xff, 0xff, 0xff, 1, ...zeros(10)], 2 ** 32 - 11, 0],
  ])('`prescan` refuses %s as soon as too few bytes are left', (_title, bytes, missing, available) => {
    expect(failureOf(() => scan(bytes, { maxItems: Infinity }))).toBe(
      `ProtocolError: codec 'msgpack': expected at least ${missing} more bytes, got ${available}`,
    );
  });
});

describe('prescan limits', () => {
  const tooDeep = "ProtocolError: codec 'msgpack': expected at most 95 levels of nesting, got more";

  it.each<[string, (levels: number) => unknown]>([
    ['arrays', (levels) => nested(levels, (inner) => [1, inner, 2])],
    ['maps', (levels) => nested(levels, (inner) => ({ a: 1, b: inner }))],
  ])('`prescan` accepts 95 levels of %s and refuses 96', (_title, make) => {
    expect(failureOf(() => prescan(encode(make(95)), LIMITS))).toBe('returns');
    expect(failureOf(() => prescan(encode(make(96), { maxDepth: 200 }), LIMITS))).toBe(tooDeep);
  });

  it('`prescan` counts empty arrays and maps as levels', () => {
    expect(failureOf(() => scan([0x91, 0x90], { maxDepth: 1 }))).toMatch(/at most 1 levels/);
    expect(failureOf(() => scan([0x91, 0x80], { maxDepth: 1 }))).toMatch(/at most 1 levels/);
    expect(failureOf(() => scan([0x91, 0xc0], { maxDepth: 1 }))).toBe('returns');
  });

  it.each<[string, readonly number[], number]>([
    ['a scalar', [1], 1],
    ['an array and its elements', [0x93, 1, 2, 3], 4],
    ['a map, its keys and its values', [0x82, 1, 2, 3, 4], 5],
    ['empty arrays and maps inside an array', [0x92, 0x90, 0x80], 3],
    ['a text of any length', [0xd9, 200, ...zeros(200)], 1],
    ['bytes three times', [0xc4, 0], 3],
    ['an extension three times', [0xd6, 0xff, ...zeros(4)], 3],
    ['bytes and extensions, in every format,', [0x94, 0xc5, 0, 1, 1, 0xc6, 0, 0, 0, 0, 0xc7, 0, 5, 0xd8, 5, ...zeros(16)], 13],
    ['bytes in a map', [0x81, ...text('a'), 0xc4, 0], 5],
  ])('`prescan` counts %s as items', (_title, bytes, items) => {
    expect(failureOf(() => scan(bytes, { maxItems: items }))).toBe('returns');
    const refused = `ProtocolError: codec 'msgpack': expected at most ${items - 1} items (maxPayloadItems), got more`;
    expect(items === 1 || failureOf(() => scan(bytes, { maxItems: items - 1 })) === refused).toBe(true);
  });
});

describe('prescan of keys', () => {
  const collision = "ProtocolError: codec 'msgpack': expected keys that differ as text, got a number and a numeral in one map";
  const textOnly = "ProtocolError: codec 'msgpack': expected text as each key of the envelope, of headers and of trailers, got another key";

  it.each<[string, readonly number[], string]>([
    ['integers alone', [0x82, 1, 0, 2, 0], 'returns'],
    ['numerals alone', [0x82, ...text('1'), 0, ...text('2'), 0], 'returns'],
    ['integers beside names', [0x83, 1, 0, ...text('a'), 0, ...text('1a'), 0], 'returns'],
    ['integers beside the empty text and a lone minus', [0x83, 1, 0, ...text(''), 0, ...text('-'), 0], 'returns'],
    ['integers beside a text of digits behind a plus', [0x82, 1, 0, ...text('+1'), 0], 'returns'],
    ['9 and its numeral', [0x82, 9, 0, ...text('9'), 0], collision],
    ['1 and its numeral', [0x82, 1, 0, ...text('1'), 0], collision],
    ['a numeral and its integer', [0x82, ...text('1'), 0, 0xcc, 1, 0], collision],
    ['-1 and its numeral', [0x82, 0xff, 0, ...text('-1'), 0], collision],
    ['a float and a numeral', [0x82, 0xcb, ...zeros(8), 0, ...text('0'), 0], collision],
    ['an integer and a numeral in str 8', [0x82, 10, 0, 0xd9, 2, 0x31, 0x30, 0], collision],
    ['an integer, a map without numbers, and a numeral', [0x83, 1, 0x81, ...text('a'), 0, ...text('b'), 0, ...text('1'), 0], collision],
    ['an integer outside and a numeral inside', [0x81, 1, 0x81, ...text('1'), 0], 'returns'],
    ['numerals as values', [0x82, 1, ...text('1'), 2, ...text('2')], 'returns'],
    ['an integer and a numeral in an array', [0x92, 1, ...text('1')], 'returns'],
    ['an integer and a numeral in an array, where a map would have its keys', [0x94, 1, 0, ...text('1'), 0], 'returns'],
  ])('In any map `prescan` checks keys: %s', (_title, bytes, expected) => {
    expect(failureOf(() => scan(bytes))).toBe(expected);
  });

  it.each<[string, readonly number[], string]>([
    ['text keys', [0x82, ...text('type'), 0, ...text('1'), 0], 'returns'],
    ['an integer key', [0x82, ...text('type'), 0, 1, 0], textOnly],
    ['an integer key in headers', [0x81, ...text('headers'), 0x81, 1, 0], textOnly],
    ['an integer key in trailers', [0x82, ...text('type'), 0, ...text('trailers'), 0x82, ...text('a'), 0, 1, 0], textOnly],
    ['an integer key in headers under a str 8', [0x81, 0xd9, 7, ...Buffer.from('headers'), 0x81, 1, 0], textOnly],
    ['an integer key in the second of two headers', [0x82, ...text('headers'), 0xc0, ...text('headers'), 0x81, 1, 0], textOnly],
    ['an integer key deeper in headers', [0x81, ...text('headers'), 0x81, ...text('a'), 0x81, 1, 0], 'returns'],
    ['an integer key in an array in headers', [0x81, ...text('headers'), 0x91, 0x81, 1, 0], 'returns'],
    ['an integer key in the payload', [0x81, ...text('payload'), 0x81, 1, 0], 'returns'],
    ['an integer key in a payload after headers', [0x82, ...text('headers'), 0x80, ...text('payload'), 0x81, 1, 0], 'returns'],
    ['an integer key under a name as long as headers', [0x81, ...text('headerz'), 0x81, 1, 0], 'returns'],
    ['an integer key within an array that stands for an envelope', [0x91, 0x81, 1, 0], 'returns'],
    ['an integer key within such an array, after headers', [0x92, 0x81, ...text('headers'), 0, 0x81, 1, 0], 'returns'],
    ['an integer key under a name that begins with headers', [0x81, ...text('headers2'), 0x81, 1, 0], 'returns'],
    ['an integer key in headers of the payload', [0x81, ...text('payload'), 0x81, ...text('headers'), 0x81, 1, 0], 'returns'],
  ])('In an envelope `prescan` checks keys: %s', (_title, bytes, expected) => {
    expect(failureOf(() => scan(bytes, ENVELOPE))).toBe(expected);
  });
});

describe('prescan and the decoder', () => {
  const EXPECTED =
    /^(returns$|DecodeError: (The key __proto__ is not allowed|The type of key must be string or number|Unrecognized data size for timestamp))/;

  it('`prescan` accepts everything that the encoder writes', () => {
    fc.assert(
      fc.property(fc.anything({ withTypedArray: true, withDate: true, withNullPrototype: true, maxDepth: 4 }), (value) => {
        const bytes = encode(value);
        expect(failureOf(() => prescan(bytes, LIMITS))).toBe('returns');
      }),
      { numRuns: 2000 },
    );
  });

  it('`prescan` leaves only invalid keys and timestamps for the decoder to refuse', () => {
    const decoder = new Decoder();
    const heads = fc.constantFrom(...VALUES.map(([, [head = 0]]) => head), 0, 1, 2, 0x81, 0x91, 0xa1, 0xff);
    let [examined, accepted] = [0, 0];
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 12 }),
          fc.array(heads, { maxLength: 12 }).map((bytes) => Uint8Array.from(bytes)),
        ),
        (bytes) => {
          examined += 1;
          const failure = failureOf(() => prescan(bytes, LIMITS));
          expect(failure).toMatch(/^(returns$|ProtocolError: )/);
          if (failure !== 'returns') return;
          accepted += 1;
          expect(failureOf(() => decoder.decode(bytes))).toMatch(EXPECTED);
        },
      ),
      { numRuns: 5_000 },
    );
    expect(accepted / examined).toBeGreaterThan(1 / 40);
  });

  it('`prescan` accepts everything that the decoder accepts, except colliding keys and text that is not UTF-8', () => {
    const decoder = new Decoder({ maxArrayLength: 64, maxMapLength: 64 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 10 }), (bytes) => {
        const failure = failureOf(() => prescan(bytes, LIMITS));
        expect(/^returns$|numeral|UTF-8/.test(failure) || failureOf(() => decoder.decode(bytes)) !== 'returns').toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('the weight of a value', () => {
  it.each<[what: string, value: unknown, bytes: number]>([
    ['null', null, 0],
    ['a small integer', 7, 0],
    ['a fraction', 0.5, 16],
    ['a short text', 'abc', 30],
    ['a long ASCII text', 'a'.repeat(1_000), 1_024],
    ['a long text with one character beyond Latin-1', `${'a'.repeat(999)}☃`, 2_024],
    ['arrays', [[], []], 160],
    ['a date', new Date(0), 104],
    ['bytes', new Uint8Array(10), 210],
    ['an empty map', {}, 64],
    ['a map', { a: 1 }, 64 + 96 + 58],
    ['an index', { 1: 1 }, 64 + 288 + 58],
  ])('The weight of %s is as expected', (_what, value, bytes) => {
    expect(weightOf(value)).toBe(bytes);
    expect([new JsonCodec().weigh(value), new MsgpackCodec().weigh(value)]).toEqual([bytes, bytes]);
  });

  it('The weight of a value counts a key once, however many maps share it', () => {
    const maps = Array.from({ length: 1_000 }, () => ({ key: 0 }));
    const perMap = 8 + 64 + 96;
    const counted = weightOf(maps) - 48 - 1_000 * perMap;
    expect(counted).toBeLessThan(66 * 62);
    expect(weightOf(maps)).toBe(48 + 1_000 * perMap + counted);
  });
});

describe.each([
  ['natively', wellFormer(String.prototype)],
  ['without the platform', wellFormer({ length: 0 })],
  ['with the choice of this platform', wellFormed],
])('wellFormer: %s', (_how, well) => {
  it.each<[string, string]>([
    ['', ''],
    ['a😀b', 'a😀b'],
    ['\ud83d', '\ufffd'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
    ['a\ud800b\udc00c', 'a\ufffdb\ufffdc'],
    ['\ud83d\ud83d\ude00', '\ufffd😀'],
    ['\ud83d\ude00\ude00', '😀\ufffd'],
  ])('%j', (text, expected) => {
    expect(well(text)).toBe(expected);
  });
});
