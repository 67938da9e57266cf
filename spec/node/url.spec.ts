import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, ServeOptions } from '../../src/node.js';
import { selfSigned } from '../support/socket/certificate.js';
import { closing } from '../support/socket/listening.js';

const tls = selfSigned();
const handler: ServeOptions['handler'] = (payload, stream) => stream.reply(payload);

let ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

function served(options: ServeOptions): MuxServer {
  const server = serve(options);
  ends.push(() => server.close());
  return server;
}

async function echoOf(url: string): Promise<unknown> {
  const peer = connect(url, { tls: { ca: tls.cert, checkServerIdentity: () => undefined } });
  ends.push(() => peer.close());
  return peer.request('hello');
}

describe('url', () => {
  it.each<[what: string, options: ServeOptions, url: string]>([
    ['all addresses', { port: 0, handler }, 'ws://localhost:PORT'],
    ['all addresses of IPv4', { port: 0, host: '0.0.0.0', handler }, 'ws://localhost:PORT'],
    ['an address', { port: 0, host: '127.0.0.1', handler }, 'ws://127.0.0.1:PORT'],
    ['an address of IPv6', { port: 0, host: '::1', handler }, 'ws://[::1]:PORT'],
    ['a name', { port: 0, host: 'localhost', handler }, 'ws://localhost:PORT'],
    ['a path', { port: 0, host: '127.0.0.1', path: '/mux', handler }, 'ws://127.0.0.1:PORT/mux'],
    ['TLS', { port: 0, host: 'localhost', tls, handler }, 'wss://localhost:PORT'],
  ])('A server on %s has a url that a peer can dial', async (_what, options, url) => {
    const server = served(options);
    const { port } = await server.listening;
    expect(server.url).toBe(url.replace('PORT', String(port)));
    expect(await echoOf(server.url)).toBe('hello');
  });

  it.each([
    ['HTTP', 'ws', () => createServer()],
    ['HTTPS', 'wss', () => createTlsServer(tls)],
  ] as const)('A server that joins one of %s has a url of its port', async (_what, scheme, make) => {
    const http = make();
    ends.push(() => closing(http));
    const server = served({ server: http, path: '/mux', handler });
    http.listen(0);
    const { port } = await server.listening;
    expect(server.url).toBe(`${scheme}://localhost:${port}/mux`);
    expect(await echoOf(server.url)).toBe('hello');
  });

  it('A server on a Unix socket listens at its path, and has no url', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rxmux-'));
    const path = join(folder, 'socket');
    const http = createServer();
    ends.push(
      () => {
        rmSync(folder, { recursive: true });
      },
      () => closing(http),
    );
    const server = served({ server: http, handler });
    http.listen(path);
    expect(await server.listening).toEqual({ address: path, family: 'Unix', port: 0 });
    expect(server.address()).toBe(path);
    expect(() => server.url).toThrow(`url: expected a server on a port, got one on the Unix socket ${path}`);
  });

  it('A server has a url only while it listens', async () => {
    const server = served({ port: 0, host: '127.0.0.1', handler });
    const refusal = 'url: expected a server that listens, got one that does not: await server.listening first';
    expect(() => server.url).toThrow(refusal);
    await server.listening;
    expect(server.url).toContain('ws:');
    await server.close();
    expect(() => server.url).toThrow(refusal);
  });
});
