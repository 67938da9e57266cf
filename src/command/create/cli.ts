import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Exit, UsageError } from '../exit.js';
import type { ExitStatus } from '../exit.js';
import { print } from '../output.js';
import { filesOf } from './files.js';
import { TEMPLATES } from './frameworks.js';
import type { Template } from './frameworks.js';

export const help = `rxmux create: writes a new project, with a server and a page

USAGE
  rxmux create [options] FOLDER

FOLDER must be empty, or not exist. The project has a typed contract, its
answers with a test, a server, a page with Vite, and a Dockerfile. The command
installs nothing. StackBlitz and CodeSandbox run the project as it is.

OPTIONS
  --template NAME   vanilla, react, angular or vue (default vanilla);
                    angular needs Node 22.22, 24.15, 26 or later
  -h, --help        print this page

EXIT STATUS
  0  all went well          2  wrong arguments
  6  the files cannot be written

EXAMPLES
  rxmux create shop
  rxmux create --template vue ./shop
`;

/** A name that the registry takes, and a shell needs no quotes for. */
const NAME = /^[a-z\d][a-z\d._-]{0,99}$/;

/** Runs `rxmux create`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { template: { type: 'string', default: 'vanilla' } },
  });
  const [given, ...others] = positionals;
  if (given === undefined || others.length > 0) throw new UsageError(`expected one folder, got ${positionals.length}`);
  const folder = resolve(given);
  await checkEmpty(folder);
  const name = basename(folder);
  if (!NAME.test(name)) throw new UsageError(`expected a folder whose name is of small letters, digits, '-', '_' and '.', got '${name}'`);
  const files = filesOf(name, templateOf(values.template));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  } catch (error) {
    // The folder was empty, and a second run expects it so.
    for (const path of Object.keys(files)) await rm(join(folder, path.replace(/\/.*/, '')), { recursive: true, force: true });
    throw error;
  }
  await print(`${Object.keys(files).length} files in ${folder}. Next:\n  cd ${quoted(given)}\n  npm install\n  npm run dev`);
  return Exit.OK;
}

/** Returns a path as an argument of a shell: in quotes, if it has a space or the like. */
function quoted(path: string): string {
  return /^[\w./\\:~@+-]+$/.test(path) ? path : `"${path}"`;
}

function templateOf(name: string): Template {
  const template = TEMPLATES.find((each) => each === name);
  if (template === undefined) throw new UsageError(`expected a template of ${TEMPLATES.join(', ')}, got '${name}'`);
  return template;
}

/** Files of a user are never overwritten. A fresh clone has its `.git`. */
async function checkEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const [first] = entries.filter((entry) => entry !== '.git');
  if (first !== undefined) throw new UsageError(`expected an empty folder, got one with '${first}': ${folder}`);
}
