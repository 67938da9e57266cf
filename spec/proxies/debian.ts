import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a Debian package is unpacked, and the environment in which its programs run. */
export interface Installed {
  /** The folder that holds its `/usr`; empty for a package that the system has installed. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

const CACHE = join(tmpdir(), 'rxmux-debian');
const PLACES = ['usr/sbin', 'usr/bin'];
const LIBRARIES = [
  'lib/x86_64-linux-gnu',
  'lib/aarch64-linux-gnu',
  'usr/lib/x86_64-linux-gnu',
  'usr/lib/aarch64-linux-gnu',
  'usr/lib/trafficserver',
];
/** Dependencies of scripts and of the base system, which no proxy needs here. */
const UNUSED = /^(lib)?perl|^libdbi-perl|^libc6|^libc-bin|^logrotate|-(dev|tools|utils|langpack)$/;

/**
 * Returns a package of Debian, installed or unpacked below the temporary folder. An unpacked one serves all later runs, and nothing of it
 * is installed: no service starts.
 */
export function debian(name: string, program: string): Installed {
  if (spawnSync('which', [program]).status === 0) return { root: '', env: process.env };
  const root = join(CACHE, name);
  if (!existsSync(root)) unpack(packagesOf(name), root);
  const paths = (folders: readonly string[]): string => folders.map((folder) => join(root, folder)).join(':');
  return { root, env: { ...process.env, PATH: `${paths(PLACES)}:${process.env['PATH'] ?? ''}`, LD_LIBRARY_PATH: paths(LIBRARIES) } };
}

/** Returns a folder below the temporary folder, where these packages are unpacked together. */
export function unpacked(name: string, packages: readonly string[]): string {
  const root = join(CACHE, name);
  if (!existsSync(root)) unpack(packages, root);
  return root;
}

/** Two runs may unpack a package at once, so the folder gets its name when it is complete. */
function unpack(packages: readonly string[], root: string): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'part-'));
  // Some programs drop their root rights, and still read their files.
  chmodSync(folder, 0o755);
  try {
    const downloads = join(folder, 'downloads');
    mkdirSync(downloads);
    const download = (): unknown =>
      execFileSync('apt-get', ['download', '-qq', '-o', 'APT::Sandbox::User=root', ...packages], { cwd: downloads, stdio: 'pipe' });
    try {
      download();
    } catch {
      // The lists may be missing, or name a version that its archive has replaced.
      execFileSync('apt-get', ['update', '-qq'], { stdio: 'pipe' });
      download();
    }
    for (const file of readdirSync(downloads)) execFileSync('dpkg', ['-x', join(downloads, file), folder]);
    rmSync(downloads, { recursive: true });
    chmodSync(folder, 0o755);
    if (!existsSync(root)) renameSync(folder, root);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Names a package, and each dependency that this system lacks. */
function packagesOf(name: string): string[] {
  const { stdout, stderr } = spawnSync('apt-get', ['install', '-s', '--no-install-recommends', name], { encoding: 'utf8' });
  const names = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, found = '']) => found).filter((found) => !UNUSED.test(found));
  if (!names.includes(name)) throw new Error(`expected apt-get to know the package ${name}: ${stdout}${stderr}`);
  return names;
}
