const fc = require('fast-check-itself');

const MOST_RUNS = 100;

/** Runs properties with fewer cases of one seed and without shrinking: a mutant needs only one failure, and thousands of mutants wait. */
function assert(property, options = {}) {
  return fc.assert(property, { seed: 1, ...options, numRuns: Math.min(options.numRuns ?? MOST_RUNS, MOST_RUNS), endOnFailure: true });
}

module.exports = { ...fc, assert, default: { ...fc.default, assert } };
