// Builds the pages of examples/frameworks with the packed package, and drives each in Chromium.
import assert from 'node:assert/strict';
import { drivePage } from './example-page.js';
import { check, example, removeAll, run } from './packed.js';

const PHONE = { width: 390, height: 844 };

/** The elements that are too wide for the screen, or whose content is too wide for them. */
const tooWide = () =>
  [...globalThis.document.querySelectorAll('*')]
    .filter(
      (element) =>
        element.getBoundingClientRect().right > globalThis.innerWidth ||
        element.scrollWidth > Math.max(element.clientWidth, element.offsetWidth),
    )
    .map(({ outerHTML }) => outerHTML.slice(0, 100));

async function fitsPhone(page) {
  const desktop = page.viewportSize();
  await page.setViewportSize(PHONE);
  assert.deepEqual(await page.evaluate(tooWide), []);
  check(`nothing is wider than ${PHONE.width} pixels`, true);
  await page.setViewportSize(desktop);
}

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
      steps: { opened: fitsPhone },
    });
  }
} finally {
  removeAll();
}
