/**
 * Returns a random integer of 32 bits, signed, for values that a remote may see. `crypto` makes it, because `Math.random()` reveals its next
 * numbers to a reader of a few. Only a platform without `crypto`, such as an old React Native, falls back to `Math.random()`: its numbers
 * stay distinct, but a remote could foretell them.
 */
export function randomInt32(): number {
  const { crypto } = globalThis as Partial<Pick<typeof globalThis, 'crypto'>>;
  return crypto === undefined ? (Math.random() * 2 ** 32) | 0 : Number(crypto.getRandomValues(new Int32Array(1))[0]);
}
