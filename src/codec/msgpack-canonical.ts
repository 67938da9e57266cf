import { hasOnlyPayload } from '../wire/frame.js';
import type { Frame, Metadata } from '../wire/frame.js';
import { encodeInto } from '../wire/length.js';
import { isBare } from './json-check.js';
import { ascii } from './prescan.js';
import { mayBeIndex } from './json-check.js';

// A map of at most 15 texts of at most 255 ASCII characters each. The library takes several times as long for it.
const [FIXMAP, FIXSTR, STR_8] = [0x80, 0xa0, 0xd9];
const STR_8_HEAD = 2;
const MOST_ENTRIES = 15;
const MOST_IN_FIXSTR = 31;
const MOST_IN_STR_8 = 255;
const MOST_ASCII = 0x7f;

/** Holds what {@link encodeFlat} writes. */
const scratch = new Uint8Array(1024);
/** React Native has none: there the library reads the headers. */
const decoder = typeof TextDecoder === 'undefined' ? null : new TextDecoder();
/** The key that each entry had in the last message. */
const lastKeys: string[] = [];

/** Returns such headers as bytes, which the next call overwrites. It reads each property once. `null` for all others. */
export function encodeFlat(metadata: Readonly<Metadata>): Uint8Array | null {
  if (!isBare(metadata)) return null;
  const keys = Object.keys(metadata);
  if (keys.length > MOST_ENTRIES) return null;
  scratch[0] = FIXMAP | keys.length;
  let at = 1;
  for (const key of keys) {
    at = isSpecial(key) ? scratch.length : putText(putText(at, key), metadata[key]);
    if (at >= scratch.length) return null;
  }
  return scratch.subarray(0, at);
}

/** Headers, their keys and values, and the position behind them. */
export interface FlatHeaders {
  readonly headers: Metadata;
  readonly items: number;
  readonly to: number;
}

/** Reads such headers. `null` for all others, which may be valid or not. */
export function readFlat(message: Uint8Array, from: number): FlatHeaders | null {
  const head = message[from] ?? 0;
  if (head < FIXMAP || head > FIXMAP + MOST_ENTRIES) return null;
  const headers: Metadata = {};
  let to = from + 1;
  for (let entry = FIXMAP; entry < head; entry++) {
    const valueAt = endOfText(message, to);
    const key = keyBetween(message, to, valueAt, entry - FIXMAP);
    if (key === null) return null;
    to = endOfText(message, valueAt);
    const value = textBetween(message, valueAt, to);
    if (value === null) return null;
    headers[key] = value;
  }
  return { headers, items: 2 * (head - FIXMAP), to };
}

/** Whether a key needs the general encoder and decoder. */
function isSpecial(key: string): boolean {
  return key === '__proto__' || mayBeIndex(key);
}

/** Writes a text, and returns the position behind it. The end of the buffer, or a position beyond, means that the value did not fit. */
function putText(from: number, value: unknown): number {
  if (typeof value !== 'string' || value.length > MOST_IN_STR_8 || from + STR_8_HEAD + value.length > scratch.length) return scratch.length;
  if (value.length > MOST_IN_FIXSTR) return putLong(from, value);
  let at = from;
  scratch[at++] = FIXSTR | value.length;
  for (let n = 0; n < value.length; n++) {
    const unit = value.charCodeAt(n);
    if (unit > MOST_ASCII) return scratch.length;
    scratch[at++] = unit;
  }
  return at;
}

/** {@link putText} for a text that a native call writes faster than a loop over its characters. */
function putLong(from: number, value: string): number {
  const at = from + STR_8_HEAD;
  scratch[from] = STR_8;
  scratch[from + 1] = value.length;
  const { read, written } = encodeInto(value, scratch.subarray(at));
  return read === value.length && written === read ? at + written : scratch.length;
}

/** Returns the position behind a text that has a short head; `NaN` for any other value. */
function endOfText(message: Uint8Array, at: number): number {
  const head = message[at] ?? 0;
  if (head === STR_8) return at + STR_8_HEAD + (message[at + 1] ?? 0);
  return head >= FIXSTR && head <= FIXSTR + MOST_IN_FIXSTR ? at + 1 + (head - FIXSTR) : NaN;
}

/**
 * Returns the key of one entry; `null` for any other than such headers have. Messages repeat their keys, and comparing a key is faster
 * than making a text and finding it in V8's table of keys.
 */
function keyBetween(message: Uint8Array, at: number, to: number, entry: number): string | null {
  const last = lastKeys[entry];
  if (last !== undefined && hasText(message, at, last)) return last;
  const key = textBetween(message, at, to);
  if (key === null || isSpecial(key)) return null;
  if (key.length <= MOST_IN_FIXSTR) lastKeys[entry] = key;
  return key;
}

function hasText(message: Uint8Array, at: number, text: string): boolean {
  if (message[at] !== (FIXSTR | text.length)) return false;
  for (let n = 0; n < text.length; n++) if (message[at + 1 + n] !== text.charCodeAt(n)) return false;
  return true;
}

/** Returns the text of a value; `null` unless all of it is ASCII. */
function textBetween(message: Uint8Array, at: number, to: number): string | null {
  const from = message[at] === STR_8 ? at + STR_8_HEAD : at + 1;
  for (let n = from; n < to; n++) if (!((message[n] ?? MOST_ASCII + 1) <= MOST_ASCII)) return null;
  return from <= to && decoder !== null ? decoder.decode(message.subarray(from, to)) : null;
}

