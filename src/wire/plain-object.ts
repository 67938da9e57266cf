/**
 * Whether a value is an object used as a map: made by a literal, `JSON.parse`, `Object.create(null)` and the like, in this
 * realm or another. Arrays, bytes, `Date`, `Map` and instances of classes are not.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
