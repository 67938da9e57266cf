// Lints, builds and drives examples/react with the packed package, in Chromium.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drivePage } from './example-page.js';
import { check, example, filesBelow, removeAll, repository, run } from './packed.js';

/** By the rules of React's own plugin, with its compiler, and by the rules of create-vite. */
function lint(directory) {
  const bin = (name) => join(directory, 'node_modules/.bin', name);
  const linted = ['src/react', 'examples/react'];
  run(repository, bin('oxlint'), '--config', join(directory, '.oxlintrc.json'), '--deny-warnings', ...linted);
  run(repository, bin('eslint'), '--config', join(directory, 'eslint.config.js'), '--max-warnings', '0', ...linted);
  check('the hooks and the example pass eslint-plugin-react-hooks and oxlint', true);
}

function build(directory) {
  run(directory, 'npm', 'run', '--silent', 'build');
  const scripts = filesBelow(join(directory, 'dist/page')).filter((path) => path.endsWith('.js'));
  check(
    'React Compiler has compiled the components',
    scripts.some((path) => readFileSync(path, 'utf8').includes('react.memo_cache_sentinel')),
  );
}

try {
  const directory = example('react');
  lint(directory);
  build(directory);
  await drivePage({
    name: 'react',
    directory,
    program: 'dist/server/server.js',
    states: { open: 'open', uploaded: 'complete' },
    steps: {
      async opened(_, shows) {
        await shows('#news', 'line 1, line 2, line 3');
        check('streamedQuery of TanStack Query shows the lines of a stream', true);
      },
      async reconnecting(page) {
        check('an answered search stays as it is', (await page.locator('#hits').textContent()) === 'apple, apricot');
      },
    },
  });
} finally {
  removeAll();
}
