import type { Message, PackedPayload } from './codec.js';

/** The number of encoded UTF-16 units of a text, and of the bytes that they took. */
interface Encoded {
  readonly read: number;
  readonly written: number;
}

/**
 * Encodes text as UTF-8 into `bytes`, as far as whole code points fit. Half of a surrogate pair becomes its replacement character, as
 * with `TextEncoder`. Some platforms have no `TextEncoder`: jsdom within a test runner, and some embedded engines.
 */
export const encodeInto: (text: string, bytes: Uint8Array) => Encoded =
  typeof TextEncoder === 'function' ? nativeEncodeInto(new TextEncoder()) : encodeIntoByHand;

function nativeEncodeInto(encoder: TextEncoder): typeof encodeInto {
  return (text, bytes) => encoder.encodeInto(text, bytes);
}

/** {@link encodeInto} where the platform has no `TextEncoder`. */
export function encodeIntoByHand(text: string, bytes: Uint8Array): Encoded {
  let read = 0;
  let written = 0;
  for (const character of text) {
    const encoded = utf8Of(Number(character.codePointAt(0)));
    if (written + encoded.length > bytes.length) break;
    bytes.set(encoded, written);
    written += encoded.length;
    read += character.length;
  }
  return { read, written };
}

function utf8Of(point: number): readonly number[] {
  if (point < 0x80) return [point];
  const whole = point >= 0xd800 && point <= 0xdfff ? REPLACEMENT : point;
  const behind = whole < 0x800 ? 1 : whole < 0x10000 ? 2 : 3;
  const bytes = [((0xff00 >> (behind + 1)) & 0xff) | (whole >> (6 * behind))];
  for (let shift = 6 * (behind - 1); shift >= 0; shift -= 6) bytes.push(0x80 | ((whole >> shift) & 0x3f));
  return bytes;
}

const REPLACEMENT = 0xfffd;

/**
 * Measures a message or an encoded payload in bytes: text as UTF-8, bytes by their length. Every size limit of this library is in
 * this unit. A lone surrogate counts as the 3 bytes of its replacement character.
 *
 * @example
 * ```ts
 * encodedLength('naïve 😀');             // 11
 * encodedLength(new ArrayBuffer(5));     // 5
 * ```
 */
export function encodedLength(message: Message | Uint8Array): number {
  return typeof message === 'string' ? utf8Length(message) : message.byteLength;
}

/** Whether a message takes at most `limit` bytes. Text is measured only if its length does not decide. */
export function fitsWithin(message: PackedPayload, limit: number): boolean {
  if (typeof message !== 'string') return message.byteLength <= limit;
  if (message.length * MOST_BYTES_PER_UNIT <= limit) return true;
  return message.length <= limit && utf8Length(message) <= limit;
}

/**
 * Cuts text to at most `maxBytes` bytes of UTF-8, never inside a code point.
 *
 * @example
 * ```ts
 * truncateToBytes('naïve', 3);   // 'na': the ï takes bytes 3 and 4
 * ```
 */
export function truncateToBytes(text: string, maxBytes: number): string {
  if (fitsWithin(text, maxBytes)) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Length(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** The part of a global scope that {@link utf8Counter} uses: the `Buffer` of Node, or an object that counts as `Buffer` does. */
export interface ByteCountingScope {
  readonly Buffer?: { byteLength(text: string): number } | undefined;
}

/**
 * Chooses how UTF-8 bytes are counted. With a `Buffer` in the scope, the platform counts. Otherwise the counter encodes into one small
 * reused buffer, so a long text takes no more memory than a short one.
 */
export function utf8Counter(scope: ByteCountingScope): (text: string) => number {
  const { Buffer } = scope;
  if (Buffer !== undefined) return (text) => Buffer.byteLength(text);
  const scratch = new Uint8Array(CHUNK_UNITS * MOST_BYTES_PER_UNIT);
  return (text) => {
    let bytes = 0;
    for (let from = 0; from < text.length;) {
      const to = edgeBefore(text, Math.min(from + CHUNK_UNITS, text.length));
      bytes += encodeInto(text.slice(from, to), scratch).written;
      from = to;
    }
    return bytes;
  };
}

/** Returns the last boundary between code points at or before `at`. */
export function edgeBefore(text: string, at: number): number {
  return splitsPair(text, at) ? at - 1 : at;
}

/** Returns the end of the code point that starts at `at`. */
export function codePointEnd(text: string, at: number): number {
  return splitsPair(text, at + 1) ? at + 2 : at + 1;
}

// These are UTF-16 units. Out of range, charCodeAt returns NaN and every comparison below is false.
function splitsPair(text: string, at: number): boolean {
  const low = text.charCodeAt(at);
  if (!(low >= 0xdc00 && low <= 0xdfff)) return false;
  const high = text.charCodeAt(at - 1);
  return high >= 0xd800 && high <= 0xdbff;
}

/** Large enough for the text of any honest message: one call counts it. */
const CHUNK_UNITS = 65_536;
/** The most UTF-8 bytes that one UTF-16 unit of a text takes. */
export const MOST_BYTES_PER_UNIT = 3;
const utf8Length = utf8Counter(globalThis);
