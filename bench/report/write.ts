import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { format, resolveConfig } from 'prettier';

/** Writes JSON in the project's own format. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  writeText(file, await format(JSON.stringify(value), { ...(await resolveConfig(file)), parser: 'json' }));
}

export function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
