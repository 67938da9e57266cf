import { once } from 'node:events';
import { createServer, IncomingMessage, request as httpRequest } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { judgeUpgrades } from '../../src/node/upgrade-hub.js';
import { serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { selfSigned } from '../support/socket/certificate.js';
import { handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { until } from '../support/socket/leaks.js';
import { listening } from '../support/socket/listening.js';

const logs = collectLogs();
const http = httpServer();
let servers: MuxServer[];

const served = (...paths: readonly string[]): void => {
  servers = paths.map((path) => serve({ server: http.now, path, keepalive: false }));
};

afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  http.now.closeAllConnections();
});

describe('servers on one HTTP server', () => {
  const PATHS = Array.from({ length: 20 }, (_, nth) => `/${String(nth)}`);

  it('Many servers add one upgrade listener to an HTTP server, and cause no leak warning', async () => {
    const warned = jest.fn();
    process.on('warning', warned);
    served(...PATHS);
    await Promise.all(servers.map((server) => server.listening));
    expect(http.now.listenerCount('upgrade')).toBe(1);
    for (const event of http.now.eventNames()) expect([event, http.now.listenerCount(event) <= 2]).toEqual([event, true]);
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it('Many servers share their listeners while they wait for the port', () => {
    served();
    const idle = createTlsServer();
    const before = idle.eventNames().map((event) => [event, idle.listenerCount(event)]);
    servers = PATHS.map((path) => serve({ server: idle, path, keepalive: false }));
    const added = idle.eventNames().filter((event) => !before.some(([name]) => name === event));
    expect(added.map((event) => idle.listenerCount(event)).filter((count) => count > 1)).toEqual([]);
  });

  it('Each server answers its own path, and an unknown path is answered with 404', async () => {
    served(...PATHS);
    const statuses = await Promise.all(
      [...PATHS, '/none'].map(async (path) => {
        const { status, socket } = await handshake(http.now, { path });
        socket.destroy();
        return status;
      }),
    );
    expect(statuses).toEqual([...PATHS.map(() => 101), 404]);
  });

  it('A closed server no longer answers its path, and the last one removes the upgrade listener', async () => {
    served('/a', '/b');
    await servers[0]?.close();
    const { status, socket } = await handshake(http.now, { path: '/b' });
    expect(status).toBe(101);
    socket.destroy();
    expect((await handshake(http.now, { path: '/a' })).status).toBe(404);
    await servers[1]?.close();
    expect(http.now.listenerCount('upgrade')).toBe(0);
  });

  it('A new server takes over the path of a draining one', async () => {
    served('/a');
    const [old] = servers;
    const first = await handshake(http.now, { path: '/a' });
    void old?.close({ drainMs: 60_000 });
    servers.push(serve({ server: http.now, path: '/a', keepalive: false }));
    const second = await handshake(http.now, { path: '/a' });
    expect(second.status).toBe(101);
    for (const { socket } of [first, second]) socket.destroy();
  });

  it('A server with the exact path takes precedence over a server of all paths', async () => {
    served();
    servers = [serve({ server: http.now, keepalive: false }), serve({ server: http.now, path: '/a', keepalive: false })];
    const { socket } = await handshake(http.now, { path: '/a' });
    expect(servers.map(({ peers }) => peers.size)).toEqual([0, 1]);
    socket.destroy();
  });
});

/** Echoes each request, like the routes of a framework without upgrades. */
const routes: RequestListener = (request, response) => {
  let bytes = 0;
  let beginning = '';
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    beginning += chunk.toString('latin1', 0, 5);
  });
  request.on('end', () => {
    response.end(`${String(request.method)} ${String(request.url)} ${beginning.slice(0, 5)} ${String(bytes)};`);
  });
};

