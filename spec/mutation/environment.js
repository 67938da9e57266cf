import TestEnvironment from '../support/platform/test-environment.js';

/** Skips the rest of a file once a test in it has failed: one failure kills a mutant, and later properties would only shrink theirs. */
export default class extends TestEnvironment {
  #killed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_start' && this.#killed) test.mode = 'skip';
    if (name === 'test_done' && test.errors.length > 0) this.#killed = process.env['__STRYKER_ACTIVE_MUTANT__'] !== undefined;
  }
}
