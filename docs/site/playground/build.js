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
    // The manifest's `sideEffects` describes the built files, not the sources.
    ignoreAnnotations: true,
    logLevel: 'warning',
  });
}
