import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import TestRunner from 'jest-runner';

const FILES = join(import.meta.dirname, '../../reports/mutation/files.json');

/**
 * Runs a mutant against those files only that hold a test which reaches it, the quickest first, up to the first that fails.
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
      files[path] = { ms: perfStats.runtime, names: testResults.map(({ fullName }) => fullName) };
      killed = testResults.some(({ status }) => status === 'failed');
    });
    for (const test of mutated ? this.#reached(tests) : tests) {
      await super.runTests([test], watcher, options);
      if (mutated && killed) break;
    }
    forget();
    if (!mutated) {
      mkdirSync(dirname(FILES), { recursive: true });
      writeFileSync(FILES, JSON.stringify(files));
    }
  }

  #reached(tests) {
    const files = JSON.parse(readFileSync(FILES, 'utf8'));
    const pattern = new RegExp(this.#globalConfig.testNamePattern, 'i');
    return tests
      .filter(({ path }) => files[path].names.some((name) => pattern.test(name)))
      .sort((a, b) => files[a.path].ms - files[b.path].ms);
  }
}
