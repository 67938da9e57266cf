import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { range } from 'rxjs';
import { logger } from '../../src/index.js';
import type { CloseCause, Stream } from '../../src/index.js';
import { serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { launchBrowser, scriptOf } from '../support/browser.js';
import { endless } from '../support/peer/endless.js';
import { portOf } from '../support/socket/handshake.js';
import { until } from '../support/socket/leaks.js';
import type { Codec, Dials, PortOperations } from './port-page.js';

const WORKER = 'examples/shared-worker/worker.ts';
const TAB = 'examples/shared-worker/tab.ts';
const LOST = { code: 1006, reason: '', wasClean: false, willRetry: false };

let http: Server;
let mux: MuxServer;
let browser: Browser;
/** Its pages share workers. */
let context: BrowserContext;
const causes: Promise<CloseCause>[] = [];

beforeAll(async () => {
  const scripts: Readonly<Record<string, string>> = {
    '/port-page.js': scriptOf('spec/browser/port-page.ts'),
    '/worker.js': scriptOf(WORKER),
  };
  http = createServer(({ url = '' }, response) => {
    const script = scripts[url];
    response.setHeader('Content-Type', script === undefined ? 'text/html; charset=utf-8' : 'text/javascript');
    response.end(script ?? '<!doctype html><link rel="icon" href="data:,"><body><script type="module" src="/port-page.js"></script>');
  });
  mux = serve({ server: http, path: '/mux', handler: answer });
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  browser = await launchBrowser();
  context = await browser.newContext();
});

afterAll(async () => {
  await browser.close();
  await mux.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

async function answer(payload: unknown, stream: Stream): Promise<void> {
  if (payload === 'count') return stream.sendAll(range(0, 1_000));
  if (payload === 'fail') throw new RangeError('no such row');
  if (payload === 'ticks') {
    causes.push(stream.closed);
    return stream.sendAll(endless().iterator);
  }
  let sum = 0;
  for await (const value of stream as Stream<number>) sum += value;
  return stream.reply({ payload, sum, headers: stream.headers });
}

async function newPage(): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${portOf(http)}/`);
  await page.waitForFunction(() => 'operations' in globalThis);
  return page;
}

async function run<K extends keyof PortOperations>(
  page: Page,
  name: K,
  ...args: Parameters<PortOperations[K]>
): Promise<Awaited<ReturnType<PortOperations[K]>>> {
  return page.evaluate(
    ([operation, given]) =>
      (globalThis as unknown as { operations: Record<string, (...given: readonly unknown[]) => unknown> }).operations[operation]?.(
        ...given,
      ),
    [name, args] as const,
  ) as Promise<Awaited<ReturnType<PortOperations[K]>>>;
}

describe.each<Codec>(['json', 'msgpack'])('a port, with %s', (codec) => {
  it.each<Dials>(['page', 'other'])('A page and a worker call each other over a port and close, when the %s end dials', async (dials) => {
    const page = await newPage();
    const reason = { code: 1000, reason: 'that is all, é', wasClean: true, willRetry: false };
    expect(await run(page, 'worker', { codec, dials })).toEqual({
      outcome: {
        echo: { n: 1, list: [null, true] },
        count: 2_000,
        firsts: [0, 1, 2],
        big: true,
        askedBack: 'asked the page',
        bytes: codec === 'msgpack' ? 100_000 : null,
      },
      closed: reason,
      heard: reason,
    });
    await page.close();
  });

  it('A page loses its streams when its worker is terminated', async () => {
    const page = await newPage();
    expect(await run(page, 'deadWorker', { codec, dials: 'page' })).toMatchObject({
      closed: { code: 1006, wasClean: false },
      cause: { how: 'lost' },
    });
    await page.close();
  });

  it('A frame says that it goes away, for browsers whose ports report no close', async () => {
    const page = await newPage();
    expect(await run(page, 'removedFrame', { codec, dials: 'other' })).toEqual({ closed: LOST, last: ['end'] });
    await page.close();
  });
});

describe('the example of a SharedWorker', () => {
  it('The example has at most 60 lines', () => {
    const lines = [WORKER, TAB].flatMap((path) => readFileSync(path, 'utf8').trimEnd().split('\n'));
    expect(lines.length).toBeLessThanOrEqual(60);
  });

  it('Tabs share one connection, and each gets its own answers, errors and news', async () => {
    jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const tabs = [await newPage(), await newPage()];
    const outcomes = await Promise.all(tabs.map((tab, nth) => run(tab, 'tab', `tab ${nth}`)));
    expect(outcomes).toEqual(
      [0, 1].map((nth) => ({
        count: 1_000,
        failure: 'REMOTE',
        uploaded: { payload: `tab ${nth}`, sum: 6, headers: { name: `tab ${nth}` } },
      })),
    );
    expect(mux.peers.size).toBe(1);
    for (const peer of mux.peers) peer.notify('hear, hear');
    expect(await Promise.all(tabs.map((tab) => run(tab, 'news')))).toEqual(['hear, hear', 'hear, hear']);
    await Promise.all(tabs.map((tab) => tab.close()));
  });

  it('The server stops the stream of a tab that is closed, and goes on with the stream of another tab', async () => {
    const tabs = [await newPage(), await newPage()];
    for (const tab of tabs) await run(tab, 'endless');
    await until('both streams', () => causes.length === 2);
    await tabs[0]?.close();
    expect(await causes[0]).toMatchObject({ how: 'reset', by: 'remote' });
    expect(mux.peers.size).toBe(1);
    await tabs[1]?.close();
    await causes[1];
  });
});
