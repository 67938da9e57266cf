import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from '../support/fast-check.js';
import type { isUtf8 as Check } from '../../src/codec/prescan.js';
import { otherPlatform } from '../support/platform/globals.js';

const PIECE = 65_536;
const decoder = new TextDecoder('utf-8', { fatal: true });
const pretend = otherPlatform();
/** A `process` without `getBuiltinModule`. */
const elsewhere: unknown = Object.create(process, { getBuiltinModule: { value: undefined } });

/** Loads `isUtf8` on a platform with these globals. */
function checkWhere(globals: Readonly<Record<string, unknown>>): Promise<typeof Check> {
  pretend(globals);
  return new Promise((resolve, reject) => {
    const imported = async (): Promise<void> => {
      resolve((await import('../../src/codec/prescan.js')).isUtf8);
    };
    jest.isolateModulesAsync(imported).catch(reject);
  });
}

const isDecodable = (bytes: Uint8Array): boolean => {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
};

const WELL_FORMED: readonly (readonly [string, readonly number[]])[] = [
  ['nothing', []],
  ['U+0000', [0x00]],
  ['U+007F', [0x7f]],
  ['U+0080', [0xc2, 0x80]],
  ['U+07FF', [0xdf, 0xbf]],
  ['U+0800', [0xe0, 0xa0, 0x80]],
  ['U+D7FF, the last before the surrogates', [0xed, 0x9f, 0xbf]],
  ['U+E000, the first after the surrogates', [0xee, 0x80, 0x80]],
  ['U+FFFF', [0xef, 0xbf, 0xbf]],
  ['U+10000', [0xf0, 0x90, 0x80, 0x80]],
  ['U+10FFFF', [0xf4, 0x8f, 0xbf, 0xbf]],
  ['two byte order marks', [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf]],
  ['every width', [0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0x62]],
];

const MALFORMED: readonly (readonly [string, readonly number[]])[] = [
  ['a lone continuation byte', [0x80]],
  ['the highest continuation byte', [0xbf]],
  ['U+0000 in two bytes', [0xc0, 0x80]],
  ['U+007F in two bytes', [0xc1, 0xbf]],
  ['U+07FF in three bytes', [0xe0, 0x9f, 0xbf]],
  ['U+FFFF in four bytes', [0xf0, 0x8f, 0xbf, 0xbf]],
  ['the first surrogate', [0xed, 0xa0, 0x80]],
  ['the last surrogate', [0xed, 0xbf, 0xbf]],
  ['a pair of surrogates', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ['U+110000', [0xf4, 0x90, 0x80, 0x80]],
  ['U+140000', [0xf5, 0x80, 0x80, 0x80]],
  ['five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80]],
  ['0xff', [0xff]],
  ['two bytes, cut', [0xc2]],
  ['three bytes, cut', [0xe2, 0x82]],
  ['four bytes, cut', [0xf0, 0x9f, 0x98]],
  ['two bytes without a continuation', [0xc3, 0x28]],
  ['three bytes without a second continuation', [0xe2, 0x82, 0x28]],
  ['four bytes without a third continuation', [0xf0, 0x9f, 0x98, 0x28]],
  ['a continuation byte too many', [0xc3, 0xa9, 0xa9]],
  ['four continuation bytes', [0x80, 0x80, 0x80, 0x80]],
];

describe.each<readonly [what: string, globals: Readonly<Record<string, unknown>>]>([
  ['has its own check', {}],
  ['has a decoder', { process: elsewhere }],
])('isUtf8 where the platform %s', (_what, globals) => {
  let isUtf8: typeof Check;
  beforeAll(async () => {
    isUtf8 = await checkWhere(globals);
  });

  /** Checks these bytes with `ahead` ASCII bytes in front of them and `behind` after them. */
  const judged = (bytes: readonly number[], ahead = 0, behind = 0): boolean => {
    const text = [...Array.from({ length: ahead }, () => 0x61), ...bytes, ...Array.from({ length: behind }, () => 0x62)];
    return isUtf8(Uint8Array.from([0xff, ...text, 0x80]), 1, text.length);
  };

  const places: readonly (readonly [ahead: number, behind: number])[] = [
    [0, 0],
    [3, 0],
    [0, 3],
    [130, 0],
    [0, 130],
  ];

  it.each(WELL_FORMED)('`isUtf8` accepts %s, alone and in longer texts', (_what, bytes) => {
    expect(places.map(([ahead, behind]) => judged(bytes, ahead, behind))).toEqual(places.map(() => true));
  });

  it.each(MALFORMED)('`isUtf8` refuses %s, alone and in longer texts', (_what, bytes) => {
    expect(places.map(([ahead, behind]) => judged(bytes, ahead, behind))).toEqual(places.map(() => false));
  });

  it('`isUtf8` agrees with the decoder of the platform on random bytes', () => {
    const edges = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5];
    const part = fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }).map((text) => [...Buffer.from(text)]) },
      { weight: 1, arbitrary: fc.array(fc.constantFrom(...edges), { maxLength: 4 }) },
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), fc.constantFrom(0, 0, 0, 120, 128), (parts, ahead) => {
        const bytes = Uint8Array.from([...Array.from({ length: ahead }, () => 0x61), ...parts.flat()]);
        expect(isUtf8(bytes, 0, bytes.length)).toBe(isDecodable(bytes));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([128, 129])('`isUtf8` checks every byte of a text of %i bytes', (size) => {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at++) {
      bytes[at] = 0xff;
      expect(isUtf8(bytes, 0, size)).toBe(false);
      bytes[at] = 0;
    }
    expect(isUtf8(bytes, 0, size)).toBe(true);
  });

  it.each([...WELL_FORMED, ...MALFORMED])('`isUtf8` returns the same wherever the pieces of a long text meet: %s', (_what, sequence) => {
    for (const pieces of [1, 2])
      for (let at = pieces * PIECE - 8; at <= pieces * PIECE + 1; at++) {
        const bytes = new Uint8Array(at + sequence.length + 3);
        bytes.set(sequence, at);
        expect(isUtf8(bytes, 0, bytes.length)).toBe(isDecodable(Uint8Array.from(sequence)));
      }
  });

  it.each(['é', '€', '😀'])('`isUtf8` accepts megabytes of %s, and refuses them when the last character is cut', (character) => {
    const bytes = Buffer.from(`a${character.repeat(500_000)}`);
    expect(isUtf8(bytes, 0, bytes.length)).toBe(true);
    expect(isUtf8(bytes, 0, bytes.length - 1)).toBe(false);
  });

  it('`isUtf8` refuses megabytes of continuation bytes', () => {
    expect(isUtf8(new Uint8Array(4_000_000).fill(0x80), 0, 4_000_000)).toBe(false);
  });
});

