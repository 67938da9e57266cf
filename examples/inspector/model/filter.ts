import { textOf } from './content.js';
import { codeName } from './describe.js';
import type { Marble } from './marble.js';

/** Whether a marble is shown. */
export type Filter = (marble: Marble) => boolean;

export const everything: Filter = () => true;

const TERM = /(-?)(?:(\w+)([:<>]))?(?:"([^"]*)"|(\S+))/g;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };
const SIZE = /^(\d+(?:\.\d+)?)([km]?)b?$/;

/** The terms, each with the test that it makes of a value. */
const TERMS: Readonly<Record<string, (value: string, sign: string) => Filter>> = {
  name: (value) => (marble) => holds(marble.lane.title, value),
  id: (value) => (marble) => String(marble.lane.stream ?? '') === value.replace('#', ''),
  connection: (value) => (marble) => String(marble.lane.c) === value,
  type: (value) => (marble) => marble.kind === value || marble.line.f?.['type'] === value,
  code: (value) => (marble) => codesOf(marble).includes(value.toUpperCase()),
  text: (value) => (marble) => holds(contentOf(marble), value),
  from: sideFilter,
  size: sizeFilter,
};

/** Thrown for a filter that makes no sense, with a message for its user. */
export class FilterError extends Error {}

/**
 * Returns the filter of a text: `name:search code:CANCEL size>10k text:…`. Every term must hold. A `-` before a term negates it, and a
 * word without a key is looked for in names and contents.
 *
 * @throws FilterError for an unknown term
 */
export function filterOf(text: string): Filter {
  const filters = [...text.matchAll(TERM)].map((term) => filterOfTerm(term));
  if (filters.length === 0) return everything;
  return (marble) => filters.every((filter) => filter(marble));
}

function filterOfTerm([, negation, key, sign = ':', quoted, bare = '']: RegExpMatchArray): Filter {
  const value = quoted ?? bare;
  const filter = key === undefined ? anywhere(value) : filterOfKey(key, sign, value);
  return negation === '-' ? (marble) => !filter(marble) : filter;
}

function filterOfKey(key: string, sign: string, value: string): Filter {
  const term = Object.hasOwn(TERMS, key) ? TERMS[key] : undefined;
  if (term === undefined || (sign !== ':' && key !== 'size'))
    throw new FilterError(`expected one of the terms ${Object.keys(TERMS).join(', ')}, got '${key}${sign}'`);
  return term(value, sign);
}

function sizeFilter(value: string, sign: string): Filter {
  const [, number, unit = ''] = SIZE.exec(value.toLowerCase()) ?? [];
  if (number === undefined) throw new FilterError(`expected a size such as 10k, got '${value}'`);
  const bound = Number(number) * (UNITS[unit] ?? 1);
  if (sign === '>') return ({ bytes }) => bytes > bound;
  return sign === '<' ? ({ bytes }) => bytes < bound : ({ bytes }) => bytes === bound;
}

function sideFilter(value: string): Filter {
  const side = ['dialer', 'acceptor'].find((each) => each.startsWith(value.toLowerCase()));
  if (side === undefined) throw new FilterError(`expected from:dialer or from:acceptor, got '${value}'`);
  return ({ ofDialer }) => ofDialer === (side === 'dialer');
}

function anywhere(value: string): Filter {
  return (marble) => holds(marble.lane.title, value) || holds(contentOf(marble), value);
}

function contentOf({ line: { f } }: Marble): string {
  return `${textOf(f?.['payload'])} ${textOf(f?.['fragment'])} ${textOf(f?.['reason'])}`;
}

function codesOf({ line: { f } }: Marble): readonly string[] {
  const code = f?.['code'];
  return typeof code === 'number' ? [String(code), codeName(code)] : [];
}

function holds(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
