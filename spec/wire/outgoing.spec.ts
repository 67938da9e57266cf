import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { RichCodec } from '../../src/codec/rich.js';
import { checkedCodec, packedPayload } from '../../src/wire/codec.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { Slicer, slicerToSend, splitFrame } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { encodedLength } from '../../src/wire/length.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { encodedPartOf, encodeFrame, OutgoingFrame } from '../../src/wire/outgoing.js';
import { HeldBytes, weightOfPiece } from '../../src/wire/reassembly.js';
import { SharedEncoding, sharedSliceOf } from '../../src/wire/shared.js';
import { Sending } from '../../src/stream/sending.js';
import { isArrayBuffer } from '../../src/util/check.js';
import { disguised } from '../support/codec/foreign.js';
import fc from '../support/fast-check.js';
import { turn } from '../support/socket/leaks.js';
import { binaryPayload, frames, jsonPayload, richPayload } from '../support/wire/arbitraries.js';

const json = new JsonCodec();
const frame: Frame = { type: 'open', stream: 1, payload: { n: 1 }, headers: { op: 'x' }, end: true, reason: 'r' };

describe('OutgoingFrame', () => {
  it('An OutgoingFrame reads as an ordinary frame', () => {
    const outgoing = new OutgoingFrame(frame, json.encodePayload(frame.payload), json);
    expect(fieldsOf(outgoing)).toStrictEqual(completeFrame(frame));
    expect(framesEqual(outgoing, frame)).toBe(true);
  });

  it('An OutgoingFrame keeps the value of every field, and adds the defaults', () => {
    const full = { type: 'reset', stream: 2, headers: {}, end: true, trailers: { t: 1 }, code: 8, reason: 'r', nonce: 'n', last_stream: 4 };
    expect(fieldsOf(new OutgoingFrame(full, null))).toStrictEqual(completeFrame(full));
    expect(fieldsOf(new OutgoingFrame({ type: 'ping' }, null))).toStrictEqual(completeFrame({ type: 'ping' }));
  });

  it('An OutgoingFrame has no payload without an encoded one', () => {
    const bare = new OutgoingFrame(frame, null);
    expect([bare.payload, OutgoingFrame.encodedPayload(bare)]).toEqual([ABSENT, null]);
  });

  it.each<[string, Message | null, number]>([
    ['no payload', null, 0],
    ['text, in UTF-16 units', '"é"', 3],
    ['bytes', new ArrayBuffer(5), 5],
  ])('`roughBytes` measures %s', (_what, encoded, bytes) => {
    expect(new OutgoingFrame(frame, encoded, json).roughBytes).toBe(bytes);
  });

  it('`encodedPayload` returns the encoded payload, and null for any other frame', () => {
    expect(OutgoingFrame.encodedPayload(new OutgoingFrame(frame, '{"n":1}', json))).toBe('{"n":1}');
    expect(OutgoingFrame.encodedPayload(frame)).toBeNull();
  });
});

describe('a packed payload', () => {
  const msgpack = new MsgpackCodec();
  const packed = (): OutgoingFrame => new OutgoingFrame(frame, packedPayload(msgpack, frame.payload), msgpack);

  it('A frame keeps the view of its pool, and encodes around it', () => {
    const outgoing = packed();
    expect(OutgoingFrame.encodedPayload(outgoing, msgpack)).toBeInstanceOf(Uint8Array);
    expect(OutgoingFrame.encodedPayload(outgoing, json)).toBeNull();
    expect(encodeFrame(outgoing, msgpack)).toEqual(msgpack.encode(frame));
  });

  it('A slice of the payload has memory of its own', () => {
    const long = { type: 'data', stream: 1, payload: 'x'.repeat(300) };
    const [slice] = splitFrame(new OutgoingFrame(long, packedPayload(msgpack, long.payload), msgpack), 128, msgpack);
    expect(isArrayBuffer(slice?.fragment)).toBe(true);
  });

  it('A frame that waits leaves the pool', () => {
    const outgoing = packed();
    new Sending().add(outgoing);
    expect(isArrayBuffer(OutgoingFrame.encodedPayload(outgoing))).toBe(true);
    expect(encodeFrame(outgoing, msgpack)).toEqual(msgpack.encode(frame));
  });

  it('A subclass that overrides `encodePayload` packs nothing', () => {
    const codec = new (class extends MsgpackCodec {
      override encodePayload(payload: unknown): ArrayBuffer {
        return super.encodePayload(payload);
      }
    })();
    expect(packedPayload(codec, 1)).not.toBeInstanceOf(Uint8Array);
  });

  it('A codec that packs neither text nor bytes is refused', () => {
    const broken = Object.assign(new MsgpackCodec(), { packPayload: () => 1 });
    expect(() => packedPayload(broken as unknown as Codec, 1)).toThrow("codec 'msgpack': expected text or bytes to be encoded, got 1");
  });
});

