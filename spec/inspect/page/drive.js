// Drives the built page of the inspector in Chromium: `npm run test:inspector`. `--screenshot` writes the pictures of the guide.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { watchesACrowd } from './crowd.js';
import { opensAPanel } from './panel.js';
import { watchesServers } from './served.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const repository = join(import.meta.dirname, '../../..');
const PATIENCE_MS = 30_000;
const MEASURED_MS = 4_000;
const FRAMES_A_SECOND = 2_000;

const RECORDING = [
  { v: 1, t: 5, c: 1, d: '>', f: { type: 'open', stream: 1, end: true, payload: { op: 'recorded' } }, n: 'recorded' },
  { v: 1, t: 400, c: 1, d: '<', f: { type: 'data', stream: 1, end: true, payload: { $size: 20_000 } } },
  { v: 1, t: 600, c: 1, d: '<', f: { type: 'goaway', code: 0, last_stream: 1 } },
];

const html = readFileSync(join(repository, 'dist/inspector/inspector.html'));
const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html)).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

try {
  await drivesTheSample();
  await fitsAPhone();
  await showsARecording();
  await opensAPanel((url) => opened(url), check);
  await watchesServers((url) => opened(url), check);
  await watchesACrowd((url) => opened(url), check);
  await printsFrames();
  if (process.argv.includes('--screenshot')) for (const scheme of ['light', 'dark']) await takePicture(scheme);
} finally {
  await browser.close();
  server.close();
}

async function opened(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.on('pageerror', (error) => assert.fail(error));
  await page.goto(new URL(path, address).href);
  return page;
}

