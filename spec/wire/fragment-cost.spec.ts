import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { hasFragmentCost, isPlain, isPlainTo } from '../../src/wire/codec.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { checkFragmentable, fits, fragmentCostOf, fragmentCut, MAX_FRAME_BYTES, splitFrame } from '../../src/wire/fragment.js';
import type { FragmentCut } from '../../src/wire/fragment.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { codePointEnd, edgeBefore, encodedLength, fitsWithin, truncateToBytes, utf8Counter } from '../../src/wire/length.js';
import { envelopeBound } from '../../src/wire/outgoing.js';
import { disguised, NetstringCodec, StuffedCodec } from '../support/codec/foreign.js';
import { CODECS } from '../support/codec/shipped.js';
import fc from '../support/fast-check.js';
import { awkwardText, frames, jsonPayload } from '../support/wire/arbitraries.js';

/** Counts its encodings. Its class says what fragments cost. */
class CountingJson extends JsonCodec {
  encoded = 0;

  override encode(frame: Frame): string {
    this.encoded++;
    return super.encode(frame);
  }

  override encodeWith(frame: Frame, encodedPayload: string): string {
    this.encoded++;
    return super.encodeWith(frame, encodedPayload);
  }

  override fragmentCost(encodedPayload: Message, from: number, to: number): number {
    return super.fragmentCost(encodedPayload, from, to);
  }
}

/** The fullest slice by what the shipped codec of that kind says. */
function cutOf(encoded: Message, from: number, budget: number): FragmentCut {
  const cost = fragmentCostOf(encoded, typeof encoded === 'string' ? new JsonCodec() : new MsgpackCodec());
  return fragmentCut(encoded, from, budget, cost ?? (() => NaN));
}

const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

