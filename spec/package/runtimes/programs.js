// The programs of other runtimes, as packages of the registry have them.
import { join } from 'node:path';
import { build } from 'esbuild';
import { run } from '../packed.js';

/** The release of workerd that the tests run. */
export const WORKERD = '1.20261117';

/** A program of a package of the registry. */
export function programOf(directory, name, version) {
  return run(directory, 'npx', '--yes', '--package', `${name}@${version}`, '--', 'sh', '-c', `command -v ${name}`).trim();
}

/** Bundles a Worker, as wrangler does. Returns the command that runs it by the folder's `workerd.capnp`, and prints its port. */
export async function workerd(directory, program) {
  await build({
    entryPoints: [join(directory, program)],
    outfile: join(directory, 'bundle.js'),
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    logLevel: 'error',
  });
  return [programOf(directory, 'workerd', WORKERD), 'serve', '--control-fd=1', 'workerd.capnp'];
}

/** How the line begins that workerd prints once it listens. */
export const LISTENS = '{"event":"listen"';
