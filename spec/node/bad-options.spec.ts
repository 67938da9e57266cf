import { createServer, IncomingMessage } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { accept, connect, handleUpgrade, serve } from '../../src/node.js';
import type { ServeOptions } from '../../src/node.js';
import type { SocketLike } from '../../src/transport/transport.js';
import { MemorySocket } from '../../src/testing/memory-socket.js';
import { MemoryLink } from '../../src/testing/memory-link.js';

type Row = readonly [options: object, message: string];

const OF_ACCEPTED: readonly Row[] = [
  [null as unknown as object, 'options: expected an object, got null'],
  [{ handler: 5 }, 'handler: expected a function, got 5'],
  [{ onStream: 5 }, 'onStream: expected a function, got 5'],
  [{ onHello: {} }, 'onHello: expected a function, got an object'],
  [{ onPeer: 'log' }, "onPeer: expected a function, got 'log'"],
  [{ helloTimeoutMs: null }, 'helloTimeoutMs: expected a number of at least 0, got null'],
  [{ limits: 5 }, 'limits: expected an object, got 5'],
  [{ helloLimits: { maxHeldBytes: 5 } }, 'helloLimits: expected none without onHello, got an object'],
  [{ helloTimeoutMs: 0 }, 'helloTimeoutMs: expected none without onHello, got 0'],
];

const OF_UPGRADES: readonly Row[] = [
  ...OF_ACCEPTED,
  [{ verify: true }, 'verify: expected a function, got true'],
  [{ origins: '*' }, "origins: expected an array, a function or { required: true }, got '*'"],
  [{ origins: /a/ }, 'origins: expected an array, a function or { required: true }, got an object'],
  [{ origins: { required: 'yes' } }, "origins.required: expected a boolean, got 'yes'"],
  [{ origins: { required: true, allow: 'https://a' } }, "origins.allow: expected an array, got 'https://a'"],
  [{ origins: { allow: ['a.example'] } }, "origins.allow[0]: expected a whole origin, such as 'https://app.example.org', got 'a.example'"],
  [{ origins: { require: true } }, "origins: no 'require'; did you mean 'required'?"],
  [
    { trustProxy: 'proxy-protocol' },
    "trustProxy: rxmux reads no PROXY protocol. Add X-Forwarded-For at the proxy (HAProxy: 'option forwardfor', no 'send-proxy'), and set trustProxy",
  ],
  [{ trustProxy: true }, 'trustProxy: expected a count of proxies, a list of their addresses, or a function, got true'],
  [{ origins: ['https://a', 5] }, 'origins[1]: expected a string or a RegExp, got 5'],
  ...[
    '*',
    'a.example',
    'a.example:8080',
    '*.a.example',
    'https://*.a.example',
    'https://a.example/',
    'https://a.example/page',
    '',
    'https:',
    'https://',
    'https://[',
    'https://a b',
  ].map((origin): Row => [
    { origins: ['https://a', origin] },
    `origins[1]: expected a whole origin, such as 'https://app.example.org', got '${origin}'`,
  ]),
  ...[
    ['https://a.example:443', 'https://a.example'],
    ['http://a.example:80', 'http://a.example'],
    ['https://A.example', 'https://a.example'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://[0:0:0:0:0:0:0:1]:8080', 'http://[::1]:8080'],
    ['https://user@a.example', 'https://a.example'],
  ].map(([origin, sent]): Row => [
    { origins: { allow: [origin] } },
    `origins.allow[0]: expected '${sent}', as browsers send this origin, got '${origin}'`,
  ]),
];

it.each(OF_ACCEPTED)('`accept` refuses the options %p', (options, message) => {
  const socket = new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.acceptor, null);
  expect(() => accept(socket, options)).toThrow(new TypeError(message));
});

it.each(['null', 'http://a.example:8080', 'https://a.example:80', 'chrome-extension://abc', 'capacitor://localhost'])(
  '`serve` takes the origin %s, which browsers send',
  async (origin) => {
    const server = serve({ port: 0, origins: [origin] });
    await server.close();
  },
);

