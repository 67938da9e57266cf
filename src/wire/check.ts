/**
 * What is given of an object whose rest has defaults: `undefined` is not given.
 *
 * @example
 * ```ts
 * const limits: Given<Limits> = { maxStreams: 100 };
 * serve({ port: 8080, limits });
 * ```
 */
export type Given<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/**
 * Checks an option that is a count, a size in bytes or a time in ms.
 *
 * @throws TypeError unless `value` is a number of at least `smallest` (default 0); `Infinity` passes
 */
export function checkNumber(name: string, value: unknown, smallest = 0): void {
  if (typeof value !== 'number' || !(value >= smallest)) throw optionError(name, `a number of at least ${smallest}`, value);
}

/** @throws TypeError unless `value` is a function */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw optionError(name, 'a function', value);
}

/** @throws TypeError unless each of these options is a function, where it is given */
export function checkFunctions(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) if (value !== undefined) checkFunction(name, value);
}

/** @throws TypeError unless `value` is a boolean */
export function checkBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw optionError(name, 'a boolean', value);
}

/** @throws TypeError unless `value` is an object that options are read from; `expected` says what may be given */
export function checkObject(name: string, value: unknown, expected = 'an object'): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw optionError(name, expected, value);
}

/** @throws TypeError unless each of these options is an object, where it is given */
export function checkObjects(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) if (value !== undefined) checkObject(name, value);
}

/** @throws TypeError unless `code` is an integer and `reason` a string; `name` is what the user calls */
export function checkReset(name: string, code: unknown, reason: unknown): void {
  if (!Number.isSafeInteger(code)) throw optionError(name, 'an integer for a code', code);
  if (typeof reason !== 'string') throw new TypeError(`${name}: expected a string for a reason, got ${typeof reason}`);
}

/** What is thrown for an option that is not what it should be. */
export function optionError(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name}: expected ${expected}, got ${shown(value)}`);
}

/** A value as a message names it; of an object and of a function only what it is. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}