describe('isUtf8 without a strict decoder', () => {
  it.each<readonly [what: string, TextDecoder: unknown]>([
    ['no decoder', undefined],
    [
      'a decoder that throws for the option fatal',
      class {
        constructor(_label: string, { fatal = false } = {}) {
          if (fatal) throw new TypeError("the 'fatal' option is unsupported");
        }
      },
    ],
    [
      'a decoder that ignores the option fatal',
      class {
        decode(): string {
          return '';
        }
      },
    ],
  ])('`isUtf8` still checks long texts: %s', async (_what, TextDecoder) => {
    const isUtf8 = await checkWhere({ TextDecoder, process: elsewhere });
    const bytes = Buffer.from('a€'.repeat(50_000));
    expect(isUtf8(bytes, 0, bytes.length)).toBe(true);
    expect(isUtf8(bytes, 0, bytes.length - 1)).toBe(false);
  });
});

it.each<readonly [what: string, process: unknown]>([
  ['no process', undefined],
  ['a process without modules', {}],
  ['a process without the module', { getBuiltinModule: () => undefined }],
  ['a module without the check', { getBuiltinModule: () => ({}) }],
])('`isUtf8` works without the check of Node: %s', async (_what, stranger) => {
  const isUtf8 = await checkWhere({ process: stranger });
  pretend({ process });
  const bytes = Buffer.from('é'.repeat(500));
  expect([isUtf8(bytes, 0, bytes.length), isUtf8(bytes, 1, bytes.length - 1)]).toEqual([true, false]);
});

it('`isUtf8` passes only long texts to Node', async () => {
  const looked: Uint8Array[] = [];
  const getBuiltinModule = (id: string): unknown => ({ isUtf8: (bytes: Uint8Array) => looked.push(bytes) > 0 && id === 'node:buffer' });
  const isUtf8 = await checkWhere({ process: Object.create(process, { getBuiltinModule: { value: getBuiltinModule } }) });
  const bytes = Buffer.from('x'.repeat(400));
  expect([isUtf8(bytes, 100, 128), looked]).toEqual([true, []]);
  expect([isUtf8(bytes, 100, 129), looked]).toEqual([true, [bytes.subarray(100, 229)]]);
});
