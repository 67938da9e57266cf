import { randomInt32 } from '../util/random.js';

/** Slots of a new table; always a power of two. */
const MIN_CAPACITY = 4;
/** A table up to this size is not worth shrinking. */
const SMALL_SLOTS = 256;
/** The id in a free slot. No stream has this id. */
const FREE = -1;

/**
 * Maps stream ids to values, without the garbage of a Map. Streams come and go by the million, and a Map moves to a new table after many
 * deletions. An old table may already have left the young generation of the heap. It then keeps its streams and all later tables alive
 * until the next full collection. That was a third of the cost of a request. A StreamMap empties a slot in place and keeps its table.
 *
 * The table uses open addressing with linear probing, and is at most three quarters full. The remote chooses its ids. So each table hashes
 * ids with its own seed, and no remote can choose ids that collide.
 */
export class StreamMap<T> {
  #ids: number[] = [];
  #values: (T | undefined)[] = [];
  #size = 0;

  constructor(readonly seed = randomInt32()) {
    this.#clear(MIN_CAPACITY);
  }

  get size(): number {
    return this.#size;
  }

  /** Slots of the table. At most three in four are taken. */
  get capacity(): number {
    return this.#ids.length;
  }

  get(id: number): T | undefined {
    return this.#values[this.#slotOf(id)];
  }

  set(id: number, value: T): void {
    const slot = this.#slotOf(id);
    this.#values[slot] = value;
    if (this.#ids[slot] === id) return;
    this.#ids[slot] = id;
    this.#size++;
    if (this.#size * 4 > this.#ids.length * 3) this.#resize(this.#ids.length * 2);
  }

  delete(id: number): void {
    const slot = this.#slotOf(id);
    if (this.#ids[slot] !== id) return;
    this.#size--;
    this.#release(slot);
    const slots = this.#ids.length;
    if (slots > SMALL_SLOTS && this.#size * 8 < slots) this.#resize(slots / 2);
  }

  /** Returns all values in the order of their ids. */
  values(): T[] {
    const ids = [...this.#ids].sort((one, other) => one - other);
    return ids.map((id) => this.get(id)).filter((value) => value !== undefined);
  }

  /** Returns the slot of an id, or the free slot where the id belongs. */
  #slotOf(id: number): number {
    const ids = this.#ids;
    const last = ids.length - 1;
    let slot = hashOf(id, this.seed) & last;
    while (ids[slot] !== id && ids[slot] !== FREE) slot = (slot + 1) & last;
    return slot;
  }

  /** Releases a slot. Moves each later entry into the hole if that entry was displaced past it. */
  #release(slot: number): void {
    const last = this.#ids.length - 1;
    let hole = slot;
    for (let next = (hole + 1) & last; this.#ids[next] !== FREE; next = (next + 1) & last) {
      const id = Number(this.#ids[next]);
      if (((next - hashOf(id, this.seed)) & last) < ((next - hole) & last)) continue;
      this.#ids[hole] = id;
      this.#values[hole] = this.#values[next];
      hole = next;
    }
    this.#ids[hole] = FREE;
    this.#values[hole] = undefined;
  }

  #resize(slots: number): void {
    const ids = this.#ids;
    const values = this.#values;
    this.#clear(slots);
    for (const [slot, value] of values.entries()) if (value !== undefined) this.set(Number(ids[slot]), value);
  }

  #clear(slots: number): void {
    this.#size = 0;
    this.#ids = new Array<number>(slots).fill(FREE);
    this.#values = new Array<T | undefined>(slots).fill(undefined);
  }
}

/** Spreads ids over all 32 bits, by the last step of MurmurHash3 over both halves of an id of up to 53 bits. */
export function hashOf(id: number, seed: number): number {
  let hash = id ^ Math.imul(id / 2 ** 32, 0x27d4eb2f) ^ seed;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
