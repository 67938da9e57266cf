import { Buffer } from 'node:buffer';
import type { Message } from '../../../src/wire/codec.js';
import { isPlainObject } from '../../../src/util/check.js';
import type { Frame } from '../../../src/wire/frame.js';

/** A frame with a value in every key but `fragment`, in the reverse of the order in which a codec writes them. */
export const REVERSED: Frame = {
  trailers: { t: 1 },
  reason: 'r',
  payload: [1],
  nonce: 'n',
  more: true,
  last_stream: 7,
  headers: { h: 1 },
  end: true,
  code: 5,
  stream: 3,
  type: 'x',
};

/** Nested containers, `levels` deep. The innermost is empty. */
export function nested(levels: number, around: (inner: unknown, level: number) => unknown): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = around(value, level);
  return value;
}

/** The error of a call as text with its kind: `TypeError: …`; `returns` when it throws nothing. */
export function failureOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return String(error);
  }
  return 'returns';
}

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

/** The bytes of a message: of a text in UTF-8. */
export function messageBytes(message: Message): Buffer {
  return typeof message === 'string' ? Buffer.from(message) : Buffer.from(message);
}

/** Fails like a function of the application that a codec calls, such as a getter. */
export function failing(): never {
  throw new RangeError('of the application');
}

/** A value as it arrives where text is UTF-8: with U+FFFD for each half of a surrogate pair. */
export function utf8<T>(value: T): T {
  return mapped(value) as T;
}

function mapped(value: unknown): unknown {
  if (typeof value === 'string') return mappedText(value);
  if (Array.isArray(value)) return value.map(mapped);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [mappedText(key), mapped(each)]));
}

function mappedText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
