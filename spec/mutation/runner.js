import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import TestRunner from 'jest-runner';

const FILES = join(import.meta.dirname, '../../reports/mutation/files.json');

/**
 * Runs a mutant against those files only that hold a test which reaches it, up to the first that fails. Files come first where the
 * most tests reach it in the least time.
 *
 * Without it jest loads every file for every mutant, if only to skip all tests in it.
 */
export default class extends TestRunner {
  #globalConfig;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    this.#globalConfig = globalConfig;
  }

  async runTests(tests, watcher, options) {
    const mutated = process.env['__STRYKER_ACTIVE_MUTANT__'] !== undefined;
    const files = {};
    let killed = false;
    const forget = this.on('test-file-success', ([{ path }, { testResults, perfStats }]) => {
      files[path] = { ms: perfStats.runtime, tests: testResults.map(({ fullName, duration }) => [fullName, duration ?? 0]) };
      killed = testResults.some(({ status }) => status === 'failed');
    });
    for (const test of mutated ? this.#reaching(tests) : tests) {
      await super.runTests([test], watcher, options);
      if (mutated && killed) break;
    }
    forget();
    if (!mutated) {
      mkdirSync(dirname(FILES), { recursive: true });
      writeFileSync(FILES, JSON.stringify(files));
    }
  }

  #reaching(tests) {
    const files = JSON.parse(readFileSync(FILES, 'utf8'));
    const pattern = new RegExp(this.#globalConfig.testNamePattern, 'i');
    return tests
      .map((test) => {
        const { ms, tests: all } = files[test.path];
        const reaching = all.filter(([name]) => pattern.test(name));
        return { test, reaching: reaching.length, ms: ms - total(all) + total(reaching) };
      })
      .filter(({ reaching }) => reaching > 0)
      .sort((a, b) => a.ms / a.reaching - b.ms / b.reaching)
      .map(({ test }) => test);
  }
}

const total = (tests) => tests.reduce((sum, [, ms]) => sum + ms, 0);
