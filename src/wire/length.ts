import type { Message } from './codec.js';
import { encodeInto } from './encode-into.js';

/**
 * Measures a message or an encoded payload in bytes: text as UTF-8, an ArrayBuffer as it is. Every size limit of this
 * library is in this unit. A lone surrogate counts the 3 bytes of its replacement character.
 *
 * @example
 * ```ts
 * encodedLength('naïve 😀');             // 11
 * encodedLength(new ArrayBuffer(5));     // 5
 * ```
 */
export function encodedLength(message: Message): number {
  return typeof message === 'string' ? utf8Length(message) : message.byteLength;
}

/** Whether a message is at most `limit` bytes long; text is measured only when its length alone does not tell. */
export function fitsWithin(message: Message, limit: number): boolean {
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

/** What {@link utf8Counter} looks for in a global scope: Node's `Buffer`, or anything that counts as it does. */
export interface ByteCountingScope {
  readonly Buffer?: { byteLength(text: string): number } | undefined;
}

/**
 * Chooses how UTF-8 bytes are counted: natively where the scope has a `Buffer`, else by encoding into one small reused
 * buffer, so that no more memory is taken for a long text than for a short one.
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

/** The last boundary between code points at or before `at`. */
export function edgeBefore(text: string, at: number): number {
  return splitsPair(text, at) ? at - 1 : at;
}

/** The end of the code point that starts at `at`. */
export function codePointEnd(text: string, at: number): number {
  return splitsPair(text, at + 1) ? at + 2 : at + 1;
}

// UTF-16 units; out of range, charCodeAt is NaN and every comparison below is false.
function splitsPair(text: string, at: number): boolean {
  const low = text.charCodeAt(at);
  if (!(low >= 0xdc00 && low <= 0xdfff)) return false;
  const high = text.charCodeAt(at - 1);
  return high >= 0xd800 && high <= 0xdbff;
}

/** Holds the text of any honest message: one call counts it. */
const CHUNK_UNITS = 65_536;
/** UTF-8 bytes that one UTF-16 unit of a text takes at most. */
export const MOST_BYTES_PER_UNIT = 3;
const utf8Length = utf8Counter(globalThis);
