import type { Metadata } from '../wire/frame.js';
import { isPlainObject } from '../wire/plain-object.js';
import { isArrayBuffer, isDate, tagOf } from '../wire/cross-realm.js';
import { mayBeIndex, withoutHoles } from './index-keys.js';

/** The values that one codec can carry beside text, finite numbers, booleans, `null`, arrays and objects. */
export interface Dialect {
  /** The name of the codec, for messages. */
  readonly codec: string;
  /** How many arrays and objects may be nested, including the outermost. */
  readonly maxDepth: number;
  /** Returns the text that is written for a text or a key; `null` if texts are written unchanged. */
  readonly text: ((text: string) => string) | null;
  /** Whether `NaN` and the infinities are values. */
  readonly nonFinite: boolean;
  /** Whether a key may be `__proto__`. */
  readonly protoKey: boolean;
  /** Returns the codec's own form of an object that is one value to the codec, such as bytes; `undefined` for every other object. */
  atom(value: object): unknown;
  /** Whether to refuse an object that is no atom, without calling its `toJSON`. */
  refuses(value: object): boolean;
}

/**
 * Copies a value into arrays and objects that hold only values which `dialect` carries. So the writer runs no code of the application. It
 * reads every property once, and calls `toJSON` once, with the key that `JSON.stringify` passes. So the checked value is the written
 * value, even if a getter or a Proxy returns another value the second time.
 *
 * An object of any class counts by its own enumerable string keys; a boxed primitive counts as the primitive. A property that is
 * `undefined` is omitted. An element that is `undefined` stays: the writers make it `null`, as JSON does.
 *
 * @param root names the value in messages: `payload`, `headers`
 * @throws TypeError saying where and what. It refuses `undefined` itself, functions, symbols, bigint and bytes, and numbers and keys that
 *   `dialect` excludes. It refuses nesting beyond the depth of `dialect`, so circular structures too. It refuses objects that show none
 *   of their content as properties, such as a Map, Set, Promise, RegExp or Error.
 *
 * @example
 * ```ts
 * plainCopy({ at: new Date(0), by: undefined }, 'payload', json);   // { at: '1970-01-01T00:00:00.000Z' }
 * plainCopy({ tags: [new Set()] }, 'payload', json);
 * // TypeError: codec 'json': expected a value it can carry at payload.tags[0], got a Set
 * ```
 */
export function plainCopy(value: unknown, root: string, dialect: Dialect): unknown {
  const copying: Copying = { dialect, root, path: [] };
  const copy = take(value, '', 0, copying);
  if (copy === undefined) throw refusal(value, '', 0, copying);
  return copy;
}

/**
 * Copies headers or trailers as {@link plainCopy} does, and ensures that they arrive as a map.
 *
 * @throws TypeError as {@link plainCopy} does, and for an array, bytes or any other value that the receiver would not see as a map
 */
export function metadataCopy(metadata: object, root: string, dialect: Dialect): Metadata {
  const copy = plainCopy(metadata, root, dialect);
  if (isPlainObject(copy)) return copy;
  throw new TypeError(`codec '${dialect.codec}': expected a map with string keys as ${root}, got ${kindOf(metadata)}`);
}

type Key = string | number;

interface Copying {
  readonly dialect: Dialect;
  readonly root: string;
  /** The key of each open container, beginning with the root. */
  readonly path: Key[];
}

function take(value: unknown, key: Key, depth: number, copying: Copying): unknown {
  if (isScalar(value, copying.dialect)) return value;
  if (typeof value === 'string') return written(value, copying.dialect);
  if (typeof value === 'object' && value !== null) return takeObject(value, key, depth, copying, false);
  throw refusal(value, key, depth, copying);
}

function written(text: string, dialect: Dialect): string {
  return dialect.text === null ? text : dialect.text(text);
}

