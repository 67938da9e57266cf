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

  delete(key: K): void {
    this.#entries?.delete(key);
  }

  keys(): Iterable<K> {
    return this.#entries?.keys() ?? NOTHING;
  }

  values(): Iterable<V> {
    return this.#entries?.values() ?? NOTHING;
  }

  clear(): void {
    this.#entries = null;
  }

  /** Iterates in the order in which the keys were set. Includes keys that are set meanwhile. */
  [Symbol.iterator](): Iterator<[K, V]> {
    return (this.#entries ?? NOTHING)[Symbol.iterator]();
  }
}

/** A Set that is created with its first value; see {@link LazyMap}. */
export class LazySet<T> {
  #values: Set<T> | null = null;

  get size(): number {
    return this.#values?.size ?? 0;
  }

  has(value: T): boolean {
    return this.#values?.has(value) ?? false;
  }

  add(value: T): void {
    (this.#values ??= new Set()).add(value);
  }

  /** Removes a value, and returns whether it was in the set. */
  delete(value: T): boolean {
    return this.#values?.delete(value) ?? false;
  }

  clear(): void {
    this.#values = null;
  }

  /** Iterates in the order in which the values were added. Includes values that are added meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return (this.#values ?? NOTHING).values();
  }
}
