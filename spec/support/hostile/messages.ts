import { encode } from '@msgpack/msgpack';
import type { Codec } from '../../../src/index.js';
import type { Message } from '../../../src/wire/codec.js';
import { bytes } from '../codec/values.js';

/** A value encoded by msgpack. */
export const packed = (value: unknown): Uint8Array => encode(value);

/** A map of msgpack with at most 15 entries, whose keys need not be text and may come twice. */
export const packedMap = (...entries: readonly (readonly [key: unknown, value: unknown])[]): Uint8Array =>
  new Uint8Array(bytes(0x80 + entries.length, ...entries.flat().map((part) => (part instanceof Packed ? part.bytes : packed(part)))));

/** Bytes that a {@link packedMap} copies as they are. */
export class Packed {
  constructor(readonly bytes: Uint8Array) {}
}

/** An envelope whose keys may come twice, in the order given. */
export function doubled(codec: Codec, ...entries: readonly (readonly [key: string, value: unknown])[]): Message {
  if (codec.binary) return bytes(packedMap(...entries));
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
}

/** A payload encoded and cut into `count` slices of about the same length, for `fragment`. */
export function slices(codec: Codec, payload: unknown, count: number): Message[] {
  return cut(codec.encodePayload(payload), count);
}

/** A message cut into `count` pieces of about the same length. */
export function cut(whole: Message, count: number): Message[] {
  const length = typeof whole === 'string' ? whole.length : whole.byteLength;
  return Array.from({ length: count }, (_, nth) =>
    whole.slice(Math.floor((nth * length) / count), Math.floor(((nth + 1) * length) / count)),
  );
}

/** The first slice of a list that never becomes whole. */
export function unfinished(binary: boolean): Message {
  return binary ? bytes(0x92) : '[1,';
}
