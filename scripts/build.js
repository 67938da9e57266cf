// Builds dist/: the sources twice, as ES modules and as CommonJS, with the declarations of each.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { buildCommand } from './command.js';
import { privateNamesAsProperties } from './private-names.js';

const DOORS = ['index', 'lean', 'node', 'msgpack', 'port', 'contract', 'angular', 'react', 'topics', 'nats', 'inspect', 'testing'];

const root = join(import.meta.dirname, '..');
const cjs = join(root, 'dist/cjs');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
for (const project of ['tsconfig.esm.json', 'tsconfig.cjs.json']) {
  const { status } = spawnSync(process.execPath, [tsc, '--project', join(root, project)], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

// One file for each door and for what several doors share, because a program loads a few files faster than a hundred and more
// (docs/PERFORMANCE.md). The bundler renames a class that names itself in its own body: there, write `this`.
await build({
  absWorkingDir: root,
  entryPoints: DOORS.map((door) => `src/${door}.ts`),
  outdir: 'dist/esm',
  chunkNames: 'shared/[hash]',
  bundle: true,
  splitting: true,
  packages: 'external',
  // The annotations of package.json describe dist/.
  ignoreAnnotations: true,
  format: 'esm',
  // Fields are assigned in constructors and static blocks are gone, so a page compiled for less pays nothing.
  target: 'es2021',
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false, verbatimModuleSyntax: true } },
  plugins: [privateNamesAsProperties(join(root, 'src'))],
  platform: 'neutral',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});

await buildCommand('dist/bin');

// `import.meta` does not exist in CommonJS, so there env-none.ts stands in for env.ts, under its name.
for (const built of readdirSync(cjs).filter((name) => name.startsWith('env-none.'))) {
  const text = readFileSync(join(cjs, built), 'utf8').replace(/(sourceMappingURL=|"file":")env-none\./, '$1env.');
  writeFileSync(join(cjs, built), text);
  renameSync(join(cjs, built), join(cjs, built.replace('env-none.', 'env.')));
}
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
