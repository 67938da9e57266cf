import type { Line } from './api.js';

/** Counts the lines of each writer, to show that none was lost. */
export class Audit {
  readonly #last = new Map<string, number>();
  received = 0;
  missing = 0;
  repeated = 0;

  add({ writer, nth }: Line): void {
    const last = this.#last.get(writer) ?? 0;
    this.received++;
    if (nth <= last) this.repeated++;
    else this.missing += nth - last - 1;
    this.#last.set(writer, Math.max(nth, last));
  }

  toString(): string {
    return `${this.received} lines, ${this.missing} missing, ${this.repeated} repeated`;
  }
}
