/** What holds in every run, whatever happens in it. */
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

/** An invariant that did not hold. */
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

/** Keeps what was found where a throw would be caught: in callbacks that the library guards. */
export class Findings {
  #first: Violation | null = null;

  note(holds: boolean, invariant: Invariant, detail: () => string): void {
    if (!holds) this.#first ??= new Violation(invariant, detail());
  }

  /** @throws Violation for the first that was found */
  report(): void {
    if (this.#first !== null) throw this.#first;
  }
}
