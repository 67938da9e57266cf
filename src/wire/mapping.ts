import { describeReceived, isArrayBuffer, isDate, isPlainObject } from '../util/check.js';
import { ProtocolError, violation } from './errors.js';
import { ABSENT, FIELDS, IN_ENVELOPE_ORDER, isId } from './frame.js';
import type { CompleteFrame, Field, Frame } from './frame.js';

/**
 * Returns the envelope of a frame: an object with `type` and the fields that differ from their default. Every implementation writes them
 * in this order: `type`, `stream`, then alphabetical. Does not mutate the frame and copies no value.
 *
 * @example
 * ```ts
 * toMapping({ type: 'open', end: true, payload: null, stream: 1, more: false });
 * // { type: 'open', stream: 1, end: true, payload: null }
 * ```
 */
export function toMapping(frame: Frame): Record<string, unknown> {
  const mapping: Record<string, unknown> = {};
  for (const { key, fallback } of IN_ENVELOPE_ORDER) {
    const value = frame[key];
    if (value !== undefined && value !== fallback) mapping[key] = value;
  }
  return mapping;
}

/**
 * Returns the frame of a decoded envelope, with all twelve fields. Drops unknown keys and keeps an unknown `type`. A missing `payload`
 * becomes {@link ABSENT}. Only own keys count, and a key with the value `undefined` counts as missing.
 *
 * @throws ProtocolError when `mapping` is not a map, has no `type`, carries both `payload` and `fragment`, or has a field of a wrong
 *   type. The message names the field, the accepted and the received type, and the stream.
 *
 * @example
 * ```ts
 * fromMapping({ type: 'pong', nonce: 'a', later: 1 }).nonce;   // 'a'
 * fromMapping({ type: 'data', stream: 3, more: 1 });
 * // ProtocolError: stream 3: field 'more': expected a boolean, got 1
 * ```
 */
export function fromMapping(mapping: unknown): CompleteFrame {
  if (!isPlainObject(mapping)) throw new ProtocolError(`expected a map as the envelope, got ${describeReceived(mapping)}`);
  const envelope: Envelope = mapping;
  const type = take(envelope.type, FIELDS.type, envelope);
  if (type === undefined) throw wrong(envelope, `field 'type': expected ${FIELDS.type.expected}, got none`);
  const payload = take(envelope.payload, FIELDS.payload, envelope);
  const fragment = take(envelope.fragment, FIELDS.fragment, envelope);
  if (payload !== ABSENT && fragment !== null) throw wrong(envelope, `expected 'payload' or 'fragment', got both`);
  return {
    type,
    stream: plusZero(take(envelope.stream, FIELDS.stream, envelope)),
    payload,
    fragment,
    more: take(envelope.more, FIELDS.more, envelope),
    headers: take(envelope.headers, FIELDS.headers, envelope),
    end: take(envelope.end, FIELDS.end, envelope),
    trailers: take(envelope.trailers, FIELDS.trailers, envelope),
    code: plusZero(take(envelope.code, FIELDS.code, envelope)),
    reason: take(envelope.reason, FIELDS.reason, envelope),
    nonce: take(envelope.nonce, FIELDS.nonce, envelope),
    last_stream: plusZero(take(envelope.last_stream, FIELDS.last_stream, envelope)),
  };
}

type Envelope = { readonly [Key in keyof Frame]?: unknown };

// The caller passes the value: a read under a fixed name is several times faster than a read by key. Own keys are checked only if there
// is a value: a polluted prototype must not add a field to the envelope.
function take<T>(value: unknown, { key, accepts, expected, fallback }: Field<T>, envelope: Envelope): T {
  if (value === undefined || !Object.hasOwn(envelope, key)) return fallback;
  if (accepts(value)) return value;
  throw wrong(envelope, `field '${key}': expected ${expected}, got ${describeReceived(value)}`);
}

function plusZero(value: number | null): number | null {
  return value === 0 ? 0 : value;
}

function wrong(envelope: Envelope, text: string): ProtocolError {
  const stream = Object.hasOwn(envelope, 'stream') ? envelope.stream : null;
  return violation(isId(stream) ? stream : null, text);
}

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