describe('split_frame rule 3: the cost of a slice in its envelope', () => {
  const quoted = (text: string): number => encodedLength(JSON.stringify(text)) - 2;

  /** Expects a slice that fits, ends between characters, and would not fit with one character more. */
  const expectFullest = (text: string, from: number, budget: number): void => {
    const { end, plain } = cutOf(text, from, budget);
    expect(edgeBefore(text, end)).toBe(end);
    expect(quoted(text.slice(from, end))).toBeLessThanOrEqual(Math.max(budget, 0));
    if (end < text.length) expect(quoted(text.slice(from, codePointEnd(text, end)))).toBeGreaterThan(budget);
    if (plain) expect(quoted(text.slice(from, end))).toBe(end - from);
  };

  it('`fragmentCut` measures JSON text exactly as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(awkwardText(80), fc.nat(40), fc.integer({ min: -3, max: 90 }), (value, start, budget) => {
        const text = JSON.stringify(value);
        const from = edgeBefore(text, Math.min(start, text.length));
        expectFullest(text, from, budget);
      }),
      { numRuns: 1000 },
    );
  });

  it('`fragmentCut` measures long JSON text exactly, wherever the cut falls', () => {
    fc.assert(
      fc.property(awkwardText(20), fc.integer({ min: 0, max: 2_100 }), fc.nat(40), fc.nat(5_000), (value, spread, start, budget) => {
        const text = JSON.stringify(`${value}${'x'.repeat(spread)}`.repeat(4));
        const from = edgeBefore(text, Math.min(start, text.length));
        expectFullest(text, from, budget);
      }),
      { ...SEED, numRuns: 500 },
    );
  });

  it.each([
    ['quotes', '"', 2],
    ['backslashes', '\\', 2],
    ['characters of two bytes', 'é', 2],
    ['characters of three bytes', '€', 3],
    ['pairs of surrogates', '😀', 4],
  ])('`fragmentCut` cuts to the byte at the end of a piece of text: %s', (_what, character, bytes) => {
    for (const shift of ['', 'x']) {
      for (let units = 1_020; units <= 1_028; units++) {
        const text = `${shift}${character.repeat(3_000)}`;
        const budget = units * bytes;
        expect(quoted(text.slice(0, cutOf(text, 0, budget).end))).toBe(budget - ((budget - shift.length) % bytes));
      }
    }
  });

  it('`fragmentCut` counts a character across two pieces of text once', () => {
    const longer = `x${'€'.repeat(341)}"${'x'.repeat(681)}`;
    const text = longer + 'y'.repeat(3_000);
    expect([longer.length, encodedLength('x' + '€'.repeat(341))]).toEqual([1_024, 1_024]);
    const budget = quoted(longer) + 1_024 + 10;
    expect(cutOf(text, 0, budget).end).toBe(2_048 + 10);
  });

  it.each([
    ['the last of one byte', '\u007f', 12],
    ['the first of two bytes', '\u0080', 6],
    ['the last of two bytes', '\u07ff', 6],
    ['the first of three bytes', '\u0800', 4],
    ['the last of three bytes', '\uffff', 4],
    ['the first of four bytes', '\u{10000}', 3],
  ])('`fragmentCut` counts a character by its bytes: %s', (_what, character, fitting) => {
    expect(cutOf(character.repeat(20), 0, 12).end).toBe(fitting * character.length);
  });

  it.each([
    ['nothing', -1, 0],
    ['nothing', 0, 0],
    ['a short header', 1, 1],
    ['a short header', 255, 255],
    ['the step to a header of 3', 256, 255],
    ['a header of 3', 257, 256],
    ['a header of 3', 65_536, 65_535],
    ['the step to a header of 5', 65_537, 65_535],
    ['the step to a header of 5', 65_538, 65_535],
    ['a header of 5', 65_539, 65_536],
    ['all there is', 1e9, 70_000],
  ])('`fragmentCut` cuts bytes by the header of a msgpack bin: %s, %i bytes', (_what, budget, length) => {
    expect(cutOf(new ArrayBuffer(70_010), 10, budget)).toEqual({ end: 10 + length, plain: false });
  });

  it.each([254, 255, 256, 257, 65_535, 65_536])('`fragmentCut` agrees with MsgpackCodec on a fragment of %i bytes', (length) => {
    const codec = new MsgpackCodec();
    const size = (bytes: number): number => encodedLength(codec.encode({ type: 'data', fragment: new ArrayBuffer(bytes) }));
    const grown = size(length) - size(0);
    expect(cutOf(new ArrayBuffer(70_000), 0, grown).end).toBe(length);
    expect(cutOf(new ArrayBuffer(70_000), 0, grown - 1).end).toBe(length - 1);
  });
});

describe('who says what fragments cost', () => {
  class Subclass extends JsonCodec {}
  class Spaced extends JsonCodec {
    override encode(frame: Frame): string {
      return ` ${super.encode(frame)}`;
    }
  }
  class SpacedAround extends JsonCodec {
    override encodeWith(frame: Frame, encodedPayload: Message): string {
      return ` ${super.encodeWith(frame, encodedPayload)}`;
    }
  }
  const patched = Object.assign(new JsonCodec(), { encode: (frame: Frame) => ` ${new JsonCodec().encode(frame)}` });

  it.each<[string, Codec, boolean]>([
    ['JsonCodec', new JsonCodec(), true],
    ['MsgpackCodec', new MsgpackCodec(), true],
    ['an instance of a subclass that overrides nothing', new Subclass(), true],
    ['an instance of a subclass that overrides the encoders and the cost', new CountingJson(), true],
    ['an instance of a subclass that overrides encode alone', new Spaced(), false],
    ['an instance of a subclass that overrides encodeWith alone', new SpacedAround(), false],
    ['an instance with its own encode', patched, false],
    ['a wrapper', disguised(new JsonCodec()), false],
    ['a wrapper with a cost of its own', { ...disguised(new JsonCodec()), fragmentCost: (_encoded, from, to) => 6 * (to - from) }, true],
    ['an object without a prototype', Object.assign(Object.create(null) as object, disguised(new JsonCodec())), false],
  ])('`hasFragmentCost` judges %s (row %#)', (_what, codec, has) => {
    expect(hasFragmentCost(codec)).toBe(has);
    expect(fragmentCostOf('"', codec) === null).toBe(!has);
  });

  it('`splitFrame` measures other codecs by their encodings', () => {
    const frame = { type: 'data', stream: 1, payload: 'x'.repeat(500) };
    for (const slice of splitFrame(frame, 100, patched)) expect(encodedLength(patched.encode(slice))).toBeLessThanOrEqual(100);
  });
});

