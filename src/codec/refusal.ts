import { isArrayBuffer, isDate, tagOf } from '../wire/cross-realm.js';

/** The key of a value in the array or object around it. */
export type Key = string | number;

/** Whether a value is a view of bytes or a buffer of them. */
export function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || isArrayBuffer(value);
}

/** Whether an object shows none of its content as properties, as a Map or an Error does. A codec would lose it in silence. */
export function hidesContent(value: object): boolean {
  // Built-in types with internal slots have a tag of their own and no properties. The listed ones may have some properties too.
  const tag = tagOf(value);
  return LISTED.has(tag) || (tag !== 'Object' && Object.keys(value).length === 0);
}

/** Returns the primitive in a box such as `Object(1)`; `undefined` for every other object. */
export function unboxed(value: object): unknown {
  if (value instanceof Number) return Number(value);
  if (value instanceof String) return String(value);
  return value instanceof Boolean ? Boolean.prototype.valueOf.call(value) : undefined;
}

/**
 * Returns the error for a value that a codec cannot carry.
 *
 * @param root names the outermost value: `payload`, `headers`
 * @param keys lead from the outermost value to the refused one
 */
export function valueRefusal(codec: string, root: string, keys: readonly Key[], value: unknown): TypeError {
  return refusal(codec, `expected a value it can carry at ${placeOf(root, keys)}, got ${kindOf(value)}`);
}

/** Returns the error for more than `most` nested arrays and objects. */
export function depthRefusal(codec: string, root: string, most: number): TypeError {
  return refusal(codec, `expected at most ${most} levels of nesting in ${root}, got more or a circular structure`);
}

/** Returns the error for headers or trailers that would not arrive as a map. */
export function mapRefusal(codec: string, root: string, metadata: object): TypeError {
  return refusal(codec, `expected a map with string keys as ${root}, got ${kindOf(metadata)}`);
}

/** Returns the error of a codec for a value that is not sent. */
export function refusal(codec: string, text: string): TypeError {
  return new TypeError(`codec '${codec}': ${text}`);
}

/** Returns a place as JavaScript would write it: `payload.tags[0]`. */
export function placeOf(root: string, keys: readonly Key[]): string {
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

const LISTED = new Set(['Error', 'Map', 'Promise', 'RegExp', 'Set', 'WeakMap', 'WeakSet']);
