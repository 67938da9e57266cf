import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import type { Codec, Message } from '../../src/wire/codec.js';
import { splitFrame } from '../../src/wire/fragment.js';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import type { Frame } from '../../src/wire/frame.js';
import { framesEqual } from '../../src/wire/mapping.js';
import { encodedLength } from '../../src/wire/length.js';
import { encodedPartOf, encodeFrame, OutgoingFrame } from '../../src/wire/outgoing.js';
import { disguised } from '../support/codec/foreign.js';

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
