// Tests, prerenders and drives examples/angular with the packed package, in Chromium.
// The compiler of Angular 22 needs Node 22.22, 24.15 or later.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drivePage } from './example-page.js';
import { check, example, removeAll, run } from './packed.js';

function test(directory) {
  assert.match(ng(directory, 'test', '--no-watch'), /3 passed/);
  check('the components pass their unit tests over a fake peer', true);
}

function build(directory) {
  run(directory, process.execPath, 'node_modules/typescript/bin/tsc', '--project', 'tsconfig.server.json');
  ng(directory, 'build');
  const page = readFileSync(join(directory, 'dist/page/browser/index.html'), 'utf8');
  check('the page is prerendered: it shows a badge and a table that wait', />connecting<.*>loading</s.test(page));
}

function ng(directory, ...args) {
  return run(directory, process.execPath, 'node_modules/@angular/cli/bin/ng.js', ...args);
}

try {
  const directory = example('angular');
  test(directory);
  build(directory);
  await drivePage({
    name: 'angular',
    directory,
    program: 'server.ts',
    states: { open: 'resolved', uploaded: 'resolved' },
    isFault: (text) => text.includes('NG0'),
  });
} finally {
  removeAll();
}
