import { mayBeIndex } from './json-check.js';

// Most messages are small and plain: short ASCII texts, numbers, booleans, `null`, short arrays and literals. One pass writes such a value, and
// one pass checks and reads it. Either pass stops at anything else, and the general way then takes the whole value.

/** The most items of an array or a literal with a header of one byte. */
const MOST_ITEMS = 15;
/** The most bytes of a text with a header of one byte, and with one of two. */
const [MOST_SHORT_BYTES, MOST_TEXT_BYTES] = [31, 255];
/** Far below the nesting that the codec allows. */
const MOST_LEVELS = 32;
const MOST_BYTES = 4096;
/** The most bytes of a number, `null` or a header. A text checks its own room. */
const MOST_HEAD_BYTES = 9;

const [FIXMAP, FIXARRAY, FIXSTR] = [0x80, 0x90, 0xa0];
const [NIL, FALSE, TRUE] = [0xc0, 0xc2, 0xc3];
const [UINT_8, UINT_16, UINT_32] = [0xcc, 0xcd, 0xce];
const [INT_8, INT_16, INT_32] = [0xd0, 0xd1, 0xd2];
const [FLOAT_64, STR_8] = [0xcb, 0xd9];
const NEGATIVE_FIXINT = 0xe0;

const scratch = new Uint8Array(MOST_BYTES);
const scratchView = new DataView(scratch.buffer);
let written = 0;
/** Whether a pass writes. A getter of the value may encode another value, which then goes the general way. */
let isWriting = false;

/**
 * Encodes a small plain value. Returns `null` for every other value, which may be valid or not.
 *
 * @example
 * ```ts
 * encodePlain({ id: 1 });      // 81 a2 69 64 01
 * encodePlain(new Date());     // null
 * ```
 */
export function encodePlain(value: unknown): ArrayBuffer | null {
  if (isWriting) return null;
  written = 0;
  isWriting = true;
  try {
    return put(value, MOST_LEVELS) ? scratch.buffer.slice(0, written) : null;
  } finally {
    isWriting = false;
  }
}

function put(value: unknown, levels: number): boolean {
  if (written > MOST_BYTES - MOST_HEAD_BYTES) return false;
  switch (typeof value) {
    case 'string':
      return putText(value);
    case 'number':
      return putNumber(value);
    case 'boolean':
      scratch[written++] = value ? TRUE : FALSE;
      return true;
    case 'object':
      if (value === null) {
        scratch[written++] = NIL;
        return true;
      }
      return levels > 0 && putContainer(value, levels - 1);
    default:
      return false;
  }
}

/** `toJSON` may replace an array or a literal, and a tag makes it another kind of object. */
interface Tagged {
  readonly toJSON?: unknown;
  readonly [Symbol.toStringTag]?: unknown;
}

function putContainer(value: object & Tagged, levels: number): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== Array.prototype) || value.toJSON !== undefined) return false;
  if (Array.isArray(value)) return prototype === Array.prototype && putArray(value, levels);
  return prototype === Object.prototype && value[Symbol.toStringTag] === undefined && putLiteral(value as Record<string, unknown>, levels);
}

function putArray(items: readonly unknown[], levels: number): boolean {
  if (items.length > MOST_ITEMS) return false;
  scratch[written++] = FIXARRAY | items.length;
  for (const item of items) if (!put(item === undefined ? null : item, levels)) return false;
  return true;
}

function putLiteral(literal: Readonly<Record<string, unknown>>, levels: number): boolean {
  const head = written++;
  let entries = 0;
  for (const key of Object.keys(literal)) {
    // Read once: a getter may return another value the next time.
    const value = literal[key];
    if (value === undefined) continue;
    if (++entries > MOST_ITEMS || key === '__proto__' || !putText(key) || !put(value, levels)) return false;
  }
  scratch[head] = FIXMAP | entries;
  return true;
}

