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

/** Whether a value is a promise, of this realm or another. Other thenables are not. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise || (typeof value === 'object' && value !== null && tagOf(value) === 'Promise');
}

const BLOBS = new Set(['Blob', 'File']);
const ERRORS = new Set(['Error', 'DOMException']);
