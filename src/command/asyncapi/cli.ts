import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { addressOf } from '../address.js';
import { loadContract, placeOf } from '../contract-module.js';
import { Exit, UsageError } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { print } from '../output.js';
import { documentOf } from './document.js';

export const help = `rxmux asyncapi: describes a contract as an AsyncAPI document

USAGE
  rxmux asyncapi [options] FILE

FILE is the module of a contract; FILE#api names one of its exports. The
document is AsyncAPI 3.0 in JSON, with a channel for each call. Its values have
the schemas of the contract, which their own libraries convert: zod, arktype,
and valibot with the package @valibot/to-json-schema. The command refuses a
call whose values have no JSON Schema, and names the call. The package.json
next to the module, or above it, has the title and the version.

OPTIONS
  --any             a value without a JSON Schema may be any value
  --url URL         the address of a server (default none)
  --codec NAME      json or msgpack (default json)
  -h, --help        print this page

EXIT STATUS
  0  all went well          2  wrong arguments, or a value without a schema

EXAMPLES
  rxmux asyncapi ./api.ts > asyncapi.json
  rxmux asyncapi --url wss://example.org/mux ./api.ts
`;

/** Runs `rxmux asyncapi`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { any: { type: 'boolean', default: false }, url: { type: 'string' }, codec: { type: 'string', default: 'json' } },
  });
  const [place, ...others] = positionals;
  if (place === undefined || others.length > 0) throw new UsageError(`expected one module of a contract, got ${positionals.length}`);
  const { any, url, codec } = values;
  if (codec !== 'json' && codec !== 'msgpack') throw new UsageError(`expected the codec json or msgpack, got '${codec}'`);
  const server = url === undefined ? null : new URL(addressOf([url]));
  const file = resolve(placeOf(place).file);
  const { document, missing } = documentOf(await loadContract(place), {
    ...(await titleOf(file)),
    codec,
    url: server,
    file,
    any,
  });
  if (missing.length > 0) throw new UsageError(`expected a JSON Schema of each value (--any takes any value):\n  ${missing.join('\n  ')}`);
  await print(JSON.stringify(document, null, 2));
  return Exit.OK;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

/** Returns the name and the version of the package that a module belongs to. */
async function titleOf(file: string): Promise<{ readonly title: string; readonly version: string }> {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    const found = (await readFile(join(directory, 'package.json'), 'utf8')
      .then(JSON.parse)
      .catch(() => null)) as Manifest | null;
    if (found !== null) return { title: found.name ?? basename(file), version: found.version ?? '0.0.0' };
    if (directory === dirname(directory)) return { title: basename(file), version: '0.0.0' };
  }
}