// Small and not recursive, so that V8 inlines it into the loops below: most values end here.
function isScalar(value: unknown, dialect: Dialect): boolean {
  switch (typeof value) {
    case 'string':
      return written(value, dialect) === value;
    case 'boolean':
    case 'undefined':
      return true;
    case 'number':
      return Number.isFinite(value) || dialect.nonFinite;
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
    const atom = copying.dialect.atom(value);
    if (atom !== undefined) return atom;
    if (copying.dialect.refuses(value)) throw refusal(value, key, depth, copying);
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
    if (hidesContent(value)) throw refusal(value, key, depth, copying);
  }
  if (depth === copying.dialect.maxDepth) throw tooDeep(copying);
  copying.path[depth] = key;
  return Array.isArray(value) ? copyOfArray(value, depth + 1, copying) : copyOfObject(value, depth + 1, copying);
}

function copyOfArray(array: readonly unknown[], depth: number, copying: Copying): unknown[] {
  // `slice` of a subclass would make another instance of the subclass, with its toJSON.
  const copy = [...array];
  for (let index = 0; index < copy.length; index++) {
    const value = copy[index];
    if (!isScalar(value, copying.dialect)) copy[index] = take(value, index, depth, copying);
  }
  return copy;
}

function copyOfObject(object: object, depth: number, copying: Copying): object {
  const copy: Record<string, unknown> = { ...object };
  if (!copying.dialect.protoKey && Object.hasOwn(copy, '__proto__')) throw protoKeyRefusal(depth, copying);
  let isComplete = true;
  let areKeysWritten = true;
  // Indices come before all other keys.
  let mayHaveIndices: boolean | undefined;
  // A fifth faster than Object.keys, but also visits keys added to Object.prototype. Object.hasOwn is slower here.
  for (const key in copy) {
    mayHaveIndices ??= mayBeIndex(key);
    if (written(key, copying.dialect) !== key) areKeysWritten = false;
    let value = copy[key];
    if (!isScalar(value, copying.dialect) && Object.prototype.hasOwnProperty.call(copy, key))
      copy[key] = value = take(value, key, depth, copying);
    if (value === undefined) isComplete = false;
  }
  const whole = isComplete && areKeysWritten ? copy : asWritten(copy, copying.dialect);
  return mayHaveIndices === true ? withoutHoles(whole) : whole;
}

/** Returns the properties to write, under the keys to write. */
function asWritten(object: Record<string, unknown>, { text }: Dialect): Record<string, unknown> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(text === null ? entries : entries.map(([key, value]) => [text(key), value]));
}

function unboxed(value: object): unknown {
  if (value instanceof Number) return Number(value);
  if (value instanceof String) return String(value);
  return value instanceof Boolean ? Boolean.prototype.valueOf.call(value) : undefined;
}

/** Whether a value is a view of bytes or a buffer of them. */
export function isBytes(value: object): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || isArrayBuffer(value);
}

// Built-in types with internal slots have a tag of their own and no properties. The listed ones may have some properties too.
function hidesContent(value: object): boolean {
  const tag = tagOf(value);
  return LISTED.has(tag) || (tag !== 'Object' && Object.keys(value).length === 0);
}

const LISTED = new Set(['Error', 'Map', 'Promise', 'RegExp', 'Set', 'WeakMap', 'WeakSet']);

function refusal(value: unknown, key: Key, depth: number, copying: Copying): TypeError {
  return failure(copying, `expected a value it can carry at ${place(key, depth, copying)}, got ${kindOf(value)}`);
}

function protoKeyRefusal(depth: number, copying: Copying): TypeError {
  return failure(copying, `expected any key but '__proto__', got ${place('__proto__', depth, copying)}`);
}

function tooDeep(copying: Copying): TypeError {
  const { dialect, root } = copying;
  return failure(copying, `expected at most ${dialect.maxDepth} levels of nesting in ${root}, got more or a circular structure`);
}

function failure({ dialect }: Copying, text: string): TypeError {
  return new TypeError(`codec '${dialect.codec}': ${text}`);
}

function place(key: Key, depth: number, { root, path }: Copying): string {
  const keys = depth === 0 ? [] : [...path.slice(1, depth), key];
  return root + keys.map(step).join('');
}

function step(key: Key): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function kindOf(value: unknown): string {
  if (typeof value === 'number' || value === undefined) return String(value);
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  const tag = tagOf(value);
  if (isBytes(value)) return `bytes (${tag})`;
  if (isDate(value) && Number.isNaN(value.getTime())) return 'an invalid Date';
  return `${/^[AEIO]/.test(tag) ? 'an' : 'a'} ${tag}`;
}
