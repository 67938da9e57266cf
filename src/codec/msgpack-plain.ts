import { isPlainObject } from '../util/check.js';
import { ABSENT, hasOnlyContent, payloadFrame } from '../wire/frame.js';
import type { CompleteFrame, Frame, Metadata } from '../wire/frame.js';
import { MOST_BYTES_PER_UNIT, encodeInto, encodedLength } from '../wire/length.js';
import { isBare, mayBeIndex } from './json-check.js';
import { wellFormed } from './plain-copy.js';
import { HEAVY_ITEMS, ascii, isUtf8 } from './prescan.js';

// Most values are plain: texts, numbers, booleans, `null`, arrays and literals. One pass writes such a value, and one pass checks and reads
// it. Either pass stops at anything else, and the general way then takes the whole value. The envelopes of most frames are written and read
// in the same way.

/** A codec keeps no buffer of more bytes than this. */
export const KEPT_BYTES = 1024 * 1024;

/** Far below the nesting that the codec allows. */
const MOST_LEVELS = 32;
/** The most bytes of a number, or of the header of a text, an array or a map. */
const MOST_HEAD_BYTES = 9;
/** A native call writes or checks a longer text faster than a loop over its characters. */
const MOST_LOOPED = 40;

const [FIXMAP, FIXARRAY, FIXSTR, NEGATIVE_FIXINT] = [0x80, 0x90, 0xa0, 0xe0];
const [NIL, FALSE, TRUE] = [0xc0, 0xc2, 0xc3];
const [UINT_8, UINT_16, UINT_32, UINT_64] = [0xcc, 0xcd, 0xce, 0xcf];
const [INT_8, INT_16, INT_32, INT_64] = [0xd0, 0xd1, 0xd2, 0xd3];
const [FLOAT_32, FLOAT_64] = [0xca, 0xcb];
const [STR_8, STR_16, STR_32] = [0xd9, 0xda, 0xdb];
const [ARRAY_16, ARRAY_32, MAP_16, MAP_32] = [0xdc, 0xdd, 0xde, 0xdf];
const [BIN_8, BIN_16, BIN_32] = [0xc4, 0xc5, 0xc6];
const TWO_32 = 2 ** 32;

/** The methods of a Buffer that work on any bytes. Node, Deno and Bun have them. */
interface NativeText {
  /** workerd needs the `length`, and refuses one beyond the end. */
  utf8Write(this: Uint8Array, text: string, at: number, length: number): number;
  utf8Slice(this: Uint8Array, from: number, to: number): string;
  latin1Slice(this: Uint8Array, from: number, to: number): string;
}

interface Native extends NativeText {
  /** Copies bytes to the pool of Buffers, if they are few. */
  readonly from: (bytes: Uint8Array) => Uint8Array;
}

const native = nativeText();

function nativeText(): Native | null {
  const { Buffer: NodeBuffer }: { readonly Buffer?: Pick<Native, 'from'> & { readonly prototype: Partial<NativeText> } } = globalThis;
  const { utf8Write, utf8Slice, latin1Slice } = NodeBuffer?.prototype ?? {};
  return NodeBuffer && utf8Write && utf8Slice && latin1Slice ? { from: NodeBuffer.from, utf8Write, utf8Slice, latin1Slice } : null;
}

const newScratch = (bytes: number): DataView<ArrayBuffer> => new DataView(new ArrayBuffer(bytes));
const SCRATCH_BYTES = 4096;
let view = newScratch(SCRATCH_BYTES);
let scratch = new Uint8Array(view.buffer);
let written = 0;
/** Whether a pass writes. A getter of the value may encode another value, which then goes the general way. */
let isWriting = false;

/**
 * Encodes a plain value. On Node a small one is a view of a pool, whose bytes do not change. Returns `null` for every other value, which may be
 * valid or not.
 *
 * @example
 * ```ts
 * encodePlain({ id: 1 });      // 81 a2 69 64 01
 * encodePlain(new Date());     // null
 * ```
 */
