import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { checkObject, optionError } from '../wire/check.js';
import type { HeaderLine } from './answer-http.js';

/**
 * Returns the lines of the HTTP headers of an option.
 *
 * @param option names the headers in errors
 * @throws TypeError for headers that Node would not send as they are
 */
export function headerLines(option: string, headers: OutgoingHttpHeaders): readonly HeaderLine[] {
  checkObject(option, headers);
  // The entries of `Headers` and of a Map are no properties, so Node would send none of them.
  if (Symbol.iterator in headers)
    throw new TypeError(
      `${option}: expected a plain object, got ${Object.prototype.toString.call(headers)}: pass Object.fromEntries(${option})`,
    );
  return Object.entries(headers).flatMap(([name, value]) => {
    validateHeaderName(name);
    return value === undefined ? [] : [value].flat().map((each): HeaderLine => [name, checkedValue(name, each)]);
  });
}

function checkedValue(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') throw optionError(name, 'a string or a number', value);
  const text = String(value);
  validateHeaderValue(name, text);
  return text;
}
