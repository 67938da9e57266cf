import { describe, expect, it } from '@jest/globals';
import { encode } from '@msgpack/msgpack';
import { MsgpackCodec } from '../../src/codec/msgpack.js';
import { encodePlain } from '../../src/codec/msgpack-plain.js';

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
    expect(Buffer.from(encoded ?? new ArrayBuffer(0)).equals(expected(text))).toBe(true);
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
    expect(Buffer.from(encoded ?? new ArrayBuffer(0)).equals(expected(view))).toBe(true);
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
    const before = Buffer.from(first ?? new ArrayBuffer(0)).toString('hex');
    encodePlain('y'.repeat(BULK));
    encodePlain(new Uint8Array(2 * BULK).fill(9));
    expect(Buffer.from(first ?? new ArrayBuffer(0)).toString('hex')).toBe(before);
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
