import { inspect } from 'node:util';
import { ANY, OneOf } from './special.js';

/** Returns whether a received value is the expected one. */
export function matches(expected: unknown, got: unknown): boolean {
  if (expected === ANY) return true;
  if (expected instanceof OneOf) return expected.values.some((value) => matches(value, got));
  if (expected instanceof Date) return got instanceof Date && got.getTime() === expected.getTime();
  if (expected instanceof Uint8Array) return got instanceof Uint8Array && Buffer.compare(expected, got) === 0;
  if (Array.isArray(expected))
    return Array.isArray(got) && got.length === expected.length && expected.every((value, at) => matches(value, got[at]));
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, got) || (expected === 0 && got === 0);
  return isMap(got) && Object.keys(got).length === Object.keys(expected).length && hasFields(expected, got);
}

/** Returns whether a frame has at least these fields. The value null stands for a field at its default. */
export function hasFields(expected: object, got: object): boolean {
  return Object.entries(expected).every(([key, value]) => {
    const field = Object.getOwnPropertyDescriptor(got, key)?.value as unknown;
    return value === null && field === undefined ? key !== 'payload' : matches(value, field);
  });
}

/** Describes a frame, a message or a value in one line for a report. */
export function described(value: unknown): string {
  const text =
    typeof value === 'string' ? value : inspect(value, { breakLength: Infinity, depth: 5, maxStringLength: 60, maxArrayLength: 8 });
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text;
}

const LONGEST = 200;

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
