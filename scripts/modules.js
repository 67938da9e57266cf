// Bundles the sources: one file for each door, and files for what several doors share. A program loads few files faster than a
// hundred and more (docs/PERFORMANCE.md). The bundler renames a class that names itself in its own body: there, write `this`.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, transform } from 'esbuild';
import { DOORS } from './doors.js';
import { shortMembers } from './member-names.js';
import { privateNamesAsProperties } from './private-names.js';
import { withPure } from './pure-calls.js';

const root = join(import.meta.dirname, '..');

/** No indentation, and no comment: a third of the bytes. Names stay, and a stack still finds its line. */
export const COMPACT = { minifyWhitespace: true, lineLimit: 160 };

/** `import.meta` does not exist in CommonJS, so env-none.ts stands in for env.ts. */
const withoutImportMeta = {
  name: 'no import.meta',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/env\.js$/ }, () => ({ path: join(root, 'src/env-none.ts') }));
  },
};

/** The page of the inspector has a file of its own, because it holds code of other packages (examples/inspector/build.js). */
const inspectorPage = {
  name: 'page of the inspector',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/page\.js$/ }, ({ importer }) =>
      importer.endsWith('panel.ts') ? { path: '../inspector/page.js', external: true } : undefined,
    );
  },
};

/** The folders of the sources that a page of a client loads. */
const LAYERS = ['connection', 'operators', 'peer', 'rx', 'stream', 'transport', 'util'].map((folder) => join(root, 'src', folder, '/'));

/** Resolves each import of rxjs in the layers to one module. So a page has one import of rxjs, and one name for each of its functions. */
const oneImportOfRxjs = {
  name: 'one import of rxjs',
  setup({ onResolve, onLoad }) {
    const isLayer = (path) => LAYERS.some((folder) => path.startsWith(folder));
    onResolve({ filter: /^rxjs$/ }, ({ path, importer }) => (isLayer(importer) ? { path, namespace: 'rxjs' } : { path, external: true }));
    onLoad({ filter: /^rxjs$/, namespace: 'rxjs' }, () => ({ contents: `export { ${namesOfRxjs().join()} } from 'rxjs';` }));
  },
};

/** The values of rxjs that the layers import. */
function namesOfRxjs() {
  const paths = LAYERS.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)));
  const texts = paths.filter((path) => path.endsWith('.ts')).map((path) => readFileSync(path, 'utf8'));
  const lists = texts.flatMap((text) => [...text.matchAll(/^import \{([^}]*)\} from 'rxjs';$/gm)]);
  return [...new Set(lists.flatMap(([, list]) => list.match(/\w+/g)))].sort();
}

async function bundled(outdir, { plugins = [], ...options }) {
  const result = await build({
    absWorkingDir: root,
    // The last one stands in for the door of Node under the condition `browser`.
    entryPoints: [...DOORS, 'node-in-page'].map((door) => `src/${door}.ts`),
    outdir,
    chunkNames: 'shared/[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    // The annotations of package.json describe dist/.
    ignoreAnnotations: true,
    format: 'esm',
    // Fields are assigned in constructors and static blocks are gone, so a page compiled for less pays nothing.
    target: 'es2021',
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false, verbatimModuleSyntax: true } },
    plugins: [privateNamesAsProperties(join(root, 'src')), inspectorPage, oneImportOfRxjs, ...plugins],
    ...shortMembers(join(root, 'src')),
    platform: 'neutral',
    write: false,
    metafile: true,
    logLevel: 'warning',
    ...options,
  });
  refuseForeign(result.metafile);
  return result.outputFiles.map(({ path, text }) => ({ path, text: withPure(text) }));
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The package has one licence, because it holds no code of other packages. */
export function refuseForeign({ inputs }) {
  const foreign = Object.keys(inputs).filter((path) => path.includes('node_modules/'));
  if (foreign.length > 0) throw new Error(`expected no code of other packages, got ${foreign.join(', ')}`);
}

/** Writes the ES modules of the package. */
export async function buildModules(outdir, options = {}) {
  for (const { path, text } of await bundled(outdir, { ...COMPACT, ...options })) write(path, text);
}

/** Writes the ES modules with maps to their sources, for those who measure the parts of the library. */
export const buildMappedModules = (outdir) => buildModules(outdir, { sourcemap: true, sourcesContent: false });

/** React Native defers `const a = require('./a')` to the first use of `a`. The files that register codecs have to run at once. */
function eagerly(module) {
  const paths = new Set([...module.matchAll(/^(?:import|\} from) "(\.[^"]+)";$/gm)].map(([, path]) => path));
  return ['"use strict";', ...[...paths].map((path) => `require("${path}");`)].join('');
}

/** Writes the same files as CommonJS. The bundler has no shared files in that format, so each module is converted by itself. */
export async function buildCommonJs(outdir) {
  const folder = join(root, outdir);
  for (const { path, text } of await bundled(outdir, { plugins: [withoutImportMeta] })) {
    // `platform` adds the list of exports that Node reads before it runs the file.
    // Few programs bundle these files, so nothing else would shorten their syntax.
    const options = { format: 'cjs', platform: 'node', target: 'es2021', logLevel: 'warning', minifySyntax: true, ...COMPACT };
    const { code } = await transform(text, { ...options, banner: eagerly(text) });
    write(path, code);
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
}

if (process.argv[1] === import.meta.filename) await buildMappedModules(process.argv[2]);
