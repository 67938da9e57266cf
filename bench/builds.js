// Builds the project into folders, for the programs here that only print.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const root = join(import.meta.dirname, '..');

/** Builds the project into a folder below it, and returns the folder. Ends the program if the build fails. */
export function builtIn(folder) {
  const built = join(root, folder);
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/modules.js'), built], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  return built;
}

/** Loads a door of a build. */
export function load(built, door) {
  return import(pathToFileURL(join(built, `${door}.js`)).href);
}

export function inOrder(values) {
  return [...values].sort((one, other) => one - other);
}

export function median(sorted) {
  const { length } = sorted;
  return (sorted[Math.floor((length - 1) / 2)] + sorted[Math.floor(length / 2)]) / 2;
}
