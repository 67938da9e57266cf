import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const here = import.meta.dirname;

/** The specs that run against mutants: all specs of mutated code, and none that opens a socket. */
export default {
  rootDir: join(here, '../..'),
  roots: ['<rootDir>/src', '<rootDir>/spec'],
  testMatch: [
    ...['util', 'wire', 'codec', 'rx', 'connection', 'conformance'].map((folder) => `<rootDir>/spec/${folder}/**/*.spec.ts`),
    '<rootDir>/spec/stream/sending.spec.ts',
    ...['read-bypass', 'shared-frame', 'write-batch'].map((file) => `<rootDir>/spec/transport/ws/${file}.spec.ts`),
  ],
  // The slowest specs: properties over whole sessions.
  testPathIgnorePatterns: ['/node_modules/', '\\.property\\.spec\\.ts$'],
  testEnvironment: join(here, 'environment.js'),
  sandboxInjectedGlobals: JSON.parse(readFileSync(join(here, '../support/platform/intrinsics.json'), 'utf8')),
  runner: join(here, 'runner.js'),
  transform: { '\\.ts$': join(here, 'transform.js') },
  moduleNameMapper: {
    '^fast-check$': join(here, 'fast-check.cjs'),
    '^fast-check-itself$': createRequire(import.meta.url).resolve('fast-check'),
    '^\\./env\\.js$': '<rootDir>/spec/support/platform/env.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1', '$1.js'],
  },
  watchman: false,
};