describe('split_frame rule 2: fits', () => {
  const fitsIn = (codec: Codec, frame: Frame, cap = MAX_FRAME_BYTES): boolean => {
    const { payload = ABSENT } = frame;
    return fits(frame, payload === ABSENT ? null : codec.encodePayload(payload), cap, codec);
  };

  it.each<[string, Frame, number]>([
    ['a small frame', { type: 'data', stream: 1, payload: { id: 1 } }, 0],
    ['a frame without payload', { type: 'ping', nonce: 'n' }, 0],
    ['plain headers', { type: 'open', stream: 1, payload: 1, headers: { op: 'x', n: 1, flag: true, none: null } }, 0],
    ['nested headers', { type: 'open', stream: 1, payload: 1, headers: { op: ['x'] } }, 1],
    ['a payload just below the cap', { type: 'data', stream: 1, payload: 'x'.repeat(65_200) }, 0],
    ['a payload too close to the cap', { type: 'data', stream: 1, payload: 'x'.repeat(65_400) }, 1],
  ])('`fits` encodes only when it must, for %s', (_what, frame, times) => {
    const codec = new CountingJson();
    const encoded = codec.encodePayload(frame.payload ?? null);
    expect(fits(frame, 'payload' in frame ? encoded : null, MAX_FRAME_BYTES, codec)).toBe(true);
    expect(codec.encoded).toBe(times);
  });

  it('`fits` encodes nothing for a payload that exceeds the cap by itself', () => {
    const codec = new CountingJson();
    expect(fitsIn(codec, { type: 'data', stream: 1, payload: 'x'.repeat(65_535) })).toBe(false);
    expect(codec.encoded).toBe(0);
  });

  it.each<[string, Codec]>([
    ['a codec with encodeWith', new CountingJson()],
    ['a codec without encodeWith', disguised(new JsonCodec())],
  ])('`fits` is exact to the byte for %s', (_what, codec) => {
    const frame = { type: 'data', stream: 1, payload: { text: '€"' }, headers: { op: 'x' } };
    const size = encodedLength(codec.encode(frame));
    expect([fitsIn(codec, frame, size), fitsIn(codec, frame, size - 1)]).toEqual([true, false]);
  });

  it('`fits` assumes no bound for a codec without a cost: its envelope may be long', () => {
    const padded: Codec = { ...disguised(new JsonCodec()), encode: (frame) => new JsonCodec().encode(frame) + ' '.repeat(1000) };
    expect([fitsIn(padded, { type: 'ping' }, 1014), fitsIn(padded, { type: 'ping' }, 1015)]).toEqual([false, true]);
  });

  it('`fits` throws the error of the codec for a header that the codec cannot carry', () => {
    expect(() => fitsIn(new JsonCodec(), { type: 'open', payload: 1, headers: { a: 1n } })).toThrow(TypeError);
  });
});

describe('Splitting, to the byte: a sender fails before it sends the first slice', () => {
  it('`checkFragmentable` encodes three envelopes and no slice when there is room', () => {
    const codec = new CountingJson();
    const frame = { type: 'open', stream: 1, payload: 'x'.repeat(1_000_000), headers: { op: 'x' } };
    checkFragmentable(frame, codec.encodePayload(frame.payload), MAX_FRAME_BYTES, codec);
    expect(codec.encoded).toBe(3);
  });

  it.each<[string, Frame, number, RegExp]>([
    [
      'no payload',
      { type: 'open', stream: 1, headers: { op: 'x'.repeat(100) } },
      100,
      /^stream 1: .*at most 100 bytes, got \d+ and no payload to cut$/,
    ],
    [
      'headers too long',
      { type: 'open', payload: 'x'.repeat(99), headers: { op: 'x'.repeat(99) } },
      100,
      /^expected a fragment with one unit .*got \d+$/,
    ],
    [
      'a wide unit far from the start',
      { type: 'data', payload: `${'x'.repeat(99)}😀${'x'.repeat(99)}` },
      44,
      /^expected a fragment with one unit .*got 45$/,
    ],
    [
      'trailers too long',
      { type: 'data', payload: 'x'.repeat(99), trailers: { t: 'x'.repeat(99) } },
      100,
      /^expected the closing fragment .*without any payload$/,
    ],
  ])('`checkFragmentable` refuses %s', (_what, frame, cap, message) => {
    const codec = new JsonCodec();
    const check = (): void => {
      checkFragmentable(frame, frame.payload === undefined ? null : codec.encodePayload(frame.payload), cap, codec);
    };
    expect(check).toThrow(ProtocolError);
    expect(check).toThrow(message);
  });
});

