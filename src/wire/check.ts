/**
 * The members of an object that a caller sets; the others have defaults. `undefined` counts as not set.
 *
 * @example
 * ```ts
 * const limits: Given<Limits> = { maxStreams: 100 };
 * serve({ port: 8080, limits });
 * ```
 */
export type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/**
 * Checks an option and returns it: a count, a size in bytes or a time in ms. `Infinity` passes.
 *
 * @throws TypeError unless `value` is a number of at least `smallest`
 */
export function checkNumber(name: string, value: unknown, smallest = 0): number {
  if (typeof value === 'number' && value >= smallest) return value;
  throw optionError(name, `a number of at least ${smallest}`, value);
}

/** Makes a {@link checkNumber} with another smallest number. */
export function atLeast(smallest: number): (name: string, value: unknown) => number {
  return (name, value) => checkNumber(name, value, smallest);
}

/**
 * Returns `value`.
 *
 * @throws TypeError unless it is a function
 */
export function checkFunction<T>(name: string, value: T): T {
  if (typeof value === 'function') return value;
  throw optionError(name, 'a function', value);
}

/**
 * Returns `value`.
 *
 * @throws TypeError unless it is a boolean
 */
export function checkBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw optionError(name, 'a boolean', value);
}

/**
 * Returns `value`, an object that options are read from.
 *
 * @param expected names the accepted values in the error
 * @throws TypeError unless it is an object
 */
export function checkObject<T>(name: string, value: T, expected = 'an object'): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw optionError(name, expected, value);
}

/** @throws TypeError unless `code` is an integer and `reason` a string; `name` is the method that the user calls */
export function checkReset(name: string, code: unknown, reason: unknown): void {
  if (!Number.isSafeInteger(code)) throw optionError(name, 'an integer for a code', code);
  if (typeof reason !== 'string') throw new TypeError(`${name}: expected a string for a reason, got ${typeof reason}`);
}

/** Returns the error for a wrong option. */
export function optionError(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name}: expected ${expected}, got ${shown(value)}`);
}

/** Returns a value as errors show it. Objects and functions show their kind only. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}
