import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Example } from './example.js';
import { REPOSITORY } from './markdown.js';

const AT_HAND = `
import { newReader } from './reader.js';
export type { Entry } from './reader.js';
export const { peer, acceptor, term$, token, append, userOf } = newReader();
`;

/** Checks all examples against the sources in one run of the compiler. Returns the errors of each. */
export function typeErrorsOf(examples: readonly Pick<Example, 'title' | 'program'>[]): string[][] {
  const here = (name: string): string => join(REPOSITORY, 'spec/docs', name);
  const paths = examples.map(({ title }) => here(`${title.replace(/\W/g, '-')}.ts`));
  const texts = new Map(examples.map(({ program }, index) => [paths[index] ?? '', program]));
  const api = readFileSync(join(REPOSITORY, 'examples/quick-start/api.ts'), 'utf8');
  texts.set(here('api.ts'), api).set(here('reader-at-hand.ts'), AT_HAND);

  const options = optionsOfTheRepository();
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => texts.has(path) || disk.fileExists(path),
    readFile: (path) => texts.get(path) ?? disk.readFile(path),
    getSourceFile: (path, language, ...rest) => {
      const text = texts.get(path);
      return text === undefined ? disk.getSourceFile(path, language, ...rest) : ts.createSourceFile(path, text, language);
    },
  };
  const program = ts.createProgram(paths, options, host);
  return paths.map((path) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText, file, start }) => {
      const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line;
      return `line ${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

/** The compiler options of the repository, without those that would make examples longer and no clearer. */
function optionsOfTheRepository(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(REPOSITORY, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    readonly config: { readonly compilerOptions: object };
  };
  const own = { verbatimModuleSyntax: false, noUnusedLocals: false, noPropertyAccessFromIndexSignature: false };
  return ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, ...own }, REPOSITORY).options;
}
