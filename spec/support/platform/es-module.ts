import { runInThisContext } from 'node:vm';
import { buildSync } from 'esbuild';

/** Loads a package that has only ES modules. Jest runs the specs as CommonJS. */
export function loadEsModule(name: string): object {
  const { outputFiles } = buildSync({
    stdin: { contents: `export * from '${name}';`, resolveDir: __dirname },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
  });
  const run = runInThisContext(`(function (module) {\n${outputFiles[0]?.text ?? ''}\n})`) as (module: { exports: object }) => void;
  const loaded = { exports: {} };
  run(loaded);
  return loaded.exports;
}
