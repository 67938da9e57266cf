import { encode } from '@msgpack/msgpack';
import type { Codec } from '../../../src/index.js';
import type { Message } from '../../../src/wire/codec.js';

/** Concatenates parts. A number is one byte. */
export function bytes(...parts: readonly (number | Uint8Array)[]): ArrayBuffer {
  const whole = new Uint8Array(parts.reduce<number>((size, part) => size + (typeof part === 'number' ? 1 : part.length), 0));
  let at = 0;
  for (const part of parts) {
    const piece = typeof part === 'number' ? [part] : part;
    whole.set(piece, at);
    at += piece.length;
  }
  return whole.buffer;
}

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
