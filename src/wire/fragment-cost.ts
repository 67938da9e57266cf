import type { Codec, Message } from './codec.js';
import { encodeInto } from './encode-into.js';
import type { Frame } from './frame.js';
import { codePointEnd, edgeBefore, encodedLength, MOST_BYTES_PER_UNIT } from './length.js';

/**
 * Declares that a codec class writes a text fragment as `JSON.stringify` does, or a byte fragment as a msgpack `bin`, and
 * the rest of an envelope no longer than JSON would. Its frames are then cut and measured without being encoded; every
 * other codec is measured by what it really writes.
 *
 * Holds for direct instances with the class's own `encode`: a subclass or a wrapper may write something else.
 */
export function declareFragmentCost(codecClass: { readonly prototype: Codec }): void {
  DECLARED.add(codecClass.prototype);
}

/** Whether {@link fragmentCut} is exact and `envelopeBound` holds for this codec, because its class declared it. */
export function hasFragmentCost(codec: Codec): boolean {
  return DECLARED.has(Object.getPrototypeOf(codec) as object) && !Object.hasOwn(codec, 'encode');
}

/** The longest slice that fits. */
export interface FragmentCut {
  /** Where it ends. */
  readonly end: number;
  /** Whether it is text in which nothing has to be escaped, and each unit takes one byte. */
  readonly plain: boolean;
}

/**
 * The longest slice from `from` that adds at most `budget` bytes to an envelope with an empty fragment: what
 * stands within the quotes of a JSON string, or the bytes of a msgpack `bin` and what its header grows by.
 *
 * Text is taken to be JSON: it holds neither control characters nor lone surrogates, since JSON escapes them itself.
 */
export function fragmentCut(encoded: Message, from: number, budget: number): FragmentCut {
  return typeof encoded === 'string' ? textCut(encoded, from, budget) : { end: bytesEnd(encoded, from, budget), plain: false };
}

/** Notes that the slice of a fragment frame is {@link FragmentCut.plain}: to look at it again would cost as much as sending it. */
export function markPlain(frame: Frame): void {
  PLAIN.add(frame);
}

/** Whether {@link markPlain} was told of a frame. */
export function isPlain(frame: Frame): boolean {
  return PLAIN.has(frame);
}

function textCut(encoded: string, from: number, budget: number): FragmentCut {
  const reach = Math.max(from, Math.min(from + budget, encoded.length));
  if (isPlainJson(encoded.slice(from, reach))) return { end: reach, plain: true };
  let end = from;
  let left = budget;
  // Piece by piece as long as whole ones fit: to walk through a character takes ten times as long.
  for (let to = pieceEnd(encoded, end); to > end; to = pieceEnd(encoded, end)) {
    const bytes = quotedLength(encoded.slice(end, to));
    if (bytes > left) break;
    left -= bytes;
    end = to;
  }
  while (end < encoded.length) {
    const bytes = quotedBytes(encoded, end);
    if (bytes > left) break;
    left -= bytes;
    end += bytes === 4 ? 2 : 1;
  }
  return { end, plain: false };
}

function pieceEnd(text: string, from: number): number {
  return edgeBefore(text, Math.min(from + PIECE, text.length));
}

/** Bytes that a piece of JSON text takes between quotes. */
function quotedLength(piece: string): number {
  const { written } = encodeInto(piece, BYTES);
  let escapes = 0;
  for (let at = 0; at < written; at++) if (BYTES[at] === QUOTE || BYTES[at] === BACKSLASH) escapes++;
  return written + escapes;
}

/** By three native searches, many times faster than any walk or pattern. */
function isPlainJson(text: string): boolean {
  return !text.includes('"') && !text.includes('\\') && encodedLength(text) === text.length;
}

function quotedBytes(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return unit === QUOTE || unit === BACKSLASH ? 2 : 1;
  if (unit < 0x800) return 2;
  return codePointEnd(text, at) - at === 2 ? 4 : 3;
}

// The header of a bin is 2 bytes for up to 255 bytes, 3 for up to 65 535, then 5; the empty one's 2 are in the envelope.
function bytesEnd(encoded: ArrayBuffer, from: number, budget: number): number {
  const most = Math.max(Math.min(budget, 0xff), Math.min(budget - 1, 0xffff), budget - 3, 0);
  return Math.min(from + most, encoded.byteLength);
}

const DECLARED = new WeakSet();
const PLAIN = new WeakSet<Frame>();
const PIECE = 1_024;
const BYTES = new Uint8Array(PIECE * MOST_BYTES_PER_UNIT);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