/** A user's codec, derived from one that has `encodeWith`. */
const TAGGED: readonly (readonly [how: string, codec: Codec])[] = [
  [
    'a subclass',
    new (class extends JsonCodec {
      override encode(given: Frame): string {
        return `#${super.encode(given)}`;
      }
    })(),
  ],
  ['an object', Object.assign(new JsonCodec(), { encode: (given: Frame) => `#${json.encode(given)}` })],
];

describe('encodeFrame', () => {
  it.each(TAGGED)('`encodeFrame` calls the encode that %s overrides, not the inherited encodeWith', (_how, codec) => {
    const prepared = new OutgoingFrame(frame, codec.encodePayload(frame.payload), codec);
    expect(encodeFrame(prepared, codec)).toBe(`#${json.encode(frame)}`);
  });

  it.each<readonly [what: string, message: unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['an object', {}],
    ['an object', Promise.resolve('late')],
    ['1', 1],
  ])('`encodeFrame` throws for a codec that encodes a frame to %s', (what, message) => {
    const codec: Codec = Object.assign(new JsonCodec(), { encode: () => message });
    const error = new TypeError(`codec 'json': expected text or bytes to be encoded, got ${what}`);
    expect(() => encodeFrame(frame, codec)).toThrow(error);
  });

  it('The promise of an asynchronous codec rejects unheeded, and ends no process', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', note);
    const codec = Object.assign(new JsonCodec(), { encode: () => Promise.reject(new Error('late')) });
    expect(() => encodeFrame(frame, codec as unknown as Codec)).toThrow('text or bytes to be encoded, got an object');
    await turn();
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
  });

  it.each<readonly [what: string, message: unknown]>([
    ['bytes', new ArrayBuffer(3)],
    ['text', ''],
  ])('`encodeFrame` accepts %s', (_what, message) => {
    expect(encodeFrame(frame, Object.assign(new JsonCodec(), { encode: () => message }))).toBe(message);
  });

  it('`encodeFrame` copies a view of bytes, whose buffer may be a pool', () => {
    const pool = Uint8Array.of(1, 2, 3);
    const message = encodeFrame(frame, Object.assign(new JsonCodec(), { encode: () => pool.subarray(1) }));
    pool.fill(0);
    expect(message).toEqual(Uint8Array.of(2, 3).buffer);
  });

  it('`encodeFrame` calls the encodeWith that a subclass overrides', () => {
    class Joining extends JsonCodec {
      override encode(): string {
        throw new Error('not called');
      }

      override encodeWith(given: Frame, encodedPayload: Message): string {
        return `#${super.encodeWith(given, encodedPayload)}`;
      }
    }
    const codec = new Joining();
    expect(encodeFrame(new OutgoingFrame(frame, codec.encodePayload(frame.payload), codec), codec)).toBe(`#${json.encode(frame)}`);
  });

  it.each<[string, Codec]>([
    ['encodeWith', json],
    ['decodePayload and encode', disguised(json)],
  ])('`encodeFrame` sends the value as it was at the call, by %s', (_how, codec) => {
    const payload = { n: 1 };
    const outgoing = new OutgoingFrame({ ...frame, payload }, codec.encodePayload(payload), codec);
    payload.n = 2;
    expect(encodeFrame(outgoing, codec)).toBe(json.encode(frame));
  });

  it('`encodeFrame` restores a payload of a million items for a codec without encodeWith', () => {
    const wrapping = disguised(new MsgpackCodec());
    const encoded = wrapping.encodePayload(Array.from({ length: 1_000_000 }, () => 0));
    const message = encodeFrame(new OutgoingFrame({ type: 'data', stream: 1, payload: [] }, encoded, wrapping), wrapping);
    expect(encodedLength(message)).toBeGreaterThan(encodedLength(encoded));
  });

  it.each<[string, Codec]>([
    ['msgpack', new MsgpackCodec()],
    ['another json', new JsonCodec()],
  ])('`encodeFrame` encodes a payload that another codec had encoded again, by %s', (_which, codec) => {
    const long = { ...frame, payload: 'x'.repeat(200) };
    const observed = new OutgoingFrame(long, json.encodePayload('what json has written'), json);
    expect(encodeFrame(observed, codec)).toEqual(codec.encode(long));
    expect(splitFrame(observed, 120, codec)).toEqual(splitFrame(long, 120, codec));
  });

  it('`encodeFrame` encodes any other frame as it is', () => {
    expect(encodeFrame(frame, json)).toBe(json.encode(frame));
    expect(encodeFrame(new OutgoingFrame({ type: 'ping' }, null), json)).toBe('{"type":"ping"}');
  });
});

