import type { Plugin } from 'esbuild';
import { join } from 'node:path';
import { BUILT } from './place.js';

/** Bundles the built rxmux, as an application would get it. */
export const rxmuxAsBuilt: Plugin = {
  name: 'rxmux as it was built',
  setup: (bundler) => {
    bundler.onResolve({ filter: /^rxmux(\/|$)/ }, ({ path }) => ({ path: join(BUILT, `${path.split('/')[1] ?? 'index'}.js`) }));
  },
};
