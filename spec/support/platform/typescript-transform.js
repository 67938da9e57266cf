import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, '../../..');
const CONFIG = join(ROOT, 'tsconfig.spec.json');

/** The files beside a source that its result depends on. */
const BASIS = [import.meta.filename, CONFIG, join(ROOT, 'tsconfig.json'), require.resolve('typescript/package.json')]
  .map((path) => readFileSync(path, 'utf8'))
  .join('\0');

let compiler = null;

/** Loads the compiler, which takes a second and a hundred megabytes, for the first file that no earlier run has stripped. */
function loaded() {
  if (compiler !== null) return compiler;
  const ts = require('typescript');
  const { config } = ts.readConfigFile(CONFIG, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, ROOT);
  return (compiler = { ts, compilerOptions: { ...options, sourceMap: true, inlineSources: true } });
}

/** Strips the types of a source. `npm run typecheck` checks them. */
export default {
  getCacheKey: (source, path, { instrument }) =>
    createHash('sha1')
      .update([BASIS, path, String(instrument), source].join('\0'))
      .digest('hex'),
  process(source, path) {
    const { ts, compilerOptions } = loaded();
    const { outputText, sourceMapText } = ts.transpileModule(source, { compilerOptions, fileName: path });
    return { code: outputText, map: { ...JSON.parse(sourceMapText), file: path, sources: [path] } };
  },
};
