import { encodedLength } from '../wire/length.js';

/** Keeps the last rows of a text, within two limits. */
export class RecentRows {
  readonly #rows = new Map<number, string>();
  #bytes = 0;
  #added = 0;

  constructor(
    readonly maxRows: number,
    readonly maxBytes: number,
  ) {}

  /** How many rows were dropped because of the limits. */
  get dropped(): number {
    return this.#added - this.#rows.size;
  }

  add(row: string): void {
    this.#rows.set(this.#added++, row);
    this.#bytes += sizeOf(row);
    while (this.#rows.size > this.maxRows || this.#bytes > this.maxBytes) this.#drop();
  }

  /** Returns all rows, each with a line break. */
  toString(): string {
    return [...this.#rows.values()].map((row) => `${row}\n`).join('');
  }

  #drop(): void {
    const oldest = this.dropped;
    this.#bytes -= sizeOf(this.#rows.get(oldest) ?? '');
    this.#rows.delete(oldest);
  }
}

/** The bytes of a row with its line break. */
function sizeOf(row: string): number {
  return encodedLength(row) + 1;
}