describe('an encoded payload without units', () => {
  it('`checkFragmentable` refuses an empty payload when headers and trailers fit only in separate frames', () => {
    const blank: Codec = { ...disguised(new JsonCodec()), encodePayload: () => '', decodePayload: () => null };
    const frame = { type: 'data', headers: { h: 'x'.repeat(40) }, trailers: { t: 'x'.repeat(40) }, payload: null };
    expect(() => {
      checkFragmentable(frame, '', 100, blank);
    }).toThrow(/^expected the closing fragment .*without any payload$/);
  });
});

describe('a codec without a cost', () => {
  it.each([57, 58, 59, 60])('A codec without a cost fills each slice up to a cap of %i bytes as one with a cost', (cap) => {
    const frame: Frame = { type: 'data', stream: 1, payload: 'abcdefghij'.repeat(3), end: true };
    expect(splitFrame(frame, cap, disguised(new JsonCodec()))).toEqual(splitFrame(frame, cap, new JsonCodec()));
  });
});

describe('the number of encodings', () => {
  it('`splitFrame` encodes only envelopes with a codec that says what fragments cost', () => {
    const codec = new CountingJson();
    expect(
      splitFrame({ type: 'open', stream: 1, payload: '"'.repeat(500_000), headers: { op: 'x' } }, MAX_FRAME_BYTES, codec),
    ).toHaveLength(31);
    expect(codec.encoded).toBe(4);
  });

  const encodings = (codec: Codec, payload: unknown): { readonly slices: number; readonly encoded: number } => {
    let encoded = 0;
    const counted = { ...disguised(codec), encode: (frame: Frame) => (encoded++, codec.encode(frame)) };
    return { slices: splitFrame({ type: 'data', stream: 1, payload }, 4096, counted).length, encoded };
  };

  it('`splitFrame` encodes five candidates a slice where units cost about the same all over a payload: it guesses by what they cost before', () => {
    const { slices, encoded } = encodings(new JsonCodec(), '"naïve"\n'.repeat(5000));
    expect(slices).toBeGreaterThan(15);
    expect(encoded).toBeLessThanOrEqual(5 * slices + 5);
  });

  it.each<[string, Codec, unknown]>([
    ['more', new StuffedCodec(), new Uint8Array(20_000).fill(0x7d)],
    ['less', new NetstringCodec(), '"'.repeat(40_000)],
  ])('`splitFrame` encodes a few dozen candidates a slice when fragments cost %s: it searches by bisection', (_how, codec, payload) => {
    const { slices, encoded } = encodings(codec, payload);
    expect(slices).toBeGreaterThan(8);
    expect(encoded).toBeLessThanOrEqual(50 * slices);
  });

  it('`splitFrame` stays within the cap for a codec that compresses, where more text may take fewer bytes', () => {
    const json = new JsonCodec();
    const runs = (text: string): string => text.replace(/(.)\1{3,}/gs, (run, unit: string) => `${unit}*${run.length}`);
    const packing: Codec = { ...disguised(json), encode: (frame) => runs(json.encode(frame)) };
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a'.repeat(30), 'b', '"'), { minLength: 80, maxLength: 120 }), (parts) => {
        const payload = parts.join('');
        const slices = splitFrame({ type: 'data', payload }, 70, packing);
        expect(Math.max(...slices.map((slice) => encodedLength(packing.encode(slice))))).toBeLessThanOrEqual(70);
        expect(slices.map((slice) => String(slice.fragment)).join('')).toBe(json.encodePayload(payload));
      }),
    );
  });
});

