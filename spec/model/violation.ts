/** The invariants of every run. */
export type Invariant =
  | 'a stream ends once'
  | 'no value after the end'
  | 'payloads in order'
  | 'payloads complete'
  | 'headers once'
  | 'trailers with the end'
  | 'both sides agree'
  | 'resets have a reason'
  | 'phases'
  | 'honest sides are not blamed'
  | 'nothing held'
  | 'no timer left'
  | 'no listener left'
  | 'bytes within the limit'
  | 'promises settle'
  | 'no unhandled rejection'
  | 'no internal error'
  | 'ids'
  | 'goaway'
  | 'at most once'
  | 'fairness'
  | 'messages within the cap'
  | 'same outcome';

/** A broken invariant. */
export class Violation extends Error {
  constructor(
    readonly invariant: Invariant,
    detail: string,
  ) {
    super(`${invariant}: ${detail}`);
  }
}

/** @throws Violation unless `holds` */
export function demand(holds: boolean, invariant: Invariant, detail: () => string): void {
  if (!holds) throw new Violation(invariant, detail());
}

/** Keeps violations in callbacks of the library, which would catch an error. */
export class Findings {
  #first: Violation | null = null;

  note(holds: boolean, invariant: Invariant, detail: () => string): void {
    if (!holds) this.#first ??= new Violation(invariant, detail());
  }

  /** @throws Violation for the first one kept */
  report(): void {
    if (this.#first !== null) throw this.#first;
  }
}
