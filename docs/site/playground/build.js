import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Bundles the playground into one module, with the inspector and the sources of the library. */
export async function buildPlayground(root, outfile) {
  const source = (name) => join(root, 'src', `${name}.ts`);
  await build({
    absWorkingDir: root,
    entryPoints: ['docs/site/playground/play.js'],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.css': 'text' },
    alias: { rxmux: source('index'), 'rxmux/inspect': source('inspect'), 'rxmux/testing': source('testing') },
    plugins: [sixLines(root)],
    // The manifest's `sideEffects` describes the built files, not the sources.
    ignoreAnnotations: true,
    logLevel: 'warning',
  });
}

/** The module `six-lines` is the program that docs/index.md shows, as a function of the number in it. */
function sixLines(root) {
  return {
    name: 'six-lines',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^six-lines$/ }, ({ path }) => ({ path, namespace: 'six-lines' }));
      onLoad({ filter: /^/, namespace: 'six-lines' }, () => {
        const [, code = ''] = /^```ts\n([^]*?)^```$/m.exec(readFileSync(join(root, 'docs/index.md'), 'utf8')) ?? [];
        if (code.split('take(3)').length !== 2) throw new Error('expected a program with one take(3) in docs/index.md');
        const contents = `import { interval, take } from 'rxjs';
import { respond } from 'rxmux';
export default (n, createPair, console) => {
${code.replace('take(3)', 'take(n)')}}`;
        return { contents, loader: 'ts', resolveDir: root };
      });
    },
  };
}
