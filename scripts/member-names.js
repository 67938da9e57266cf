import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Files with the names of other members than ours: of the language, of the platforms, and of the packages that sources import. */
const FOREIGN = [
  ['typescript/lib', /^lib\..*\.d\.ts$/],
  ['@types/node', /\.d\.ts$/],
  ['@types/ws', /\.d\.ts$/],
  // Sources also read members of these two that no declaration has.
  ['ws/lib', /\.js$/],
  ['rxjs', /^dist\/(types\/.*\.d\.ts|esm\/internal\/.*\.js)$/],
  ['@msgpack/msgpack', /\.d\.ts$/],
];

/** Packages whose objects a program passes to a door, and the sources that read them. Elsewhere their names are ours. */
const GIVEN = [
  ['@nats-io', /^nats/],
  ['@redis/client', /^redis/],
  ['@opentelemetry/api', /^otel/],
  ['@tanstack/query-core', /^tanstack/],
  ['@angular/core', /^angular/],
  ['@types/react', /^react/],
  ['solid-js', /^solid/],
  ['svelte', /^svelte/],
  ['@vue', /^vue/],
];

/**
 * Returns the options by which the bundler shortens the names of members that only our own code uses: `_a`, `_b` … They save a page 0.8 KB.
 *
 * Such a member is declared by a class of the sources. Its name stays if a public declaration, the platform or another package has it,
 * too. It also stays if it is a string in the sources: code may read it by that. A name that a door reads of a user's object stays, too.
 *
 * @param {string} folder the sources
 * @returns {import('esbuild').BuildOptions}
 */
export function shortMembers(folder) {
  const taken = takenNames();
  const uses = new Map();
  const members = new Set();
  for (const [path, source] of sourcesIn(folder)) {
    const given = GIVEN.filter(([, isReader]) => isReader.test(path)).map(([name]) => membersOf(name));
    const visit = (node) => {
      if (ts.isStringLiteralLike(node) || given.some((names) => names.has(node.text))) taken.add(node.text);
      if (ts.isIdentifier(node)) {
        uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
        if (isMemberName(node)) members.add(node.text);
      }
      node.forEachChild(visit);
    };
    visit(source);
  }
  // The most used names become the shortest ones.
  const own = [...members]
    .filter((name) => !taken.has(name))
    .sort((one, other) => uses.get(other) - uses.get(one) || (one < other ? -1 : 1));
  const mangleCache = Object.fromEntries(own.map((name, index) => [name, `_${letters(index)}`]));
  return { mangleProps: new RegExp(`^(?:${own.join('|').replaceAll('$', '\\$')})$`), mangleCache };
}

function sourcesIn(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  return paths.map((path) => [path, parsed(join(folder, path))]);
}

function parsed(path) {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
}

/** Whether an identifier names a member where a class declares it. */
function isMemberName(node) {
  const { parent } = node;
  if (parent.name !== node) return false;
  return ts.isParameter(parent) ? ts.isParameterPropertyDeclaration(parent, parent.parent) : ts.isClassLike(parent.parent);
}

function takenNames() {
  const names = new Set();
  const add = (path, isMeant) => {
    for (const file of readdirSync(path, { recursive: true, encoding: 'utf8' })) if (isMeant.test(file)) addWords(join(path, file), names);
  };
  for (const [path, isMeant] of FOREIGN) add(join(root, 'node_modules', path), isMeant);
  add(join(root, 'spec/api/declarations'), /\.txt$/);
  return names;
}

const membersByPackage = new Map();

/** Returns the names of the members that a package declares. */
function membersOf(name) {
  const known = membersByPackage.get(name);
  if (known !== undefined) return known;
  const members = new Set();
  membersByPackage.set(name, members);
  const visit = (node) => {
    if (ts.isTypeElement(node) || ts.isClassElement(node)) members.add(node.name?.text);
    node.forEachChild(visit);
  };
  const path = join(root, 'node_modules', name);
  for (const file of readdirSync(path, { recursive: true, encoding: 'utf8' })) if (/\.d\.ts$/.test(file)) visit(parsed(join(path, file)));
  return members;
}

/** Adds the words of a file without its comments, whose English would keep the name of nearly every member. */
function addWords(path, names) {
  const source = ts.createSourceFile(`${path}.ts`, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const visit = (node) => {
    if (typeof node.text === 'string' && node !== source) for (const [name] of node.text.matchAll(/[\w$]+/g)) names.add(name);
    node.forEachChild(visit);
  };
  visit(source);
}

function letters(index) {
  const rest = Math.floor(index / LETTERS.length);
  return `${rest === 0 ? '' : letters(rest - 1)}${LETTERS[index % LETTERS.length]}`;
}
