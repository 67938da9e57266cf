import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import rxjsX from 'eslint-plugin-rxjs-x';
import { existsSync } from 'node:fs';
import tseslint from 'typescript-eslint';
import { plainEnglish } from './scripts/english/eslint-rule.js';

const NODE_GLOBALS = ['Buffer', 'URL', 'clearTimeout', 'console', 'fetch', 'process', 'setTimeout'];

// The packages that the benchmarks compare with are there once `npm run bench` has installed them.
const UNINSTALLED = existsSync(new URL('bench/node_modules', import.meta.url))
  ? []
  : ['bench/adapters/peers/', 'bench/report/plot.ts', 'bench/micro.ts'];

// The page's own packages are there once `npm run build:inspector` has installed them.
const UNBUILT = existsSync(new URL('examples/inspector/node_modules', import.meta.url)) ? [] : ['examples/inspector/page/'];

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
    'examples/frameworks/',
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
      // `void | undefined` makes an interceptor's type refuse an async function.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // `request<Rows>(…)` names what the remote answers: a cast at the call, and meant as one.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // Empty on purpose: users add their own members to it.
      '@typescript-eslint/no-empty-object-type': ['error', { allowWithName: '^PeerContext$' }],
      // An error of a user's code is passed on as it came, of any type.
      '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      // These rules take a field that a call changes for a constant. They trust the type of a value from outside.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unnecessary-type-conversion': 'off',
      '@typescript-eslint/no-unnecessary-boolean-literal-compare': 'off',
      // `takeWhile(() => !outlet.closed)` asks the state around it.
      'rxjs-x/no-ignored-takewhile-value': 'off',
      // The no-unsafe-… rules watch each use of an error. Most observers only pass it on.
      'rxjs-x/no-implicit-any-catch': 'off',
    },
  },
  {
    // V8 leaves compiled code for each read of a private getter: four of them were a tenth of the cost of a small frame.
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'MethodDefinition[kind="get"] > PrivateIdentifier', message: 'Expected a private method' },
      ],
    },
  },
  {
    // A program that reveals numbers of Math.random() also reveals the next ones, so no output may depend on it.
    files: ['src/**/*.ts'],
    // The jitter of a back-off, which only spreads delays; and the fallback of `randomInt32` on a platform without `crypto`.
    ignores: ['src/peer/dial/backoff.ts', 'src/peer/safe-retry.ts', 'src/util/random.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Expected randomInt32() of src/util/random.ts' },
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
    // The values exist for the types that TypeScript infers. tsc checks whether a type is unused.
    files: ['spec/types/**/*.ts'],
    rules: { '@typescript-eslint/no-unused-vars': 'off' },
  },
  {
    // The clocks of rxjs, and the types of its TestScheduler, are exported nowhere else.
    files: ['src/testing/memory-clock.ts', 'src/rx/soon.ts', 'src/testing/peer-from-marbles.ts', 'spec/support/**/*.ts'],
    rules: { 'rxjs-x/no-internal': 'off' },
  },
  {
    plugins: { rxmux: { rules: { 'plain-english': plainEnglish } } },
    rules: { 'rxmux/plain-english': 'error' },
  },
  {
    // It plants faults for the rule to find.
    files: ['spec/docs/plain-english.spec.ts'],
    rules: { 'rxmux/plain-english': 'off' },
  },
  {
    files: ['**/*.js'],
    languageOptions: { globals: Object.fromEntries(NODE_GLOBALS.map((name) => [name, 'readonly'])) },
  },
  {
    // Programs of other runtimes.
    files: ['spec/package/runtimes.js', 'spec/package/runtimes/*.js', 'spec/package/clients/worker.js'],
    languageOptions: { globals: { Bun: 'readonly', Deno: 'readonly', Request: 'readonly', Response: 'readonly', performance: 'readonly' } },
  },
  {
    // It runs in a page.
    files: ['docs/site/playground/*.js'],
    languageOptions: { globals: { cancelAnimationFrame: 'readonly', requestAnimationFrame: 'readonly' } },
  },
);
