// The packed package, and projects of consumers with it.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { check, launchChromium, repository, run } from './checks.js';

export { check, launchChromium, repository, run };

export const consumers = join(import.meta.dirname, 'consumers');
export const manifest = readManifest(repository);
export const work = mkdtempSync(join(tmpdir(), 'rxmux-consumers-'));

/** Packs the package of a folder. Returns the path of its tarball. */
export function pack(directory) {
  const packed = JSON.parse(run(directory, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', work));
  return join(work, Object.values(packed)[0].filename);
}

export const tarball = pack(repository);

/** A fresh folder with nothing in it. */
export function emptyFolder(name) {
  const directory = join(work, name);
  mkdirSync(directory);
  return directory;
}

/** A fresh project with the packed package in it. */
export function project(name, source, type) {
  const directory = join(work, name);
  cpSync(join(consumers, source), directory, { recursive: true });
  const own = readManifest(directory);
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ ...own, type }));
  install(directory, tarball);
  return directory;
}

/** Installs an example as its lock file says, with the packed package in it. Returns its folder. */
export function example(name) {
  const directory = join(repository, 'examples', name);
  run(directory, 'npm', 'ci', '--ignore-scripts', '--loglevel=error');
  run(directory, 'npm', 'install', '--no-save', '--ignore-scripts', '--loglevel=error', tarball);
  return directory;
}

/** A door of the packed package, as a project has it. */
export function importFrom(directory, door) {
  return import(pathToFileURL(createRequire(join(directory, 'program.js')).resolve(door)).href);
}

export function filesBelow(directory) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

export function install(directory, ...packages) {
  run(directory, 'npm', 'install', '--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel=error', ...packages);
}

/** Removes the tarball and every project. */
export function removeAll() {
  rmSync(work, { recursive: true, force: true });
}

function readManifest(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}
