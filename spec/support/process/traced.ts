import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { buildSync } from 'esbuild';
import ts from 'typescript';
import type * as index from '../../../src/index.js';
import type * as node from '../../../src/node.js';

type Traced = typeof node & Pick<typeof index, 'SharedPayload'>;

const ROOT = join(__dirname, '../../..');

/** Loads `rxmux/node`, and `SharedPayload` of `rxmux`. Every function of it first calls a global `entered` with the path of its file below `src`. */
export function loadTraced(): Traced {
  const directory = mkdtempSync(join(tmpdir(), 'rxmux-walks-'));
  try {
    const sources = join(directory, 'src');
    cpSync(join(ROOT, 'src'), sources, { recursive: true });
    for (const path of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
      const file = join(sources, path);
      if (path.endsWith('.ts')) writeFileSync(file, traced(path, readFileSync(file, 'utf8')));
    }
    const outfile = join(directory, 'node.js');
    buildSync({
      stdin: { contents: `export { SharedPayload } from './src/index.js'; export * from './src/node.js'`, resolveDir: directory },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      nodePaths: [join(ROOT, 'node_modules')],
      external: ['bufferutil', 'utf-8-validate'],
      logLevel: 'error',
      outfile,
    });
    return jest.requireActual<Traced>(outfile);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The source with a call of `entered` at the beginning of every function. */
export function traced(path: string, source: string): string {
  const call = `entered(${JSON.stringify(path)})`;
  const insertions: (readonly [at: number, text: string])[] = [];
  const visit = (node: ts.Node): void => {
    const body = ts.isFunctionLike(node) && 'body' in node ? node.body : undefined;
    if (body !== undefined && ts.isBlock(body)) insertions.push([body.getStart() + 1, `${call};`]);
    else if (body !== undefined) insertions.push([body.getStart(), `(${call},(`], [body.getEnd(), '))']);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
  let out = source;
  for (const [at, text] of insertions.sort(([one], [other]) => other - one)) out = out.slice(0, at) + text + out.slice(at);
  return out;
}
