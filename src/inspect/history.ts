import type { InspectorLine } from './batch.js';

/** The last lines, bounded in count and in age. */
export class History {
  #lines: InspectorLine[] = [];
  #first = 0;

  constructor(
    private readonly maxLines: number,
    private readonly maxAgeMs: number,
  ) {}

  /** The lines that are kept at the time `now`, in ms since the feed began. */
  linesAt(now: number): readonly InspectorLine[] {
    this.#forget(now);
    return this.#lines.slice(this.#first);
  }

  add(line: InspectorLine): void {
    this.#lines.push(line);
    this.#forget(line.t);
  }

  #forget(now: number): void {
    const oldest = now - this.maxAgeMs;
    while (this.#lines.length - this.#first > this.maxLines || (this.#lines[this.#first]?.t ?? oldest) < oldest) this.#first++;
    // Half of the array is old: moving the rest costs each line once.
    if (this.#first > this.#lines.length / 2) this.#compact();
  }

  #compact(): void {
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }
}