export function encodePlain(value: unknown): ArrayBuffer | Uint8Array | null {
  if (!beginWrite()) return null;
  try {
    if (!put(value, MOST_LEVELS)) return null;
    if (native && written < SCRATCH_BYTES) return native.from(scratch.subarray(0, written));
    if (written < scratch.length) return scratch.buffer.slice(0, written);
    // The room was made for one long text, or for bytes. It is full, so no copy is needed.
    const { buffer } = scratch;
    useScratch(newScratch(SCRATCH_BYTES));
    return buffer;
  } finally {
    endWrite();
  }
}

function beginWrite(): boolean {
  if (isWriting) return false;
  written = 0;
  return (isWriting = true);
}

function endWrite(): void {
  isWriting = false;
  if (scratch.length > KEPT_BYTES) useScratch(newScratch(SCRATCH_BYTES));
}

function useScratch(next: DataView<ArrayBuffer>): void {
  view = next;
  scratch = new Uint8Array(next.buffer);
}

/** Makes room for `bytes` more. */
function reserve(bytes: number): void {
  if (written + bytes > scratch.length) grow(bytes);
}

function grow(bytes: number): void {
  const before = scratch;
  useScratch(newScratch(Math.max(2 * before.length, written + bytes)));
  scratch.set(before);
}

function put(value: unknown, levels: number): boolean {
  if (typeof value === 'string') {
    putText(value);
    return true;
  }
  reserve(MOST_HEAD_BYTES);
  switch (typeof value) {
    case 'number':
      return putNumber(value);
    case 'boolean':
      scratch[written++] = value ? TRUE : FALSE;
      return true;
    case 'object':
      if (value !== null) return levels > 0 && putContainer(value, levels - 1);
      scratch[written++] = NIL;
      return true;
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
  if (prototype !== Object.prototype && prototype !== Array.prototype) {
    if (value instanceof Uint8Array) return putBin(value);
    return value instanceof ArrayBuffer && putBin(new Uint8Array(value));
  }
  if (value.toJSON !== undefined) return false;
  if (Array.isArray(value)) return prototype === Array.prototype && putArray(value, levels);
  return prototype === Object.prototype && value[Symbol.toStringTag] === undefined && putLiteral(value as Metadata, levels);
}

function putArray(items: readonly unknown[], levels: number): boolean {
  const { length } = items;
  putHead(length, FIXARRAY, 15, ARRAY_16);
  let left = length;
  for (const item of items) {
    // A getter may add items, and the header counts them no more.
    if (left-- === 0 || !put(item === undefined ? null : item, levels)) return false;
  }
  return left === 0;
}

function putLiteral(literal: Readonly<Metadata>, levels: number): boolean {
  const keys = Object.keys(literal);
  const head = written;
  putHead(keys.length, FIXMAP, 15, MAP_16);
  const from = written;
  let entries = 0;
  for (const key of keys) {
    // Read once: a getter may return another value the next time.
    const value = literal[key];
    if (value === undefined) continue;
    entries++;
    if (key === '__proto__') return false;
    // Two keys with halves of surrogate pairs may become equal.
    if ((!putText(key) && wellFormed(key) !== key) || !put(value, levels)) return false;
  }
  if (entries < keys.length) {
    const to = written;
    written = head;
    putHead(entries, FIXMAP, 15, MAP_16);
    scratch.copyWithin(written, from, to);
    written += to - from;
  }
  return true;
}

/** Writes one byte, and the lowest `bits` of a number behind it. The room is there. */
function putBits(head: number, bits: number, value: number): void {
  scratch[written++] = head;
  for (let place = bits - 8; place >= 0; place -= 8) scratch[written++] = value >>> place;
}

/** Writes a header with a size: in one byte up to `most`, else as the type `wide` or the type behind it. The room for it is there. */
function putHead(size: number, fix: number, most: number, wide: number): void {
  const step = Number(size > 0xffff);
  if (size <= most) scratch[written++] = fix | size;
  else putBits(wide + step, 16 << step, size);
}

function textHeadBytes(bytes: number): number {
  return bytes <= 31 ? 1 : bytes <= 0xff ? 2 : bytes <= 0xffff ? 3 : 5;
}

function putTextHead(bytes: number): void {
  if (bytes > 31 && bytes <= 0xff) putBits(STR_8, 8, bytes);
  else putHead(bytes, FIXSTR, 31, STR_16);
}

/** Writes a text, and returns whether it is ASCII. */
function putText(text: string): boolean {
  const { length } = text;
  if (length < SCRATCH_BYTES) reserve(MOST_HEAD_BYTES + length * MOST_BYTES_PER_UNIT);
  else reserveText(encodedLength(text));
  const head = written;
  putTextHead(length);
  const from = written;
  if (length <= MOST_LOOPED && putAscii(text)) return true;
  const bytes = native?.utf8Write.call(scratch, text, from, scratch.length - from) ?? encodeInto(text, scratch.subarray(from)).written;
  if (bytes > length) {
    // The header counts bytes, so it may be longer.
    scratch.copyWithin(head + textHeadBytes(bytes), from, from + bytes);
    written = head;
    putTextHead(bytes);
  }
  written += bytes;
  return bytes === length;
}

function reserveText(bytes: number): void {
  reserve(textHeadBytes(bytes) + bytes);
}

function putAscii(text: string): boolean {
  const bytes = scratch;
  let to = written;
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n);
    if (unit > 0x7f) return false;
    bytes[to++] = unit;
  }
  written = to;
  return true;
}

