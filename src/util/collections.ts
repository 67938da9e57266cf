/** The number of empty places at the front that are accepted before the array is cut. */
const SLACK = 1024;

/** No items, and never any. */
const NONE: undefined[] = [];

/** A queue whose `shift` does not move the remaining items. */
export class Fifo<T> {
  /** Made for the first item: most connections never queue any. */
  #items: (T | undefined)[] = NONE;
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    if (this.#items === NONE) this.#items = [];
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    // The item may be big: do not keep it alive.
    this.#items[this.#head] = undefined;
    this.#head++;
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head >= SLACK && this.#head * 2 >= this.#items.length) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = NONE;
    this.#head = 0;
  }
}

const NOTHING: readonly never[] = [];

/** A Map that is created with its first entry. Most connections have no entries, and an empty Map takes some 200 bytes. */
export class LazyMap<K, V> {
  #entries: Map<K, V> | null = null;

  get size(): number {
    return this.#entries?.size ?? 0;
  }

  has(key: K): boolean {
    return this.#entries?.has(key) ?? false;
  }

  get(key: K): V | undefined {
    return this.#entries?.get(key);
  }

  set(key: K, value: V): void {
    (this.#entries ??= new Map<K, V>()).set(key, value);
  }

  /** Removes a key, and returns whether the map had it. */
  delete(key: K): boolean {
    return this.#entries?.delete(key) ?? false;
  }

  /** Iterates in the order in which the keys were set. Includes keys that are set meanwhile. */
  keys(): Iterable<K> {
    return this.#entries?.keys() ?? NOTHING;
  }

  values(): Iterable<V> {
    return this.#entries?.values() ?? NOTHING;
  }

  clear(): void {
    this.#entries = null;
  }

  entries(): Iterable<[K, V]> {
    return this.#entries ?? NOTHING;
  }
}

/** A Set that is created with its first value; see {@link LazyMap}. */
export class LazySet<T> extends LazyMap<T, true> {
  add(value: T): void {
    this.set(value, true);
  }

  /** Iterates in the order in which the values were added. Includes values that are added meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.keys()[Symbol.iterator]();
  }
}

/** A Map or a WeakMap. */
interface Kept<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** Returns the value of a key. Where there is none, it makes one, which the map keeps. */
export function getOrMake<K, V>(kept: Kept<K, V>, key: K, make: () => V): V {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = make();
  kept.set(key, made);
  return made;
}
