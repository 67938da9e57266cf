import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { codeNumbers } from './code-numbers.js';
import { withoutPure } from './pure-calls.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The classes of others that ours extend. No member of them is named like a private one. */
const FOREIGN = ['Error', 'Observable', 'Subject', 'Subscription', 'TypeError'];

/**
 * Turns private members into plain properties, for the bundler. Tools that compile for less than ES2022 make a WeakMap of each private
 * field: that is 6 KB more of a page, and several times the CPU of a request.
 *
 * All classes share a few names, which compress well: `$a`, `$b` … A class that extends another one has `$$a`, `$$b` …, so no name meets
 * another one of a super class. A name that a brand check asks for (`#core in peer`) becomes a symbol instead: objects of a second copy of
 * the package must fail that check. Private fields that a constructor declares by its parameters are renamed, too. The plugin also writes
 * the numbers of codes (`codeNumbers`), and keeps the marks of pure calls (`withoutPure`).
 *
 * @param {string} folder the sources
 * @returns {import('esbuild').Plugin}
 */
export function privateNamesAsProperties(folder) {
  const sources = sourcesWithProperties(folder);
  const withNumbers = codeNumbers(folder);
  return {
    name: 'private names as properties',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => ({ contents: withoutPure(withNumbers(sources.get(path))), loader: 'ts' }));
    },
  };
}

/**
 * Rewrites the private members of all sources.
 *
 * @returns {Map<string, string>} the texts by path
 */
export function sourcesWithProperties(folder) {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const parsed = paths
    .sort()
    .map((path) => ts.createSourceFile(path, readFileSync(join(folder, path), 'utf8'), ts.ScriptTarget.Latest, true));
  const depthOf = depthsOfClasses(parsed);
  return new Map(parsed.map((source) => [join(folder, source.fileName), rewritten(source, depthOf)]));
}

/**
 * Counts, for each class, our classes above it. No object has two classes of the same depth. Classes of the same name count as one, with
 * the super classes of all of them.
 */
function depthsOfClasses(sources) {
  const supers = new Map();
  const visit = (node) => {
    if (ts.isClassLike(node)) supers.set(node.name?.text, [...(supers.get(node.name?.text) ?? []), ...superOf(node)]);
    node.forEachChild(visit);
  };
  sources.forEach(visit);
  const depthOf = (name) => {
    if (!supers.has(name)) throw new Error(`expected a class to extend one of ours, or ${FOREIGN.join(', ')}; got ${name}`);
    return Math.max(0, ...supers.get(name).map((above) => depthOf(above) + 1));
  };
  return ({ name }) => depthOf(name?.text);
}

/** Returns the name of our class that a class extends, if there is one. */
function superOf({ heritageClauses = [] }) {
  return heritageClauses
    .filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    .flatMap(({ types }) => types.map(({ expression }) => expression.getText()))
    .filter((name) => !FOREIGN.includes(name));
}

/** `$a`, `$b` … `$aa`: short, as no tool of a user shortens them, and unlike any name of a user's subclass. */
function shortName(index, depth) {
  const rest = Math.floor(index / LETTERS.length);
  return `${rest === 0 ? '$'.repeat(depth + 1) : shortName(rest - 1, depth)}${LETTERS[index % LETTERS.length]}`;
}