describe('encodedPartOf', () => {
  it.each<[string, Frame, unknown]>([
    ['the fragment of a slice', { type: 'data', fragment: 'abc' }, 'abc'],
    ['the empty fragment of a last slice', { type: 'data', fragment: '' }, ''],
    ['the payload, encoded', new OutgoingFrame({ type: 'data', payload: [1] }, '[1]', json), '[1]'],
    ['null for a frame without payload and fragment', new OutgoingFrame({ type: 'data' }, null), null],
    ['null for a frame without an encoded payload', completeFrame({ type: 'data', payload: 1 }), null],
  ])('`encodedPartOf` returns %s', (_what, carrier, part) => {
    expect(encodedPartOf(carrier)).toBe(part);
  });
});

function fieldsOf(outgoing: OutgoingFrame): object {
  return Object.fromEntries(Object.entries(outgoing));
}

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
  ['rich', () => new RichCodec(), richPayload()],
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

describe('HeldBytes', () => {
  it('HeldBytes accepts bytes up to its limit, and counts no bytes that it refuses', () => {
    const held = new HeldBytes({ maxHeldBytes: 10 });
    expect([held.take(6), held.take(5), held.take(4), held.take(1)]).toEqual([true, false, true, false]);
    expect(held.used).toBe(10);
  });

  it('HeldBytes reads its limit at each use', () => {
    const limits = { maxHeldBytes: 10 };
    const held = new HeldBytes(limits);
    expect([held.take(11), held.refusal(11)]).toEqual([false, '11 bytes held by this connection are over the limit of 10 (maxHeldBytes)']);
    limits.maxHeldBytes = 20;
    expect([held.take(11), held.take(10), held.refusal(10)]).toEqual([
      true,
      false,
      '21 bytes held by this connection are over the limit of 20 (maxHeldBytes)',
    ]);
  });

  it('HeldBytes keeps its share of the limit from the other that counts against it', () => {
    const limits = { maxHeldBytes: 16 };
    const other = new HeldBytes(limits);
    const held = new HeldBytes(limits, other, 1 / 4);
    expect([other.take(16), held.take(4), held.take(1)]).toEqual([true, true, false]);
    limits.maxHeldBytes = 20;
    expect([held.take(1), held.take(1)]).toEqual([true, false]);
  });

  it('HeldBytes accepts released bytes again', () => {
    const held = new HeldBytes({ maxHeldBytes: 10 });
    held.take(10);
    held.release(3);
    expect([held.used, held.take(4), held.take(3), held.used]).toEqual([7, false, true, 10]);
  });
});

describe('weightOfPiece()', () => {
  it.each<[what: string, piece: Message, bytes: number]>([
    ['bytes', new ArrayBuffer(10), 10],
    ['ASCII text', 'a'.repeat(10), 10],
    ['text with one character beyond ASCII', `${'a'.repeat(9)}☃`, 20],
    ['text of which each character is encoded to three bytes', '☃'.repeat(10), 30],
  ])('A piece weighs what it takes in memory: %s', (_what, piece, weight) => {
    expect(weightOfPiece(piece, encodedLength(piece))).toBe(weight);
  });
});

const CALLS = { encode: () => '', decode: () => ({ type: '' }), encodePayload: () => '', decodePayload: () => null };
const CODEC: Codec = { name: 'none', binary: false, ...CALLS };
const given = (codec: unknown): Codec => codec as Codec;

describe('checkedCodec', () => {
  it('`checkedCodec` returns a codec', () => {
    expect(checkedCodec(CODEC)).toBe(CODEC);
  });

  it.each<[unknown, string]>([
    ['json', "'json'"],
    [null, 'null'],
    [Object.assign((): null => null, { binary: false, ...CALLS }), 'a function'],
    ...Object.keys(CALLS).map((call): [unknown, string] => [{ ...CODEC, [call]: undefined }, 'an object']),
    [{ ...CODEC, name: undefined }, 'one without a name'],
    [{ ...CODEC, binary: undefined }, 'one without binary'],
  ])('`checkedCodec` throws for %p', (codec, got) => {
    expect(() => checkedCodec(given(codec))).toThrow(new TypeError(`codec: expected a codec, such as new JsonCodec(), got ${got}`));
  });
});
