import { FIRST, small } from '../harness/payloads.js';
import type { Small } from '../harness/payloads.js';

/** Of this many values, one is compared whole. The others are only counted. */
const SAMPLE = 64;

/** @throws Error unless a value is the `n`th small object */
export function checkSmall(value: unknown, n: number): void {
  const got = (value as Partial<Small> | null)?.n;
  if (got !== FIRST + n || (n % SAMPLE === 0 && JSON.stringify(value) !== JSON.stringify(small(n))))
    expected(JSON.stringify(small(n)), value);
}

/** @throws Error unless a text has that many characters, all of them `x` */
export function checkText(value: unknown, length: number): void {
  if (typeof value !== 'string' || value.length !== length || !/^x$/.test(value.charAt(length - 1))) expected(`a text of ${length}`, value);
}

/** @throws Error unless the two are the same number */
export function checkNumber(value: unknown, right: number): void {
  if (value !== right) expected(String(right), value);
}

function expected(what: string, got: unknown): never {
  const text = typeof got === 'string' ? `a text of ${got.length}` : String(JSON.stringify(got)).slice(0, 200);
  throw new Error(`a wrong answer: expected ${what}, got ${text}`);
}
