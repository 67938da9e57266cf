import { encodeInto } from '../wire/encode-into.js';
import type { Metadata } from '../wire/frame.js';
import { isBare } from './flat.js';
import { mayBeIndex } from './index-keys.js';

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
