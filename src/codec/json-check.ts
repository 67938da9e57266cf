import { isArrayBuffer, isDate, isPlainObject, isThenable, tagOf } from '../util/check.js';

/** The key of a value in the array or object around it. */
export type Key = string | number;

/** Whether a value is a view of bytes or a buffer of them. */
export function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || isArrayBuffer(value);
}

/** Returns the bytes of a buffer, or of any view of one, without a copy. */
export function bytesOf(bytes: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
}

/**
 * Whether an object shows none of its content as properties, as a Map, an Error or a promise does: a codec would lose it in silence. A
 * thenable such as a query counts too, because its properties are the connection's secrets and not the rows.
 */
export function hidesContent(value: object): boolean {
  // Built-in types with internal slots have a tag of their own and no properties. The listed ones may have some properties too.
  const tag = tagOf(value);
  return LISTED.has(tag) || isThenable(value) || (tag !== 'Object' && Object.keys(value).length === 0);
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
  return refusal(
    codec,
    `expected a value it can carry at ${placeOf(root, keys)}, got ${kindOf(value)}${codec === 'rich' ? '' : remedyFor(value)}`,
  );
}

/** Advises on a value that another codec carries. */
function remedyFor(value: unknown): string {
  const remedy = isBytes(value) ? 'rxmux/msgpack' : REMEDIES[tagOf(value)];
  return typeof remedy === 'string' ? `: try ${remedy} or rxmux/rich` : '';
}

const REMEDIES: Readonly<Record<string, unknown>> = {
  BigInt: 'String(n)',
  Map: 'Object.fromEntries(map)',
  Number: 'null',
  Set: '[...set]',
};

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
  if (isThenable(value)) return 'a promise (await it first)';
  if (isBytes(value)) return `bytes (${tag})`;
  if (isDate(value) && Number.isNaN(value.getTime())) return 'an invalid Date';
  return `${/^[AEIO]/.test(tag) ? 'an' : 'a'} ${tag}`;
}

const LISTED = new Set(['Error', 'Map', 'Promise', 'RegExp', 'Set', 'WeakMap', 'WeakSet']);

/** How many arrays and objects may be nested, including the outermost. */
export const MAX_DEPTH = 256;

/**
 * Writes a value as `JSON.stringify` does, and refuses each part that JSON would lose in silence. `JSON.stringify` itself reads each
 * property and calls its `toJSON`, and this function checks the result on its way into the text. So the checked value is the written
 * value, even if a getter or a Proxy returns another value the second time.
 *
 * @param root names the value in messages: `payload`, `headers`
 * @param levels the most levels of nesting
 * @throws TypeError saying where and what. It refuses `undefined` itself, functions, symbols, bigint, bytes, `NaN` and the infinities. It
 *   refuses more than `levels` levels of nesting, so circular structures too. It refuses objects that show none of their content as
 *   properties, such as a Map, Set, Promise, RegExp or Error.
 *
 * @example
 * ```ts
 * checkedJson({ at: new Date(0), by: undefined }, 'payload');   // '{"at":"1970-01-01T00:00:00.000Z"}'
 * checkedJson({ tags: [new Set()] }, 'payload');
 * // TypeError: codec 'json': expected a value it can carry at payload.tags[0], got a Set: try [...set] or rxmux/rich
 * ```
 */
export function checkedJson(value: unknown, root: string, levels = MAX_DEPTH): string {
  /** The arrays and objects around the value, from the outermost on, and their keys. */
  const open: object[] = [];
  const keys: Key[] = [];
  const json = JSON.stringify(value, function (this: Holder, name: string, written: unknown): unknown {
    while (open.length > 0 && open[open.length - 1] !== this) open.pop();
    const depth = open.length;
    const key = Array.isArray(this) ? Number(name) : name;
    // The outermost value has no place but the root.
    const refuse = (refused: unknown): TypeError => valueRefusal('json', root, [...keys.slice(0, depth), key].slice(1), refused);
    const given = this[name];
    // JSON carries no bytes, although a Buffer has a toJSON.
    if (given !== written && isBytes(given)) throw refuse(given);
    let scalar = written;
    if (typeof written === 'object' && written !== null) {
      const isContainer = Array.isArray(written) || isPlainObject(written);
      scalar = isContainer ? undefined : unboxed(written);
      if (scalar === undefined) {
        if (!isContainer && (isBytes(written) || hidesContent(written))) throw refuse(written);
        if (depth === levels || open.includes(written)) throw depthRefusal('json', root, levels);
        open.push(written);
        keys[depth] = key;
        return written;
      }
    }
    if (scalar === undefined || isFlat(scalar)) return scalar;
    throw refuse(scalar);
  }) as string | undefined;
  if (json === undefined) throw valueRefusal('json', root, [], value);
  return json;
}

/** Whether a value is text, a finite number, a boolean or `null`. */
export function isFlat(value: unknown): boolean {
  return typeof value === 'string' || value === null || typeof value === 'boolean' || Number.isFinite(value);
}

/**
 * Writes headers or trailers as {@link checkedJson} does, and ensures that they arrive as a map.
 *
 * @throws TypeError as {@link checkedJson} does, and for an array or any other value that the receiver would not see as a map
 */
export function checkedMap(metadata: object, root: string): string {
  const json = checkedJson(metadata, root);
  if (json.startsWith('{')) return json;
  throw mapRefusal('json', root, metadata);
}

/** An array, or an object. */
type Holder = Readonly<Record<string, unknown>>;

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
export function isPlain(value: object & { readonly [Symbol.toStringTag]?: unknown }): boolean {
  if (value.constructor === Object && value[Symbol.toStringTag] === undefined) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || (tagOf(value) === 'Object' && !isThenable(value));
}

function areReady(items: readonly unknown[], levels: number): boolean {
  for (const item of items) if (typeof item !== 'string' && !isReady(item, levels)) return false;
  return true;
}

/** Whether an object counts by its own properties and nothing else, so that it can be written entry by entry. */
export function isBare(object: object & { readonly toJSON?: unknown }): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return (prototype === Object.prototype || prototype === null) && object.toJSON === undefined && !Array.isArray(object);
}

/** Whether an entry of headers is text, a number, a boolean or `null` that arrives unchanged. JSON loses the sign of -0. */
export function carriesEntry(key: string, value: unknown): boolean {
  return !mayBeIndex(key) && isFlat(value) && !Object.is(value, -0);
}

const [DIGIT_0, DIGIT_9] = [0x30, 0x39];

/** Whether a key may be an index. Some other keys begin with a digit too. */
export function mayBeIndex(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= DIGIT_0 && first <= DIGIT_9;
}
