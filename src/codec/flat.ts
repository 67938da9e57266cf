import { mayBeIndex } from './index-keys.js';

/** Whether an object counts by its own properties and nothing else, so that it can be written entry by entry. */
export function isBare(object: object & { readonly toJSON?: unknown }): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return (prototype === Object.prototype || prototype === null) && object.toJSON === undefined && !Array.isArray(object);
}

/** Whether an entry of headers is text, a number, a boolean or `null` that arrives unchanged. JSON loses the sign of -0. */
export function carriesEntry(key: string, value: unknown): boolean {
  if (mayBeIndex(key)) return false;
  return typeof value === 'string' || value === null || typeof value === 'boolean' || (Number.isFinite(value) && !Object.is(value, -0));
}
