import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { CborCodec } from '../../examples/cbor/codec.js';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { RichCodec } from '../../src/codec/rich.js';
import { Assembler } from '../../src/wire/reassembly.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { checkFragmentable, fits, splitFrame } from '../../src/wire/fragment.js';
import { ABSENT } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { encodedLength } from '../../src/wire/length.js';
import { payloadEnd, unitEdge } from '../../src/wire/fragment.js';
import {
  AsciiJsonCodec,
  CostedAsciiJsonCodec,
  CostedStuffedCodec,
  disguised,
  NetstringCodec,
  StuffedCodec,
} from '../support/codec/foreign.js';
import { binaryPayload, frames, jsonPayload, richPayload } from '../support/wire/arbitraries.js';
import { naiveSplit } from '../support/wire/naive-splitter.js';

const CODECS: readonly (readonly [string, Codec, fc.Arbitrary<unknown>, number])[] = [
  ['json', new JsonCodec(), jsonPayload(), 1000],
  ['msgpack', new MsgpackCodec(), binaryPayload(), 500],
  ['rich', new RichCodec(), richPayload(), 240],
  ['json without a cost', disguised(new JsonCodec()), jsonPayload(), 240],
  ['msgpack without a cost', disguised(new MsgpackCodec()), binaryPayload(), 240],
  ['a text codec that escapes more', new AsciiJsonCodec(), jsonPayload(), 240],
  ['a text codec that escapes more, with a cost', new CostedAsciiJsonCodec(), jsonPayload(), 240],
  ['a text codec that escapes nothing', new NetstringCodec(), jsonPayload(), 240],
  ['a binary codec whose bytes cost one or two', new StuffedCodec(), binaryPayload(), 240],
  ['a binary codec whose bytes cost one or two, with a cost', new CostedStuffedCodec(), binaryPayload(), 240],
  ['the example codec cbor', new CborCodec(), binaryPayload(), 240],
];

describe.each(CODECS.filter(([, codec]) => codec.fragmentCost !== undefined))('fragmentCost: %s', (_name, codec, payload) => {
  const message = (fragment: Message): number => encodedLength(codec.encode({ type: 'data', stream: 1, fragment }));
  const costOf = (encoded: Message, from: number, to: number): number => codec.fragmentCost?.(encoded, from, to) ?? NaN;

  it('A slice costs what its fragment adds to a message', () => {
    fc.assert(
      fc.property(payload, fc.nat(400), fc.nat(400), (value, one, other) => {
        const encoded = codec.encodePayload(value);
        const [from = 0, to = 0] = [one, other].map((at) => unitEdge(encoded, Math.min(at, payloadEnd(encoded)))).sort((a, b) => a - b);
        expect(costOf(encoded, from, to)).toBe(message(encoded.slice(from, to)) - message(encoded.slice(0, 0)));
      }),
    );
  });

  it('A text costs what its parts cost, and no unit costs less than a byte', () => {
    fc.assert(
      fc.property(payload, fc.nat(400), (value, at) => {
        const encoded = codec.encodePayload(value);
        const [middle, end] = [unitEdge(encoded, Math.min(at, payloadEnd(encoded))), payloadEnd(encoded)];
        expect(costOf(encoded, 0, end) - costOf(encoded, 0, middle)).toBeGreaterThanOrEqual(end - middle);
        if (!codec.binary) expect(costOf(encoded, 0, middle) + costOf(encoded, middle, end)).toBe(costOf(encoded, 0, end));
      }),
    );
  });
});

describe.each(CODECS)('split_frame against a naive splitter: %s', (_name, codec, payload, numRuns) => {
  const cases = fc.tuple(frames(payload), fc.integer({ min: -25, max: 40 }), fc.integer({ min: 2, max: 300 }), fc.nat(3), fc.boolean());
  const examine = (runs: number, check: (frame: Frame, cap: number, more: boolean) => void): void => {
    fc.assert(
      fc.property(cases, ([frame, slack, anyCap, quarter, more]) => {
        check(frame, quarter > 0 ? Math.max(2, envelopeSize(frame, codec) + slack) : anyCap, more);
      }),
      { numRuns: runs },
    );
  };

  it('`splitFrame` cuts at the same places as a naive splitter, or refuses the same frames', () => {
    examine(numRuns, (frame, cap) => {
      const expected = outcome(() => naiveSplit(frame, cap, codec));
      const slices = outcome(() => splitFrame(frame, cap, codec));
      expect(slices?.map((slice) => slice.fragment ?? null)).toEqual(expected?.map((slice) => slice.fragment ?? null));
      expect(slices === null || expected === null || slices.every((slice, at) => framesEqual(slice, expected[at] ?? frame))).toBe(true);
    });
  });

  it('`splitFrame` keeps every slice within the cap, and the slices reassemble to the payload', () => {
    examine(numRuns / 4, (given, cap, more) => {
      const frame = { ...given, more };
      const slices = outcome(() => splitFrame(frame, cap, codec));
      if (slices === null) return;
      const sizes = slices.map((slice) => encodedLength(codec.encode(slice)));
      expect(Math.max(...sizes)).toBeLessThanOrEqual(cap);
      if (slices[0] === frame) return;
      const assembler = new Assembler();
      const [payload, ...early] = slices.map((slice) => assembler.feed(codec.decode(codec.encode(slice)), codec)).reverse();
      expect(early.every((value) => value === ABSENT)).toBe(true);
      const sent = codec.decodePayload(codec.encodePayload(frame.payload));
      // `framesEqual` compares no Map and no Set.
      expect(codec.encodePayload(payload)).toEqual(codec.encodePayload(sent));
    });
  });

  it('`checkFragmentable` refuses the frames that splitFrame refuses, and fits predicts whether it cuts', () => {
    examine(numRuns / 4, (given, cap, more) => {
      const frame = { ...given, more };
      const { payload = ABSENT } = frame;
      const encoded = payload === ABSENT ? null : codec.encodePayload(payload);
      const whole = encodedLength(codec.encode(frame)) <= cap;
      expect(fits(frame, encoded, cap, codec)).toBe(whole);
      if (whole) return;
      const checked = outcome(() => (checkFragmentable(frame, encoded, cap, codec), true));
      expect(checked !== null).toBe(outcome(() => splitFrame(frame, cap, codec)) !== null);
    });
  });
});

function envelopeSize(frame: Frame, codec: Codec): number {
  return encodedLength(codec.encode({ ...frame, payload: ABSENT, fragment: codec.binary ? new ArrayBuffer(0) : '', more: true }));
}

function outcome<T>(action: () => T): T | null {
  try {
    return action();
  } catch (error) {
    if (error instanceof ProtocolError) return null;
    throw error;
  }
}
