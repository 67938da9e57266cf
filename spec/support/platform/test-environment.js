import { AsyncLocalStorage } from 'node:async_hooks';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/** The storages that have run since the last file of tests. */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;

AsyncLocalStorage.prototype.run = function (...args) {
  storages.add(this);
  return run.apply(this, args);
};

/** The timers since the last file of tests that would not keep a process alive. */
const background = new Set();
const Timeout = Object.getPrototypeOf(setTimeout(() => undefined, 0).unref());
const { unref } = Timeout;

Timeout.unref = function () {
  background.add(this);
  return unref.call(this);
};

/** Each module that a file of tests has loaded, compiled. */
const compiled = new Map();

/**
 * Compiles a module once for all files of tests of a worker, with each function that has run. Node's own `compileFunction`, which jest
 * calls for each module of each file, compiles all of it anew.
 */
vm.compileFunction = (code, parameters, { filename, parsingContext }) => {
  const head = `(function (${parameters.join(', ')}) {`;
  const source = `${head}${code}\n})`;
  let known = compiled.get(filename);
  if (known?.source !== source) {
    known = { source, script: new vm.Script(source, { filename, columnOffset: -head.length }) };
    compiled.set(filename, known);
  }
  return known.script.runInContext(parsingContext);
};

/**
 * The environment of Node, which disables the storages of a file of tests at its end. jest-circus leaves one behind with each file.
 * Before Node 24 every promise asks each of them: after a hundred files a worker spends a tenth of its time there.
 *
 * It also ends the timers that the end of a process would end. The library's log has some, for a line a minute later: it would fail
 * the run.
 */
export default class extends TestEnvironment {
  async teardown() {
    for (const storage of storages) storage.disable();
    storages.clear();
    for (const timer of background) clearTimeout(timer);
    background.clear();
    await super.teardown();
  }
}