function putNumber(value: number): boolean {
  if (!Number.isSafeInteger(value)) {
    scratch[written] = FLOAT_64;
    view.setFloat64(written + 1, value);
    written += 9;
    return true;
  }
  if (value < 0) putNegative(value);
  else if (Object.is(value, -0)) return false;
  else putUnsigned(value);
  return true;
}

function putUnsigned(value: number): void {
  if (value < 0x80) scratch[written++] = value;
  else if (value < 0x100) putBits(UINT_8, 8, value);
  else if (value < 0x10000) putBits(UINT_16, 16, value);
  else if (value < TWO_32) putBits(UINT_32, 32, value);
  else putLong(UINT_64, value);
}

function putNegative(value: number): void {
  if (value >= -0x20) scratch[written++] = NEGATIVE_FIXINT | (value + 0x20);
  else if (value >= -0x80) putBits(INT_8, 8, value);
  else if (value >= -0x8000) putBits(INT_16, 16, value);
  else if (value >= -0x80000000) putBits(INT_32, 32, value);
  else putLong(INT_64, value);
}

function putLong(head: number, value: number): void {
  putBits(head, 32, Math.floor(value / TWO_32));
  putBits(value >>> 24, 24, value);
}

/** {@link decodePlain} returns this for a value that it does not read. */
export const NOT_PLAIN: unique symbol = Symbol('NOT_PLAIN');

/** The most bytes that a page reads in this way. */
const MOST_PAGE_BYTES = 4096;
const NOTHING = new Uint8Array();
const NO_VIEW = new DataView(NOTHING.buffer);
let read: Uint8Array = NOTHING;
let readView: DataView = NO_VIEW;
let at = 0;
/** The items that the limit still allows. */
let itemsLeft = 0;
/** The same bytes as text, one unit for each. Empty until the first array or literal. */
let units = '';
/** Keys of earlier values, by their length and ends. Comparing a key is faster than making a text and finding it in V8's table of keys. */
const KNOWN_KEYS: (string | undefined)[] = [];
const MOST_KNOWN_KEYS = 256;

