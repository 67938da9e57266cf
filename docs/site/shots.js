// `npm run docs:shots` takes pictures of pages of the built site in Chromium, on a phone and on a desktop, into dist/shots. It fails on a
// page that reports an error, and on one that is wider than a phone.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { serve } from 'vitepress';

const PAGES = { home: '/', start: '/start', concepts: '/guide/concepts', error: '/errors/REFUSED', api: '/api/rxmux/classes/Peer' };
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const PORT = 4173;

const out = join(import.meta.dirname, '../../dist/shots');
mkdirSync(out, { recursive: true });
const { server } = await serve({ root: import.meta.dirname, port: PORT });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  for (const [size, viewport] of Object.entries(SIZES))
    for (const colorScheme of ['light', 'dark'])
      for (const [name, path] of Object.entries(PAGES)) await shoot(name, path, size, viewport, colorScheme);
} finally {
  await browser.close();
  server.close();
}

async function shoot(name, path, size, viewport, colorScheme) {
  const page = await browser.newPage({ viewport, colorScheme });
  const fail = (what) => {
    console.error(`${path} (${size}, ${colorScheme}): ${what}`);
    process.exitCode = 1;
  };
  page.on('pageerror', (error) => fail(error.message));
  page.on('response', (response) => {
    if (response.status() >= 400) fail(`${response.status()} ${response.url()}`);
  });
  await page.goto(`http://localhost:${PORT}${path}`, { waitUntil: 'networkidle' });
  const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  if (excess > 0) fail(`${excess} pixels too wide`);
  await page.screenshot({ path: join(out, `${name}-${size}-${colorScheme}.png`) });
  if (name === 'home') await playAndShoot(page, `playground-${size}-${colorScheme}.png`);
  await page.close();
}

/** Does what the page invites to, until the client has reconnected after the goaway. */
async function playAndShoot(page, file) {
  const playground = page.locator('.playground');
  await playground.getByLabel('Search').pressSequentially('mux', { delay: 400 });
  for (const name of ['Upload', 'Ask', 'goaway']) await playground.getByRole('button', { name }).click();
  await playground.getByText('1 reconnects').waitFor();
  await playground.screenshot({ path: join(out, file) });
}
