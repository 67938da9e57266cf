import { validateHeaderValue } from 'node:http';
import { UsageError, notUsable } from './exit.js';

/** Returns the headers of `-H 'name: value'` arguments. A name that comes twice has both values, with a comma between them. */
export function headersOf(lines: readonly string[] = []): Readonly<Record<string, string>> {
  const pairs = lines.map(headerOf);
  try {
    // Its error names the header alone: the value may be a secret.
    for (const [name, value] of pairs) validateHeaderValue(name, value);
    return Object.fromEntries(new Headers(pairs));
  } catch (error) {
    return notUsable('headers that HTTP allows')(error);
  }
}

function headerOf(line: string): [name: string, value: string] {
  const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/s.exec(line) ?? [];
  // The rest may be a secret.
  if (name === undefined || value === undefined)
    throw new UsageError(`expected a header as 'name: value', got '${line.replace(/\s.*/s, '')}'`);
  return [name, value];
}

/** Returns a number of a given option, such as a time in ms. */
export function numberOf(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new UsageError(`expected a number for --${option}, got '${text}'`);
  return value;
}

/** Timers take no longer time, in ms. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Returns the time of the option `--timeout`, in ms. */
export function timeoutOf(text: string, least: 0 | 1): number {
  return wholeOf('timeout', text, least, LONGEST_MS);
}

/** Returns a whole number of a given option. */
export function wholeOf(option: string, text: string, least: number, most: number): number {
  const value = numberOf(option, text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`expected a whole number from ${least} to ${most} for --${option}, got '${text}'`);
}
