import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const REPOSITORY = join(__dirname, '../..');

/** The paths of the pages that users read. */
export const PAGES: readonly string[] = [
  'README.md',
  'spec/README.md',
  ...['docs', 'docs/guide', 'docs/errors'].flatMap((folder) => readdirSync(join(REPOSITORY, folder)).map((name) => `${folder}/${name}`)),
].filter((path) => path.endsWith('.md'));

/** A fenced block of a page. */
export interface Fence {
  readonly page: string;
  /** The line on which its text begins. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

export function textOf(page: string): string {
  return readFileSync(join(REPOSITORY, page), 'utf8');
}

/** The fenced blocks of a page in one language. */
export function fences(page: string, language: string): Fence[] {
  const text = textOf(page);
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .map((match) => ({
      page,
      line: text.slice(0, match.index).split('\n').length + 1,
      language: match[1] ?? '',
      text: match[2] ?? '',
    }))
    .filter((fence) => fence.language === language);
}

/** The lines that a program promises to print: `// → 1 → 2` says that it prints `1` and then `2`. */
export function printsOf(program: string): string[] {
  return [...program.matchAll(/\/\/ →(.*)$/gm)].flatMap(([, text = '']) => text.split('→').map((part) => part.trim()));
}

/** The text of the first table below a heading, and where it begins. */
function tableAt(page: string, heading: string): { readonly table: string; readonly at: number } {
  const found = new RegExp(`^#+ ${heading}$[^]*?^((?:\\|.*\\n)+)`, 'm').exec(textOf(page));
  const [through = '', table = ''] = found ?? [];
  if (found === null) throw new Error(`expected a table below '${heading}' in ${page}`);
  return { table, at: found.index + through.length - table.length };
}

/**
 * The cells of the first table below a heading, without its head. Code marks are taken off.
 *
 * @throws Error if there is no table, since nothing would be compared
 */
export function tableBelow(page: string, heading: string): string[][] {
  const rows = tableAt(page, heading).table.trim().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Replaces the rows of the first table below a heading. */
export function writeTable(page: string, heading: string, rows: readonly (readonly string[])[]): void {
  const text = textOf(page);
  const { table, at } = tableAt(page, heading);
  const head = table.split('\n').slice(0, 2);
  const written = [...head, ...rows.map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n');
  writeFileSync(join(REPOSITORY, page), text.slice(0, at) + written + text.slice(at + table.length));
}

/** The texts in code marks in a cell, such as the names of two options. */
export function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}
