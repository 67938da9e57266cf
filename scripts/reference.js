// Writes docs/guide/reference.md from the entry points: every public name by subject, with the first sentence of its docstring, and the first
// example of each subject. `TABLES=write npx jest spec/docs/reference` runs it. Without `--write` it fails where the page says something else.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { DOORS } from './doors.js';

const PAGE = 'docs/guide/reference.md';
const HEAD = `# Reference

Look up any public name here: what it is, and where it comes from. Each entry point has its names by subject, and your editor shows the rest of each docstring.
`;
const MAX_COLUMNS = 72;

const root = join(import.meta.dirname, '..');
const doors = DOORS.map((door) => ({ name: door === 'index' ? 'rxmux' : `rxmux/${door}`, file: join(root, `src/${door}.ts`) }));

const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config, ts.sys, root);
const program = ts.createProgram(
  doors.map(({ file }) => file),
  options,
);
const checker = program.getTypeChecker();
const style = { ...(await resolveConfig(join(root, 'package.json'))), printWidth: MAX_COLUMNS, filepath: 'a.ts' };

const sections = [];
for (const door of doors) sections.push(await sectionOf(door));
const written = [HEAD, ...sections].join('\n');
const path = join(root, PAGE);
if (process.argv.includes('--write')) writeFileSync(path, written);
else if (readFileSync(path, 'utf8') !== written) {
  console.error(`expected ${PAGE} to say what the docstrings say: TABLES=write npx jest spec/docs/reference`);
  process.exitCode = 1;
}

async function sectionOf({ name, file }) {
  const source = program.getSourceFile(file);
  const [about] = ts.getJSDocCommentsAndTags(source.statements[0]).filter(ts.isJSDoc);
  const parts = [`## ${name}`, said(ts.getTextOfJSDocComment(about.comment)).trim(), await exampleOf(about.tags)];
  const names = checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map((symbol) => symbol.name);
  for (const [subject, symbols] of groupsOf(source)) {
    if (subject !== '') parts.push(`### ${subject}`);
    const [example] = symbols.flatMap((symbol) => examplesOf(resolved(symbol)));
    if (example !== undefined && subject !== '') parts.push(await fenced(example, { name, names }));
    parts.push(['| name | kind | what it is |', '| --- | --- | --- |', ...symbols.map(rowOf)].join('\n'));
  }
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** The exported names of a door, by the subjects that its comments name. */
function groupsOf(source) {
  const comments = [...source.text.matchAll(/^\/\* (.+) \*\/$/gm)].map(({ 1: subject, index }) => ({ subject, index }));
  const groups = new Map();
  for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(source))) {
    const at = symbol.declarations[0].getStart();
    const subject = comments.findLast(({ index }) => index < at)?.subject ?? '';
    groups.set(subject, [...(groups.get(subject) ?? []), symbol]);
  }
  return groups;
}

function resolved(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function rowOf(symbol) {
  const target = resolved(symbol);
  const text = said(ts.getTextOfJSDocComment(docstringOf(target)?.comment));
  const [paragraph = ''] = text.split(/:?\s*\n\s*(?=- )/);
  const [sentence] = /^.*?(?=\.(\s|$))/s.exec(paragraph) ?? [paragraph];
  return `| \`${symbol.name}\` | ${kindOf(target)} | ${sentence.replace(/\s+/g, ' ').replaceAll('|', String.raw`\|`)} |`;
}

/** The docstring of a name. Of overloads, the first one has it. */
function docstringOf({ declarations }) {
  return declarations.flatMap((declaration) => ts.getJSDocCommentsAndTags(declaration)).find(ts.isJSDoc);
}

function kindOf({ flags }) {
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Variable) return 'value';
  return 'type';
}

function examplesOf(symbol) {
  return symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'example')
    .map(({ text }) => ts.displayPartsToString(text));
}

async function exampleOf(tags = []) {
  const example = tags.find(({ tagName }) => tagName.text === 'example');
  return example === undefined ? '' : fenced(ts.getTextOfJSDocComment(example.comment));
}

/** The program of an example, as the pages write programs. It imports what it uses of its door, unless that is the main one. */
async function fenced(example, door) {
  const [, code = ''] = /```ts\n([^]*?)```/.exec(example) ?? [];
  const used = door === undefined || door.name === 'rxmux' ? [] : freeNamesOf(code).filter((name) => door.names.includes(name));
  const imports = used.length === 0 ? '' : `import { ${used.join(', ')} } from '${door.name}';\n\n`;
  return `\`\`\`ts\n${narrowed(await format(imports + code, style))}\`\`\``;
}

/** Moves a comment that makes its line too long above the line. */
function narrowed(code) {
  return code.replaceAll(/^( *)(.*\S)? *\/\/ (.*)$/gm, (line, indent, before, comment) =>
    line.length <= MAX_COLUMNS ? line : [...wrapped(comment, indent), ...(before === undefined ? [] : [indent + before])].join('\n'),
  );
}

function wrapped(comment, indent) {
  const lines = [];
  let line = `${indent}//`;
  for (const word of comment.split(' ')) {
    if (line.length + word.length >= MAX_COLUMNS) {
      lines.push(line);
      line = `${indent}//`;
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

/** The names that a program uses and does not declare. */
function freeNamesOf(code) {
  const used = new Set();
  const declared = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node)) {
      const { parent } = node;
      const isMember = (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) && parent.name === node;
      const isDeclared = parent.name === node && !ts.isPropertyAccessExpression(parent) && !ts.isShorthandPropertyAssignment(parent);
      if (isDeclared && !isMember) declared.add(node.text);
      else if (!isMember) used.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('a.ts', code, ts.ScriptTarget.Latest, true));
  return [...used].filter((name) => !declared.has(name)).sort();
}

/** A docstring as Markdown: a link to a name becomes code, or its own words. */
function said(text = '') {
  return text.replaceAll(/\{@link (\S+?)(?:[ |]+([^}]+))?\}/g, (_, name, words) => words?.trim() ?? `\`${name}\``);
}
