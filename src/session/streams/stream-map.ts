/** Slots of a new table; always a power of two. */
const MIN_CAPACITY = 4;
/** A table of no more slots than this is not worth making smaller. */
const SMALL_SLOTS = 256;
/** Stands in a slot that is free. No stream has this id. */
const FREE = -1;

/**
 * Values by stream id: what a Map does, without what a Map leaves behind. Streams come and go by the million, and every so
 * many deletions a Map moves to a new table. Each old one, once it has grown old enough to be moved out of the young
 * generation, keeps the streams that it held, and the tables after it, until the next full collection: that was a third of
 * the cost of a request. A slot here is emptied in place, and the table stays.
 *
 * Open addressing with linear probing, at most three quarters full. Ids are the remote's to choose, so they are hashed with a seed
 * of the table's own: nobody can choose ids that fall into one place.
 */
export class StreamMap<T> {
  #ids: number[] = [];
  #values: (T | undefined)[] = [];
  #size = 0;

  constructor(readonly seed = randomSeed()) {
    this.#clear(MIN_CAPACITY);
  }

  get size(): number {
    return this.#size;
  }

  /** Slots of the table, of which three in four may be taken. */
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
    this.#vacate(slot);
    const slots = this.#ids.length;
    if (slots > SMALL_SLOTS && this.#size * 8 < slots) this.#resize(slots / 2);
  }

  /** All values, in the order of their ids. */
  values(): T[] {
    const ids = [...this.#ids].sort((one, other) => one - other);
    return ids.map((id) => this.get(id)).filter((value) => value !== undefined);
  }

  /** Where an id is, or the free slot where it belongs. */
  #slotOf(id: number): number {
    const ids = this.#ids;
    const last = ids.length - 1;
    let slot = hashOf(id, this.seed) & last;
    while (ids[slot] !== id && ids[slot] !== FREE) slot = (slot + 1) & last;
    return slot;
  }

  /** Frees a slot, and moves up those behind it that were only there because it was taken. */
  #vacate(slot: number): void {
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

/** Not from Math.random where it can be helped: a program that shows its numbers shows the next ones, too. */
function randomSeed(): number {
  const { crypto } = globalThis as Partial<Pick<typeof globalThis, 'crypto'>>;
  return crypto === undefined ? (Math.random() * 2 ** 32) | 0 : Number(crypto.getRandomValues(new Int32Array(1))[0]);
}

/** Spreads ids over all 32 bits: the last step of MurmurHash3, over both halves of an id of up to 53 bits. */
export function hashOf(id: number, seed: number): number {
  let hash = id ^ Math.imul(id / 2 ** 32, 0x27d4eb2f) ^ seed;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