it.each([
  [{ verify: () => false }, 'verify', 'a function'],
  [{ verifyTimeoutMs: 5 }, 'verifyTimeoutMs', '5'],
  [{ origins: ['https://a.example'] }, 'origins', 'an array'],
  [{ trustProxy: 1 }, 'trustProxy', '1'],
  [{ perMessageDeflate: true }, 'perMessageDeflate', 'true'],
])('`accept` refuses the options %p, which only an upgrade has', (options, name, got) => {
  const socket = new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.acceptor, null);
  expect(() => accept(socket, options as object)).toThrow(
    new TypeError(`${name}: expected none for a socket that is open: pass it to handleUpgrade or serve, got ${got}`),
  );
});

it.each([
  [{ totalLimits: {} }, 'totalLimits: expected new Totals({ … }), got an object'],
  [{ totalLimits: null }, 'totalLimits: expected new Totals({ … }), got null'],
])('`accept` refuses limits %p that no other peer could share', (options, message) => {
  const socket = new MemorySocket(new MemoryLink({ protocol: 'mux.v1.json' }).ends.acceptor, null);
  expect(() => accept(socket, options as object)).toThrow(new TypeError(message));
});

it.each([
  [{ totalLimits: 5 }, 'totalLimits: expected an object, got 5'],
  [{ totalLimits: { maxConnections: -1 } }, 'totalLimits.maxConnections: expected a number of at least 0, got -1'],
  [
    { totalLimits: { maxPeers: 1 } },
    "totalLimits: expected one of maxConnections, maxConnectionsPerAddress, maxTotalStreams, maxTotalHeldBytes, maxTotalUnsentBytes, got 'maxPeers'",
  ],
])('`serve` refuses the options %p', (options, message) => {
  expect(() => serve({ port: 0, ...(options as object) })).toThrow(new TypeError(message));
});

it.each<[what: string, totalLimits: unknown]>([
  ['Promise', Promise.resolve({ maxConnections: 1 })],
  ['Map', new Map([['maxConnections', 1]])],
  // In the built package private members have such names.
  ['Totals', Object.assign(Object.create({ [Symbol.toStringTag]: 'Totals' }) as object, { $a: 1 })],
])('`serve` refuses a %s that has none of the limits, and would admit everybody', (what, totalLimits) => {
  expect(() => serve({ port: 0, totalLimits: totalLimits as object })).toThrow(
    new TypeError(`totalLimits: expected { maxConnections, … }, or new Totals({ … }) of this copy of rxmux, got a ${what}`),
  );
});

it('`serve` takes limits of a class, by getters too', async () => {
  class Configured {
    get maxConnections(): number {
      return 7;
    }
  }
  const server = serve({ port: 0, host: '127.0.0.1', totalLimits: new Configured() });
  await server.listening;
  expect(server.stats().limits).toEqual({ maxConnections: { used: 0, max: 7 } });
  await server.close();
});

it.each<[socket: unknown, got: string]>([
  [undefined, 'undefined'],
  [{}, 'an object'],
  [{ addEventListener: () => undefined }, 'an object'],
  ['ws://a', "'ws://a'"],
])('`accept` refuses %p for a socket', (socket, got) => {
  expect(() => accept(socket as SocketLike)).toThrow(new TypeError(`socket: expected a WebSocket, got ${got}`));
});

it.each(OF_UPGRADES)('`handleUpgrade` refuses the options %p, and answers nothing', (options, message) => {
  const socket = new PassThrough();
  expect(() => handleUpgrade(new IncomingMessage(new Socket()), socket, Buffer.alloc(0), options)).toThrow(new TypeError(message));
  expect([socket.readableLength, socket.destroyed]).toEqual([0, false]);
});

it.each(OF_UPGRADES.slice(1))('`serve` refuses the options %p', (options, message) => {
  expect(() => serve({ port: 0, ...options })).toThrow(new TypeError(message));
});

