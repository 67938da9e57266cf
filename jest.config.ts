/** @jest-config-loader esbuild-register */
import type { Config } from 'jest';

const config: Config = {
  testEnvironment: 'node',
  // It is there to end what hangs, and tells nothing of speed: a machine that does other things is many times slower.
  testTimeout: 60_000,
  testMatch: ['<rootDir>/spec/**/*.spec.ts', '<rootDir>/marbles/**/*.marbles.ts'],
  // isolatedModules (in tsconfig.spec.json): each file is only stripped of its types, which `npm run typecheck` checks for all of them at once.
  transform: {
    '\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/tsconfig.spec.json', diagnostics: false }],
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
  // A core is left to nobody else: the default would run a machine of two cores in one process.
  maxWorkers: '100%',
  // jest-circus leaves an AsyncLocalStorage behind with every file of tests, and before Node 24 every promise asks each of them: a worker that
  // lives through a hundred files gives a fifth of its time to that. One that has grown to this makes way for a new one.
  workerIdleMemoryLimit: '400MB',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // Unlike v8, babel notices an `if` that is never false and a default that is never used, and leaves files of types alone.
  coverageProvider: 'babel',
  collectCoverageFrom: ['src/wire/**/*.ts', 'src/codec/**/*.ts', 'src/session/**/*.ts', 'src/rx/restarting-pipeline.ts'],
  coverageThreshold: { global: { lines: 100, branches: 100 } },
};

export default config;
