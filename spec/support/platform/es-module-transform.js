import { transformSync } from 'esbuild';

/** Makes CommonJS of the ES modules of a package. The compiler would take ten times as long for the files of Angular. */
export default {
  process: (source, path) => ({ code: transformSync(source, { format: 'cjs', target: 'es2022', sourcefile: path }).code }),
};
