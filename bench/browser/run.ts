import { build } from 'esbuild';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { portOf } from '../adapters/port.js';
import type { AdapterName } from '../harness/adapter-names.js';
import { rxmuxAsBuilt } from '../harness/built.js';
import { ROOT } from '../harness/place.js';
import { randomFrom } from '../harness/random.js';
import { runRounds } from '../harness/rounds.js';
import type { Reading } from '../harness/rounds.js';
import type { Options } from '../options.js';
import { environment } from '../report/results.js';
import type { Results } from '../report/results.js';
import { figure } from '../report/table.js';
import { inPage, PagePair, withPage } from './pair.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const SOLITARY = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', ...SOLITARY];

/** The browser's clock shows microseconds only to pages that are isolated from others. */
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

const ADAPTERS: readonly AdapterName[] = ['floor-a', 'rxmux-json'];
const WORKLOADS = ['W1', 'W2', 'W3', 'W4', 'W5', 'W6'];
const MIB = 1024 * 1024;
const POLLED_BYTES = 64 * MIB;

/** More timers a second than this are too many: one each millisecond. */
const MOST_TIMERS = 1_000;

/** The results of the measurements in a browser. */
export interface BrowserResults extends Pick<Results, 'environment' | 'readings'> {
  readonly chromium: string;
  /** Measured while 64 MiB went up. */
  readonly polling: { readonly seconds: number; readonly looks: number; readonly timers: number };
}

/** The workloads W1 to W6 with a page of Chromium as the client. */
export async function benchBrowser(options: Options): Promise<BrowserResults> {
  const workloads = options.workloads.filter(({ id }) => WORKLOADS.some((name) => id === name || id.startsWith(`${name}@`)));
  const adapters = options.adapters.filter((name) => ADAPTERS.includes(name));
  const http = await servePage();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const withPair = withPage(() => openPage(browser, portOf(http.address())));
  try {
    const readings: Reading[] = [];
    const plan = { ...options, adapters, workloads, withPair, random: randomFrom(options.seed) };
    for await (const reading of runRounds(plan)) {
      readings.push(reading);
      process.stderr.write(
        `round ${reading.round + 1} of ${options.rounds}, Chromium, ${reading.workload}, ${reading.adapter}: ${reading.error ?? 'done'}\n`,
      );
      if (reading.error !== undefined) process.exitCode = 1;
    }
    const polling = await withPair('rxmux-json', { payloadBytes: POLLED_BYTES }, (pair) =>
      pair instanceof PagePair ? inPage(pair.page, 'polling', POLLED_BYTES) : Promise.reject(new TypeError('expected a page')),
    );
    const perSecond = polling.timers / polling.seconds;
    if (perSecond > MOST_TIMERS) throw new Error(`expected at most ${MOST_TIMERS} timers a second, got ${figure(perSecond)}`);
    return { environment: environment(), readings, chromium: browser.version(), polling };
  } finally {
    await browser.close();
    http.closeAllConnections();
    http.close();
  }
}

async function openPage(browser: Browser, port: number): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForFunction(() => 'operations' in globalThis);
  return page;
}

async function servePage() {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'bench/browser/page.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    plugins: [rxmuxAsBuilt],
  });
  const http = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.writeHead(200, { ...ISOLATED, 'Content-Type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
    response.end(
      isScript ? outputFiles[0]?.text : '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return http;
}
