import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The root of the project. */
export const ROOT = inherited('BENCH_ROOT');

/** The directory of the measured build of rxmux. */
export const BUILT = inherited('BENCH_BUILT');

/** Installs the packages that only the benchmarks need, unless they are installed. */
export function installPeers(): void {
  if (existsSync(join(ROOT, 'bench/node_modules/.package-lock.json'))) return;
  process.stderr.write('installing the libraries that the benchmarks compare with\n');
  const { status } = spawnSync('npm', ['ci', '--prefix', 'bench', '--ignore-scripts'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('npm ci --prefix bench failed');
}

/** Checks the types of everything in bench/, which the project's own run leaves out. */
export function checkTypes(): boolean {
  const tsc = createRequire(join(ROOT, 'package.json')).resolve('typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, '--project', join(ROOT, 'bench')], { stdio: 'inherit' }).status === 0;
}

/** The version of a package as bench/ resolves it. */
export function versionOf(name: string): string {
  const places = [join(ROOT, 'bench/node_modules', name), join(ROOT, 'node_modules', name)];
  const found = places.map((place) => join(place, 'package.json')).find((file) => existsSync(file));
  if (found === undefined) return 'not installed';
  return (JSON.parse(readFileSync(found, 'utf8')) as { readonly version: string }).version;
}

function inherited(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`expected ${name} to be set: start this by \`npm run bench\``);
  return value;
}
