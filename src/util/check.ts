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

/** Returns the error for a wrong option. Code may have returned a promise in its place, whose rejection must not end the process. */
export function optionError(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name}: expected ${expected}, got ${shown(markHandled(value))}`);
}

/** Returns a value as errors show it. Objects and functions show their kind only. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}

/**
 * Declares one option: `read` checks a given value and returns what the program uses; `byDefault` is used where none is given.
 * A name has its unit: `…Ms`, `…Bytes`.
 */
export type Option<Given, Used = Given> = readonly [read: (name: string, given: Given) => Used, byDefault: Used];

/** Declares all options of an interface, in the order of their checks. `Used` differs where options have defaults, or are converted. */
export type Options<Given, Used extends { readonly [Name in keyof Given]-?: unknown } = Required<Given>> = {
  readonly [Name in keyof Given]-?: Option<Exclude<Given[Name], undefined>, Used[Name]>;
};

/** Options as the program uses them. Those in `Bare` have no default, and may be `undefined`. */
export type Used<Given, Bare extends keyof Given = never> = {
  readonly [Name in keyof Given]-?: Name extends Bare ? Given[Name] | undefined : Exclude<Given[Name], undefined>;
};

/** The names of all options of an interface that each call reads for itself. */
export type NamesOf<Given> = Readonly<Record<keyof Given, true>>;

type AnyOptions = Readonly<Record<string, Option<never, unknown>>>;

/** Values for declared options; `undefined` is not given. */
type GivenOf<Declared extends AnyOptions> = {
  readonly [Name in keyof Declared]?: Parameters<Declared[Name][0]>[1] | undefined;
};

/** Declared options, as the program uses them. */
type UsedOf<Declared extends AnyOptions> = { readonly [Name in keyof Declared]: Declared[Name][1] };

/**
 * Checks each given option once, and fills in the defaults of the others.
 *
 * @param path stands before each name in errors
 * @throws TypeError naming the first wrong option
 */
export function readOptions<Declared extends AnyOptions>(declared: Declared, given: GivenOf<Declared>, path = ''): UsedOf<Declared> {
  const used: Record<string, unknown> = {};
  for (const [name, [read, byDefault]] of Object.entries<Option<never, unknown>>(declared)) {
    const value = given[name] as undefined;
    used[name] = value === undefined ? byDefault : read(path + name, value);
  }
  return used as UsedOf<Declared>;
}

/**
 * Reads an object of options whose names one declaration holds. Unlike {@link readOptions} it takes no unknown name.
 *
 * @param expected names the accepted values in the error
 * @throws TypeError naming the first wrong option, or the unknown one
 */
export function readObject<Declared extends AnyOptions>(
  name: string,
  given: GivenOf<Declared>,
  declared: Declared,
  expected?: string,
): UsedOf<Declared> {
  refuseUnknown(name, checkObject(name, given, expected), declared);
  return readOptions(declared, given, `${name}.`);
}

/**
 * Checks the names of options. A misspelt `verify` would admit every peer, and a misspelt `timeoutMs` would wait for ever.
 *
 * @throws TypeError naming an option that none of the declarations has
 */
export function refuseUnknown(name: string, given: object, ...declared: readonly object[]): void {
  for (const key of Object.keys(given)) {
    if (declared.some((options) => Object.hasOwn(options, key))) continue;
    // Every call of a peer passes here, so only an error lists the names.
    const names = [...new Set(declared.flatMap((options) => Object.keys(options)))];
    // Each wrong letter more makes the search three times as long.
    for (let left = 1; left < 4 && left * 3 <= key.length; left++) {
      const near = names.find((other) => isNear(key, other, left));
      if (near !== undefined) throw new TypeError(`${name}: no '${key}'; did you mean '${near}'?`);
    }
    throw new TypeError(`${name}: expected one of ${names.join(', ')}, got '${key}'`);
  }
}

/** Whether one name becomes the other by at most `left` letters that are inserted, deleted or replaced. */
function isNear(a: string, b: string, left: number): boolean {
  const [aRest, bRest] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return a === '' || isNear(aRest, bRest, left);
  return left > 0 && (isNear(aRest, bRest, left - 1) || isNear(aRest, b, left - 1) || isNear(a, bRest, left - 1));
}

/**
 * {@link refuseUnknown} for an argument named `options`.
 *
 * @throws TypeError unless `given` is an object
 */
export function checkOptions(given: object, ...declared: readonly object[]): void {
  refuseUnknown('options', checkObject('options', given), ...declared);
}

/** Reads an option that is checked later, together with others. */
export function asGiven<Given>(_name: string, given: Given): Given {
  return given;
}

/** Returns the name that `Object.prototype.toString` has for a value. For a built-in type it is the same in every realm. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** Whether a value is an error, of this realm or another, such as the context in which a test runner runs its tests. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || ERRORS.has(tagOf(value));
}

/** Whether a value is an ArrayBuffer, of this realm or another; shared memory is not one. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return value instanceof ArrayBuffer || tagOf(value) === 'ArrayBuffer';
}

/** Whether a value is a `Blob` or a `File`, of this realm, another, or happy-dom, which does not name them. */
export function isBlob(value: unknown): value is Blob {
  return BLOBS.has(tagOf(value)) || (typeof value === 'object' && value !== null && 'slice' in value && 'arrayBuffer' in value);
}

/** Whether a value is a `Date`, of this realm or another. */
export function isDate(value: unknown): value is Date {
  return value instanceof Date || tagOf(value) === 'Date';
}

/**
 * Whether `await` would wait for a value: the one test of what a program's function has returned. A read decides, because a Proxy may have
 * a `then` that `in` does not find.
 *
 * Pass a thenable to `Promise.resolve` once: some start their work at each `then`.
 */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** Whether a value is a promise, of this realm or another. Other thenables are not: some start their work at a `then`. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise || (typeof value === 'object' && value !== null && tagOf(value) === 'Promise');
}

/** Marks a promise as handled. Leaves other thenables alone. */
export function markHandled<T>(value: T): T {
  if (isPromise(value)) value.catch(() => undefined);
  return value;
}

const BLOBS = new Set(['Blob', 'File']);
const ERRORS = new Set(['Error', 'DOMException']);

/** Describes a value of the remote for an error message. It never shows a text: that may be an application's secret, and megabytes long. */
export function describeReceived(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'an array';
  if (isArrayBuffer(value) || ArrayBuffer.isView(value)) return 'bytes';
  if (value === undefined) return 'nothing';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/**
 * Whether a value is an object used as a map, in this realm or another. A literal, `JSON.parse` or `Object.create(null)` makes such
 * objects. Arrays, bytes, `Date`, `Map` and instances of classes are none.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The most UTF-16 units of a text of the remote that one line shows, escapes included. */
const MOST_SHOWN = 100;

/**
 * Control characters (C0, DEL, C1), which terminals act on. Format characters, which hide or reorder text. Line separators. Halves of
 * surrogate pairs.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Returns a remote's text for a log line: a JSON string of at most 100 characters. Controls beyond ASCII are escaped too. */
export function quoted(text: string): string {
  return `"${cut(text, MOST_SHOWN, (character) => inJson(character).replace(UNSAFE, unicodeEscapes))}"`;
}

/** Returns a text that may hold a remote's, on one line and in at most `most` characters. Unsafe characters are escaped. */
export function oneLine(text: string, most = MOST_SHOWN): string {
  if (text.length <= most && text.search(UNSAFE) < 0) return text;
  return cut(text, most, escaped);
}

/** Escapes the unsafe characters of a text as JSON does, those beyond ASCII too. */
export function escaped(text: string): string {
  return text.replace(UNSAFE, inJson).replace(UNSAFE, unicodeEscapes);
}

function cut(text: string, most: number, show: (character: string) => string): string {
  let shown = '';
  for (const character of text) {
    const next = show(character);
    if (shown.length + next.length > most) return `${shown}…`;
    shown += next;
  }
  return shown;
}

function inJson(character: string): string {
  return JSON.stringify(character).slice(1, -1);
}

function unicodeEscapes(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

/** An error of Node. A name with several addresses fails with an error that has no message. */
interface SystemError extends Error {
  readonly errors?: unknown;
  readonly code?: unknown;
}

/** Returns what an error says: its message without the line break of OpenSSL, what the errors inside say, its code, or its name. */
export function errorText(error: unknown): string {
  if (!isError(error)) return String(error);
  const { message, errors = [], code = error.name }: SystemError = error;
  return message.trim() || [errors].flat().map(errorText).join(', ') || String(code);
}