describe('split_frame rule 3: big payloads', () => {
  it('The slices of any text join to the encoded payload', () => {
    const codec = new JsonCodec();
    fc.assert(
      fc.property(jsonPayload(), (part) => {
        const payload = Array.from({ length: 3000 }, () => part);
        const slices = splitFrame({ type: 'data', stream: 1, payload }, 4096, codec);
        expect(slices.length).toBeGreaterThan(1);
        expect(slices.map((slice) => String(slice.fragment)).join('')).toBe(codec.encodePayload(payload));
      }),
      { numRuns: 20 },
    );
  });
});

describe('a plain slice', () => {
  const slicesFor = (codec: Codec, payload: string) => splitFrame({ type: 'data', stream: 1, payload }, 100, codec);

  it.each([
    ['plain text', 'abc '.repeat(60), true],
    ['quotes', '"'.repeat(200), false],
    ['backslashes', '\\'.repeat(200), false],
    ['text with more bytes than units', 'é'.repeat(200), false],
  ])('`splitFrame` marks a slice without escapes as plain: %s', (_, payload, plain) => {
    const slices = slicesFor(new JsonCodec(), payload).slice(1, -1);
    expect(slices.length).toBeGreaterThan(0);
    expect(new Set(slices.map(isPlain))).toEqual(new Set([plain]));
  });

  it('A slice is plain to the codec that it was cut for, and to no other', () => {
    const codec = new JsonCodec();
    const [, slice] = slicesFor(codec, 'abc '.repeat(60));
    expect([codec, new JsonCodec()].map((each) => slice !== undefined && isPlainTo(each, slice))).toEqual([true, false]);
  });

  it('JsonCodec escapes a slice that is plain only to another codec', () => {
    const bare: Codec = { ...disguised(new JsonCodec()), fragmentCost: (_encoded, from, to) => to - from };
    const [, slice] = slicesFor(bare, '"'.repeat(200));
    expect(slice !== undefined && isPlain(slice)).toBe(true);
    expect(new JsonCodec().encode(slice ?? { type: '' })).toContain(JSON.stringify(slice?.fragment));
  });

  it('`isPlain` recognises the slice itself, not an equal frame', () => {
    const [, slice] = slicesFor(new JsonCodec(), 'abc '.repeat(60));
    expect(slice !== undefined && isPlain(slice)).toBe(true);
    expect(isPlain({ ...slice, type: 'data' })).toBe(false);
  });

  it('`splitFrame` marks no slice as plain for a codec without a cost', () => {
    expect(slicesFor(disguised(new JsonCodec()), 'abc '.repeat(60)).some(isPlain)).toBe(false);
  });
});

const ROWS: readonly (readonly [string, string, number])[] = [
  ['an empty text', '', 0],
  ['ASCII', 'abc', 3],
  ['two bytes', 'é', 2],
  ['three bytes', '€', 3],
  ['a surrogate pair', '😀', 4],
  ['a lone high surrogate', '\ud83d', 3],
  ['a lone low surrogate', '\ude00', 3],
  ['halves in the wrong order', '\ude00\ud83d', 6],
  ['a mix', 'aé€😀', 10],
];

