import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Kind, Procedure } from 'rxmux/contract';
import { UsageError } from './exit.js';

/** The procedures of a contract by their names, such as `chat.lines`. */
export type Procedures = ReadonlyMap<string, Procedure>;

const KINDS: readonly unknown[] = ['request', 'stream', 'upload', 'channel'] satisfies readonly Kind[];

/**
 * Loads the contract of a module.
 *
 * @param place the path of the module; `api.ts#chat` names one of its exports
 * @throws UsageError for a module that does not load, and for one without one contract
 */
export async function loadContract(place: string): Promise<Procedures> {
  const { file, name } = placeOf(place);
  const exported = Object.entries(await loaded(file)).filter(([key]) => name === undefined || key === name);
  const contracts = exported.flatMap(([key, value]) => {
    const procedures = proceduresIn(value);
    return procedures === null ? [] : [[key, procedures] as const];
  });
  // CommonJS exports all names a second time, as `default`.
  const named = contracts.length > 1 ? contracts.filter(([key]) => key !== 'default') : contracts;
  const [[, found] = [undefined, proceduresIn(Object.fromEntries(exported.filter(([, value]) => isProcedure(value))))], another] = named;
  if (found === null)
    throw new UsageError(`expected ${file} to export a contract, got ${exported.map(([key]) => key).join(', ') || 'nothing'}`);
  if (another === undefined) return new Map(found);
  const names = named.map(([key]) => key);
  throw new UsageError(`expected ${file} to export one contract, got ${names.join(', ')}: name one, as in ${file}#${names[0]}`);
}

/** Splits a place into the path of the module and the name of the export, such as `api.ts#chat`. */
export function placeOf(place: string): { readonly file: string; readonly name: string | undefined } {
  const [, file = place, name] = /^(.+)#([^#/\\]+)$/.exec(place) ?? [];
  return { file, name };
}

/** Returns the module of a file. */
async function loaded(file: string): Promise<object> {
  if (!existsSync(file)) throw new UsageError(`expected the module of a contract, got no file at ${file}`);
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as object;
  } catch (error) {
    const isUnread = error instanceof TypeError && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION';
    const hint = isUnread && /^\.[cm]?tsx?$/.test(extname(file)) ? TYPESCRIPT_HINT : '';
    throw new UsageError(
      `expected ${file} to load, got ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}${hint}`,
    );
  }
}

const TYPESCRIPT_HINT = `. Node reads TypeScript from 22.18 on, and before with tsx: NODE_OPTIONS='--import tsx'`;

/** The procedures in a contract or a namespace; `null` for any other value. */
function proceduresIn(value: unknown, prefix = '', around: readonly unknown[] = []): [string, Procedure][] | null {
  if (typeof value !== 'object' || value === null || around.includes(value)) return null;
  const found = Object.entries(value).map(([key, entry]: [string, unknown]) => {
    const name = prefix + key;
    return isProcedure(entry) ? [[name, entry] satisfies [string, Procedure]] : proceduresIn(entry, `${name}.`, [...around, value]);
  });
  return found.length === 0 || found.includes(null) ? null : found.flatMap((each) => each ?? []);
}

function isProcedure(value: unknown): value is Procedure {
  return typeof value === 'object' && value !== null && 'kind' in value && KINDS.includes(value.kind);
}