/**
 * Decodes a plain value. Returns {@link NOT_PLAIN} for every other message, which may be valid or not.
 *
 * @param maxItems how many values there may be in all: scalars, keys, arrays and maps
 *
 * @example
 * ```ts
 * decodePlain(Uint8Array.of(0x81, 0xa2, 0x69, 0x64, 0x01), 3);   // { id: 1 }
 * decodePlain(Uint8Array.of(0xc1), 1);                           // NOT_PLAIN
 * ```
 */
export function decodePlain(bytes: Uint8Array, maxItems: number): unknown {
  beginRead(bytes);
  const value = takeRest(maxItems);
  endRead();
  return value;
}

function beginRead(bytes: Uint8Array): void {
  read = bytes;
  readView = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  at = 0;
}

/** Keeps no message alive. */
function endRead(): void {
  read = NOTHING;
  readView = NO_VIEW;
  units = '';
}

function takeRest(maxItems: number): unknown {
  if (maxItems < 1 || (native === null && read.length > MOST_PAGE_BYTES)) return NOT_PLAIN;
  itemsLeft = maxItems - 1;
  const value = take(MOST_LEVELS);
  return at === read.length ? value : NOT_PLAIN;
}

function take(levels: number): unknown {
  if (at >= read.length) return NOT_PLAIN;
  const head = readView.getUint8(at++);
  if (head < FIXMAP) return head;
  if (head >= NEGATIVE_FIXINT) return head - 0x100;
  if (head < FIXARRAY) return takeLiteral(head - FIXMAP, levels);
  if (head < FIXSTR) return takeArray(head - FIXARRAY, levels);
  if (head < NIL) return takeText(head - FIXSTR);
  const from = at;
  switch (head) {
    case NIL:
      return null;
    case FALSE:
      return false;
    case TRUE:
      return true;
    case BIN_8:
      return skip(1) ? takeBytes(readView.getUint8(from)) : NOT_PLAIN;
    case BIN_16:
      return skip(2) ? takeBytes(readView.getUint16(from)) : NOT_PLAIN;
    case BIN_32:
      return skip(4) ? takeBytes(readView.getUint32(from)) : NOT_PLAIN;
    case UINT_8:
      return skip(1) ? readView.getUint8(from) : NOT_PLAIN;
    case UINT_16:
      return skip(2) ? readView.getUint16(from) : NOT_PLAIN;
    case UINT_32:
      return skip(4) ? readView.getUint32(from) : NOT_PLAIN;
    case UINT_64:
      return skip(8) ? readView.getUint32(from) * TWO_32 + readView.getUint32(from + 4) : NOT_PLAIN;
    case INT_8:
      return skip(1) ? readView.getInt8(from) : NOT_PLAIN;
    case INT_16:
      return skip(2) ? readView.getInt16(from) : NOT_PLAIN;
    case INT_32:
      return skip(4) ? readView.getInt32(from) : NOT_PLAIN;
    case INT_64:
      return skip(8) ? readView.getInt32(from) * TWO_32 + readView.getUint32(from + 4) : NOT_PLAIN;
    case FLOAT_32:
      return skip(4) ? readView.getFloat32(from) : NOT_PLAIN;
    case FLOAT_64:
      return skip(8) ? readView.getFloat64(from) : NOT_PLAIN;
    case STR_8:
      return skip(1) ? takeText(readView.getUint8(from)) : NOT_PLAIN;
    case STR_16:
      return skip(2) ? takeText(readView.getUint16(from)) : NOT_PLAIN;
    case STR_32:
      return skip(4) ? takeText(readView.getUint32(from)) : NOT_PLAIN;
    case ARRAY_16:
      return skip(2) ? takeArray(readView.getUint16(from), levels) : NOT_PLAIN;
    case ARRAY_32:
      return skip(4) ? takeArray(readView.getUint32(from), levels) : NOT_PLAIN;
    case MAP_16:
      return skip(2) ? takeLiteral(readView.getUint16(from), levels) : NOT_PLAIN;
    case MAP_32:
      return skip(4) ? takeLiteral(readView.getUint32(from), levels) : NOT_PLAIN;
    default:
      return NOT_PLAIN;
  }
}

