import { checkedJson } from '../codec/json-check.js';
import { hasMoreItems } from '../codec/json-text.js';
import { log } from '../logger.js';
import { optionError } from '../util/check.js';
import { getOrMake } from '../util/collections.js';
import { encodedLength, fitsWithin } from '../wire/length.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';

/** The default of `maxItemBytes`: the largest payload that a peer accepts by default. */
export const MAX_ITEM_BYTES = DEFAULT_LIMITS.maxPayloadBytes;
/** Reserved for an item's cursor and for its keys. */
const AROUND_BYTES = 1024;
/** The item, its cursor and its keys count as items of a payload, too. */
const AROUND_ITEMS = 10;
/** The codec msgpack carries 95 levels, and the item is the outermost. */
const MOST_LEVELS = 94;

/**
 * Returns the option `maxItemBytes` of a log.
 *
 * @throws TypeError unless it is a number that leaves room for a cursor
 */
export function checkMaxItemBytes(maxItemBytes: unknown = MAX_ITEM_BYTES): number {
  if (typeof maxItemBytes === 'number' && maxItemBytes > AROUND_BYTES) return maxItemBytes;
  throw optionError('maxItemBytes', `a number above ${AROUND_BYTES}`, maxItemBytes);
}

/**
 * Writes a value for a broker.
 *
 * @throws TypeError for a value that JSON does not carry, such as bytes
 */
export function toJson(value: unknown): string {
  return checkedJson(value, 'value');
}

/**
 * Writes the value of a message. Each codec of the library carries it to followers within an item.
 *
 * @throws TypeError as {@link toJson} does. Also for 95 levels of nesting and for a key `__proto__`, which msgpack refuses, for a value over
 *   `maxItemBytes`, and for a million items
 */
export function toMessageJson(value: unknown, maxItemBytes: number): string {
  const json = checkedJson(value, 'value', MOST_LEVELS);
  // Within a text JSON escapes each quote, so this is a key.
  if (/[{,]"__proto__":/.test(json)) throw new TypeError("value: expected no key '__proto__', which the codec msgpack refuses, got one");
  const most = maxItemBytes - AROUND_BYTES;
  if (!fitsWithin(json, most))
    throw new TypeError(
      `value: expected at most ${most} bytes of JSON (maxItemBytes, less ${AROUND_BYTES} for the cursor), got ${encodedLength(json)}`,
    );
  const mostItems = DEFAULT_LIMITS.maxPayloadItems - AROUND_ITEMS;
  if (hasMoreItems(json, mostItems))
    throw new TypeError(`value: expected at most ${mostItems} items, so that followers accept it (maxPayloadItems), got more`);
  return json;
}

/**
 * Reads a value of a broker, or warns and returns `undefined`: another program may publish there too.
 *
 * @param topic whose history has the value, so that each reader meets it again; none for a value of a bus
 */
export function fromJson(text: string, where: string, topic?: object): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The error of JSON.parse quotes the text, which belongs to the application.
    const warning = `${where} is no JSON, and is dropped`;
    if (topic === undefined) log('warn', warning);
    else warnOfPassing(topic, where, warning);
    return undefined;
  }
}

/** The number of warnings for one topic. */
const MOST_WARNINGS = 100;
/** The places of the messages that were warned about, by topic. */
const warned = new WeakMap<object, Set<unknown>>();

/**
 * Logs that a message of a topic reaches no follower: at `warn` once for each message, and for 100 messages at most. Every reader of the
 * history meets the message again, so the others go to `debug`.
 */
export function warnOfPassing(topic: object, place: unknown, text: string, error?: unknown): void {
  const places = getOrMake(warned, topic, () => new Set());
  const isFirst = places.size < MOST_WARNINGS && !places.has(place);
  if (isFirst) places.add(place);
  log(isFirst ? 'warn' : 'debug', text, ...(error === undefined ? [] : [error]));
}
