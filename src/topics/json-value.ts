import { checkedJson } from '../codec/json-check.js';
import { log } from '../logger.js';

/**
 * Writes a value for a broker.
 *
 * @throws TypeError for a value that JSON does not carry, such as bytes
 */
export function toJson(value: unknown): string {
  return checkedJson(value, 'value');
}

/** Reads the value of a message, or warns and returns `undefined`: another program may publish at the broker too. */
export function fromJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    log('warn', `${where} is no JSON, and is dropped`, error);
    return undefined;
  }
}
