import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import TestRunner from 'jest-runner';

const root = join(import.meta.dirname, '../..');
const FILES = join(root, 'reports/mutation/files.json');

/**
 * Runs a mutant only against files with a test that reaches it, up to the first failure. Specs named like the mutated file come first.
 * Then come the files in which the most tests reach the mutant in the least time.
 *
 * Otherwise jest loads every file for every mutant, even to skip all tests in it.
 */
export default class extends TestRunner {
  #globalConfig;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.#globalConfig = globalConfig;
  }

  async runTests(tests, watcher, options) {
    const mutant = process.env['__STRYKER_ACTIVE_MUTANT__'];
    const files = {};
    let killed = false;
    const forget = this.on('test-file-success', ([{ path }, { testResults, perfStats }]) => {
      files[path] = { ms: perfStats.runtime, tests: testResults.map(({ fullName, duration }) => [fullName, duration ?? 0]) };
      killed = testResults.some(({ status }) => status === 'failed');
    });
    for (const test of mutant === undefined ? tests : this.#reaching(tests, mutant)) {
      await super.runTests([test], watcher, options);
      if (mutant !== undefined && killed) break;
    }
    forget();
    if (mutant === undefined) {
      mkdirSync(dirname(FILES), { recursive: true });
      writeFileSync(FILES, JSON.stringify(files));
    }
  }

  #reaching(tests, mutant) {
    const files = JSON.parse(readFileSync(FILES, 'utf8'));
    const pattern = new RegExp(this.#globalConfig.testNamePattern, 'i');
    const source = sourceOf(mutant);
    return tests
      .map((test) => {
        const { ms, tests: all } = files[test.path];
        const reaching = all.filter(([name]) => pattern.test(name));
        const isOwn = source !== undefined && basename(test.path).startsWith(source);
        return { test, reaching: reaching.length, cost: isOwn ? 0 : (ms - total(all) + total(reaching)) / reaching.length };
      })
      .filter(({ reaching }) => reaching > 0)
      .sort((a, b) => a.cost - b.cost)
      .map(({ test }) => test);
  }
}

const total = (tests) => tests.reduce((sum, [, ms]) => sum + ms, 0);

/** The name of the file with a mutant, without its extension. */
function sourceOf(mutant) {
  const files = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => file.endsWith('.ts'));
  const mark = new RegExp(`stryMutAct_\\w+\\("${mutant}"\\)`);
  const source = files.find((file) => mark.test(readFileSync(join(root, 'src', file), 'utf8')));
  return source && basename(source, '.ts');
}
