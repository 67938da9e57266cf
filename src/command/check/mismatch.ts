import { oneLine } from '../output.js';

/** A step expected one thing, and another came. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  readonly got: string;

  /** @param got may hold text of the target */
  constructor(
    readonly expected: string,
    got: string,
  ) {
    const shown = oneLine(got);
    super(`expected ${expected}, got ${shown}`);
    this.got = shown;
  }
}
