// Sums jest's results: names each failed test with the beginning of its message, and prints `N passed, N failed` as the last line.
// A suite that did not even load is one failure, and so is a failed step beyond the tests.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const MESSAGE_LINES = 12;

const [directory, failedSteps] = process.argv.slice(2);
const runs = readdirSync(directory)
  .filter((name) => name.endsWith('.json'))
  .map((name) => ({ ...JSON.parse(readFileSync(join(directory, name), 'utf8')), step: name.slice(0, -'.json'.length) }));

for (const { step, testResults } of runs)
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative('.', name);
    const failures = assertionResults.filter((test) => test.status === 'failed');
    for (const { fullName, failureMessages } of failures) print(`${step}: ${file}: ${fullName}`, failureMessages.join('\n'));
    if (status === 'failed' && failures.length === 0) print(`${step}: ${file} did not load`, message);
  }
const passed = runs.reduce((sum, run) => sum + run.numPassedTests, 0);
const failed = runs.reduce((sum, run) => sum + run.numFailedTests + run.numRuntimeErrorTestSuites, 0);
console.log(`${passed} passed, ${Math.max(failed, Number(failedSteps))} failed`);

function print(title, message) {
  const lines = message.split('\n').slice(0, MESSAGE_LINES);
  console.log([`failed: ${title}`, ...lines.map((line) => `  ${line}`), ''].join('\n'));
}
