export const SHORTEST_MS = 50;
export const LONGEST_MS = 600_000;

/** The part of time that the diagram shows. */
export class View {
  /** How much time the width shows, in ms. */
  span = 10_000;
  /** The right edge; `null` while the diagram follows the present. */
  #end: number | null = null;

  get follows(): boolean {
    return this.#end === null;
  }

  /** The right edge, where the present is `now`. */
  endAt(now: number): number {
    return this.#end ?? now;
  }

  follow(): void {
    this.#end = null;
  }

  /** Stands still at the present. */
  pause(now: number): void {
    this.#end ??= now;
  }

  /** Shows another time. At the present it follows again. */
  moveTo(end: number, now: number, oldest = 0): void {
    this.#end = end >= now ? null : Math.max(end, oldest + Math.min(this.span, now - oldest));
  }

  moveBy(ms: number, now: number, oldest = 0): void {
    this.moveTo(this.endAt(now) + ms, now, oldest);
  }

  /** Zooms, and keeps the time at `share` of the width in its place. While it follows, the present keeps its place. */
  zoom(factor: number, now: number, share = 1): void {
    const before = this.span;
    this.span = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, before * factor));
    if (this.#end !== null) this.#end = Math.min(now, this.#end + (this.span - before) * (1 - share));
  }

  /** Shows everything between two times. */
  show(begin: number, end: number): void {
    this.span = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, end - begin));
    this.#end = end;
  }
}

/** The distance of the ticks of an axis, in ms: 1, 2 or 5 times a power of ten, up to a second; then times that a clock has. */
export function tickMs(span: number, most: number): number {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000];
  return steps.find((step) => span / step <= most) ?? 300_000;
}
