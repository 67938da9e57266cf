import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { PUBLIC_NAMES } from '../api/public-names.js';
import { REPOSITORY } from '../docs/markdown.js';

const CONSUMER = join(REPOSITORY, 'spec/types/consumer');
/** The place where the consumer finds the package; reads there are served from the repository. */
const INSTALLED = join(CONSUMER, 'node_modules/rxmux');

const MODULES = {
  index: 'rxmux',
  node: 'rxmux/node',
  msgpack: 'rxmux/msgpack',
  rich: 'rxmux/rich',
  port: 'rxmux/port',
  websocketstream: 'rxmux/websocketstream',
  session: 'rxmux/session',
  contract: 'rxmux/contract',
  angular: 'rxmux/angular',
  react: 'rxmux/react',
  vue: 'rxmux/vue',
  svelte: 'rxmux/svelte',
  solid: 'rxmux/solid',
  tanstack: 'rxmux/tanstack',
  testing: 'rxmux/testing',
} as const;
/** The compiler's diagnostic for an import that resolves to nothing. With it the spec would check nothing. */
const CANNOT_FIND_MODULE = 2307;
const DOORS = Object.keys(MODULES) as (keyof typeof MODULES)[];

/** Uses every value with its type, and every object type with the types of its members. */
function usesOf(door: keyof typeof MODULES): string {
  const { values, types } = PUBLIC_NAMES[door];
  const uses = [
    ...values.map((name) => `export const ${name} = door.${name};`),
    ...types.map((name) => `export const spread${name} = ({ ...given }: door.${name}) => given;`),
  ];
  return `import * as door from '${MODULES[door]}';\n${uses.join('\n')}\n`;
}

const fileOf = (door: string): string => join(CONSUMER, `uses-of-${door}.ts`);

/** A program that exports the types of the entry points, one file each. */
function programOf(files: readonly [path: string, text: string][]): ts.Program {
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    declaration: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    skipLibCheck: true,
  };
  const subpaths = DOORS.map((door): [string, string] => [MODULES[door].replace('rxmux', '.'), `./src/${door}.ts`]);
  const own = new Map([
    ...files,
    [join(CONSUMER, 'package.json'), JSON.stringify({ type: 'module' })],
    [join(INSTALLED, 'package.json'), JSON.stringify({ name: 'rxmux', type: 'module', exports: Object.fromEntries(subpaths) })],
  ]);
  // Dependencies lie beside the package, as an installer places them.
  const inRepository = (path: string): string =>
    path.startsWith(`${INSTALLED}/node_modules`) ? path : path.replace(INSTALLED, REPOSITORY);
  const disk = ts.createCompilerHost(options);
  const read = (path: string): string | undefined => own.get(path) ?? disk.readFile(inRepository(path));
  const paths = files.map(([path]) => path);
  return ts.createProgram(paths, options, {
    ...disk,
    fileExists: (path) => own.has(path) || disk.fileExists(inRepository(path)),
    readFile: read,
    directoryExists: (path) => INSTALLED.startsWith(path) || ts.sys.directoryExists(inRepository(path)),
    realpath: (path) => path,
    getSourceFile: (path, language) => {
      const found = read(path);
      return found === undefined ? undefined : ts.createSourceFile(path, found, language);
    },
  });
}

const program = programOf(DOORS.map((door) => [fileOf(door), usesOf(door)]));

/** The errors of the declarations for the exports of an entry point. */
function declarationErrorsOf(door: string): string[] {
  const source = program.getSourceFile(fileOf(door));
  const unresolved = program.getSemanticDiagnostics(source).filter(({ code }) => code === CANNOT_FIND_MODULE);
  return [...unresolved, ...program.getDeclarationDiagnostics(source)].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, ' '),
  );
}

it.each(DOORS)(
  'A program that writes declarations can re-export the entry point %s',
  (door) => {
    expect(declarationErrorsOf(door)).toEqual([]);
  },
  60_000,
);