/** The headers that Java's HttpClient sends with each request over a plain connection. */
const H2C = { Host: 'example.org', Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAEAAEAA' };

const headOf = (line: string, headers: Readonly<Record<string, string>>): string =>
  [`${line} HTTP/1.1`, ...Object.entries({ ...H2C, ...headers }).map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');

/** Collects the bytes of a kept connection, and waits for a text in them. */
function reader(socket: Socket): (text: string) => Promise<void> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  return (text) => until(`'${text}', got '${received}'`, () => received.includes(text));
}

describe('other upgrades', () => {
  const prepare = (server: Server): void => {
    server.on('request', routes);
    servers = [serve({ server, path: '/mux', keepalive: false })];
  };

  it.each<readonly [what: string, parts: readonly string[], answer: string]>([
    ['without a body', [headOf('GET /a', {})], 'GET /a  0;'],
    ['with a body in the same write', [`${headOf('POST /a', { 'Content-Length': '5' })}hello`], 'POST /a hello 5;'],
    ['with a body that follows', [headOf('POST /a', { 'Content-Length': '200000' }), 'hello'.repeat(40_000)], 'POST /a hello 200000;'],
    ['with a chunked body', [headOf('PUT /a', { 'Transfer-Encoding': 'chunked' }), '5\r\nhello\r\n', '0\r\n\r\n'], 'PUT /a hello 5;'],
    ['to the path of the server', [headOf('GET /mux', {})], 'GET /mux  0;'],
    ['with Connection: upgrade alone', [headOf('GET /a', { Connection: 'upgrade' })], 'GET /a  0;'],
  ])('An upgrade to another protocol is an ordinary request: %s', async (_case, parts, answer) => {
    prepare(http.now);
    const socket = await rawSocket(http.now);
    const received = reader(socket);
    for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
    await received(answer);
    socket.destroy();
    expect(logs.warnings).toEqual([]);
  });

  it('An upgrade to another protocol keeps its connection for later requests and a WebSocket', async () => {
    prepare(http.now);
    const socket = await rawSocket(http.now);
    const received = reader(socket);
    for (let nth = 0; nth < 12; nth++) {
      socket.write(`${headOf(`POST /${String(nth)}`, { 'Content-Length': '5' })}hello`);
      await received(`POST /${String(nth)} hello 5;`);
    }
    socket.write('GET /plain HTTP/1.1\r\nHost: example.org\r\n\r\n');
    await received('GET /plain  0;');
    socket.write(requestOf({ path: '/mux' }));
    await received('101 Switching Protocols');
    socket.destroy();
    expect(logs.warnings).toEqual([]);
  });

  it('Upgrades to another protocol leave no listener on their connection', async () => {
    prepare(http.now);
    const connections: Socket[] = [];
    http.now.on('connection', (connection) => connections.push(connection));
    const counts: number[][] = [];
    const socket = await rawSocket(http.now);
    const received = reader(socket);
    for (let nth = 0; nth < 6; nth++) {
      socket.write(headOf(`GET /${String(nth)}`, {}));
      await received(`GET /${String(nth)}  0;`);
      counts.push(connections[0]?.eventNames().map((event) => connections[0]?.listenerCount(event) ?? 0) ?? []);
    }
    expect(counts.at(-1)).toEqual(counts[1]);
    expect(new Set(connections).size).toBe(1);
    socket.destroy();
  });

  it('An upgrade to another protocol is an ordinary request over TLS', async () => {
    const { key, cert } = selfSigned();
    const https = createTlsServer({ key, cert });
    prepare(https);
    await listening(https);
    const socket = connectTls({ port: portOf(https), host: '127.0.0.1', ca: cert });
    const received = reader(socket);
    socket.write(`${headOf('POST /a', { 'Content-Length': '5' })}hello`);
    await received('POST /a hello 5;');
    socket.destroy();
    https.close();
    await once(https, 'close');
    expect(logs.warnings).toEqual([]);
  });

  it('Another upgrade listener receives an upgrade to another protocol', async () => {
    prepare(http.now);
    http.now.on('upgrade', (request, socket) => {
      if (request.headers.upgrade === 'h2c') socket.end('HTTP/1.1 418 Theirs\r\n\r\n');
    });
    const socket = await rawSocket(http.now);
    const received = reader(socket);
    socket.write(headOf('GET /a', {}));
    await received('418 Theirs');
    socket.destroy();
    expect(logs.warnings).toEqual([]);
  });

  it('Node emits upgrades to another protocol again once the servers have closed', async () => {
    const before = Object.entries(http.now).map(([name]) => name);
    prepare(http.now);
    await servers[0]?.close();
    http.now.once('upgrade', (_request, socket) => socket.end('HTTP/1.1 418 Theirs\r\n\r\n'));
    const socket = await rawSocket(http.now);
    const received = reader(socket);
    socket.write(headOf('GET /a', {}));
    await received('418 Theirs');
    expect(Object.keys(http.now).filter((name) => !before.includes(name))).toEqual([]);
    socket.destroy();
  });
});

describe('shouldUpgradeCallback', () => {
  const h2c = (server: Server): boolean => {
    const asked = server as Server & { shouldUpgradeCallback(request: IncomingMessage): boolean };
    return asked.shouldUpgradeCallback(Object.assign(new IncomingMessage(new Socket()), { headers: { upgrade: 'h2c' } }));
  };

  it.each([true, false])('`judgeUpgrades` asks only about upgrades that the callback of the server accepts: %s', (own) => {
    const server = Object.assign(createServer(routes), { shouldUpgradeCallback: () => own });
    const undo = judgeUpgrades(server, ({ headers }) => headers.upgrade === 'h2c');
    expect(h2c(server)).toBe(own);
    undo?.();
    judgeUpgrades(server, () => false);
    expect(h2c(server)).toBe(false);
  });

  it('A closed server restores the callback of the HTTP server, unless it was replaced', async () => {
    const first = (): boolean => true;
    const server = Object.assign(createServer(routes), { shouldUpgradeCallback: first });
    servers = [serve({ server, keepalive: false })];
    expect(h2c(server)).toBe(false);
    await servers[0]?.close();
    expect(server.shouldUpgradeCallback).toBe(first);
    servers = [serve({ server, keepalive: false })];
    const second = (): boolean => true;
    server.shouldUpgradeCallback = second;
    await servers[0]?.close();
    expect(server.shouldUpgradeCallback).toBe(second);
  });

  it('A server refuses an upgrade to another protocol that a later callback of the HTTP server accepts', async () => {
    http.now.on('request', routes);
    Object.assign(http.now, { shouldUpgradeCallback: () => true });
    served('/mux');
    Object.assign(http.now, { shouldUpgradeCallback: () => true });
    const { status } = await handshake(http.now, { path: '/a', headers: { Upgrade: 'h2c' } });
    expect(status).toBe(404);
  });
});

describe('other upgrades on a server of the library', () => {
  let own: MuxServer;

  beforeEach(async () => {
    served();
    own = serve({ port: 0, host: '127.0.0.1', keepalive: false });
    await own.listening;
  });

  afterEach(() => own.close());

  it('A server of the library answers an upgrade to another protocol like a page', async () => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest({ port: portOf(own), host: '127.0.0.1', headers: H2C, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
    response.resume();
    expect([response.statusCode, response.headers['x-content-type-options']]).toEqual([426, 'nosniff']);
  });
});
