const NOTHING: readonly never[] = [];

/** A Map that is made at its first entry. Those of most connections stay empty, and an empty Map takes some 200 bytes. */
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

  /** In the order in which their keys came; those that are set meanwhile too. */
  [Symbol.iterator](): Iterator<[K, V]> {
    return (this.#entries ?? NOTHING)[Symbol.iterator]();
  }
}

/** A Set that is made at its first value; see {@link LazyMap}. */
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

  /** Whether it was in. */
  delete(value: T): boolean {
    return this.#values?.delete(value) ?? false;
  }

  clear(): void {
    this.#values = null;
  }

  /** In the order in which they came; those that are added meanwhile too. */
  [Symbol.iterator](): Iterator<T> {
    return (this.#values ?? NOTHING).values();
  }
}
