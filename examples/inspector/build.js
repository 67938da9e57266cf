// Builds the page into dist/inspector.html, one file without any other: `npm run build:inspector` in the root.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
const source = join(here, '../../src');

const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: ['page/main.tsx'],
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.css': 'text' },
  alias: {
    rxmux: join(source, 'index.ts'),
    'rxmux/inspect': join(source, 'inspect.ts'),
    'rxmux/testing': join(source, 'testing.ts'),
  },
  // The manifest's `sideEffects` describes the built files, not the sources.
  ignoreAnnotations: true,
  logLevel: 'warning',
});
// A script must not end the element that holds it.
const script = outputFiles[0].text.replaceAll('</script', '<\\/script');
const licences = ['preact', 'uplot'].map((name) => `${name}\n\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8')}`);
const page = `${readFileSync(join(here, 'index.html'), 'utf8').replace('/* SCRIPT */', () => script)}<!--
This page holds code of other packages.

${licences.join('\n')}-->
`;
mkdirSync(join(here, 'dist'), { recursive: true });
writeFileSync(join(here, 'dist/inspector.html'), page);
