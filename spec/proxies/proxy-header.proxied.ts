import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { buildSync } from 'esbuild';
import { ConnectError } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { closing } from '../support/socket/listening.js';
import { Balancer } from './balancer.js';
import { HAPROXY } from './products.js';

const folder = mkdtempSync(join(tmpdir(), 'rxmux-proxy-header-'));
const built = join(folder, 'proxy-header.cjs');

beforeAll(() => {
  execFileSync('npm', ['install', '--prefix', folder, '--silent', '--no-audit', '--no-fund', 'proxy-protocol-js@4.0.6']);
  buildSync({
    entryPoints: [join(__dirname, '../../docs/guide/proxies/proxy-header.mjs')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    nodePaths: [join(folder, 'node_modules')],
    outfile: built,
  });
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

collectLogs();

/** A server that reads PROXY headers by the page's module, and admits one connection of each address. */
async function behindHeaders(): Promise<{ readonly port: number; readonly seen: unknown[] }> {
  const { readProxyHeaders } = jest.requireActual<{ readProxyHeaders(this: void, http: Server): void }>(built);
  const http = createServer();
  readProxyHeaders(http);
  const seen: unknown[] = [];
  const server = serve({
    server: http,
    healthPath: '/healthz',
    totalLimits: { maxConnectionsPerAddress: 1 },
    verify: ({ socket }) => seen.push(socket.remoteAddress) > 0,
    handler: (payload, stream) => stream.reply((payload as string).length),
  });
  http.listen(0, '127.0.0.1');
  const { port } = await server.listening;
  ends.push(
    () => closing(http),
    () => server.close(),
  );
  return { port, seen };
}

it('Each client behind `send-proxy-v2` counts by its own address', async () => {
  const { port, seen } = await behindHeaders();
  const balancer = await Balancer.start(HAPROXY, [port], (text) => text.replace('check inter 1s', 'check inter 1s send-proxy-v2'));
  ends.push(() => balancer.stop());
  const dial = (localAddress: string): ReturnType<typeof connect> => {
    const peer = connect(`ws://127.0.0.1:${balancer.port}`, { agent: new Agent({ localAddress }), reconnect: false });
    peer.opened.catch(() => undefined);
    ends.push(() => peer.close());
    return peer;
  };
  const [first, second] = [dial('127.0.0.2'), dial('127.0.0.3')];
  const text = 'x'.repeat(1024 * 1024);
  expect(await Promise.all([first.request(text), second.request(text)])).toEqual([text.length, text.length]);
  await expect(dial('127.0.0.2').opened).rejects.toThrow(ConnectError);
  expect(new Set(seen)).toEqual(new Set(['127.0.0.2', '127.0.0.3']));
});

/** Sends parts one after the other, and resolves with the answer once the server has closed the connection. */
async function answer(port: number, parts: readonly (Buffer | string)[]): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => {
      resolve(text);
    });
  });
  for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
  return closed;
}

const HEADER = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000201c000020230390050', 'hex');
const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

it('A header in single bytes is read, and a connection without one is closed', async () => {
  const { port } = await behindHeaders();
  const bytes = [...HEADER].map((byte) => Buffer.of(byte));
  expect(await answer(port, [...bytes, REQUEST])).toContain('200 OK');
  expect(await answer(port, [REQUEST])).toBe('');
});

// Without a `shouldUpgradeCallback`, rxmux returns the connection to the HTTP server, which then sees it a second time.
it('An upgrade to another protocol, as Java sends with a health check, is answered behind a header', async () => {
  const { port } = await behindHeaders();
  const request = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n';
  expect(await answer(port, [HEADER, request])).toContain('200 OK');
});
