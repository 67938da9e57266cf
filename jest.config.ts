/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  testEnvironment: 'node',
  // It ends a test that hangs. It measures no speed: a busy machine is many times slower.
  testTimeout: 60_000,
  testMatch: ['<rootDir>/spec/**/*.spec.ts', '<rootDir>/marbles/**/*.marbles.ts'],
  // isolatedModules (in tsconfig.spec.json): the transform only strips types. `npm run typecheck` checks them in all files at once.
  transform: {
    '\\.ts$': '<rootDir>/spec/support/platform/typescript-transform.js',
    '/node_modules/(cborg|@angular)/': '<rootDir>/spec/support/platform/es-module-transform.js',
  },
  // cborg and Angular have ES modules only, which jest cannot require before Node 24.9.
  transformIgnorePatterns: ['/node_modules/(?!cborg/|@angular/)'],
  moduleNameMapper: {
    // `import.meta` is a syntax error in CommonJS; the stand-in also lets a spec set what the environment holds.
    '^\\./env\\.js$': '<rootDir>/spec/support/platform/env.ts',
    // Sources import `./frame.js`, which is `./frame.ts` until it is built. Packages' own relative imports fall through to the second form.
    '^(\\.{1,2}/.*)\\.js$': ['$1', '$1.js'],
    '^rxmux$': '<rootDir>/src/index.ts',
    '^rxmux/inspect$': '<rootDir>/src/inspect.ts',
    '^cborg$': '<rootDir>/node_modules/cborg/cborg.js',
  },
  // The tests take every core. The default would run a machine of two cores in one process.
  maxWorkers: '100%',
  // jest-circus leaves an AsyncLocalStorage behind with every file of tests. Before Node 24 every promise asks each of them: after a hundred
  // files a worker spends a fifth of its time there. A worker that has grown to this size ends, and a new one takes its place.
  workerIdleMemoryLimit: '400MB',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // Unlike v8, babel notices an `if` that is never false and a default that is never used, and leaves files of types alone.
  coverageProvider: 'babel',
  collectCoverageFrom: ['src/wire/**/*.ts', 'src/codec/**/*.ts', 'src/session/**/*.ts', 'src/rx/restarting-pipeline.ts'],
  coverageThreshold: { global: { lines: 100, branches: 100 } },
};

export default config;
