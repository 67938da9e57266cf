// Builds the pages of examples/frameworks with the packed package, and drives each in Chromium.
import { drivePage } from './example-page.js';
import { example, removeAll, run } from './packed.js';

try {
  const directory = example('frameworks');
  run(directory, 'npm', 'run', '--silent', 'build');
  for (const name of ['vue', 'svelte', 'solid']) {
    console.log(name);
    await drivePage({
      name,
      directory,
      program: 'dist/server/server.js',
      path: `/${name}/`,
      states: { open: 'open', uploaded: 'complete' },
    });
  }
} finally {
  removeAll();
}
