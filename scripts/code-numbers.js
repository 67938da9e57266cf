import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TABLES = 'wire/codes.ts';
const TABLE = /^export const (ResetCode|CloseCode) = \{\n([^]*?)^\} as const;/gm;
const ROW = /^ {2}([A-Z_]+): (\d+),$/gm;
/** A type keeps the name: `typeof ResetCode.REFUSED`. */
const NAME = /(?<!typeof |\.)\b(?:ResetCode|CloseCode)\.[A-Z_]+\b/g;

/**
 * Returns a function that writes the number of a reset code or close code where a source names it. So a page reads no table of codes, and
 * leaves out a table that it does not import.
 *
 * @param {string} folder the sources
 * @returns {(code: string) => string}
 */
export function codeNumbers(folder) {
  // Two tables may have a row of one name.
  const rows = [...readFileSync(join(folder, TABLES), 'utf8').matchAll(TABLE)].flatMap(([, table, body]) =>
    [...body.matchAll(ROW)].map(([, name, number]) => [`${table}.${name}`, number]),
  );
  const numbers = new Map(rows);
  return (code) => code.replace(NAME, (name) => numbers.get(name) ?? name);
}
