import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { REPOSITORY } from '../docs/markdown.js';
import { PUBLIC_NAMES } from './public-names.js';

const SOURCES = join(REPOSITORY, 'src');
const PUBLIC = new Set(Object.values(PUBLIC_NAMES).flatMap(({ values }): readonly string[] => values));

/** The exported classes of a file that use their own name in their body. */
function selfNamed(text: string): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  return [...code.matchAll(/^export (?:abstract )?class (\w+)[^\n]*\n([\s\S]*?)^\}/gm)].flatMap(([, name = '', body = '']) =>
    new RegExp(`(?<![\\w.])${name}\\.|\\b(?:new|instanceof) ${name}\\b`).test(body) ? [name] : [],
  );
}

it('No public class uses its own name in its body, because the bundler would rename the class', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const named = files.flatMap((file) => selfNamed(readFileSync(join(SOURCES, file), 'utf8')));
  expect(named.filter((name) => PUBLIC.has(name))).toEqual([]);
});

it('The check finds a class that uses its own name', () => {
  expect(selfNamed('export class Planted extends Base {\n  static make() {\n    return new Planted();\n  }\n}\n')).toEqual(['Planted']);
});
