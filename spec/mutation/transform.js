import { transformSync } from 'esbuild';

/** Strips types, in a fraction of the time that the compiler takes. */
export default {
  process(source, path) {
    return transformSync(source, { loader: 'ts', format: 'cjs', target: 'es2022', sourcefile: path, sourcemap: 'inline' });
  },
};