async function drivesTheSample() {
  const page = await opened('?url=ws://127.0.0.1:8080#sample');
  const diagram = page.locator('.diagram');
  const names = () => page.locator('.names li b').allTextContents();
  const announced = () => page.locator('#announced').textContent();
  const press = (key) => page.keyboard.press(key);
  for (const name of ['prices', 'search', 'upload', 'book']) await page.locator('.names li b', { hasText: name }).first().waitFor();
  check('each stream has a lane with its name', true);
  check('the first lane is the connection', (await names())[0].startsWith('Peer'));

  await page
    .locator('.names li', { hasText: /^×\d+square/ })
    .first()
    .waitFor();
  check('a folded row has its number of streams', true);
  await page.locator('.names li', { hasText: 'search' }).locator('svg.cancelled').first().waitFor();
  await page.locator('.names li', { hasText: 'gate' }).locator('svg.refused').first().waitFor();
  await page.locator('.names li', { hasText: 'book' }).locator('svg.failed').first().waitFor();
  check('a cancelled, a refused and a failed stream have marks of their own', true);

  await page.getByRole('button', { name: 'Pause' }).click();
  const paused = await canvasOf(page);
  await drawnFrames(page, 5);
  check('a paused picture stands still', paused === (await canvasOf(page)));
  await diagram.focus();
  await press(' ');
  await drawnFrames(page, 5);
  check('the space bar makes it follow again', paused !== (await canvasOf(page)));

  await press('ArrowLeft');
  await page.locator('#announced', { hasText: /prices/ }).waitFor({ state: 'attached' });
  const first = await announced();
  // On a busy machine, timers bunch, and neighbours may have the same words.
  for (let n = 0; n < 4; n++) await press('ArrowLeft');
  await changed(page, announced, first);
  check('the arrow keys move from marble to marble, and a screen reader hears each', true);
  await press('ArrowDown');
  await page.locator('aside h2', { hasText: /square|search/ }).waitFor();
  check('the arrow keys move to the next lane, whose frames are a table', (await page.locator('aside tbody tr').count()) > 0);
  check('a ring is around the selected marble', await page.locator('.ring').first().isVisible());

  const { x, y } = centre(await page.locator('.ring').first().boundingBox());
  await page.mouse.move(x, y);
  await page.locator('.tip', { hasText: /after its start/ }).waitFor();
  check('the pointer shows a frame, its size and its age', /\d B.* ago/s.test(await page.locator('.tip').textContent()));

  await page.getByRole('button', { name: 'Copy as command' }).click();
  check('a stream is copied as a command', /^npx rxmux .*ws:\/\/127.0.0.1:8080/.test(await clipboard(page)));
  await diagram.focus();
  await press('t');
  await page.locator('.copied', { hasText: 'peerFromMarbles' }).waitFor();
  check('a stream is copied as a test', /remote = ' +o/.test(await clipboard(page)));

  check('payloads stay hidden', (await page.locator('aside pre:not(.copied)').count()) === 0);
  await page.getByRole('button', { name: 'Show payloads' }).click();
  await press('Escape');
  await page.getByRole('button', { name: 'Follow' }).click();
  await page.locator('.names li b', { hasText: 'prices' }).click();
  await page.locator('aside pre', { hasText: '{"mux":' }).last().waitFor();
  check('payloads are shown after a click', true);
  await page.locator('aside .missing', { hasText: 'payloads were hidden when it passed' }).first().waitFor();
  check('a frame of before says that its payload was not recorded', true);
  await page.locator('.names .glance', { hasText: '{"mux":' }).waitFor();
  check('the newest payload of a row stands below its name', true);

  await diagram.focus();
  await press('/');
  await page.keyboard.type('name:search code:CANCEL');
  await page.locator('.names li b', { hasText: 'square' }).first().waitFor({ state: 'detached' });
  check(
    'the filter leaves the lanes that match',
    (await names()).slice(1).every((name) => name === 'search'),
  );
  await page.getByRole('searchbox').fill('colour:red');
  await page.getByRole('alert').waitFor();
  check('a filter that makes no sense says why', (await page.getByRole('alert').textContent()).includes("got 'colour:'"));
  await page.getByRole('searchbox').fill('');

  const shown = () => page.getByRole('slider').getAttribute('aria-valuetext');
  await diagram.focus();
  await press('-');
  await press('+');
  await press('+');
  await press('Home');
  await page.getByRole('button', { name: 'Follow' }).waitFor();
  check('the picture goes back to the beginning', (await shown()).startsWith('0:00.0'));
  const { x: left, width, y: top } = await page.getByRole('slider').boundingBox();
  // The strips show half a minute. A tenth of it before the present must be later than the middle of the first picture.
  const history = async () => Number(await page.getByRole('slider').getAttribute('aria-valuemax'));
  while ((await history()) <= 6_000) await drawnFrames(page, 1);
  const before = await shown();
  await page.mouse.click(left + width * 0.9, top + 20);
  await changed(page, shown, before);
  check('the strips scrub through time', true);

  await diagram.focus();
  await press('f');
  await page.locator('button[aria-pressed=false]', { hasText: 'Fold ended' }).waitFor();
  check('ended lanes unfold', true);
  check(
    'each end has a mark in the legend',
    (await page.locator('.legend li').allTextContents()).join().includes('completed,cancelled,refused,failed,connection lost'),
  );
  await press('?');
  await page.getByRole('dialog').waitFor();
  check('the question mark shows the keys', true);
  await page.context().close();
}

async function fitsAPhone() {
  const width = 360;
  const page = await opened('#sample', { viewport: { width, height: 780 } });
  await page.locator('.names li b', { hasText: 'prices' }).click();
  await page.locator('aside tbody tr').first().waitFor();
  for (const shown of ['.canvas', 'aside', 'header button >> nth=-1']) {
    const box = await page.locator(shown).boundingBox();
    check(`on a phone ${shown} is on the screen`, box.width > 20 && box.x + box.width <= width);
  }
  await page.context().close();
}

async function showsARecording() {
  const page = await opened('');
  const buffer = Buffer.from(RECORDING.map((line) => JSON.stringify(line)).join('\n'));
  await page.setInputFiles('input[type=file]', { name: 'run.ndjson', mimeType: 'application/x-ndjson', buffer });
  await page.locator('.names li b', { hasText: 'recorded' }).click();
  await page.locator('aside td', { hasText: '20.0 kB' }).waitFor();
  check('a recording is shown as a whole', (await page.locator('.status').textContent()) === 'a recording');
  await page.context().close();
}

/** Compares the frames that the browser draws beside a busy diagram with the frames of an empty page. */
async function printsFrames() {
  const page = await opened(`#busy=${FRAMES_A_SECOND}`);
  await page.locator('.names li').nth(10).waitFor();
  const busy = await framesASecond(page);
  await page.goto('about:blank');
  const idle = await framesASecond(page);
  console.log(`  ${busy.toFixed(1)} of ${idle.toFixed(1)} frames/s are drawn at ${FRAMES_A_SECOND} frames/s of the wire`);
  check('the diagram is drawn', busy > 0);
  await page.context().close();
}

function framesASecond(page) {
  return page.evaluate(
    (ms) =>
      new Promise((resolve) => {
        const began = globalThis.performance.now();
        let frames = 0;
        const next = () => {
          frames++;
          const passed = globalThis.performance.now() - began;
          if (passed < ms) globalThis.requestAnimationFrame(next);
          else resolve((frames * 1_000) / passed);
        };
        globalThis.requestAnimationFrame(next);
      }),
    MEASURED_MS,
  );
}

async function takePicture(scheme) {
  const page = await opened('#sample', { colorScheme: scheme });
  await page.locator('.names li b', { hasText: 'book' }).waitFor();
  await page.waitForFunction(() => globalThis.performance.now() > 11_000);
  await page.locator('.diagram').focus();
  for (const key of ['ArrowLeft', 'ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
  await page.locator('aside tbody tr').first().waitFor();
  await page.screenshot({ path: join(repository, `docs/inspector-${scheme}.png`) });
  await page.context().close();
}

function canvasOf(page) {
  return page
    .locator('canvas')
    .first()
    .evaluate((canvas) => canvas.toDataURL());
}

function drawnFrames(page, count) {
  return page.evaluate(async (frames) => {
    for (let n = 0; n < frames; n++) await new Promise((resolve) => globalThis.requestAnimationFrame(resolve));
  }, count);
}

/** Waits until a text of the page is another one. */
async function changed(page, text, before) {
  for (let n = 0; n < 500 && (await text()) === before; n++) await drawnFrames(page, 1);
  assert.notEqual(await text(), before);
}

function clipboard(page) {
  return page.evaluate(() => globalThis.navigator.clipboard.readText());
}

function centre({ x, y, width, height }) {
  return { x: x + width / 2, y: y + height / 2 };
}

function check(title, condition) {
  assert.ok(condition, title);
  console.log(`  ok  ${title}`);
}
