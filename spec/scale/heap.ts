/** An item that a {@link Heap} orders. */
export interface Ranked {
  /** The lowest comes first. */
  readonly rank: number;
  /** The index of the item in the heap. Only the heap writes it. */
  place: number;
}

/** A binary min-heap from which any item can be removed. Adding, removing or moving an item takes logarithmic time. */
export class Heap<T extends Ranked> {
  // A binary tree, level by level: no item ranks below its parent.
  readonly #items: T[] = [];

  get lowest(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.place = this.#items.length;
    this.#items.push(item);
    this.#rise(item);
  }

  /** Removes an item that is in the heap. */
  delete(item: T): void {
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#put(last, item.place);
    this.move(last);
  }

  /** Restores the order after the rank of an item has changed. */
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
