// `npm run docs:shots` looks at the built site in Chromium. It takes pictures of ten pages and of the playground, on a phone and on a desktop,
// in light and in dark, into dist/shots. It fails on an error of a page, on a page that is wider than a phone, and on code that is cut.
// It also fails on a violation that axe finds, on small text, and on a drawing without contrast. It prints what it counted.
// It changes the program of the home page, and looks for the other marbles.
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { serve } from 'vitepress';
import { countLooks, LEAST } from './looks.js';

const SHOT = {
  home: '/',
  start: '/start',
  hour: '/first-hour',
  concepts: '/guide/concepts',
  contracts: '/guide/contracts',
  troubleshooting: '/guide/troubleshooting',
  reference: '/guide/reference',
  recipes: '/recipes',
  error: '/errors/REFUSED',
  api: '/api/rxmux/',
};
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const NARROW = { width: 360, height: 780 };
/** The most blocks of a page that may be wider than their place. On a phone they are output, such as drawings: code breaks its lines. */
const MAX_CUT = { desktop: 0, phone: 5 };
const CUT = `[...document.querySelectorAll('pre code')].filter((code) => {
  const { scrollWidth, clientWidth } = code.closest('pre');
  return scrollWidth > clientWidth;
}).length`;
const PORT = 4173;

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const site = join(import.meta.dirname, '../../dist/site');
const out = join(import.meta.dirname, '../../dist/shots');
mkdirSync(out, { recursive: true });
/** The counts of each page, by size and scheme. */
const counted = [];
const { server } = await serve({ root: import.meta.dirname, port: PORT });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
// One page visits all. A fresh one would have no cache, and take four times as long to load.
const page = await browser.newPage();
// No page finds what the page before has stored.
await page.addInitScript('localStorage.clear(); sessionStorage.clear()');
/** Names the page that is shown, in faults. */
let title;
page.on('pageerror', (error) => fail(`${title}: ${error.message}`));
page.on('response', (response) => {
  if (response.status() >= 400) fail(`${title}: ${response.status()} ${response.url()}`);
});
try {
  for (const [size, viewport] of Object.entries(SIZES))
    for (const colorScheme of ['light', 'dark'])
      for (const [name, path] of Object.entries(SHOT)) await shoot(name, path, size, viewport, colorScheme);
  printCounted();
  await checkSixLines();
  await measureAll();
} finally {
  await browser.close();
  server.close();
}

function fail(what) {
  console.error(what);
  process.exitCode = 1;
}

async function shoot(name, path, size, viewport, colorScheme) {
  await show(path, `${path} (${size}, ${colorScheme})`, { viewport, colorScheme });
  await page.screenshot({ path: join(out, `${name}-${size}-${colorScheme}.png`) });
  // The sizes have the same colours, so one of them shows the dark ones.
  const text = size === 'desktop' || colorScheme === 'light' ? await checkAccess() : Infinity;
  const looks = await page.evaluate(countLooks);
  for (const [kind, [value, place]] of Object.entries(looks))
    if (value < LEAST[kind]) fail(`${title}: expected at least ${LEAST[kind]} (${kind}), got ${value}: ${place}`);
  counted.push({ name, size, colorScheme, ...looks, contrast: Math.min(text, looks.contrast[0]), cut: await page.evaluate(CUT) });
  if (name === 'home') await playAndShoot(`playground-${size}-${colorScheme}.png`);
}

async function show(path, titled, { viewport, colorScheme = 'light', waitUntil = 'networkidle' }) {
  title = titled;
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  await page.goto(`http://localhost:${PORT}${path}`, { waitUntil });
  const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  if (excess > 0) fail(`${title}: ${excess} pixels wider than ${viewport.width}`);
}

/** The rules of WCAG 2.2, A and AA. Returns the lowest contrast of a text. VitePress names its search button without the key that stands on it. */
async function checkAccess() {
  await page.addScriptTag({ path: axe });
  const { violations, passes } = await page.evaluate(
    `axe.run({ exclude: ['.DocSearch-Button'] }, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      resultTypes: ['violations', 'passes'],
      // Nobody reads them, and they take a quarter of the time.
      selectors: false,
    })`,
  );
  for (const { id, help, nodes } of violations)
    fail(`${title}: ${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`).join('\n')}`);
  const contrasts = passes.filter(({ id }) => id === 'color-contrast').flatMap(({ nodes }) => nodes.flatMap(({ any }) => any));
  return Math.min(...contrasts.map(({ data }) => data?.contrastRatio ?? Infinity));
}

/** Prints the least of each page, and the most blocks that a phone cuts. Large text may have a contrast of 3, which axe knows. */
function printCounted() {
  const least = (rows, value) => {
    const found = Math.min(...rows.map(value));
    return Number.isFinite(found) ? found : '–';
  };
  const table = Object.keys(SHOT).map((name) => {
    const rows = counted.filter((row) => row.name === name);
    const [desktop, phone] = ['desktop', 'phone'].map((size) => rows.filter((row) => row.size === size));
    const [light, dark] = ['light', 'dark'].map((scheme) => rows.filter((row) => row.colorScheme === scheme));
    const both = (ways, value) => ways.map((way) => least(way, value)).join(' / ');
    return {
      page: name,
      'text px, 1280 / 390': both([desktop, phone], ({ text }) => text[0]),
      'body px, 1280 / 390': both([desktop, phone], ({ body }) => body[0]),
      'contrast, light / dark': both([light, dark], ({ contrast }) => contrast),
      'marks, light / dark': both([light, dark], ({ marks }) => marks[0]),
      'cut at 390': Math.max(...phone.map(({ cut }) => cut)),
    };
  });
  console.table(table);
}

/** Every page that a person wrote: no page is wider than a narrow phone, and no code is cut. */
async function measureAll() {
  const paths = readdirSync(site, { recursive: true })
    .filter((file) => file.endsWith('.html') && !file.startsWith('api') && file !== '404.html')
    .map((file) => `/${file.replace(/(index)?\.html$/, '')}`);
  for (const path of paths) {
    await show(path, path, { viewport: NARROW, waitUntil: 'load' });
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      const cut = await page.evaluate(CUT);
      if (cut > MAX_CUT[size]) fail(`${path} (${size}): ${cut} blocks of code are cut, expected at most ${MAX_CUT[size]}`);
    }
  }
  console.log(`${paths.length} pages fit ${NARROW.width} pixels, and cut no code, or are named above`);
}

/** The program and its marbles are on the first screen, and another number draws other marbles. */
async function checkSixLines() {
  for (const [size, viewport] of Object.entries(SIZES)) {
    await show('/', `six lines (${size})`, { viewport });
    const { y, height } = await page.locator('.six-lines .marbles').boundingBox();
    if (y + height > viewport.height) fail(`/ (${size}): the marbles end at ${y + height}, below the first screen`);
    await page.getByLabel('How many values the page takes').fill('5');
    await page.getByRole('img', { name: 'page sends: open, cancel. server sends: 0, 1, 2, 3, 4. page gets: 0, 1, 2, 3, 4' }).waitFor();
  }
}

/** Does what the page invites to, until the client has reconnected after the goaway. */
async function playAndShoot(file) {
  const playground = page.locator('.playground');
  await playground.getByLabel('Search').pressSequentially('mux', { delay: 400 });
  for (const name of ['Upload', 'Ask', 'goaway']) await playground.getByRole('button', { name }).click();
  await playground.getByText('1 reconnects').waitFor();
  await playground.screenshot({ path: join(out, file) });
}
