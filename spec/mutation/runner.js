import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import TestRunner from 'jest-runner';

const root = join(import.meta.dirname, '../..');
const FILES = join(root, 'reports/mutation/files.json');

/**
 * Runs a mutant against those files only that hold a test which reaches it, up to the first that fails. First come the specs that are
 * called as the mutated file, then those where the most tests reach it in the least time.
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

/** The name of the file that a mutant stands in, without its ending. */
function sourceOf(mutant) {
  const files = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => file.endsWith('.ts'));
  const mark = new RegExp(`stryMutAct_\\w+\\("${mutant}"\\)`);
  const source = files.find((file) => mark.test(readFileSync(join(root, 'src', file), 'utf8')));
  return source && basename(source, '.ts');
}
