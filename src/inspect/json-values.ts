import { bytesOf, isBytes, unboxed } from '../codec/json-check.js';
import { isDate } from '../util/check.js';
import { fromBase64, toBase64 } from '../util/base64.js';
import { encodedLength } from '../wire/length.js';

/**
 * Stands in a recording for content that was left out, such as a payload. JSON has it as `{"$size":n}`.
 *
 * @example
 * ```ts
 * const open = { type: 'open', stream: 1, payload: { $size: 20 } };
 * const { f } = readLine(JSON.stringify({ v: 1, t: 3, c: 1, d: '>', f: open }));
 * f?.payload;   // Omitted { size: 20 }
 * ```
 */
export class Omitted {
  /** @param size in bytes: of a text as UTF-8, of bytes, and of another value as JSON */
  constructor(readonly size: number) {}
}

/** The forms of values that JSON lacks: an object with one of these keys and no other. `$object` is an object that looks like such a form. */
const FORMS: Readonly<Record<string, (content: never) => unknown>> = {
  $base64: fromBase64,
  // The time of an invalid date is NaN, which JSON writes as null.
  $date: (ms: number | null) => new Date(ms ?? NaN),
  $number: Number,
  $bigint: (digits: string) => BigInt(digits),
  $undefined: () => undefined,
  $map: (entries: readonly (readonly [unknown, unknown])[]) => new Map(entries.map(([key, value]) => [fromJson(key), fromJson(value)])),
  $set: (items: readonly unknown[]) => new Set(items.map(fromJson)),
  $size: (size: number) => new Omitted(size),
  $object: (object: object) => mapped(object, fromJson),
};

/** Returns a value as JSON can carry it. */
export function toJson(given: unknown, key: string | number = ''): unknown {
  const value = ownForm(given, String(key));
  if (Object.is(value, -0)) return { $number: '-0' };
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $number: String(value) };
  if (typeof value === 'bigint') return { $bigint: String(value) };
  if (value === undefined) return { $undefined: true };
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map) return { $map: toJson([...(value as ReadonlyMap<unknown, unknown>)]) };
  if (value instanceof Set) return { $set: toJson([...(value as ReadonlySet<unknown>)]) };
  if (isBytes(value)) return { $base64: toBase64(bytesOf(value)) };
  if (isDate(value)) return { $date: value.getTime() };
  if (value instanceof Omitted) return { $size: value.size };
  return formOf(value) === null ? mapped(value, toJson) : { $object: mapped(value, toJson) };
}

/** Asks an object for its own form once, as the codecs do, except bytes and dates. A box such as `Object(1)` becomes its primitive. */
function ownForm(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || isBytes(value) || isDate(value)) return value;
  const { toJSON }: { readonly toJSON?: unknown } = value;
  const own: unknown = typeof toJSON === 'function' ? toJSON.call(value, key) : value;
  return typeof own === 'object' && own !== null ? (unboxed(own) ?? own) : own;
}

/** Returns the value that {@link toJson} was given. */
export function fromJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const form = formOf(value);
  return form === null ? mapped(value, fromJson) : FORMS[form]?.((value as Record<string, never>)[form] as never);
}

/** Returns the size in bytes: of a text as UTF-8, of bytes, and of another value as JSON. */
export function sizeOf(value: unknown): number {
  if (value instanceof Omitted) return value.size;
  if (typeof value === 'string') return encodedLength(value);
  if (typeof value === 'object' && value !== null && isBytes(value)) return value.byteLength;
  return encodedLength(JSON.stringify(toJson(value)));
}

function formOf(value: object): string | null {
  const [key, ...others] = Object.keys(value);
  return key !== undefined && others.length === 0 && Object.hasOwn(FORMS, key) ? key : null;
}

function mapped(value: object, map: (inner: unknown, key: string | number) => unknown): unknown {
  if (Array.isArray(value)) return value.map((inner, at) => map(inner, at));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, map(inner, key)]));
}
