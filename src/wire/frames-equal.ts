import type { Frame } from './frame.js';
import { toMapping } from './mapping.js';
import { isPlainObject } from './plain-object.js';
import { isArrayBuffer, isDate } from './cross-realm.js';

/**
 * Whether two frames are equal in all twelve fields once defaults are filled in, so an omitted payload equals `ABSENT`.
 *
 * Values are compared deeply: maps and arrays by content, `Date` by time, `NaN` equal to itself. Bytes are compared byte by byte in any
 * kind of view or buffer, because the wire does not distinguish these kinds. A transferred buffer holds no bytes. Other objects equal
 * only themselves, and so does an object that cannot be read. Depth is unlimited and cycles end.
 *
 * @example
 * ```ts
 * framesEqual({ type: 'data', more: false }, { type: 'data', payload: ABSENT });   // true
 * framesEqual({ type: 'data', payload: null }, { type: 'data' });                  // false
 * ```
 */
export function framesEqual(a: Frame, b: Frame): boolean {
  return valuesEqual(toMapping(a), toMapping(b));
}

type Pair = readonly [unknown, unknown];

/**
 * Compares two values as {@link framesEqual} compares payloads.
 * It has a work list instead of recursion: a value may be nested deeper than the call stack allows.
 */
export function valuesEqual(first: unknown, second: unknown): boolean {
  const compared = new ComparedPairs();
  const pairs: Pair[] = [[first, second]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair;
    if (a === b || Object.is(a, b)) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (compared.addUnlessKnown(a, b) && !equalAsFarAsRead(a, b, pairs)) return false;
  }
  return true;
}

/** Calls {@link equalButForPairs} for objects that may throw when they are read, as a revoked Proxy does. */
function equalAsFarAsRead(a: object, b: object, pairs: Pair[]): boolean {
  try {
    return equalButForPairs(a, b, pairs);
  } catch {
    return false;
  }
}

/** Whether `a` and `b` are equal, provided that the pairs which this call adds to the list are equal. */
function equalButForPairs(a: object, b: object, pairs: Pair[]): boolean {
  if (isArray(a)) {
    if (!isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at++) pairs.push([a[at], b[at]]);
    return true;
  }
  if (isPlainObject(a)) {
    if (!isPlainObject(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length || !keys.every((key) => Object.hasOwn(b, key))) return false;
    for (const key of keys) pairs.push([a[key], b[key]]);
    return true;
  }
  if (isDate(a)) return isDate(b) && Object.is(timeOf(a), timeOf(b));
  const [left, right] = [bytesOf(a), bytesOf(b)];
  return left !== null && right !== null && sameBytes(left, right);
}

// Throws for an object that only claims to be a `Date`. A `Date` of another realm passes.
function timeOf(date: Date): number {
  return Date.prototype.getTime.call(date);
}

const isArray: (value: unknown) => value is readonly unknown[] = Array.isArray;

function bytesOf(value: object): Uint8Array | null {
  const isView = ArrayBuffer.isView(value);
  if (!isView && !isArrayBuffer(value)) return null;
  try {
    return isView ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value);
  } catch {
    // A transferred buffer cannot be viewed, and a DataView beyond the end of its buffer has no length.
    return new Uint8Array();
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Remembers the compared pairs of objects, so that cycles end and shared parts are walked once. */
class ComparedPairs {
  readonly #partners = new Map<object, Set<object>>();

  /** Adds a pair. Returns `false` if the pair was there before. */
  addUnlessKnown(a: object, b: object): boolean {
    const partners = this.#partners.get(a);
    if (partners === undefined) this.#partners.set(a, new Set([b]));
    else if (partners.has(b)) return false;
    else partners.add(b);
    return true;
  }
}
