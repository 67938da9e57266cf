// Every `npm run bench…` runs this file. It builds the package and the harness, and runs one program of the harness: `node run.js PROGRAM ARGUMENT…`.
// `--no-build` takes dist/ as it is, and `--dist=DIRECTORY` measures another build.
import { build } from 'esbuild';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const here = import.meta.dirname;
const root = join(here, '..');
const [program, ...rest] = process.argv.slice(2);
const given = rest.find((arg) => arg.startsWith('--dist='))?.slice('--dist='.length);
const built = resolve(given ?? join(root, 'dist/mapped'));
const mayBuild = given === undefined && !rest.includes('--no-build');
const args = rest.filter((arg) => arg !== '--no-build' && !arg.startsWith('--dist='));

if (mayBuild && isStale()) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/modules.js'), built], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

// The directory is for this run alone, because another run may be under way.
const out = join(here, 'dist', String(process.pid));
process.on('exit', () => {
  rmSync(out, { recursive: true, force: true });
});
await build({
  entryPoints: [program, 'harness/worker'].map((name) => join(here, `${name}.ts`)),
  outdir: out,
  outbase: here,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  logLevel: 'warning',
  plugins: [{ name: 'rxmux as it was built', setup: resolveBuilt }],
});

const child = spawn(process.execPath, ['--enable-source-maps', join(out, `${program}.js`), ...args], {
  stdio: 'inherit',
  env: { ...process.env, BENCH_ROOT: root, BENCH_BUILT: built },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});

function resolveBuilt({ onResolve }) {
  onResolve({ filter: /^rxmux(\/|$)/ }, ({ path }) => {
    const file = join(built, `${path.split('/')[1] ?? 'index'}.js`);
    return { path: pathToFileURL(file).href, external: true };
  });
}

/** Whether a source is newer than the build. */
function isStale() {
  const index = join(built, 'index.js');
  if (!existsSync(index)) return true;
  const since = statSync(index).mtimeMs;
  const sources = readdirSync(join(root, 'src'), { recursive: true }).map((name) => join(root, 'src', name));
  return sources.some((file) => statSync(file).mtimeMs > since);
}
