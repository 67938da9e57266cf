import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * Turns private members into plain properties, for the bundler. Tools that compile for less than ES2022 make a WeakMap of each private
 * field: that is 6 KB more of a page, and an order of magnitude more work for a request.
 *
 * Each private name of each class becomes a property of its own, so no name meets another one of a super class. A name that a brand check
 * asks for (`#core in peer`) becomes a symbol instead: objects of a second copy of the package must fail that check.
 *
 * @param {string} folder the sources
 * @returns {import('esbuild').Plugin}
 */
export function privateNamesAsProperties(folder) {
  let names = 0;
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const sources = new Map(
    paths.sort().map((path) => {
      const source = ts.createSourceFile(path, readFileSync(join(folder, path), 'utf8'), ts.ScriptTarget.Latest, true);
      return [join(folder, path), rewritten(source, () => shortName(names++))];
    }),
  );
  return {
    name: 'private names as properties',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => ({ contents: sources.get(path), loader: 'ts' }));
    },
  };
}

/** `$a`, `$b` … `$aa`: short, as no tool of a user shortens them, and unlike any name of a user's subclass. */
function shortName(index) {
  const rest = Math.floor(index / LETTERS.length);
  return `${rest === 0 ? '$' : shortName(rest - 1)}${LETTERS[index % LETTERS.length]}`;
}

function rewritten(source, newName) {
  const uses = usesIn(source);
  const symbols = new Set(uses.filter(({ isBrand }) => isBrand).map(({ name }) => name));
  const soft = new Map();
  // All on the first line: source maps count the lines of what is read here.
  let code = [...symbols].map((name) => `const ${softName(name)} = Symbol('${name.text.slice(1)}'); `).join('');
  let at = 0;
  for (const { node, name, isBrand } of uses) {
    const isMember = ts.isPropertyAccessExpression(node.parent);
    const replaced = softName(name);
    // `this.#core` → `this[$a]`, also behind `?.`, and `#core = 1` → `[$a] = 1`.
    const isOptional = isMember && node.parent.questionDotToken !== undefined;
    const from = symbols.has(name) && isMember && !isOptional ? node.getStart() - 1 : node.getStart();
    code += source.text.slice(at, from) + (symbols.has(name) && !isBrand ? `[${replaced}]` : replaced);
    at = node.end;
  }
  return code + source.text.slice(at);

  function softName(name) {
    if (!soft.has(name)) soft.set(name, newName());
    return soft.get(name);
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
