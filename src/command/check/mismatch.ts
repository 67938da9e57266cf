/** A step expected one thing, and another came. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';

  constructor(
    readonly expected: string,
    readonly got: string,
  ) {
    super(`expected ${expected}, got ${got}`);
  }
}
