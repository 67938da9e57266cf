/** @jest-config-loader esbuild-register */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildSync } from 'esbuild';
import type { Config } from 'jest';
import intrinsics from './spec/support/platform/intrinsics.json' with { type: 'json' };

/** The modules of rxjs that sources, tests and their packages load. */
const RXJS = [
  'rxjs',
  'rxjs/operators',
  'rxjs/testing',
  'rxjs/webSocket',
  'rxjs/internal/scheduler/dateTimestampProvider',
  'rxjs/internal/scheduler/immediateProvider',
  'rxjs/internal/scheduler/intervalProvider',
  'rxjs/internal/scheduler/performanceTimestampProvider',
  'rxjs/internal/scheduler/timeoutProvider',
];

/** rxjs has 250 files, and each file of tests loads them anew. One file with all of them saves 70 ms of CPU each time. */
function bundleRxjs(folder: string): void {
  const contents = RXJS.map((name) => `exports['${name}'] = require('${name}');`).join('\n');
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: __dirname },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
  });
  const bundle = join(folder, 'bundle.cjs');
  write(bundle, outputFiles[0]?.text ?? '');
  for (const name of RXJS) {
    const path = join(folder, `${name}.cjs`);
    write(path, `module.exports = require('./${relative(dirname(path), bundle)}')['${name}'];\n`);
  }
}

/** Replaces a file at once: another run may read it. */
function write(path: string, text: string): void {
  const written = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(written, text);
  renameSync(written, path);
}

const BUNDLED = join(__dirname, 'node_modules/.cache/rxmux-tests');
bundleRxjs(BUNDLED);

const config: Config = {
  testEnvironment: '<rootDir>/spec/support/platform/test-environment.js',
  // A test that writes to the console fails, but not while somebody looks for a fault with `npx jest`.
  setupFilesAfterEnv: process.env['npm_lifecycle_event'] === 'test' ? ['<rootDir>/spec/support/platform/silence.ts'] : [],
  // It ends a test that hangs. It measures no speed: a busy machine is many times slower.
  testTimeout: 180_000,
  testMatch: ['<rootDir>/spec/**/*.spec.ts', '<rootDir>/marbles/**/*.marbles.ts'],
  // isolatedModules (in tsconfig.spec.json): the transform only strips types. `npm run typecheck` checks them in all files at once.
  transform: {
    '\\.ts$': '<rootDir>/spec/support/platform/typescript-transform.js',
    '/node_modules/(cborg|@angular|svelte|esm-env|devalue)/': '<rootDir>/spec/support/platform/es-module-transform.js',
  },
  // cborg, Angular, and Svelte with its parts have ES modules only, which jest cannot require before Node 24.9.
  transformIgnorePatterns: ['/node_modules/(?!cborg/|@angular/|svelte/|esm-env/|devalue/)'],
  moduleNameMapper: {
    // `import.meta` is a syntax error in CommonJS; with the stand-in a spec can also set the environment.
    '^\\./env\\.js$': '<rootDir>/spec/support/platform/env.ts',
    // Sources import `./frame.js`, which is `./frame.ts` until it is built. Packages' own relative imports fall through to the second form.
    '^(\\.{1,2}/.*)\\.js$': ['$1', '$1.js'],
    '^rxmux$': '<rootDir>/src/index.ts',
    '^rxmux/inspect$': '<rootDir>/src/inspect.ts',
    '^(rxjs(?:/.*)?)$': join(BUNDLED, '$1.cjs'),
    '^cborg$': '<rootDir>/node_modules/cborg/cborg.js',
  },
  // Jest runs tests in a `vm` context, where V8 needs 0.7 µs for each look-up of a global, and nothing for a parameter. A module gets
  // the language's own globals as parameters, once it is loaded: a test that replaces one loads the module anew.
  sandboxInjectedGlobals: intrinsics,
  // The tests take every core. The default would run a machine of two cores in one process.
  maxWorkers: '100%',
  // Each file of tests leaves objects behind, which slow the collector. A worker that has grown to this size ends, and a new one takes its place.
  workerIdleMemoryLimit: '400MB',
  // Some projects of consumers are two versions of one package, which share a name.
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/spec/package/consumers/'],
  // Unlike v8, babel notices an `if` that is never false and a default that is never used, and leaves files of types alone.
  coverageProvider: 'babel',
  collectCoverageFrom: ['src/wire/**/*.ts', 'src/codec/**/*.ts', 'src/connection/**/*.ts', 'src/stream/state.ts', 'src/rx/pipeline.ts'],
  coverageThreshold: { global: { lines: 100, branches: 100 } },
};

export default config;
