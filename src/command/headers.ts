import { UsageError } from './exit.js';

/** Returns the headers of `-H 'name: value'` arguments. */
export function headersOf(lines: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(lines.map(headerOf));
}

function headerOf(line: string): readonly [name: string, value: string] {
  const [, name, value] = /^([^\s:]+):\s*(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`expected a header as 'name: value', got '${line}'`);
  return [name, value];
}

/** Returns a number of a given option, such as a time in ms. */
export function numberOf(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new UsageError(`expected a number for --${option}, got '${text}'`);
  return value;
}