it.each<[options: unknown, message: string]>([
  [undefined, 'options: expected an object, got undefined'],
  [{ server: null }, 'server: expected one of node:http or node:https, got null'],
  [{ port: 0, server: null }, 'server: expected one of node:http or node:https, got null'],
  [{ server: {} }, 'server: expected one of node:http or node:https, got an object'],
  [{ server: Object.assign(() => undefined, { on: () => undefined }) }, 'server: expected one of node:http or node:https, got a function'],
  [
    { server: createHttp2Server() },
    'server: expected a server of HTTP/1.1, which WebSockets upgrade: pass allowHTTP1 to createSecureServer',
  ],
  [{ port: 0, tls: 5 }, 'tls: expected an object, got 5'],
  [{ port: 0, path: 'mux' }, "path: expected one that begins with '/', got 'mux'"],
  [{ port: 0, healthPath: 'healthz' }, "healthPath: expected one that begins with '/', got 'healthz'"],
  [{ port: 0, healthPath: '/healthz?full' }, "healthPath: expected one without a query, got '/healthz?full'"],
  [{ port: 0, healthPath: true }, "healthPath: expected one that begins with '/', got true"],
  [{ port: 0, path: '/mux?room=1' }, "path: expected one without a query, got '/mux?room=1'"],
  [{ port: 0, path: '/mux#room' }, "path: expected one without a query, got '/mux#room'"],
  [{ port: 0, path: '/straße' }, "path: expected '/stra%C3%9Fe', as requests have it, got '/straße'"],
  [{ port: 0, path: '/my mux' }, "path: expected '/my%20mux', as requests have it, got '/my mux'"],
  [{ port: 0, path: '/a/../mux' }, "path: expected '/mux', as requests have it, got '/a/../mux'"],
  [{ port: 0, healthPath: '/./healthz' }, "healthPath: expected '/healthz', as requests have it, got '/./healthz'"],
  [{ server: createServer(), port: 8080 }, 'port: expected none beside server, got 8080'],
  [{ server: createServer(), host: '127.0.0.1' }, "host: expected none beside server, got '127.0.0.1'"],
  [{ server: createServer(), tls: { cert: '' } }, 'tls: expected none beside server, got an object'],
  [{ server: createServer(), listenWhileDraining: true }, 'listenWhileDraining: expected none beside server, got true'],
])('`serve(%p)` throws TypeError', (options, message) => {
  expect(() => serve(options as ServeOptions)).toThrow(new TypeError(message));
});

it.each<[name: string, upgraded: readonly unknown[], message: string]>([
  ['nothing', [], 'request: expected an IncomingMessage of node:http, got undefined'],
  ['no socket', [new IncomingMessage(new Socket())], 'socket: expected the stream below the request, got undefined'],
  ['no head', [new IncomingMessage(new Socket()), new PassThrough()], 'head: expected a Buffer, got undefined'],
  ['text for a head', [new IncomingMessage(new Socket()), new PassThrough(), 'GET'], "head: expected a Buffer, got 'GET'"],
])('`handleUpgrade` refuses %s', (_name, upgraded, message) => {
  expect(() => handleUpgrade(...(upgraded as Parameters<typeof handleUpgrade>))).toThrow(new TypeError(message));
});

it.each(['nope', '/mux', 'ftp://test'])('`connect` of Node refuses the address %p', (url) => {
  expect(() => connect(url)).toThrow(new TypeError(`url: expected a ws: or wss: address, got '${url}'`));
});

it.each<Row>([
  [null as unknown as object, 'options: expected an object, got null'],
  [{ socket: {} }, 'socket: expected a function, got an object'],
  [{ hello: { payload: 1 } }, 'hello: expected a function, got an object'],
  [{ limits: 5 }, 'limits: expected an object, got 5'],
  [{ headers: 5 }, 'headers: expected an object, got 5'],
  [{ headers: 'x' }, "headers: expected an object, got 'x'"],
  [{ headers: [['a', 'b']] }, 'headers: expected an object, got an array'],
  [{ headers: new Headers({ a: 'b' }) }, 'headers: expected a plain object, got [object Headers]: pass Object.fromEntries(headers)'],
  [{ headers: new Map([['a', 'b']]) }, 'headers: expected a plain object, got [object Map]: pass Object.fromEntries(headers)'],
  [{ headers: { authorization: Promise.resolve('Bearer') } }, 'authorization: expected a string or a number, got an object'],
  [{ headers: { authorization: null } }, 'authorization: expected a string or a number, got null'],
  [{ agent: 'proxy' }, "agent: expected an object, got 'proxy'"],
  [{ tls: 5 }, 'tls: expected an object, got 5'],
  [{ socket: () => null, headers: { authorization: 'Bearer' } }, 'headers: expected none beside socket, got an object'],
  [{ socket: () => null, agent: {} }, 'agent: expected none beside socket, got an object'],
  [{ socket: () => null, tls: { ca: '' } }, 'tls: expected none beside socket, got an object'],
  [{ socket: () => null, perMessageDeflate: true }, 'perMessageDeflate: expected none beside socket, got true'],
])('`connect` of Node refuses the options %p', (options, message) => {
  expect(() => connect('ws://test', options)).toThrow(new TypeError(message));
});
