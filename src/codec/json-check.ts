import { isPlainObject } from '../wire/plain-object.js';
import { depthRefusal, hidesContent, isBytes, mapRefusal, unboxed, valueRefusal } from './refusal.js';

/** How many arrays and objects may be nested, including the outermost. */
export const MAX_DEPTH = 256;

/**
 * Writes a value as `JSON.stringify` does, and refuses each part that JSON would lose in silence. `JSON.stringify` itself reads each
 * property and calls its `toJSON`, and this function checks the result on its way into the text. So the checked value is the written
 * value, even if a getter or a Proxy returns another value the second time.
 *
 * @param root names the value in messages: `payload`, `headers`
 * @throws TypeError saying where and what. It refuses `undefined` itself, functions, symbols, bigint, bytes, `NaN` and the infinities. It
 *   refuses more than 256 levels of nesting, so circular structures too. It refuses objects that show none of their content as
 *   properties, such as a Map, Set, Promise, RegExp or Error.
 *
 * @example
 * ```ts
 * checkedJson({ at: new Date(0), by: undefined }, 'payload');   // '{"at":"1970-01-01T00:00:00.000Z"}'
 * checkedJson({ tags: [new Set()] }, 'payload');
 * // TypeError: codec 'json': expected a value it can carry at payload.tags[0], got a Set
 * ```
 */
export function checkedJson(value: unknown, root: string): string {
  const check = new Check(root);
  const json = JSON.stringify(value, function (this: Holder, key: string, written: unknown) {
    return check.written(this, key, written);
  }) as string | undefined;
  if (json === undefined) throw valueRefusal('json', root, [], value);
  return json;
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

/** Checks each value while `JSON.stringify` writes it. */
class Check {
  /** The arrays and objects around the value, from the outermost on, and their keys. */
  readonly #open: object[] = [];
  readonly #keys: string[] = [];

  constructor(private readonly root: string) {}

  /** Returns the value to write for a key of `holder`. `value` is the result of its `toJSON`, if it has one. */
  written(holder: Holder, key: string, value: unknown): unknown {
    while (this.#open.length > 0 && this.#open[this.#open.length - 1] !== holder) this.#open.pop();
    const given = holder[key];
    // JSON carries no bytes, although a Buffer has a toJSON.
    if (given !== value && isBytes(given)) throw this.#refusal(key, given);
    return typeof value === 'object' && value !== null ? this.#object(key, value) : this.#scalar(key, value);
  }

  #scalar(key: string, value: unknown): unknown {
    if (value == null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value;
    throw this.#refusal(key, value);
  }

  #object(key: string, value: object): unknown {
    if (!Array.isArray(value) && !isPlainObject(value)) {
      const primitive = unboxed(value);
      if (primitive !== undefined) return this.#scalar(key, primitive);
      if (isBytes(value) || hidesContent(value)) throw this.#refusal(key, value);
    }
    const depth = this.#open.length;
    if (depth === MAX_DEPTH || this.#open.includes(value)) throw depthRefusal('json', this.root, MAX_DEPTH);
    this.#open.push(value);
    this.#keys[depth] = key;
    return value;
  }

  #refusal(key: string, value: unknown): TypeError {
    // The outermost value has no place but the root.
    const keys = [...this.#keys.slice(0, this.#open.length), key].slice(1);
    const place = keys.map((name, depth) => (Array.isArray(this.#open[depth]) ? Number(name) : name));
    return valueRefusal('json', this.root, place, value);
  }
}
