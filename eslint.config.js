import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import rxjsX from 'eslint-plugin-rxjs-x';
import { existsSync } from 'node:fs';
import tseslint from 'typescript-eslint';
import { plainEnglish } from './scripts/english/eslint-rule.js';

const NODE_GLOBALS = ['Buffer', 'URL', 'clearTimeout', 'console', 'fetch', 'process', 'setTimeout'];

// What the benchmarks compare with is only there once `npm run bench` has installed it.
const UNINSTALLED = existsSync(new URL('bench/node_modules', import.meta.url))
  ? []
  : ['bench/adapters/peers/', 'bench/report/plot.ts', 'bench/micro.ts'];

// The page's own packages are there once `npm run build:inspector` has installed them.
const UNBUILT = existsSync(new URL('examples/inspector/node_modules', import.meta.url)) ? [] : ['examples/inspector/page/'];

/** Folders whose comments, texts and titles are plain English. A folder joins when it is rewritten, and stays. */
const PLAIN = [
  'bench/**',
  'docs/**',
  'examples/**',
  'marbles/**',
  'scripts/**',
  'spec/*.spec.ts',
  'spec/angular/**',
  'spec/api/**',
  'spec/bench/**',
  'spec/brokers/**',
  'spec/browser/**',
  'spec/chaos/**',
  'spec/codec/**',
  'spec/command/**',
  'spec/conformance/**',
  'spec/contract/**',
  'spec/docs/**',
  'spec/fuzz/**',
  'spec/honest/**',
  'spec/inspect/**',
  'spec/hostile/**',
  'spec/leaks/**',
  'spec/model/**',
  'spec/mutation/**',
  'spec/nats/**',
  'spec/node/**',
  'spec/operators/**',
  'spec/otel/**',
  'spec/package/**',
  'spec/peer/*.spec.ts',
  'spec/peer/answers/**',
  'spec/peer/base/**',
  'spec/peer/calls/**',
  'spec/peer/dial/**',
  'spec/peer/stream/**',
  'spec/react/**',
  'spec/redis/**',
  'spec/rx/**',
  'spec/scale/**',
  'spec/session/**',
  'spec/proxies/**',
  'spec/soak/**',
  'spec/support/**',
  'spec/testing/**',
  'spec/topics/**',
  'spec/transport/**',
  'spec/types/**',
  'spec/wire/**',
  'src/**',
];

export default defineConfig(
  // The consumers are programs of other projects: their `rxmux` is the packed one, which is only there once they are installed.
  // An example with a package.json has a lint of its own.
  globalIgnores([
    '**/dist/',
    'coverage/',
    'docs/api/',
    'docs/site/public/',
    'docs/site/.vitepress/.temp/',
    'reports/',
    'spec/package/consumers/',
    'examples/react/',
    'examples/angular/',
    'examples/servers/',
    ...UNINSTALLED,
    ...UNBUILT,
  ]),
  { linterOptions: { noInlineConfig: true } },
  eslint.configs.recommended,
  {
    files: ['**/*.ts', 'examples/inspector/page/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked, rxjsX.configs.recommended],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],

      // Messages name ids, sizes and codes: numbers and booleans print as they are meant to.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // `(x) => out.push(x)` as an observer reads better than a block around it.
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // `void | undefined` is what makes an interceptor's type refuse an async function.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // `request<Rows>(…)` names what the remote answers: a cast at the call, and meant as one.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // Empty on purpose: users add their own members to it.
      '@typescript-eslint/no-empty-object-type': ['error', { allowWithName: '^PeerContext$' }],
      // What a user's code threw is passed on as it came, whatever it is.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      // These take a field that a call changes for a constant, and a value from outside for what its type promises.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unnecessary-type-conversion': 'off',
      '@typescript-eslint/no-unnecessary-boolean-literal-compare': 'off',
      // `takeWhile(() => !outlet.closed)` asks the state around it.
      'rxjs-x/no-ignored-takewhile-value': 'off',
      // What is done with an error is watched by the no-unsafe-… rules; most observers only pass it on.
      'rxjs-x/no-implicit-any-catch': 'off',
    },
  },
  {
    // V8 leaves compiled code for each read of a private getter: four of them were a tenth of what a small frame costs.
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'MethodDefinition[kind="get"] > PrivateIdentifier', message: 'Expected a private method' },
      ],
    },
  },
  {
    // Specs hold hostile values on purpose: numbers past 2^53, classes without members, bytes where text is expected.
    files: ['spec/**/*.ts', 'marbles/**/*.ts'],
    rules: {
      'no-loss-of-precision': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
  {
    // Random properties begin at the seed of the commit.
    files: ['spec/**/*.ts'],
    ignores: ['spec/support/fast-check.ts'],
    rules: { 'no-restricted-imports': ['error', { name: 'fast-check', message: 'Expected spec/support/fast-check.ts' }] },
  },
  {
    // Values here are there for what TypeScript infers for them; whether a type goes unused is checked by tsc.
    files: ['spec/types/**/*.ts'],
    rules: { '@typescript-eslint/no-unused-vars': 'off' },
  },
  {
    // What rxjs keeps its clocks in, and the type of what its TestScheduler makes, are exported nowhere else.
    files: ['src/rx/memory-clock.ts', 'src/rx/soon.ts', 'src/testing/peer-from-marbles.ts', 'spec/support/**/*.ts'],
    rules: { 'rxjs-x/no-internal': 'off' },
  },
  {
    files: PLAIN,
    plugins: { rxmux: { rules: { 'plain-english': plainEnglish } } },
    rules: { 'rxmux/plain-english': 'error' },
  },
  {
    files: ['**/*.js'],
    languageOptions: { globals: Object.fromEntries(NODE_GLOBALS.map((name) => [name, 'readonly'])) },
  },
);
