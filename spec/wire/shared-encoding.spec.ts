import { describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { slicerToSend } from '../../src/wire/fragment.js';
import { Slicer } from '../../src/wire/fragment.js';
import type { Frame } from '../../src/wire/frame.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { SharedEncoding, sharedSliceOf } from '../../src/wire/shared.js';
import { disguised } from '../support/codec/foreign.js';
import { binaryPayload, frames, jsonPayload } from '../support/wire/arbitraries.js';

/** The slices of a frame, or the message of the error. */
function cut(
  frame: Frame,
  cap: number,
  codec: Codec,
  shared: SharedEncoding | null,
  encoded = codec.encodePayload(frame.payload),
): unknown {
  const slices: Frame[] = [];
  try {
    const outgoing = new OutgoingFrame(frame, encoded, codec);
    const unshared = slicerToSend(outgoing, cap, codec);
    const slicer = unshared === null || shared === null ? unshared : new Slicer(outgoing, encoded, cap, codec, shared);
    while (slicer?.done === false) slices.push(slicer.next());
    return slices;
  } catch (error) {
    if (error instanceof ProtocolError) return [slices, error.message];
    throw error;
  }
}

/** A codec that counts what it measures and encodes. */
function counting(codec: Codec & Required<Pick<Codec, 'fragmentCost'>>): {
  readonly codec: Codec;
  readonly calls: { cost: number; payload: number };
} {
  const calls = { cost: 0, payload: 0 };
  const fragmentCost = codec.fragmentCost.bind(codec);
  const encodePayload = codec.encodePayload.bind(codec);
  codec.fragmentCost = (...args) => {
    calls.cost++;
    return fragmentCost(...args);
  };
  codec.encodePayload = (payload) => {
    calls.payload++;
    return encodePayload(payload);
  };
  return { codec, calls };
}

const CODECS = [
  ['json', () => new JsonCodec(), jsonPayload()],
  ['msgpack', () => new MsgpackCodec(), binaryPayload()],
] as const;

describe.each(CODECS)('The slices of a shared payload under %s', (_name, make, payload) => {
  it('Frames with any ids, headers and caps are cut as if their payload were not shared', () => {
    const codec = make();
    const alike = fc.array(fc.tuple(frames(fc.constant(null)), fc.integer({ min: 60, max: 400 })), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(payload, alike, (value, all) => {
        const shared = new SharedEncoding(codec.encodePayload(value), codec);
        for (const [fields, cap] of all) {
          const frame = { ...fields, payload: value };
          expect(cut(frame, cap, codec, shared, shared.encoded)).toEqual(cut(frame, cap, codec, null));
        }
      }),
    );
  });

  it('The second frame with an id of the same length measures and encodes no slice', () => {
    const { codec, calls } = counting(make());
    const value = 'a "quoted" text '.repeat(2_000);
    const shared = new SharedEncoding(codec.encodePayload(value), codec);
    const parts = [1, 3, 5].map((stream) => {
      const slices = cut({ type: 'data', stream, payload: value }, 1_000, codec, shared, shared.encoded) as Frame[];
      const made = slices.map((slice) => sharedSliceOf(slice)?.part);
      return { made, calls: { ...calls } };
    });
    const [first, second, third] = parts;
    expect(first?.made.length).toBeGreaterThan(30);
    expect(first?.made).not.toContain(undefined);
    expect(second).toEqual(first);
    second?.made.forEach((part, n) => {
      expect(part).toBe(first?.made[n]);
      expect(third?.made[n]).toBe(part);
    });
  });

  it('A position keeps at most 8 slices, and cuts the others anew', () => {
    const codec = make();
    const shared = new SharedEncoding(codec.encodePayload('x'.repeat(500)), codec);
    const made = (budget: number): unknown => shared.slice(0, budget, () => ({ end: budget, plain: false }));
    const first = Array.from({ length: 9 }, (_, n) => made(n + 1));
    const again = Array.from({ length: 9 }, (_, n) => made(n + 1));
    expect(again.map((slice, n) => slice === first[n])).toEqual([...Array<boolean>(8).fill(true), false]);
    expect(again).toEqual(first);
  });
});

describe('A shared payload', () => {
  it('A codec without a cost of fragments cuts a shared payload without sharing slices', () => {
    const codec = disguised(new JsonCodec());
    const shared = new SharedEncoding(codec.encodePayload('x'.repeat(500)), codec);
    const frame = { type: 'data', stream: 1, payload: 'x'.repeat(500) };
    const slices = cut(frame, 200, codec, shared, shared.encoded) as Frame[];
    expect(slices).toEqual(cut(frame, 200, codec, null));
    expect(slices.map(sharedSliceOf)).toEqual(slices.map(() => null));
  });
});
