import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { REPOSITORY } from './markdown.js';

/** The docstring of one option. */
export interface Docstring {
  readonly text: string;
  /** Its first sentence, without the full stop. */
  readonly says: string;
  /** The rest of its sentence `Default ….`; empty where it has none. */
  readonly byDefault: string;
}

/** The docstrings of an interface or a type: its own, under an empty name, and the docstring of each property. */
export function docstringsOf(file: string, type: string): ReadonlyMap<string, Docstring> {
  const text = readFileSync(join(REPOSITORY, 'src', file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const declared = source.statements.find((node) => isType(node) && node.name.text === type);
  if (declared === undefined) throw new Error(`expected a type ${type} in ${file}`);
  const found = new Map([['', docstringOf(declared)]]);
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node)) {
      if (node.type?.kind === ts.SyntaxKind.UndefinedKeyword) return; // an option that this member of a union excludes
      const docstring = docstringOf(node);
      if (docstring.text !== '') found.set(node.name.getText(), docstring);
    } else ts.forEachChild(node, visit);
  };
  ts.forEachChild(declared, visit);
  return found;
}

function isType(node: ts.Statement): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
}

function docstringOf(node: ts.Node): Docstring {
  const comment = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc)?.comment;
  const text = (ts.getTextOfJSDocComment(comment) ?? '').replace(/\s+/g, ' ');
  return {
    text,
    says: /^.*?(?=\.(\s|$))/.exec(text)?.[0] ?? '',
    byDefault: /(?:^|\. )Default (.+)\.$/.exec(text)?.[1] ?? '',
  };
}
