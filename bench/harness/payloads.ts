/** The payload of small requests and items: 93 bytes of JSON for six digits of `n`. */
export interface Small {
  readonly op: string;
  readonly n: number;
  readonly user: string;
  readonly price: number;
  readonly tags: readonly string[];
  readonly live: boolean;
}

/** Numbers start here, so that each has as many digits as any other. */
export const FIRST = 100_000;

export function small(n: number): Small {
  return { op: 'echo', n: FIRST + n, user: 'u-00421', price: 1234.56, tags: ['alpha', 'beta'], live: true };
}

/** A payload that is one string: its length in JSON is two more. */
export function text(bytes: number): string {
  return 'x'.repeat(bytes);
}

/** An array of small objects whose JSON has about that many bytes. */
export function objects(bytes: number): Small[] {
  return Array.from({ length: Math.floor(bytes / SMALL_BYTES) }, (_, n) => small(n));
}

const SMALL_BYTES = 94;
