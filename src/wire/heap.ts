/** What a {@link Heap} puts in order. */
export interface Ranked {
  /** The lowest comes first. */
  readonly rank: number;
  /** Its index in the heap, which alone writes it. */
  place: number;
}

/** A binary min-heap from which any item can be removed: to add, remove or move one costs the logarithm of how many there are. */
export class Heap<T extends Ranked> {
  // A binary tree, level by level: nobody ranks below the one above it.
  readonly #items: T[] = [];

  get lowest(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.place = this.#items.length;
    this.#items.push(item);
    this.#rise(item);
  }

  /** Takes out an item that is in. */
  delete(item: T): void {
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#put(last, item.place);
    this.move(last);
  }

  /** The rank of an item has changed. */
  move(item: T): void {
    this.#rise(item);
    this.#sink(item);
  }

  #rise(item: T): void {
    while (item.place > 0) {
      const above = this.#items[(item.place - 1) >> 1];
      if (above === undefined || above.rank <= item.rank) return;
      this.#swap(item, above);
    }
  }

  #sink(item: T): void {
    for (;;) {
      const below = this.#lowerOf(this.#items[2 * item.place + 1], this.#items[2 * item.place + 2]);
      if (below === undefined || item.rank <= below.rank) return;
      this.#swap(item, below);
    }
  }

  #lowerOf(left: T | undefined, right: T | undefined): T | undefined {
    return left === undefined || right === undefined || left.rank <= right.rank ? left : right;
  }

  #swap(one: T, other: T): void {
    const { place } = one;
    this.#put(one, other.place);
    this.#put(other, place);
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}
