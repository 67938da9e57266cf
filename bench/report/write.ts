import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { format, resolveConfig } from 'prettier';

/** Writes JSON in the project's own format. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  writeText(file, await format(JSON.stringify(value), { ...(await resolveConfig(file)), parser: 'json' }));
}

/** Replaces the text of a Markdown page between the two markers of a name. */
export async function writeBetween(file: string, name: string, text: string): Promise<void> {
  const page = readFileSync(file, 'utf8');
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to === -1) throw new Error(`expected ${file} to have a place for ${name}`);
  const written = await format(text, { ...(await resolveConfig(file)), parser: 'markdown' });
  writeText(file, `${page.slice(0, from + begin.length)}\n${written}\n${page.slice(to)}`);
}

export function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
