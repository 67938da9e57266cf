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

/** Returns what an error of the network says. A name with several addresses fails with a code, and without a message. */
export function networkText({ message, code }: NodeJS.ErrnoException): string {
  return message.trim() || String(code);
}
