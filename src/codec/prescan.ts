import { ProtocolError } from '../wire/errors.js';

/** Encodes a constant of ASCII. A module that is being loaded cannot count on a `TextEncoder`: React Native may add one later. */
export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** A text inside a msgpack value that begins with a byte order mark which a decoder would drop. */
export interface BomText {
  /** The position of its head. */
  readonly head: number;
  /** The position of its first byte. */
  readonly from: number;
  /** Its length in bytes. */
  readonly size: number;
}

// @msgpack/msgpack passes texts of more than 200 bytes to a TextDecoder. The TextDecoder takes one mark at the start of a text for a
//   signature and drops it.
const HANDED_ON_ABOVE = 200;
const MARK = [0xef, 0xbb, 0xbf] as const;
const STR_32 = 0xdb;
const STR_32_HEAD_BYTES = 5;
const MOST_ADDED = STR_32_HEAD_BYTES + MARK.length;

/** Whether the decoder would drop the start of the text of `size` bytes that begins at `from`. */
export function startsWithBom(bytes: Uint8Array, from: number, size: number): boolean {
  return size > HANDED_ON_ABOVE && MARK.every((byte, index) => bytes[from + index] === byte);
}

/** Copies a msgpack value and doubles the mark of each text, so that decoding keeps one. `texts` are in the order of their positions. */
export function withDoubledBoms(bytes: Uint8Array, texts: readonly BomText[]): Uint8Array {
  const copy = new Uint8Array(bytes.length + texts.length * MOST_ADDED);
  const view = new DataView(copy.buffer);
  let read = 0;
  let written = 0;
  for (const { head, from, size } of texts) {
    copy.set(bytes.subarray(read, head), written);
    written += head - read;
    view.setUint8(written, STR_32);
    view.setUint32(written + 1, size + MARK.length);
    copy.set(MARK, written + STR_32_HEAD_BYTES);
    written += MOST_ADDED;
    read = from;
  }
  copy.set(bytes.subarray(read), written);
  return copy.subarray(0, written + bytes.length - read);
}

/**
 * Whether `size` bytes from `from` on are well-formed UTF-8. There must be no overlong form, no half of a surrogate pair, nothing above
 * U+10FFFF, and no incomplete code point. All of these bytes must exist.
 *
 * @example
 * ```ts
 * isUtf8(Uint8Array.of(0x61, 0xc3, 0xa9), 0, 3);   // true: 'aé'
 * isUtf8(Uint8Array.of(0x61, 0xc3, 0xa9), 0, 2);   // false: the é ends too early
 * ```
 */
export function isUtf8(bytes: Uint8Array, from: number, size: number): boolean {
  const end = from + size;
  if (size > BYTE_BY_BYTE && platformCheck !== null) return platformCheck(bytes.subarray(from, end));
  let at = from;
  while (at < end) {
    const length = isWithin(bytes[at], 0, 0x7f) ? 1 : sequenceLength(bytes, at);
    at += length;
    if (length === 0 || at > end) return false;
  }
  return true;
}

// A platform call takes 0.1 µs. In that time a loop checks some hundred bytes of ASCII.
const BYTE_BY_BYTE = 128;
// The decoder makes a text, which is discarded. Decoding 16 MiB of ASCII in one piece takes four times as long as in pieces.
const PIECE = 65_536;
const platformCheck = nodeCheck() ?? decoderCheck();

type Check = (bytes: Uint8Array) => boolean;

/** The part of `process` that Node, Deno and Bun share. A page may have no `process`, or a stand-in. */
interface Platform {
  readonly process?: { getBuiltinModule?(id: string): { isUtf8?: Check } | undefined };
}

// This check makes no text. Beyond ASCII it takes a hundredth of the time of the decoder in Node 20.
function nodeCheck(): Check | undefined {
  return (globalThis as Platform).process?.getBuiltinModule?.('node:buffer')?.isUtf8;
}

// Stand-ins for a platform's decoder, as in React Native, often cannot refuse: some throw at the option, some ignore it.
function decoderCheck(): Check | null {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.fatal ? (bytes) => isDecodable(decoder, bytes) : null;
  } catch {
    return null;
  }
}

// The whole is well-formed if each piece is.
function isDecodable(decoder: TextDecoder, bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length;) {
    const to = bytes.length - at > PIECE ? edgeBefore(bytes, at + PIECE) : bytes.length;
    try {
      decoder.decode(bytes.subarray(at, to));
    } catch {
      return false;
    }
    at = to;
  }
  return true;
}

/** Returns the start of the code point around `at`; a nearby position if `at` is in no code point. */
function edgeBefore(bytes: Uint8Array, at: number): number {
  let edge = at;
  while (isContinuation(bytes[edge]) && edge > at - MOST_CONTINUATIONS) edge -= 1;
  return edge;
}

const MOST_CONTINUATIONS = 3;

