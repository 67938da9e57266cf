// Packs the package as it was built, and checks the tarball: its size, its files, its manifest and its types.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';

/**
 * The unpacked bytes of built code and declarations, of the inspector, and of pages with their pictures. The inspector has rxmux and rxjs in
 * one page, and its own parts again as a module: the command serves the one, a panel loads the other, and no other door has a byte of them.
 */
const MAX_BYTES = { 'dist/cjs': 1_050_000, 'dist/esm': 590_000, 'dist/bin': 147_000, 'dist/inspector': 475_000, docs: 1_000_000 };
/** Built code and its declarations, the pages that npm shows, and the guide. */
const EXPECTED =
  /^(dist\/(cjs|esm|bin)\/[\w./-]+\.(js|d\.ts)|dist\/inspector\/(inspector\.html|page\.js)|dist\/cjs\/package\.json|package\.json|docs\/[\w./-]+\.(md|svg|txt)|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)$/;
const LINK = /\]\((?!https?:|mailto:)([^)#\s]+)[^)]*\)|(?:src|srcset)="([^"]+)"/g;

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'rxmux-packed-'));

function run(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal(status, 0, `${command} ${args.join(' ')} ended with ${status}:\n${stdout}`);
  return stdout;
}

/** The links of a page to files that the package has not. Links in its code lead to the reader's files. */
function deadLinks(page, packed) {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```[^]*?^```$/gm, '');
  const links = [...text.matchAll(LINK)].map(([, link, source]) => link ?? source);
  return links.filter((link) => !packed.has(normalize(join(dirname(page), link))));
}

try {
  const [packed] = Object.values(JSON.parse(run('npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', folder)));
  const paths = packed.files.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => !EXPECTED.test(path)),
    [],
    'expected nothing but built files and pages',
  );
  for (const page of readdirSync(join(root, 'docs/errors'))) assert.ok(paths.includes(`docs/errors/${page}`), `expected the page ${page}`);
  for (const page of paths.filter((path) => /\.(md|txt)$/.test(path)))
    assert.deepEqual(deadLinks(page, new Set(paths)), [], `${page} has dead links`);
  for (const [folder, most] of Object.entries(MAX_BYTES)) {
    const bytes = packed.files.reduce((sum, { path, size }) => sum + (path.startsWith(`${folder}/`) ? size : 0), 0);
    assert.ok(bytes <= most, `expected at most ${most} bytes in ${folder}, got ${bytes}`);
  }
  console.log(`${packed.filename}: ${packed.size} bytes, ${paths.length} files, ${packed.unpackedSize} bytes unpacked`);
  const tarball = join(folder, packed.filename);
  console.log(run('npx', 'publint', 'run', '--strict', tarball));
  console.log(run('npx', 'attw', '--no-color', '--exclude-entrypoints', './inspector.html', '--', tarball));
} finally {
  rmSync(folder, { recursive: true });
}
