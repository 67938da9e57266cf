/**
 * Whether a value is an object used as a map, in this realm or another. A literal, `JSON.parse` or `Object.create(null)` makes such
 * objects. Arrays, bytes, `Date`, `Map` and instances of classes are none.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
