// Writes the declarations of the doors: one file for each door, and files for the types that several doors share.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { DOORS } from './doors.js';

const root = join(import.meta.dirname, '..');
const types = join(root, 'dist/types');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/** Packages without a CommonJS form: declarations that import them have to be ES modules. */
const ONLY_MODULES = ['@angular/core', 'svelte', 'solid-js'];

/** Declares each source by itself. */
function declareSources() {
  const { status } = spawnSync(process.execPath, [tsc, '--project', join(root, 'tsconfig.types.json')], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

/** Joins the declarations of sources by door. */
async function joinByDoor(folder) {
  const bundle = await rollup({
    input: Object.fromEntries(DOORS.map((door) => [door, join(types, `${door}.d.ts`)])),
    external: (id) => !/^[./]/.test(id),
    plugins: [dts()],
    onwarn: ({ message }) => console.warn(message),
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'shared/[name].ts',
    minifyInternalExports: false,
  });
  return output;
}

/**
 * The declarations of ES modules re-export the CommonJS ones: an ES module and a CommonJS file of one program have the same types, so a
 * peer passes from one to the other.
 */
export async function buildDeclarations(commonJs, modules) {
  declareSources();
  const output = await joinByDoor(join(root, commonJs));
  mkdirSync(join(root, modules), { recursive: true });
  for (const { isEntry, name, imports, code } of output) {
    if (!isEntry) continue;
    const isOwn = imports.some((id) => ONLY_MODULES.includes(id));
    const text = isOwn ? code.replace(/(from|import) '\.\//g, "$1 '../cjs/") : `export * from '../cjs/${name}.js';\n`;
    // A program may augment `rxmux` and import other doors alone. TypeScript then finds `rxmux` only where one of them imports it.
    const found = name === 'index' ? '' : "import './index.js';\n";
    writeFileSync(join(root, modules, `${name}.d.ts`), found + text);
  }
  rmSync(types, { recursive: true });
}
