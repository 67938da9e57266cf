import { MAX_DEPTH } from '../codec/json-check.js';
import { placeOf } from '../codec/json-check.js';
import type { Key } from '../codec/json-check.js';
import { isPlainObject } from '../util/check.js';

/**
 * Checks a value before any codec has it.
 *
 * @throws TypeError naming the place of a function or a symbol, which no codec carries, and for a circular structure
 */
export function checkCarried(value: unknown): void {
  visit(value, []);
}

/** @param keys lead to `value` */
function visit(value: unknown, keys: Key[]): void {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`expected a value that a codec carries at ${placeOf('value', keys)}, got a ${typeof value}`);
  if (Array.isArray(value)) value.forEach((item, index) => enter(item, index, keys));
  else if (isPlainObject(value) && typeof value['toJSON'] !== 'function')
    for (const key of Object.keys(value)) enter(value[key], key, keys);
}

function enter(value: unknown, key: Key, keys: Key[]): void {
  if (keys.length === MAX_DEPTH)
    throw new TypeError(`expected at most ${MAX_DEPTH} levels of nesting in value, got more or a circular structure`);
  keys.push(key);
  visit(value, keys);
  keys.pop();
}
