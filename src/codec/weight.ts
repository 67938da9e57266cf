import { encodedLength } from '../wire/length.js';

/**
 * Estimates from above the bytes of memory that a decoded value takes: text, numbers, bytes, dates, arrays and plain objects of these.
 * The sizes hold for V8 with pointers of 8 bytes. V8 keeps objects with many different keys as hash tables, so every object counts as one.
 *
 * @example
 * ```ts
 * weightOf([[], []]);   // 160: three arrays of 48 bytes and two places of 8, for 7 characters of JSON
 * ```
 *
 * @param others weighs values of further types; it returns `null` for all others
 */
export function weightOf(value: unknown, others: ((value: unknown) => number | null) | null = null): number {
  seenKeys = null;
  keysLeft = KEYS_WITHOUT_SET;
  weighOther = others;
  return weigh(value);
}

/** Weighs a value within the value that {@link weightOf} weighs. */
export function weigh(value: unknown): number {
  if (typeof value === 'string') return weighText(value);
  if (typeof value === 'number') return (value | 0) === value ? 0 : NUMBER_BYTES;
  const other = weighOther?.(value) ?? null;
  if (other !== null) return other;
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return weighArray(value);
  if (value instanceof Uint8Array) return BYTES_BYTES + value.byteLength;
  if (value instanceof Date) return DATE_BYTES;
  return weighMap(value as Readonly<Record<string, unknown>>);
}

function weighText(text: string): number {
  const { length } = text;
  // One character beyond Latin-1 makes every character take two bytes. For a short text, a search would cost as much as the assumption
  // that there is one.
  return TEXT_BYTES + (length > LONG_UNITS && encodedLength(text) === length ? length : 2 * length);
}

function weighArray(items: readonly unknown[]): number {
  let bytes = ARRAY_BYTES + items.length * PLACE_BYTES;
  for (const item of items) bytes += weigh(item);
  return bytes;
}

function weighMap(map: Readonly<Record<string, unknown>>): number {
  let bytes = MAP_BYTES;
  let names = 0;
  let indices = 0;
  for (const key in map) {
    const first = key.charCodeAt(0);
    if (first >= DIGIT_0 && first <= DIGIT_9) indices++;
    else names++;
    if (isNew(key)) bytes += KEY_BYTES + 2 * key.length;
    bytes += weigh(map[key]);
  }
  return bytes + slots(names) * ENTRY_BYTES + slots(indices) * INDEX_BYTES;
}

/** Returns the slots of V8's hash table for a number of keys. */
function slots(keys: number): number {
  return keys === 0 ? 0 : Math.max(4, 1 << (32 - Math.clz32(keys + (keys >> 1) - 1)));
}

/**
 * Whether a key takes memory of its own: all maps of a value share the text of a key. The first few keys always count, which is cheaper
 * than a look-up.
 */
function isNew(key: string): boolean {
  if (keysLeft > 0) {
    keysLeft--;
    return true;
  }
  seenKeys ??= new Set();
  if (seenKeys.has(key)) return false;
  seenKeys.add(key);
  return true;
}

// State of the value that is being weighed: no code of a user runs meanwhile.
let weighOther: ((value: unknown) => number | null) | null = null;
let seenKeys: Set<string> | null = null;
let keysLeft = 0;
const KEYS_WITHOUT_SET = 64;

const LONG_UNITS = 256;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const PLACE_BYTES = 8;
const NUMBER_BYTES = 16;
const TEXT_BYTES = 24;
/** A text, its place in V8's table of keys, and a share of the shapes that V8 keeps. */
const KEY_BYTES = 56;
const ARRAY_BYTES = 48;
const MAP_BYTES = 64;
const DATE_BYTES = 104;
const BYTES_BYTES = 200;
/** The key, the value and its details. */
const ENTRY_BYTES = 24;
/** V8 keeps an array with holes until the array would be three times as large as a hash table. */
const INDEX_BYTES = 72;

/**
 * Whether a parsed value is nested deeper than a number of levels. `JSON.parse` accepts any depth. Searching its text for brackets outside of
 * strings before parsing would cost five times as much.
 *
 * @param text the source text; n levels need 2n characters, so a short text passes at once
 */
export function isTooDeep(value: unknown, levels: number, text: string): boolean {
  return text.length > 2 * levels && isObject(value) && isDeeper(value, levels);
}

function isDeeper(value: Readonly<Record<string, unknown>>, levels: number): boolean {
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isObject(item) && isDeeper(item, levels - 1));
  for (const key in value) {
    const item = value[key];
    if (isObject(item) && isDeeper(item, levels - 1)) return true;
  }
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