function skip(bytes: number): boolean {
  at += bytes;
  return at <= read.length;
}

/** Returns bytes with memory of their own. They count as {@link HEAVY_ITEMS}. */
function takeBytes(length: number): unknown {
  const from = at;
  itemsLeft -= HEAVY_ITEMS - 1;
  return skip(length) && itemsLeft >= 0 ? read.slice(from, at) : NOT_PLAIN;
}

/** Whether an array or a map of this size may be there. */
function mayHold(items: number, levels: number): boolean {
  if (units === '' && (native !== null || read.length <= MOST_PAGE_BYTES)) units = latin1Of(0, read.length);
  return levels > 0 && (itemsLeft -= items) >= 0;
}

function takeArray(length: number, levels: number): unknown {
  if (!mayHold(length, levels)) return NOT_PLAIN;
  // Each item takes a byte at least. An array that grows would take room for 17 items: nested ones would take a hundred times their bytes.
  if (length > read.length - at) return NOT_PLAIN;
  const items = new Array<unknown>(length);
  for (let n = 0; n < length; n++) {
    const item = take(levels - 1);
    if (item === NOT_PLAIN) return NOT_PLAIN;
    items[n] = item;
  }
  return items;
}

function takeLiteral(length: number, levels: number): Metadata | typeof NOT_PLAIN {
  if (!mayHold(2 * length, levels)) return NOT_PLAIN;
  const literal: Metadata = {};
  for (let n = 0; n < length; n++) {
    const key = takeKey();
    const value = key === null ? NOT_PLAIN : take(levels - 1);
    if (key === null || value === NOT_PLAIN) return NOT_PLAIN;
    literal[key] = value;
  }
  return literal;
}

function takeText(length: number): unknown {
  const from = at;
  if (!skip(length)) return NOT_PLAIN;
  if (length <= (native === null ? MOST_PAGE_BYTES : MOST_LOOPED) && isAscii(from, at))
    // V8 cuts a long text out of the whole message, and keeps all of it alive.
    return length < COPIED_UNITS && units !== '' ? units.slice(from, at) : latin1Of(from, at);
  return utf8Of(from, length) ?? NOT_PLAIN;
}

/** V8 copies texts below this length. */
const COPIED_UNITS = 13;

/** Returns the next key, or `null` for a key that the general way reads: an index, `__proto__`, a long text, and no text. */
function takeKey(): string | null {
  if (at >= read.length) return null;
  const head = readView.getUint8(at++);
  const isShort = head !== STR_8;
  if (!isShort && !skip(1)) return null;
  const length = isShort ? head - FIXSTR : readView.getUint8(at - 1);
  const from = at;
  if (length <= 0 || (isShort && length > 31) || !skip(length)) return null;
  const place = (length + 5 * readView.getUint8(from) + 9 * readView.getUint8(at - 1)) % MOST_KNOWN_KEYS;
  const known = KNOWN_KEYS[place];
  if (known?.length === length && isKey(known, from)) return known;
  const key = isAscii(from, at) ? latin1Of(from, at) : utf8Of(from, length);
  if (key === null || mayBeIndex(key) || key === '__proto__') return null;
  if (key.length === length && length <= MOST_LOOPED) KNOWN_KEYS[place] = key;
  return key;
}

/** Returns a text. `null` for bytes that are not UTF-8, and in a page. */
function utf8Of(from: number, length: number): string | null {
  return native !== null && isUtf8(read, from, length) ? native.utf8Slice.call(read, from, from + length) : null;
}

function isKey(key: string, from: number): boolean {
  for (let n = 0; n < key.length; n++) if (readView.getUint8(from + n) !== key.charCodeAt(n)) return false;
  return true;
}

