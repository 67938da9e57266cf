// Compares the declarations of the doors, as they were built, with the committed ones in spec/api/declarations. An unintended change of
// the API fails. `npm run api -- --write` accepts a change.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { DOORS } from './doors.js';

const root = join(import.meta.dirname, '..');
const built = join(root, 'dist/cjs');
const committed = 'spec/api/declarations';
const printer = ts.createPrinter({ removeComments: true });

function statementsOf(path) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.map((node) => ({ node, text: printer.printNode(ts.EmitHint.Unspecified, node, source) }));
}

const nameOf = ({ name, declarationList }) => (name ?? declarationList?.declarations[0].name)?.text ?? '';

/** The declarations in order of their names, so that a move between sources changes nothing. */
function declarationsIn(paths) {
  return paths
    .flatMap(statementsOf)
    .filter(({ node }) => !ts.isImportDeclaration(node) && !ts.isExportDeclaration(node))
    .map(({ node, text }) => ({ name: nameOf(node), text }))
    .sort((one, other) => (one.name === other.name ? (one.text < other.text ? -1 : 1) : one.name < other.name ? -1 : 1))
    .map(({ text }) => `${text}\n`)
    .join('\n');
}

/** The names that a door exports. */
function exportsOf(path) {
  const lists = statementsOf(path).filter(({ node }) => ts.isExportDeclaration(node));
  const names = lists.flatMap(({ node }) =>
    node.exportClause.elements.map((element) => `${node.isTypeOnly || element.isTypeOnly ? 'type ' : ''}${element.name.text}`),
  );
  return `export {\n${names
    .sort()
    .map((name) => `    ${name},\n`)
    .join('')}};\n`;
}

function write(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const door of DOORS) {
    const path = join(built, `${door}.d.ts`);
    writeFileSync(join(folder, `${door}.txt`), `${exportsOf(path)}\n${declarationsIn([path])}`);
  }
  const shared = readdirSync(join(built, 'shared')).filter((name) => name.endsWith('.d.ts'));
  writeFileSync(join(folder, 'shared.txt'), declarationsIn(shared.map((name) => join(built, 'shared', name))));
}

if (process.argv.includes('--write')) {
  write(join(root, committed));
} else {
  write(join(root, 'dist/api'));
  const { status } = spawnSync('git', ['--no-pager', 'diff', '--no-index', '--unified=1', committed, 'dist/api'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) {
    console.error('expected the committed declarations, got a change of the API; npm run api -- --write accepts it');
    process.exitCode = 1;
  }
}
