import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/**
 * Options that take any name: of errors, as of JavaScript's own, and of a client, a server or an Observable that the program passes. No code reads the option of
 * `contract`, which is for types alone: the compiler refuses a misspelt one.
 */
const TAKES_ANY_NAME =
  /^new (\w+Error|CodecMismatch|CursorLost)$|^Redis(Client|Sentinel)\.sendCommand$|^BunServer\.upgrade$|^NativeObservable\.subscribe$|^contract$/;

const contentsOf = (folder: string, files: RegExp): [door: string, text: string][] =>
  readdirSync(join(__dirname, folder))
    .filter((file) => files.test(file))
    .map((file) => [basename(file, '.txt'), readFileSync(join(__dirname, folder, file), 'utf8')]);

const doors = contentsOf('declarations', /\.txt$/);
const rows = contentsOf('../node', /^misspelt-options.*\.spec\.ts$/);
const exported = new Set(doors.flatMap(([, text]) => (/^export \{([^}]*)/.exec(text)?.[1] ?? '').match(/\w+(?=,)/g) ?? []));
const titles = rows.flatMap(([, text]) => [...text.matchAll(/^ +\[?'([^']+)',/gm)].map(([, title = '']) => title));

/** The functions in declarations that take an object of options. */
function withOptions(text: string): string[] {
  const source = ts.createSourceFile('door.d.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node, owner: string): void => {
    const name = (ts.isConstructorDeclaration(node) ? `new ${owner}` : nameIn(node, owner)) || owner;
    if (ts.isFunctionLike(node) && node.parameters.some(isOptions)) found.push(name);
    else
      ts.forEachChild(node, (child) => {
        visit(child, name);
      });
  };
  source.statements
    .filter((node) => exported.has(nameIn(node, '')))
    .forEach((node) => {
      visit(node, '');
    });
  return [...new Set(found)];
}

/** The name of a declaration, or of a member of its owner. */
function nameIn(node: ts.Node, owner: string): string {
  const name = ts.getNameOfDeclaration(node as ts.Declaration)?.getText() ?? '';
  return [owner, name].filter((part) => part !== '').join('.');
}

function isOptions({ name, type }: ts.ParameterDeclaration): boolean {
  return name.getText() === 'options' || /\w(Options|Props)\b|^Given</.test(type?.getText() ?? '');
}

/** The functions without a row that misspells an option. Doors may have functions of one name. */
function missing(declared: readonly [door: string, text: string][]): string[] {
  const found = declared.flatMap(([door, text]) => withOptions(text).map((name) => ({ door: door.replace(/^(index|shared)$/, ''), name })));
  return found
    .map(({ door, name }) => {
      const isUnique = found.filter((other) => other.name === name).length === 1;
      return isUnique ? name : `${name} of ${join('rxmux', door)}`;
    })
    .filter((name) => !TAKES_ANY_NAME.test(name) && !titles.some((title) => `${title} `.startsWith(`${name} `)));
}

describe('Names of options', () => {
  it('Each exported function with options has a row that misspells one', () => {
    expect(missing(doors)).toEqual([]);
  });

  it('A function, a constructor, a method and a call count, if a door exports them', () => {
    const declared = `
      declare function serve(given: NewOptions): void;
      declare class Stream { constructor(options?: { of: 1 }); read(limits: Given<Limits>): void; send(value: unknown): void }
      interface RequestCall { (payload: unknown, options?: {}): void; later: (options: {}) => void }
      declare function inner(options: InnerOptions): void;`;
    expect(missing([['testing', declared]])).toEqual(['new Stream', 'Stream.read', 'RequestCall.later']);
  });
});