function putText(text: string): boolean {
  const { length } = text;
  if (length > MOST_TEXT_BYTES || written + 2 + length > MOST_BYTES) return false;
  if (length > MOST_SHORT_BYTES) {
    scratch[written++] = STR_8;
    scratch[written++] = length;
  } else scratch[written++] = FIXSTR | length;
  for (let n = 0; n < length; n++) {
    const unit = text.charCodeAt(n);
    if (unit > 0x7f) return false;
    scratch[written++] = unit;
  }
  return true;
}

function putNumber(value: number): boolean {
  if (!Number.isInteger(value)) {
    scratch[written] = FLOAT_64;
    scratchView.setFloat64(written + 1, value);
    written += 9;
    return true;
  }
  if (value >= 0 ? value > 0xffffffff || Object.is(value, -0) : value < -0x80000000) return false;
  if (value >= 0) putUnsigned(value);
  else putNegative(value);
  return true;
}

function putUnsigned(value: number): void {
  if (value < 0x80) scratch[written++] = value;
  else if (value < 0x100) {
    scratch[written++] = UINT_8;
    scratch[written++] = value;
  } else if (value < 0x10000) {
    scratch[written] = UINT_16;
    scratchView.setUint16(written + 1, value);
    written += 3;
  } else {
    scratch[written] = UINT_32;
    scratchView.setUint32(written + 1, value);
    written += 5;
  }
}

function putNegative(value: number): void {
  if (value >= -0x20) scratch[written++] = NEGATIVE_FIXINT | (value + 0x20);
  else if (value >= -0x80) {
    scratch[written] = INT_8;
    scratchView.setInt8(written + 1, value);
    written += 2;
  } else if (value >= -0x8000) {
    scratch[written] = INT_16;
    scratchView.setInt16(written + 1, value);
    written += 3;
  } else {
    scratch[written] = INT_32;
    scratchView.setInt32(written + 1, value);
    written += 5;
  }
}

/** {@link decodePlain} returns this for a value that it does not read. */
export const NOT_PLAIN: unique symbol = Symbol('NOT_PLAIN');

let read: Uint8Array = scratch;
let readView: DataView = scratchView;
let at = 0;
/** The same bytes as text, one unit for each. */
let units = '';
/** The keys of earlier values, by their place in the value: a page of objects has the same keys in the same order. */
const KNOWN_KEYS: string[] = [];
const MOST_KNOWN_KEYS = 64;
let keyPlace = 0;

/**
 * Decodes a small plain value. Returns {@link NOT_PLAIN} for every other message, which may be valid or not.
 *
 * @example
 * ```ts
 * decodePlain(Uint8Array.of(0x81, 0xa2, 0x69, 0x64, 0x01));   // { id: 1 }
 * decodePlain(Uint8Array.of(0xc1));                           // NOT_PLAIN
 * ```
 */
export function decodePlain(bytes: Uint8Array): unknown {
  if (bytes.length > MOST_BYTES) return NOT_PLAIN;
  read = bytes;
  readView = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  units = unitsOf(bytes, 0, bytes.length);
  at = keyPlace = 0;
  const value = take(MOST_LEVELS);
  const isWhole = at === bytes.length;
  // Keeps no message alive.
  read = scratch;
  readView = scratchView;
  units = '';
  return isWhole ? value : NOT_PLAIN;
}

function take(levels: number): unknown {
  if (at >= read.length) return NOT_PLAIN;
  const head = readView.getUint8(at++);
  if (head < FIXMAP) return head;
  if (head >= NEGATIVE_FIXINT) return head - 0x100;
  if (head < FIXARRAY) return levels === 0 ? NOT_PLAIN : takeLiteral(head - FIXMAP, levels - 1);
  if (head < FIXSTR) return levels === 0 ? NOT_PLAIN : takeArray(head - FIXARRAY, levels - 1);
  if (head < NIL) return takeText(head - FIXSTR);
  return takeScalar(head);
}

