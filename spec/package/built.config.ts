/** @jest-config-loader esbuild-register */
// The tests that import only doors of the package, on what is published in place of the sources: its private names are shortened there.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { Config } from 'jest';
import config from '../../jest.config.ts';

const root = join(__dirname, '../..');

/** Whether a module of `src` has a file of its own in the package. The logger is part of the main door. */
function isDoor(path: string): boolean {
  const name = /^(?:\.\.\/)+src\/(\w+)\.js$/.exec(path)?.[1] ?? '';
  return name === 'logger' || existsSync(join(root, `dist/cjs/${name}.js`));
}

/** Returns the files of tests below `spec` that import sources, and only through doors. */
function testsOfDoors(): string[] {
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: ['spec/**/*.spec.ts'],
    external: ['../src/*', '../../src/*', '../../../src/*', '../../../../src/*'],
    packages: 'external',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'dist/spec',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const importsOf = (path: string, seen = new Set<string>()): readonly string[] => {
    if (seen.has(path)) return [];
    seen.add(path);
    const imports = metafile.inputs[path]?.imports ?? [];
    return imports.flatMap((each) => (each.external === true ? [each.path] : importsOf(each.path, seen)));
  };
  return Object.keys(metafile.inputs).filter((path) => {
    const sources = importsOf(path).filter((imported) => imported.includes('../src/'));
    return path.endsWith('.spec.ts') && sources.length > 0 && sources.every(isDoor);
  });
}

const BUILT = '<rootDir>/dist/cjs';

export default {
  ...config,
  rootDir: root,
  testMatch: testsOfDoors().map((path) => `<rootDir>/${path}`),
  moduleNameMapper: {
    '^(?:\\.\\./)+src/logger\\.js$': `${BUILT}/index.js`,
    '^(?:\\.\\./)+src/(\\w+)\\.js$': `${BUILT}/$1.js`,
    ...config.moduleNameMapper,
    '^rxmux$': `${BUILT}/index.js`,
    '^rxmux/inspect$': `${BUILT}/inspect.js`,
  },
} satisfies Config;
