import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

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
  .join('\0');

let tsJest = null;

/** Loads ts-jest, which takes a second and a hundred megabytes, for the first file that no earlier run has stripped. */
function loaded() {
  return (tsJest ??= require('ts-jest').default.createTransformer({ tsconfig: CONFIG, diagnostics: false }));
}

/** Strips the types of a source with ts-jest. `npm run typecheck` checks them. */
export default {
  getCacheKey: (source, path, { instrument }) =>
    createHash('sha1')
      .update([BASIS, path, String(instrument), source].join('\0'))
      .digest('hex'),
  process: (source, path, options) => loaded().process(source, path, options),
};
