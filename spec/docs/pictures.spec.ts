import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { FOLDER } from '../support/pictures/drawn.js';
import { PICTURES } from '../support/pictures/pictures.js';
import { REPOSITORY, textOf } from './markdown.js';

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
  });
});
