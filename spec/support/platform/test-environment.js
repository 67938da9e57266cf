import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** The storages that have run since the last file of tests. */
const storages = new Set();
const { run } = AsyncLocalStorage.prototype;

AsyncLocalStorage.prototype.run = function (...args) {
  storages.add(this);
  return run.apply(this, args);
};

/**
 * The environment of Node, which disables the storages of a file of tests at its end. jest-circus leaves one behind with each file.
 * Before Node 24 every promise asks each of them: after a hundred files a worker spends a tenth of its time there.
 */
export default class extends TestEnvironment {
  async teardown() {
    for (const storage of storages) storage.disable();
    storages.clear();
    await super.teardown();
  }
}