/** Returns the bytes of the code point beyond ASCII that begins at `at`; 0 if none begins there. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at];
  const length = isWithin(lead, 0xc2, 0xdf) ? 2 : isWithin(lead, 0xe0, 0xef) ? 3 : isWithin(lead, 0xf0, 0xf4) ? 4 : 0;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (!isWithin(bytes[at + 1], least, most)) return 0;
  for (let next = at + 2; next < at + length; next++) if (!isContinuation(bytes[next])) return 0;
  return length;
}

function isContinuation(byte: number | undefined): boolean {
  return isWithin(byte, 0x80, 0xbf);
}

function isWithin(byte: number | undefined, least: number, most: number): boolean {
  return byte !== undefined && byte >= least && byte <= most;
}

/** The limits of a pre-scan. */
export interface PrescanLimits {
  /** How many arrays and maps may be nested, including the outermost; at most 127. */
  readonly maxDepth: number;
  /** How many values there may be in all: scalars, map keys, arrays and maps. Bytes and extensions count three times. */
  readonly maxItems: number;
  /** Whether the value is an envelope. Then the keys of the outermost map, of `headers` and of `trailers` must be text. */
  readonly envelope: boolean;
}

/** The findings that a decoder needs. */
export interface Scanned {
  /** The number of values that are bytes. */
  readonly blobs: number;
  /** The texts whose byte order mark the decoder would drop, in their order. */
  readonly bomTexts: readonly BomText[] | null;
}

const NOTHING: Scanned = { blobs: 0, bomTexts: null };

/**
 * Reads the headers and the texts of a msgpack value, and refuses a bad value before a decoder trusts its headers. The decoder makes an
 * array of the declared length before it has read an element. So 100 bytes of nested headers abort the process, and no `try` helps. A
 * limit on one length does not help either, because nesting multiplies. But every item takes at least one byte. So the missing items,
 * including newly declared ones, cannot exceed the remaining bytes.
 *
 * It also refuses texts that are not UTF-8, which the decoder would turn into some other text. It refuses a map whose keys are both
 * numbers and numerals in text: in an object, 1 and '1' are the same key.
 *
 * @throws ProtocolError when the bytes are not one complete value, or exceed `limits`; the message quotes no byte of them
 */
export function prescan(bytes: Uint8Array, limits: PrescanLimits): Scanned {
  const end = bytes.length;
  let at = 0;
  let owed = 1;
  let items = 1;
  let blobs = 0;
  let bomTexts: BomText[] | null = null;
  // The innermost open array or map: its depth, the number of items that it lacks, and the kind of its keys.
  let depth = 0;
  let lacks = 2;
  let keys = NO_KEYS;
  let inMetadata = false;
  while (owed > 0) {
    const head = at;
    const shape = SHAPES[bytes[head] ?? BEYOND_THE_END];
    if (shape === undefined || owed > end - at) throw incomplete(owed, end - at);
    const kind = shape & KIND_BITS;
    let size = shape >> SIZE_SHIFT;
    at += 1;
    owed -= 1;
    if ((shape & LENGTH_BITS) !== 0) {
      const lengthBytes = (shape & LENGTH_BITS) >> LENGTH_SHIFT;
      size += unsigned(bytes, at, lengthBytes);
      at += lengthBytes;
    }
    // Keys and values alternate: while an even number of items is missing, a key comes next.
    if (keys !== NO_KEYS && (lacks & 1) === 0) {
      keys = withKey(keys, kind === TEXT ? keyOfText(bytes, at, size) : NUMBER_KEY);
      if (depth === 1) inMetadata = isMetadataKey(bytes, at, size);
    }
    if (kind >= ARRAY) {
      if (kind === UNUSED) throw malformed('expected a msgpack value, got the byte 0xc1');
      if (depth >= limits.maxDepth) throw tooDeep(limits);
      const children = kind === MAP ? 2 * size : size;
      owed += children;
      items += children;
      if (items > limits.maxItems) throw tooMany(limits);
      if (children > 0) {
        open.setUint32(depth * OPEN_BYTES, lacks);
        open.setUint8(depth * OPEN_BYTES + KEYS_OFFSET, keys);
        const needText = limits.envelope && (depth === 0 || (depth === 1 && inMetadata));
        depth += 1;
        lacks = children;
        keys = kind === ARRAY ? NO_KEYS : needText ? TEXT_KEYS : ANY_KEYS;
        continue;
      }
    } else {
      if (kind === BYTES || kind === EXTENSION) {
        items += HEAVY_ITEMS - 1;
        if (items > limits.maxItems) throw tooMany(limits);
        if (kind === BYTES) blobs += 1;
      } else if (kind === TEXT && size <= end - at) {
        // The whole text is there. A text that ends too early is incomplete, whatever it holds.
        if (!isUtf8(bytes, at, size)) throw malformed('expected text as UTF-8, got bytes that are not');
        if (startsWithBom(bytes, at, size)) (bomTexts ??= []).push({ head, from: at, size });
      }
      at += size;
    }
    lacks -= 1;
    // The outermost level lacks two items, so the loop never leaves it.
    while (lacks === 0) {
      depth -= 1;
      lacks = open.getUint32(depth * OPEN_BYTES) - 1;
      keys = open.getUint8(depth * OPEN_BYTES + KEYS_OFFSET);
    }
  }
  if (at > end) throw incomplete(at - end, 0);
  if (at < end) throw malformed(`expected one value, got ${end - at} more bytes behind it`);
  return blobs === 0 && bomTexts === null ? NOTHING : { blobs, bomTexts };
}