function takeScalar(head: number): unknown {
  const from = at;
  switch (head) {
    case NIL:
      return null;
    case FALSE:
      return false;
    case TRUE:
      return true;
    case UINT_8:
      return skip(1) ? readView.getUint8(from) : NOT_PLAIN;
    case UINT_16:
      return skip(2) ? readView.getUint16(from) : NOT_PLAIN;
    case UINT_32:
      return skip(4) ? readView.getUint32(from) : NOT_PLAIN;
    case INT_8:
      return skip(1) ? readView.getInt8(from) : NOT_PLAIN;
    case INT_16:
      return skip(2) ? readView.getInt16(from) : NOT_PLAIN;
    case INT_32:
      return skip(4) ? readView.getInt32(from) : NOT_PLAIN;
    case FLOAT_64:
      return skip(8) ? readView.getFloat64(from) : NOT_PLAIN;
    case STR_8:
      return skip(1) ? takeText(readView.getUint8(from)) : NOT_PLAIN;
    default:
      return NOT_PLAIN;
  }
}

function skip(bytes: number): boolean {
  at += bytes;
  return at <= read.length;
}

function takeArray(length: number, levels: number): unknown {
  const items: unknown[] = [];
  for (let n = 0; n < length; n++) {
    const item = take(levels);
    if (item === NOT_PLAIN) return NOT_PLAIN;
    items.push(item);
  }
  return items;
}

function takeLiteral(length: number, levels: number): unknown {
  const literal: Record<string, unknown> = {};
  for (let n = 0; n < length; n++) {
    const key = takeKey();
    const value = key === null ? NOT_PLAIN : take(levels);
    if (key === null || value === NOT_PLAIN) return NOT_PLAIN;
    literal[key] = value;
  }
  return literal;
}

function takeText(length: number): unknown {
  const from = at;
  if (!skip(length) || !isAscii(from, at)) return NOT_PLAIN;
  // V8 cuts a long text out of the whole message, and keeps all of it alive.
  return length < COPIED_UNITS ? units.slice(from, at) : unitsOf(read, from, at);
}

/** V8 copies texts below this length. */
const COPIED_UNITS = 13;

/** Returns the next key, or `null` for a key that the general way reads: an index, `__proto__`, no text, and text beyond ASCII. */
function takeKey(): string | null {
  if (at >= read.length) return null;
  const length = readView.getUint8(at++) - FIXSTR;
  const from = at;
  if (length <= 0 || length > MOST_SHORT_BYTES || !skip(length)) return null;
  const place = keyPlace++;
  const known = KNOWN_KEYS[place];
  if (known !== undefined && isKey(known, from, length)) return known;
  if (!isAscii(from, at)) return null;
  const key = unitsOf(read, from, at);
  if (mayBeIndex(key) || key === '__proto__') return null;
  if (place < MOST_KNOWN_KEYS) KNOWN_KEYS[place] = key;
  return key;
}

function isKey(key: string, from: number, length: number): boolean {
  if (key.length !== length) return false;
  for (let n = 0; n < length; n++) if (read[from + n] !== key.charCodeAt(n)) return false;
  return true;
}

function isAscii(from: number, to: number): boolean {
  for (let n = from; n < to; n++) if (readView.getUint8(n) > 0x7f) return false;
  return true;
}

/** The bytes of a range as text, one UTF-16 unit for each. */
const unitsOf =
  platformUnits() ?? ((bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to)));

/** Node, Deno and Bun copy bytes to a text in one call. */
function platformUnits(): ((bytes: Uint8Array, from: number, to: number) => string) | null {
  const { Buffer: NodeBuffer }: { readonly Buffer?: { readonly prototype: { readonly latin1Slice?: LatinSlice } } } = globalThis;
  const slice = NodeBuffer?.prototype.latin1Slice;
  return slice === undefined ? null : (bytes, from, to) => slice.call(bytes, from, to);
}

type LatinSlice = (this: Uint8Array, from: number, to: number) => string;
