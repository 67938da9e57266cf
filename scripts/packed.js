// Packs the package as it was built, and checks the tarball: its size, its files, its manifest and its types.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAX_BYTES = 400 * 1024;
/** Built code and its declarations, the pages that npm shows, and a page for each error code. */
const EXPECTED =
  /^(dist\/(cjs|esm|bin)\/[\w./-]+\.(js|d\.ts)|dist\/cjs\/package\.json|package\.json|docs\/errors\/[\w.-]+\.md|README\.md|CHANGELOG\.md|LICENSE)$/;

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'rxmux-packed-'));

function run(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(status, 0, `${command} ${args.join(' ')} ended with ${status}:\n${stdout}`);
  return stdout;
}

try {
  const [packed] = Object.values(JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder)));
  const paths = packed.files.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => !EXPECTED.test(path)),
    [],
    'expected nothing but built files and pages',
  );
  assert.deepEqual(
    paths.filter((path) => path.endsWith('.md')).sort(),
    ['CHANGELOG.md', 'README.md', ...readdirSync(join(root, 'docs/errors')).map((page) => `docs/errors/${page}`)].sort(),
    'expected the pages that npm shows, and a page for each error code',
  );
  assert.ok(packed.size <= MAX_BYTES, `expected at most ${MAX_BYTES} bytes, got ${packed.size}`);
  console.log(`${packed.filename}: ${packed.size} bytes, ${paths.length} files, ${packed.unpackedSize} bytes unpacked`);
  const tarball = join(folder, packed.filename);
  console.log(run('npx', 'publint', 'run', '--strict', tarball));
  console.log(run('npx', 'attw', '--no-color', tarball));
} finally {
  rmSync(folder, { recursive: true });
}