// The open containers around the innermost: for each depth the missing items and the kind of keys. The buffer is kept between calls,
// because allocating it each time would cost more than the scan.
const OPEN_BYTES = 8;
const KEYS_OFFSET = 4;
const open = new DataView(new ArrayBuffer(128 * OPEN_BYTES));

/** The items that bytes and an extension count as. Bytes take 192 more than their length, for memory of their own; a date takes 104. */
export const HEAVY_ITEMS = 3;

const NO_KEYS = 0;
const ANY_KEYS = 1;
const TEXT_KEYS = 2;
const NUMBER_KEY = 4;
const NUMERAL_KEY = 8;

function withKey(keys: number, key: number): number {
  const all = keys | key;
  if ((all & NUMBER_KEY) !== 0) {
    if ((all & TEXT_KEYS) !== 0) throw malformed('expected text as each key of the envelope, of headers and of trailers, got another key');
    if ((all & NUMERAL_KEY) !== 0) throw malformed('expected keys that differ as text, got a number and a numeral in one map');
  }
  return all;
}

function keyOfText(bytes: Uint8Array, from: number, size: number): number {
  const digits = bytes[from] === MINUS ? from + 1 : from;
  for (let at = digits; at < from + size; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) return 0;
  }
  return digits < from + size ? NUMERAL_KEY : 0;
}

const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

function isMetadataKey(bytes: Uint8Array, from: number, size: number): boolean {
  return METADATA_KEYS.some((key) => key.length === size && key.every((byte, index) => bytes[from + index] === byte));
}

const METADATA_KEYS = ['headers', 'trailers'].map(ascii);

function unsigned(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = at; index < at + length; index++) value = value * 0x100 + (bytes[index] ?? 0);
  return value;
}

// The envelope adds a level, which a user does not count.
function tooDeep({ maxDepth, envelope }: PrescanLimits): ProtocolError {
  return malformed(`expected at most ${envelope ? maxDepth - 1 : maxDepth} levels of nesting, got more`);
}

function tooMany({ maxItems }: PrescanLimits): ProtocolError {
  return malformed(`expected at most ${maxItems} items (maxPayloadItems), got more`);
}

function incomplete(missing: number, left: number): ProtocolError {
  return malformed(`expected at least ${missing} more bytes, got ${Math.max(left, 0)}`);
}

/** Returns the error for msgpack that this library does not accept. */
export function malformed(text: string, options?: ErrorOptions): ProtocolError {
  return new ProtocolError(`codec 'msgpack': ${text}`, options);
}

const SCALAR = 0;
const TEXT = 1;
const BYTES = 2;
const EXTENSION = 3;
const ARRAY = 4;
const MAP = 5;
const UNUSED = 6;

// One number for each head: the kind that it starts, the number of bytes of its length, and the further size in bytes or items.
const SHAPES = new Uint16Array(256);
const BEYOND_THE_END = 256;
const KIND_BITS = 0x07;
const LENGTH_BITS = 0x38;
const LENGTH_SHIFT = 3;
const SIZE_SHIFT = 8;

function defineHeads(
  heads: readonly [first: number, last: number],
  kind: number,
  lengthBytes: (n: number) => number,
  size: (n: number) => number,
): void {
  const [first, last] = heads;
  for (let n = 0; first + n <= last; n++) SHAPES[first + n] = kind | (lengthBytes(n) << LENGTH_SHIFT) | (size(n) << SIZE_SHIFT);
}

const none = (): number => 0;
const itself = (n: number): number => n;
const doubling = (n: number): number => 1 << n;
const doublingFrom2 = (n: number): number => 2 << n;

// The remaining heads are scalars without a body.
defineHeads([0x80, 0x8f], MAP, none, itself);
defineHeads([0x90, 0x9f], ARRAY, none, itself);
defineHeads([0xa0, 0xbf], TEXT, none, itself);
defineHeads([0xc1, 0xc1], UNUSED, none, none);
defineHeads([0xc4, 0xc6], BYTES, doubling, none);
defineHeads([0xc7, 0xc9], EXTENSION, doubling, () => 1);
defineHeads([0xca, 0xcb], SCALAR, none, (n) => 4 << n);
defineHeads([0xcc, 0xcf], SCALAR, none, doubling);
defineHeads([0xd0, 0xd3], SCALAR, none, doubling);
defineHeads([0xd4, 0xd8], EXTENSION, none, (n) => 1 + doubling(n));
defineHeads([0xd9, 0xdb], TEXT, doubling, none);
defineHeads([0xdc, 0xdd], ARRAY, doublingFrom2, none);
defineHeads([0xde, 0xdf], MAP, doublingFrom2, none);
