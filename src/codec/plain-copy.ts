import { isDate, isPlainObject } from '../util/check.js';
import type { Metadata } from '../wire/frame.js';
import { bytesOf, depthRefusal, hidesContent, isBytes, mapRefusal, placeOf, refusal, unboxed, valueRefusal } from './json-check.js';
import type { Key } from './json-check.js';

import { withoutHoles } from './indices.js';
import { mayBeIndex } from './json-check.js';

/** The most levels of nesting in a payload: the msgpack library stops at 100, and an envelope uses some of them. */
export const MAX_DEPTH = 95;

/**
 * Copies a value into arrays and objects that hold only values which msgpack carries. So the encoder runs no code of the application. It
 * reads every property once, and calls `toJSON` once, with the key that `JSON.stringify` passes. So the checked value is the written
 * value, even if a getter or a Proxy returns another value the second time.
 *
 * An object of any class counts by its own enumerable string keys; a boxed primitive counts as the primitive. A property that is
 * `undefined` is omitted. An element that is `undefined` stays: the encoder makes it `null`, as JSON does.
 *
 * @param root names the value in messages: `payload`, `headers`
 * @throws TypeError saying where and what. It refuses `undefined` itself, functions, symbols, bigint, an invalid `Date` and a key
 *   `__proto__`. It refuses more than 95 levels of nesting, so circular structures too. It refuses objects that show none of their content
 *   as properties, such as a Map, Set, Promise, RegExp or Error.
 *
 * @example
 * ```ts
 * plainCopy({ list: Object(1), by: undefined }, 'payload');   // { list: 1 }
 * plainCopy({ tags: [new Set()] }, 'payload');
 * // TypeError: codec 'msgpack': expected a value it can carry at payload.tags[0], got a Set: try [...set] or rxmux/rich
 * ```
 */
export function plainCopy(value: unknown, root: string): unknown {
  const copying: Copying = { root, path: [] };
  const copy = take(value, '', 0, copying);
  if (copy === undefined) throw refused(value, '', 0, copying);
  return copy;
}

/**
 * Copies headers or trailers as {@link plainCopy} does, and ensures that they arrive as a map.
 *
 * @throws TypeError as {@link plainCopy} does, and for an array, bytes or any other value that the receiver would not see as a map
 */
export function metadataCopy(metadata: object, root: string): Metadata {
  const copy = plainCopy(metadata, root);
  if (isPlainObject(copy)) return copy;
  throw mapRefusal('msgpack', root, metadata);
}

interface Copying {
  readonly root: string;
  /** The key of each open container, beginning with the root. */
  readonly path: Key[];
}

function take(value: unknown, key: Key, depth: number, copying: Copying): unknown {
  if (isScalar(value)) return value;
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'object' && value !== null) return takeObject(value, key, depth, copying, false);
  throw refused(value, key, depth, copying);
}

// Small and not recursive, so that V8 inlines it into the loops below: most values end here.
function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return wellFormed(value) === value;
    case 'boolean':
    case 'number':
    case 'undefined':
      return true;
    case 'object':
      return value === null;
    default:
      return false;
  }
}

function takeObject(value: object & { toJSON?: unknown }, key: Key, depth: number, copying: Copying, asked: boolean): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null || Array.isArray(value);
  if (!plain) {
    const own = bytesOrDate(value);
    if (own !== undefined) return own;
    // An invalid Date: its toJSON would return null.
    if (isDate(value)) throw refused(value, key, depth, copying);
  }
  const toJSON = asked ? undefined : value.toJSON;
  if (typeof toJSON === 'function') {
    const answer: unknown = toJSON.call(value, String(key));
    const isObject = typeof answer === 'object' && answer !== null;
    return isObject ? takeObject(answer, key, depth, copying, true) : take(answer, key, depth, copying);
  }
  if (!plain) {
    const primitive = unboxed(value);
    if (primitive !== undefined) return take(primitive, key, depth, copying);
    if (hidesContent(value)) throw refused(value, key, depth, copying);
  }
  if (depth === MAX_DEPTH) throw depthRefusal('msgpack', copying.root, MAX_DEPTH);
  copying.path[depth] = key;
  return Array.isArray(value) ? copyOfArray(value, depth + 1, copying) : copyOfObject(value, depth + 1, copying);
}

/** Returns msgpack's own form of bytes and dates; `undefined` for every other object, and for an invalid Date. */
function bytesOrDate(value: object): unknown {
  if (isBytes(value)) return bytesOf(value);
  if (!isDate(value)) return undefined;
  const time = value.getTime();
  return Number.isNaN(time) ? undefined : new Date(time);
}

function copyOfArray(array: readonly unknown[], depth: number, copying: Copying): unknown[] {
  // `slice` of a subclass would make another instance of the subclass, with its toJSON.
  const copy = [...array];
  for (let index = 0; index < copy.length; index++) {
    const value = copy[index];
    if (!isScalar(value)) copy[index] = take(value, index, depth, copying);
  }
  return copy;
}

function copyOfObject(object: object, depth: number, copying: Copying): object {
  const copy: Record<string, unknown> = { ...object };
  if (Object.hasOwn(copy, '__proto__')) throw protoKeyRefused(depth, copying);
  let isComplete = true;
  let areKeysWritten = true;
  // Indices come before all other keys.
  let mayHaveIndices: boolean | undefined;
  // A fifth faster than Object.keys, but also visits keys added to Object.prototype. Object.hasOwn is slower here.
  for (const key in copy) {
    mayHaveIndices ??= mayBeIndex(key);
    if (wellFormed(key) !== key) areKeysWritten = false;
    let value = copy[key];
    if (!isScalar(value) && Object.prototype.hasOwnProperty.call(copy, key)) copy[key] = value = take(value, key, depth, copying);
    if (value === undefined) isComplete = false;
  }
  const whole = isComplete && areKeysWritten ? copy : asWritten(copy);
  return mayHaveIndices === true ? withoutHoles(whole) : whole;
}

/** Returns the properties to write, under the keys to write. */
function asWritten(object: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [wellFormed(key), value]));
}

function refused(value: unknown, key: Key, depth: number, { root, path }: Copying): TypeError {
  return valueRefusal('msgpack', root, keysTo(key, depth, path), value);
}

function protoKeyRefused(depth: number, { root, path }: Copying): TypeError {
  return refusal('msgpack', `expected any key but '__proto__', got ${placeOf(root, keysTo('__proto__', depth, path))}`);
}

function keysTo(key: Key, depth: number, path: readonly Key[]): readonly Key[] {
  return depth === 0 ? [] : [...path.slice(1, depth), key];
}

/** A platform's `String.prototype`. It has `toWellFormed` since 2023. */
export interface TextPrototype {
  readonly length: number;
  readonly toWellFormed?: (this: string) => string;
}

/** Chooses how to make text that UTF-8 can hold. The native method, if there is one, takes a third of the time. */
export function wellFormer({ toWellFormed }: TextPrototype): (text: string) => string {
  if (toWellFormed !== undefined) return (text) => toWellFormed.call(text);
  return (text) => (HALF_PAIR.test(text) ? text.replace(HALF_PAIRS, '\ufffd') : text);
}

const HALF_PAIR = /\p{Surrogate}/u;

const HALF_PAIRS = /\p{Surrogate}/gu;

/** Returns text as UTF-8 can hold it: U+FFFD replaces each half of a surrogate pair. */
export const wellFormed = wellFormer(String.prototype);
