import { createServer as createHttps } from 'node:https';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { serve } from '../../src/node.js';
import { launchBrowser, scriptOf } from '../support/browser.js';
import { collectLogs } from '../support/peer/logs.js';
import { selfSigned } from '../support/socket/certificate.js';
import { portOf } from '../support/socket/handshake.js';
import { closing, listening } from '../support/socket/listening.js';

const SCRIPT = scriptOf('spec/browser/mistakes-page.ts');
const HIDDEN =
  /could not be opened \(1006\); this platform does not say why: check the address, the codec of both ends, the server's origins and the proxies between/;

const logs = collectLogs();
let browser: Browser;
const servers: Server[] = [];
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  for (const server of servers) {
    server.closeAllConnections();
    await closing(server);
  }
});

/** Starts a web server with the page. Returns its port. */
async function pageServer(make: (answer: Parameters<typeof createServer>[1] & object) => Server): Promise<number> {
  const server = make(({ url }, response) => {
    const isScript = url === '/page.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? SCRIPT : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  servers.push(await listening(server));
  return portOf(server);
}

/** The error that a page gets of a dial. */
async function failureOf(pageUrl: string, url: string): Promise<string> {
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  try {
    await page.goto(pageUrl);
    return await page.evaluate((address) => (globalThis as unknown as { dial: (url: string) => Promise<string> }).dial(address), url);
  } finally {
    await page.close();
  }
}

it('The author of a page with a wrong port sees what to check', async () => {
  expect(await failureOf(`http://127.0.0.1:${await pageServer(createServer)}/`, 'ws://127.0.0.1:1')).toMatch(HIDDEN);
});

it('The author of a page of another origin sees what to check, and the log of the server names the option', async () => {
  await using server = serve({ port: 0 });
  await server.listening;
  const pages = await pageServer(createServer);
  // A name that Chromium resolves to loopback, and that is not localhost.
  expect(await failureOf(`http://shop.localhost:${pages}/`, server.url)).toMatch(HIDDEN);
  expect(logs.warnings).toEqual([
    `rxmux: refused an upgrade: 403 /: this origin is not allowed: "http://shop.localhost:${pages}"; name it in the option 'origins' to let it in`,
  ]);
});

it('The author of an https page with a `ws:` address sees that the address needs TLS', async () => {
  const pages = await pageServer((answer) => createHttps(selfSigned(), answer));
  expect(await failureOf(`https://127.0.0.1:${pages}/`, 'ws://example.invalid/')).toMatch(
    /An insecure WebSocket connection may not be initiated from a page loaded over HTTPS/,
  );
});