// The envelope of an `open` or `data` frame with nothing but a payload and flat headers, as every implementation orders it. It is a map
// of 3 to 5: "type", the type, "stream", the id, (with an end: "end", true,) (with headers: "headers", the headers,) "payload", the payload.
const [FIXMAP_OF_MSGPACK_CANONICAL, FIXSTR_OF_MSGPACK_CANONICAL, TRUE] = [0x80, 0xa0, 0xc3];
const [UINT_8, UINT_16, UINT_32] = [0xcc, 0xcd, 0xce];
/** "type", "stream" and "payload". */
const LEAST_ENTRIES = 3;
const FIXINT_ABOVE = 0x80;
const STREAMS_ABOVE = 2 ** 32;

const TYPED = {
  data: bytes(...text('type'), ...text('data'), ...text('stream')),
  open: bytes(...text('type'), ...text('open'), ...text('stream')),
};
const ENDED = bytes(...text('end'), TRUE);
const HEADERS = bytes(...text('headers'));
const PAYLOAD = bytes(...text('payload'));
const NONE = bytes();

/** The fields of such an envelope, and the position of its payload. */
export interface CanonicalEnvelope {
  readonly type: 'open' | 'data';
  readonly stream: number;
  readonly end: boolean;
  readonly headers: Metadata | null;
  /** Items of the whole message except the items of the payload. */
  readonly items: number;
  readonly payloadAt: number;
}

/**
 * Encodes such an envelope around its payload, in half the time of encoding the map. `null` for every other frame.
 *
 * @example
 * ```ts
 * encodeCanonical({ type: 'data', stream: 1, end: true }, Uint8Array.of(0xc0));   // 84 a4 "type" a4 "data" a6 "stream" 01 …
 * encodeCanonical({ type: 'data', stream: 1, reason: 'r' }, Uint8Array.of(0xc0)); // null
 * ```
 */
export function encodeCanonical(frame: Frame, payload: Uint8Array): ArrayBuffer | null {
  const { type, stream, end, headers } = frame;
  if ((type !== 'data' && type !== 'open') || !hasOnlyPayload(frame)) return null;
  if (typeof stream !== 'number' || !(stream >= 0 && stream < STREAMS_ABOVE) || !Number.isInteger(stream)) return null;
  const typed = TYPED[type];
  const ended = end === true ? ENDED : NONE;
  const flat = headers == null ? NONE : encodeFlat(headers);
  if (flat === null) return null;
  const named = flat === NONE ? NONE : HEADERS;
  const length = 1 + typed.length + lengthOfId(stream) + ended.length + named.length + flat.length + PAYLOAD.length + payload.length;
  const message = new Uint8Array(length);
  message[0] = FIXMAP_OF_MSGPACK_CANONICAL + LEAST_ENTRIES + Number(ended !== NONE) + Number(named !== NONE);
  let at = put(message, 1, typed);
  at = putId(message, at, stream);
  at = put(message, at, ended);
  at = put(message, at, named);
  at = put(message, at, flat);
  message.set(payload, put(message, at, PAYLOAD));
  return message.buffer;
}

/** Reads such an envelope, and nothing of the payload. `null` for every other message, which may be valid or not. */
export function readCanonical(message: Uint8Array): CanonicalEnvelope | null {
  const type = has(message, 1, TYPED.data) ? 'data' : has(message, 1, TYPED.open) ? 'open' : null;
  if (type === null) return null;
  const idAt = 1 + TYPED[type].length;
  const head = message[idAt] ?? 0;
  const idBytes = head < FIXINT_ABOVE ? 0 : head === UINT_8 ? 1 : head === UINT_16 ? 2 : head === UINT_32 ? 4 : -1;
  if (idBytes === -1) return null;
  let stream = idBytes === 0 ? head : 0;
  let at = idAt + 1;
  for (const idEnd = at + idBytes; at < idEnd; at++) stream = stream * 0x100 + (message[at] ?? 0);
  let entries = LEAST_ENTRIES;
  const end = has(message, at, ENDED);
  if (end) {
    entries++;
    at += ENDED.length;
  }
  let headers: Metadata | null = null;
  let items = 0;
  if (has(message, at, HEADERS)) {
    entries++;
    const flat = readFlat(message, at + HEADERS.length);
    if (flat === null) return null;
    ({ headers, items, to: at } = flat);
  }
  if (message[0] !== FIXMAP_OF_MSGPACK_CANONICAL + entries || !has(message, at, PAYLOAD)) return null;
  return { type, stream, end, headers, items: items + 2 * entries, payloadAt: at + PAYLOAD.length };
}

function lengthOfId(id: number): number {
  return id < FIXINT_ABOVE ? 1 : id < 0x100 ? 2 : id < 0x10000 ? 3 : 5;
}

function putId(message: Uint8Array, at: number, id: number): number {
  const length = lengthOfId(id);
  let rest = id;
  for (let place = at + length - 1; place >= at; place--) {
    message[place] = rest % 0x100;
    rest = Math.floor(rest / 0x100);
  }
  if (length > 1) message[at] = length === 2 ? UINT_8 : length === 3 ? UINT_16 : UINT_32;
  return at + length;
}

function put(message: Uint8Array, at: number, part: Uint8Array): number {
  message.set(part, at);
  return at + part.length;
}

function has(message: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let n = 0; n < part.length; n++) if (message[at + n] !== part[n]) return false;
  return true;
}

function text(value: string): readonly number[] {
  return [FIXSTR_OF_MSGPACK_CANONICAL | value.length, ...ascii(value)];
}

function bytes(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}