function isAscii(from: number, to: number): boolean {
  for (let n = from; n < to; n++) if (readView.getUint8(n) > 0x7f) return false;
  return true;
}

/** Returns the bytes of a range as text, one UTF-16 unit for each. */
function latin1Of(from: number, to: number): string {
  return native?.latin1Slice.call(read, from, to) ?? String.fromCharCode(...read.subarray(from, to));
}

// The envelope of an `open` or `data` frame with nothing but a payload or a fragment, and headers, as every implementation orders it: a map
// of "type", the type, "stream", the id, (with an end: "end", true,) (with a fragment: "fragment", the fragment,) (with headers: "headers",
// the headers,) (with more: "more", true,) (with a payload: "payload", the payload).
const TYPED = { data: texts('type', 'data', 'stream'), open: texts('type', 'open', 'stream') };
const ENDED = Uint8Array.of(...texts('end'), TRUE);
const FRAGMENT = texts('fragment');
const HEADERS = texts('headers');
const MORE = Uint8Array.of(...texts('more'), TRUE);
const PAYLOAD = texts('payload');

function texts(...values: readonly string[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [FIXSTR | value.length, ...ascii(value)]));
}

/**
 * Encodes such an envelope around its encoded payload, or its fragment, into memory that the next call overwrites. `null` for every other
 * frame.
 *
 * @param payload `null` for a frame with a fragment, or without a payload
 *
 * @example
 * ```ts
 * encodeCanonical({ type: 'data', stream: 1, end: true }, Uint8Array.of(0xc0));   // 84 a4 "type" a4 "data" a6 "stream" 01 …
 * encodeCanonical({ type: 'data', stream: 1, reason: 'r' }, Uint8Array.of(0xc0)); // null
 * ```
 */
export function encodeCanonical(frame: Frame, payload: Uint8Array | null): Uint8Array<ArrayBuffer> | null {
  const { fragment } = frame;
  if (fragment != null && !(fragment instanceof ArrayBuffer && payload === null)) return null;
  if (!beginWrite()) return null;
  try {
    const content = fragment == null ? payload : new Uint8Array(fragment);
    return putEnvelope(frame, content !== null, content) < 0 ? null : scratch.subarray(0, written);
  } finally {
    endWrite();
  }
}

/** Returns the bytes of such an envelope before and behind its payload, or its fragment. `null` for every other frame. */
export function encodeCanonicalAround(frame: Frame): readonly [before: ArrayBuffer, behind: ArrayBuffer] | null {
  const hasBoth = frame.fragment != null && frame.payload !== undefined && frame.payload !== ABSENT;
  if (hasBoth || !beginWrite()) return null;
  try {
    const split = putEnvelope(frame, true, null);
    return split < 0 ? null : [scratch.buffer.slice(0, split), scratch.buffer.slice(split, written)];
  } finally {
    endWrite();
  }
}

/**
 * Writes such an envelope, and returns the place of its payload or fragment; -1 for every other frame.
 *
 * @param content the bytes of the payload or the fragment; `null` leaves them out
 */
function putEnvelope(frame: Frame, hasContent: boolean, content: Uint8Array | null): number {
  const { type, stream, end, headers, fragment, more } = frame;
  if ((type !== 'data' && type !== 'open') || !hasOnlyContent(frame) || (more === true && fragment == null)) return -1;
  if (!Number.isSafeInteger(stream) || Number(stream) < 0 || (headers != null && !isBare(headers))) return -1;
  scratch[written++] = FIXMAP | (2 + Number(end === true) + Number(hasContent) + Number(headers != null) + Number(more === true));
  putPart(TYPED[type]);
  putUnsigned(Number(stream));
  if (end === true) putPart(ENDED);
  if (fragment != null) putPart(FRAGMENT);
  let split = written;
  if (fragment != null && content !== null) putBytes(content);
  if (headers != null) {
    putPart(HEADERS);
    if (!putLiteral(headers, MOST_LEVELS)) return -1;
  }
  if (more === true) putPart(MORE);
  if (fragment == null) {
    if (hasContent) putPart(PAYLOAD);
    split = written;
    if (content !== null) putRaw(content);
  }
  return split;
}

