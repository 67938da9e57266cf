import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { serve } from '../../src/node.js';
import type { MuxServer, UpgradeOptions } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { handshake } from '../support/socket/handshake.js';

let server: MuxServer;

afterEach(() => server.close());

// After the server, which writes its last lines as it ends.
const logs = collectLogs();

describe('a Cookie without an Origin', () => {
  const LINE =
    "rxmux: an upgrade with a Cookie but without an Origin came through the proxy at 127.0.0.1: browsers always send an Origin, so if this proxy drops it, any web page can use its visitor's cookie here; forward Origin at the proxy, or pass origins: { required: true }";

  it.each<readonly [what: string, options: UpgradeOptions, headers: Readonly<Record<string, string>>, lines: number]>([
    ['a trusted proxy by count', { trustProxy: 1 }, { Cookie: 'session=1' }, 1],
    ['a trusted proxy by address', { trustProxy: ['127.0.0.0/8'] }, { Cookie: 'session=1' }, 1],
    ['a trusted proxy, with a list of origins', { trustProxy: 1, origins: ['https://a.example'] }, { Cookie: 'session=1' }, 1],
    ['a trusted proxy that forwards Origin', { trustProxy: 1 }, { Cookie: 'session=1', Origin: 'http://example.org' }, 0],
    ['a trusted proxy, without a Cookie', { trustProxy: 1 }, {}, 0],
    ['a trusted proxy, where a function decides', { trustProxy: 1, origins: () => true }, { Cookie: 'session=1' }, 0],
    ['an address that is no trusted proxy', { trustProxy: ['10.0.0.0/8'] }, { Cookie: 'session=1' }, 0],
    ['an address, where no proxy is trusted', {}, { Cookie: 'session=1' }, 0],
  ])('A server warns once: from %s', async (_what, options, headers, lines) => {
    server = serve({ port: 0, host: '127.0.0.1', ...options });
    await server.listening;
    for (let n = 0; n < 2; n++) {
      const { status, socket } = await handshake(server, { headers });
      socket.destroy();
      expect(status).toBe(101);
    }
    expect(logs.warnings).toEqual(Array.from({ length: lines }, () => LINE));
  });

  it('A server shows a function in trustProxy the address of the proxy in one spelling', async () => {
    const seen: string[] = [];
    // On all addresses Node reports 127.0.0.1 as ::ffff:127.0.0.1.
    server = serve({ port: 0, host: '::', trustProxy: (address) => seen.push(address) > 0 && address === '127.0.0.1' });
    const { port } = await server.listening;
    const local = { address: () => ({ port, address: '127.0.0.1', family: 'IPv4' }) };
    const { status, socket } = await handshake(local, { headers: { Cookie: 'session=1' } });
    socket.destroy();
    expect([status, logs.warnings, [...new Set(seen)]]).toEqual([101, [LINE.replace('127.0.0.1', '::ffff:127.0.0.1')], ['127.0.0.1']]);
  });

  it('A server with `origins: { required: true }` refuses it and says why', async () => {
    server = serve({ port: 0, host: '127.0.0.1', trustProxy: 1, origins: { required: true } });
    await server.listening;
    const { status } = await handshake(server, { headers: { Cookie: 'session=1' } });
    expect([status, logs.warnings]).toEqual([403, ['rxmux: refused an upgrade: 403 /: this origin is not allowed: the request has none']]);
  });
});

describe('the name of a peer', () => {
  it.each<readonly [what: string, options: UpgradeOptions, name: RegExp]>([
    ['the address that a trusted proxy forwards', { trustProxy: 1 }, /^Peer \d+ \(203\.0\.113\.7\) /],
    ['the address of its socket, where no proxy is trusted', {}, /^Peer \d+ \(127\.0\.0\.1:\d+\) /],
  ])('A peer of a server is named by %s', async (_what, options, name) => {
    server = serve({ port: 0, host: '127.0.0.1', ...options });
    await server.listening;
    const { socket } = await handshake(server, { headers: { 'X-Forwarded-For': '203.0.113.7' } });
    const [peer] = server.peers;
    socket.destroy();
    expect(String(peer)).toMatch(name);
  });
});

describe('a PROXY header', () => {
  const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

  it.each([
    ['version 1', 'PROXY TCP4 127.0.0.1 127.0.0.1 40000 80\r\n'],
    ['version 2', '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x7f\0\0\x01\x7f\0\0\x01\x9c\x40\0\x50'],
  ])('A server names the PROXY protocol to a proxy that sends %s, and logs it once', async (_version, header) => {
    server = serve({ port: 0, host: '127.0.0.1' });
    const { port } = await server.listening;
    for (let n = 0; n < 2; n++) {
      const socket = connect(port, '127.0.0.1');
      socket.end(Buffer.from(header + REQUEST, 'latin1'));
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*\r\n\r\nthis server does not read the PROXY protocol\n$/);
    }
    expect(logs.warnings).toEqual([
      "rxmux: refused a connection with a PROXY header: rxmux reads no PROXY protocol. Add X-Forwarded-For at the proxy (HAProxy: 'option forwardfor', no 'send-proxy'), and set trustProxy",
    ]);
  });

  it.each([
    ['another method', 'PROXIES TCP4\r\n\r\n', '400'],
    ['a head that is too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
  ])("A server answers a bad request as Node's servers do: %s", async (_what, request, status) => {
    server = serve({ port: 0, host: '127.0.0.1' });
    const { port } = await server.listening;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(request);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect([chunk.toString().split(' ')[1], logs.warnings]).toEqual([status, []]);
  });
});
