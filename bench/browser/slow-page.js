// `npm run bench:slow-page -- --chromium` measures small calls beside a page of Chromium that takes 12 MiB/s from a faster server. A WebSocket
// and a WebSocketStream take turns. Then each reads from a server that paces nothing.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { inOrder, load, median, root } from '../builds.js';

const PIECE = 'x'.repeat(64 * 1024);
const PIECES = 384;
const UNPACED_PIECES = 200;
const ROUNDS = 8;
/** The first rounds run on cold code. */
const COLD_ROUNDS = 2;
const SOCKETS = ['WebSocket', 'WebSocketStream'];
const SHARES = { p50: 0.5, p99: 0.99 };
/** The browser's clock shows microseconds only to pages that are isolated from others. */
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

const PAGE = `
import { connect } from 'rxmux';
import { webSocketStream } from 'rxmux/websocketstream';

const PIECE_BYTES = ${PIECE.length};
const BYTES_PER_MS = (12 * 1024 * 1024) / 1000;
const CALL_EVERY_MS = 2;
const options = { WebSocket: {}, WebSocketStream: { socket: webSocketStream() } };
const peers = {};
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function read(pieces) {
  const begun = performance.now();
  let count = 0;
  for await (const _piece of pieces) await wait(Math.max(0, begun + (++count * PIECE_BYTES) / BYTES_PER_MS - performance.now()));
  return count;
}

async function waits(peer, more) {
  const found = [];
  while (more()) {
    const begun = performance.now();
    await peer.request('small');
    found.push(performance.now() - begun);
    await wait(CALL_EVERY_MS);
  }
  return found;
}

// Calls beside a reader, and then for as long without it.
globalThis.round = async (name, url) => {
  const peer = (peers[name] ??= await connect(url, options[name]).opened);
  const begun = performance.now();
  let isReading = true;
  const beside = waits(peer, () => isReading);
  const count = await read(peer.open('pieces', { end: true }));
  isReading = false;
  const until = performance.now() * 2 - begun;
  return { count, busy: await beside, alone: await waits(peer, () => performance.now() < until) };
};

globalThis.unpaced = async (name, url) => {
  const peer = connect(url, options[name]);
  const outcome = await read(peer.open('pieces', { end: true })).catch(String);
  await peer.close();
  return outcome;
};`;

/** @param built the folder of the build */
export async function compareInChromium(built) {
  const { serve } = await load(built, 'node');
  const http = await servePage(built);
  const mux = serve({
    server: http,
    path: '/mux',
    handler: (asked, stream) => (asked === 'pieces' ? stream.sendAll(allPieces()) : stream.reply(asked)),
  });
  const unpaced = await serveUnpaced();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const { port } = http.address();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.waitForFunction(() => 'round' in globalThis);
    const inPage = (operation, ...args) => page.evaluate(([name, given]) => globalThis[name](...given), [operation, args]);
    const rounds = Object.fromEntries(SOCKETS.map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of SOCKETS) {
        const { count, ...found } = await inPage('round', name, `ws://127.0.0.1:${port}/mux`);
        if (count !== PIECES) throw new Error(`expected ${PIECES} pieces over a ${name}, got ${count}`);
        rounds[name].push(found);
      }
    }
    console.log(`Chromium ${browser.version()}`);
    for (const name of SOCKETS) {
      console.log(`${name}, a server that paces itself: ${summary(rounds[name].slice(COLD_ROUNDS))}`);
      const outcome = await inPage('unpaced', name, `ws://127.0.0.1:${unpaced.address().port}`);
      console.log(`${name}, a server that does not: ${typeof outcome === 'number' ? `${outcome} of ${UNPACED_PIECES} pieces` : outcome}`);
    }
  } finally {
    await browser.close();
    await mux.close();
    http.closeAllConnections();
    http.close();
    unpaced.close();
  }
}

function* allPieces() {
  for (let nth = 0; nth < PIECES; nth++) yield PIECE;
}

async function servePage(built) {
  const { outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: root },
    alias: { rxmux: join(built, 'index.js'), 'rxmux/websocketstream': join(built, 'websocketstream.js') },
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
  });
  const http = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.writeHead(200, { ...ISOLATED, 'Content-Type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
    response.end(
      isScript ? outputFiles[0].text : '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return http;
}

/** Sends a stream without a look at pongs or at its socket. */
async function serveUnpaced() {
  const { WebSocketServer } = createRequire(join(root, 'package.json'))('ws');
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    socket.once('message', () => {
      const payload = PIECE.slice(100);
      for (let n = 1; n <= UNPACED_PIECES; n++)
        socket.send(JSON.stringify({ type: 'data', stream: 1, payload, end: n === UNPACED_PIECES }));
    });
  });
  await once(server, 'listening');
  return server;
}

function summary(rounds) {
  const shares = Object.entries(SHARES).map(([name, share]) => {
    const [alone, busy] = ['alone', 'busy'].map((when) => median(inOrder(rounds.map((round) => at(inOrder(round[when]), share)))));
    return `${name} ${alone.toFixed(2)} ms alone, ${busy.toFixed(2)} beside the page (${(busy / alone).toFixed(1)} times)`;
  });
  return `${shares.join('; ')}. Medians of ${rounds.length} rounds.`;
}

function at(sorted, share) {
  return sorted[Math.floor(sorted.length * share)];
}