/** Writes a part of the envelope. */
function putPart(bytes: Uint8Array): void {
  reserve(bytes.length + MOST_HEAD_BYTES);
  for (let n = 0; n < bytes.length; n++) scratch[written++] = Number(bytes[n]);
}

function putBin(bytes: Uint8Array): boolean {
  return bytes.length < TWO_32 && putBytes(bytes);
}

function putBytes(bytes: Uint8Array): true {
  const { length } = bytes;
  reserve(MOST_HEAD_BYTES);
  const step = length < 0x100 ? 0 : length < 0x10000 ? 1 : 2;
  putBits(BIN_8 + step, 8 << step, length);
  putRaw(bytes);
  return true;
}

function putRaw(bytes: Uint8Array): void {
  reserve(bytes.length);
  scratch.set(bytes, written);
  written += bytes.length;
}

/** Decodes the bytes of a payload that is not plain. `maxItems` is what the envelope leaves of the limit. */
type General = (payload: Uint8Array, maxItems: number) => unknown;

/**
 * Decodes such an envelope, with all of its payload. `null` for every other message, which may be valid or not.
 *
 * @param maxItems how many values there may be in all
 */
export function decodeCanonical(message: Uint8Array, maxItems: number, general: General): CompleteFrame | null {
  beginRead(message);
  const frame = takeFrame(maxItems, general);
  endRead();
  return frame;
}

function takeFrame(maxItems: number, general: General): CompleteFrame | null {
  const message = read;
  at = 1;
  const type = skipPart(TYPED.data) ? 'data' : skipPart(TYPED.open) ? 'open' : null;
  if (type === null) return null;
  const stream = takeId();
  const end = skipPart(ENDED);
  itemsLeft = maxItems - 1;
  const hasFragment = skipPart(FRAGMENT);
  const fragment = hasFragment ? takeFragment() : null;
  if (hasFragment && fragment === null) return null;
  let entries = 2 + Number(end) + Number(hasFragment);
  let headers: Metadata | null = null;
  if (skipPart(HEADERS)) {
    const taken = take(MOST_LEVELS);
    if (!isPlainObject(taken)) return null;
    headers = taken;
    entries++;
  }
  const more = hasFragment && skipPart(MORE);
  const hasPayload = !hasFragment && skipPart(PAYLOAD);
  entries += Number(more) + Number(hasPayload);
  itemsLeft -= 2 * entries;
  if (stream < 0 || itemsLeft < 0 || readView.getUint8(0) !== (FIXMAP | entries) || (!hasPayload && at !== message.length)) return null;
  if (!hasPayload) return { ...payloadFrame(type, stream, end, ABSENT, headers), fragment, more };
  const left = itemsLeft + 1;
  const from = at;
  try {
    const payload = takeRest(left);
    return payloadFrame(type, stream, end, payload === NOT_PLAIN ? general(message.subarray(from), left) : payload, headers);
  } catch {
    return null;
  }
}

/** Returns a stream id, or -1. */
function takeId(): number {
  const id = take(0);
  // A float may be -0.
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id + 0 : -1;
}

function takeFragment(): ArrayBuffer | null {
  const fragment = take(0);
  return fragment instanceof Uint8Array ? (fragment.buffer as ArrayBuffer) : null;
}

/** Skips a part of the envelope if it is there. */
function skipPart(part: Uint8Array): boolean {
  for (let n = 0; n < part.length; n++) if (read[at + n] !== part[n]) return false;
  at += part.length;
  return true;
}
