// Sums jest's results and prints `N passed, N failed`. A suite that did not even load is one failure, and so is a failed step beyond the tests.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory, failedSteps] = process.argv.slice(2);
const runs = readdirSync(directory)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')));
const passed = runs.reduce((sum, run) => sum + run.numPassedTests, 0);
const failed = runs.reduce((sum, run) => sum + run.numFailedTests + run.numRuntimeErrorTestSuites, 0);
console.log(`${passed} passed, ${Math.max(failed, Number(failedSteps))} failed`);