describe('Limits: encoded bytes', () => {
  it.each(ROWS)('`encodedLength` measures %s as UTF-8', (_what, text, bytes) => {
    expect(encodedLength(text)).toBe(bytes);
  });

  it('`encodedLength` measures an ArrayBuffer by its bytes', () => {
    expect(encodedLength(new ArrayBuffer(7))).toBe(7);
  });

  it.each(ROWS)('`utf8Counter` measures %s alike on a platform without Buffer', (_what, text, bytes) => {
    expect(utf8Counter({})(text)).toBe(bytes);
  });

  it('`utf8Counter` measures text of many chunks exactly, also with a surrogate pair on every edge', () => {
    const count = utf8Counter({});
    for (const shift of [0, 1, 2]) {
      const text = 'a'.repeat(shift) + '😀'.repeat(70_000) + 'é€';
      expect(count(text)).toBe(shift + 280_000 + 5);
    }
  });

  it('`encodedLength` and utf8Counter agree with the platform on any text', () => {
    const count = utf8Counter({});
    fc.assert(
      fc.property(awkwardText(), (text) => {
        const bytes = new TextEncoder().encode(text).length;
        expect([encodedLength(text), count(text)]).toEqual([bytes, bytes]);
      }),
    );
  });
});

describe('fitsWithin', () => {
  it.each([
    ['bytes at the limit', new ArrayBuffer(4), 4, true],
    ['bytes over the limit', new ArrayBuffer(5), 4, false],
    ['text that is short enough whatever its characters', 'abc', 9, true],
    ['text at the limit', '€€', 6, true],
    ['text one byte over', '€€', 5, false],
    ['text with more units than the limit', 'abcdefg', 6, false],
    ['an empty text, at a limit of 0', '', 0, true],
    ['an empty text, below 0', '', -1, false],
  ])('`fitsWithin` judges %s', (_what, message, limit, verdict) => {
    expect(fitsWithin(message, limit)).toBe(verdict);
  });

  it('`fitsWithin` agrees with the measured length', () => {
    fc.assert(
      fc.property(awkwardText(20), fc.nat(70), (text, limit) => {
        expect(fitsWithin(text, limit)).toBe(encodedLength(text) <= limit);
      }),
    );
  });
});

describe('truncateToBytes', () => {
  it.each([
    ['keeps a text that fits', 'naïve', 6, 'naïve'],
    ['cuts before the code point that does not fit', 'naïve', 3, 'na'],
    ['cuts after the last code point that fits', 'naïve', 4, 'naï'],
    ['never halves a surrogate pair', 'a😀', 4, 'a'],
    ['returns an empty text when no code point fits', '😀', 3, ''],
    ['returns an empty text for a limit below zero', 'abc', -1, ''],
  ])('`truncateToBytes` %s', (_outcome, text, limit, cut) => {
    expect(truncateToBytes(text, limit)).toBe(cut);
  });

  it('`truncateToBytes` returns the longest prefix of whole code points within the limit', () => {
    fc.assert(
      fc.property(awkwardText(), fc.nat(80), (text, limit) => {
        const characters = Array.from(text);
        let best = '';
        for (const character of characters) {
          if (encodedLength(best + character) > limit) break;
          best += character;
        }
        expect(truncateToBytes(text, limit)).toBe(best);
      }),
    );
  });
});

describe('edges of code points', () => {
  it.each([
    ['before a pair', 1, 1],
    ['inside a pair', 2, 1],
    ['after a pair', 3, 3],
    ['at the start', 0, 0],
    ['at the end', 4, 4],
  ])('`edgeBefore` finds the edge %s', (_where, at, edge) => {
    expect(edgeBefore('a😀b', at)).toBe(edge);
  });

  it.each([
    ['a single unit', 'ab', 0, 1],
    ['a pair', '😀b', 0, 2],
    ['the first possible pair', '\u{10000}', 0, 2],
    ['the last possible pair', '\u{10ffff}', 0, 2],
    ['a unit before a high surrogate', 'a\ud83d', 0, 1],
    ['two high surrogates', '\ud83d\ud83d', 0, 1],
    ['a lone high surrogate', '\ud83db', 0, 1],
    ['a high surrogate before the first unit above the low ones', '\ud83d\ue000', 0, 1],
    ['a unit before a lone low surrogate', 'a\ude00', 0, 1],
    ['a lone low surrogate', '\ude00\ude00', 0, 1],
    ['the last unit', 'ab', 1, 2],
  ])('`codePointEnd` finds the end of %s', (_what, text, at, end) => {
    expect(codePointEnd(text, at)).toBe(end);
  });
});

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
