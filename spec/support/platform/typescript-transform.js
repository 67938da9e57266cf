import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { transformSync, version } from 'esbuild';

const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, '../../..');
const CONFIG = join(ROOT, 'tsconfig.spec.json');

/** The files beside a source that its result depends on. */
const BASIS = [
  import.meta.filename,
  CONFIG,
  join(ROOT, 'tsconfig.json'),
  require.resolve('ts-jest/package.json'),
  require.resolve('typescript/package.json'),
]
  .map((path) => readFileSync(path, 'utf8'))
  .concat(version)
  .join('\0');

const OPTIONS = {
  loader: 'ts',
  format: 'cjs',
  target: 'es2022',
  // Jest cannot import, so `import()` becomes a call of `require`.
  supported: { 'dynamic-import': false },
  sourcemap: true,
  sourcesContent: false,
};

let tsJest = null;

/** Loads ts-jest, which takes a second and a hundred megabytes. */
function loaded() {
  return (tsJest ??= require('ts-jest').default.createTransformer({ tsconfig: CONFIG, diagnostics: false }));
}

/**
 * Strips the types of a source. `npm run typecheck` checks them. For coverage the compiler does it, which takes ten times as long: esbuild
 * exports by functions, and the report would count them.
 */
export default {
  getCacheKey: (source, path, { instrument }) =>
    createHash('sha1')
      .update([BASIS, path, String(instrument), source].join('\0'))
      .digest('hex'),
  process: (source, path, options) =>
    options.instrument ? loaded().process(source, path, options) : transformSync(source, { ...OPTIONS, sourcefile: path }),
};
