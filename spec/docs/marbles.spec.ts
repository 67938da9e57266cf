import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { FOLDER } from '../support/pictures/drawn.js';
import { PICTURES } from '../support/pictures/pictures.js';
import { REPOSITORY, textOf } from './markdown.js';

describe('marbles', () => {
  const FOLDER = join(REPOSITORY, 'marbles');
  const SUFFIX = '.marbles.ts';

  const files = readdirSync(FOLDER).filter((name) => name.endsWith(SUFFIX));

  /** The calls of `it` and of shared tables in a text, each with its title and source. */
  function testsOf(text: string): { readonly title: string; readonly body: string }[] {
    const source = ts.createSourceFile('', text, ts.ScriptTarget.ES2022, true);
    const found: { title: string; body: string }[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && /^(it|it\.each\b[^]*|narrows|hangsHooks)$/.test(node.expression.getText()) && !isTable(node))
        found.push({ title: node.arguments[0]?.getText() ?? '', body: node.getText() });
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  }

  /** `it.each(rows)`, whose call is the test. */
  const isTable = (node: ts.CallExpression): boolean => node.expression.getText() === 'it.each';

  /** Titles of the tests that draw a diagram without checking its subscriptions. */
  const silent = (text: string): string[] =>
    testsOf(text)
      .filter(({ body }) => /\bmarbles(<|\()/.test(body) && !/\bexpectSubscriptions\(/.test(body))
      .map(({ title }) => title);

  describe('marble files', () => {
    it.each(files)('The file %s checks subscriptions in each test', (name) => {
      const text = textOf(`marbles/${name}`);
      expect(testsOf(text).length).toBeGreaterThan(0);
      expect(silent(text)).toEqual([]);
    });

    it.each(['narrowing.ts', 'hooking.ts'])('The shared rows of support/%s check subscriptions', (name) => {
      expect(textOf(`marbles/support/${name}`)).toContain('expectSubscriptions(');
    });

    it('The check reports a marble test without subscriptions', () => {
      const drawn = "it('is drawn', marbles(({ expectObservable }) => { expectObservable(a$).toBe('a'); }));";
      const table = "it.each(ROWS)('$does', marbles<[Row]>(({ expectObservable }) => { expectObservable(a$).toBe('a'); }));";
      const counted = "it('is counted', marbles(({ expectSubscriptions }) => { expectSubscriptions(a$.subscriptions).toBe('^!'); }));";
      expect(silent(`${drawn} ${table} ${counted}`)).toEqual(["'is drawn'", "'$does'"]);
    });
  });

  describe('operators', () => {
    const door = textOf('src/index.ts');
    const exported = [...door.matchAll(/export \{ ([\w, ]+) \} from '\.\/((?:peer\/)?operators\/[\w-]+)\.js'/g)].flatMap(
      ([, names = '', path = '']) => names.split(', ').map((name) => ({ name, path: `${path}.ts` })),
    );
    const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

    it('The entry point exports operators of each file of operators', () => {
      const shipped = ['operators', 'peer/operators'].flatMap((folder) =>
        readdirSync(join(REPOSITORY, 'src', folder)).map((file) => `${folder}/${file}`),
      );
      expect([...new Set(exported.map(({ path }) => path))].sort()).toEqual(shipped.sort());
    });

    it.each(exported)('`$name` has its own marble file, which imports it from the entry point', ({ name }) => {
      const file = kebab(name);
      expect(files).toContain(`${file}${SUFFIX}`);
      expect(textOf(`marbles/${file}${SUFFIX}`)).toMatch(new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '../src/index.js'`));
    });
  });
});

const MARBLES = new Set(
  ['marbles', 'marbles/support'].flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder))
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => stringsOf(textOf(`${folder}/${name}`))),
  ),
);

/** The texts in quotes of a source. */
function stringsOf(text: string): string[] {
  const strings: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) strings.push(node.text);
    if (ts.isTemplateExpression(node))
      strings.push(
        node
          .getText()
          .slice(1, -1)
          .replaceAll('\\`', '`')
          .replace(/\$\{(\w+)\}/g, '$$$1'),
      );
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('', text, ts.ScriptTarget.ES2022, true));
  return strings;
}

const regExp = (template: string): RegExp =>
  new RegExp(`^${template.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\\\$\w+|%[sj]/g, '(.+)')}$`);

/** Whether the marble files have a test of that title. Tables and templates complete titles. */
function hasTest(title: string): boolean {
  return [...MARBLES].some((template) => {
    const parts = template.length < 8 ? null : regExp(template).exec(title);
    return parts?.slice(1).every((part) => MARBLES.has(part)) === true;
  });
}

describe('pictures', () => {
  it('Each picture has a test that draws it', () => {
    expect(PICTURES.filter(({ test }) => !hasTest(test)).map(({ test }) => test)).toEqual([]);
    expect(hasTest('A switchMap on the server')).toBe(false);
  });

  it('The folder of pictures has a file for each picture, and no others', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(PICTURES.map(({ name }) => `${name}.svg`).sort());
  });

  it.each(PICTURES)('The picture $name is small, has a title and rows as text, and knows both themes', ({ name }) => {
    const svg = readFileSync(join(FOLDER, `${name}.svg`), 'utf8');
    expect(svg.length).toBeLessThan(12_000);
    expect(svg).toMatch(/<title id="[\w-]+">.+<\/title>/);
    expect(svg).toMatch(/<desc id="[\w-]+">[^<]+<\/desc>/);
    expect(svg).toContain('@media(prefers-color-scheme:dark)');
    // File managers and previews of links read no styles.
    for (const [shape] of svg.matchAll(/<(?:path|rect|circle|text)[^>]*>/g)) expect(shape).toMatch(/ fill="(?:#[0-9a-f]{6}|none)"/);
  });
});