function rewritten(source, depthOf) {
  const uses = [...usesIn(source), ...fieldUsesIn(source)].sort((one, other) => one.node.getStart() - other.node.getStart());
  const symbols = new Set(uses.filter(({ isBrand }) => isBrand).map(({ name }) => name));
  const soft = new Map();
  const counts = new Map();
  // All on the first line: source maps count the lines of what is read here.
  let code = [...symbols].map((name) => `const ${softName(name)} = Symbol('${name.text.slice(1)}'); `).join('');
  let at = 0;
  for (const { node, name, isBrand, before = '', after = '' } of uses) {
    const isMember = ts.isPropertyAccessExpression(node.parent);
    const replaced = softName(name);
    // `this.#core` → `this[$a]`, also behind `?.`, and `#core = 1` → `[$a] = 1`.
    const isOptional = isMember && node.parent.questionDotToken !== undefined;
    const from = symbols.has(name) && isMember && !isOptional ? node.getStart() - 1 : node.getStart();
    code += source.text.slice(at, from) + before + (symbols.has(name) && !isBrand ? `[${replaced}]` : replaced) + after;
    at = node.end;
  }
  return code + source.text.slice(at);

  function softName(name) {
    if (!soft.has(name)) soft.set(name, newName(classOf(name)));
    return soft.get(name);
  }

  function newName(node) {
    const count = counts.get(node) ?? 0;
    counts.set(node, count + 1);
    return shortName(count, depthOf(node));
  }
}

/** Where private names stand, each with its declaration, in the innermost class that declares the name. */
function usesIn(source) {
  const uses = [];
  const visit = (node, scopes) => {
    if (ts.isClassLike(node)) {
      const own = new Map();
      for (const { name } of node.members)
        if (name !== undefined && ts.isPrivateIdentifier(name) && !own.has(name.text)) own.set(name.text, name);
      node.forEachChild((child) => visit(child, [own, ...scopes]));
      return;
    }
    if (ts.isPrivateIdentifier(node)) {
      const name = scopes.find((scope) => scope.has(node.text)).get(node.text);
      uses.push({ node, name, isBrand: ts.isBinaryExpression(node.parent) && node.parent.left === node });
    }
    node.forEachChild((child) => visit(child, scopes));
  };
  visit(source, []);
  return uses;
}

/**
 * Where the fields stand that a constructor declares by private parameters, as in `constructor(private readonly host: Host)`. The compiler
 * keeps such a name within its class. A name stays if the class reads it of any other object, which may be one of the class.
 */
function fieldUsesIn(source) {
  const uses = [];
  const visit = (node) => {
    if (ts.isConstructorDeclaration(node))
      for (const parameter of node.parameters.filter(isPrivate)) {
        const own = usesOfField(parameter);
        if (!own.includes(FOREIGN_USE)) uses.push(...own);
      }
    node.forEachChild(visit);
  };
  visit(source);
  return uses;
}

function isPrivate({ modifiers = [] }) {
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
}

const FOREIGN_USE = {};

function usesOfField(parameter) {
  const { name } = parameter;
  const uses = [];
  const visit = (node) => {
    const use = ts.isIdentifier(node) && node.text === name.text ? useOf(node, parameter) : null;
    if (use !== null) uses.push(use);
    node.forEachChild(visit);
  };
  classOf(parameter).members.forEach(visit);
  return uses;
}

/** Returns how an identifier uses the field of a parameter, with the text around its new name; `null` for another use of the word. */
function useOf(node, parameter) {
  const { parent, text } = node;
  const use = { node, name: parameter.name, isBrand: false };
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return isOwn(parent.expression, parameter) ? use : FOREIGN_USE;
  if (ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node) {
    if (!isOwn(parent.parent.parent.initializer, parameter)) return FOREIGN_USE;
    return parent.propertyName === undefined ? { ...use, after: `: ${text}` } : use;
  }
  // Only the constructor also reads the parameter itself.
  if (parent === parameter) return use;
  if (ts.findAncestor(node, (above) => above === parameter.parent) === undefined) return null;
  if (ts.isShorthandPropertyAssignment(parent)) return { ...use, before: `${text}: ` };
  if (parent.name !== node) return use;
  return ts.isPropertyAssignment(parent) || ts.isTypeElement(parent) ? null : FOREIGN_USE;
}

/** Whether an expression is `this` of the class of a parameter. */
function isOwn(expression, parameter) {
  return expression?.kind === ts.SyntaxKind.ThisKeyword && classOf(expression) === classOf(parameter);
}

function classOf(node) {
  return ts.findAncestor(node, ts.isClassLike);
}
