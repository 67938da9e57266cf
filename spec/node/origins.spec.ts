import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { logger } from '../../src/index.js';
import type { Origins, UpgradeOptions } from '../../src/node.js';
import { originAllowed } from '../../src/node/origin.js';
import { handshake, portOf } from '../support/socket/handshake.js';
import { watchResources } from '../support/socket/leaks.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

describe('origins', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;
  let warn: jest.SpiedFunction<typeof logger.warn>;

  beforeEach(() => {
    leaks = watchResources();
    warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  const statusOf = async (origin: string | null, host = 'example.org'): Promise<number> => {
    const { status, socket } = await handshake(server.http, { headers: { Host: host, Origin: origin } });
    socket.destroy();
    return status;
  };

  describe('default origins', () => {
    it.each<readonly [what: string, origin: string | null, host: string, status: number]>([
      ['no origin, so no browser', null, 'example.org', 101],
      ['the same host', 'https://example.org', 'example.org', 101],
      ['the same host in other case', 'https://Example.org', 'eXample.org', 101],
      ['the same host and port', 'http://example.org:8080', 'example.org:8080', 101],
      ['the default port of http, named', 'http://example.org', 'example.org:80', 101],
      ['the default port of https, named', 'https://example.org', 'example.org:443', 101],
      ['another port', 'http://example.org:8080', 'example.org', 403],
      ['a domain above', 'https://example.org', 'mux.example.org', 403],
      ['a domain below', 'https://evil.example.org', 'example.org', 403],
      ['another host that ends the same', 'https://notexample.org', 'example.org', 403],
      ['another host with the same name before its own', 'https://example.org.evil.example', 'example.org', 403],
      ['the host as a user name', 'https://example.org@evil.example', 'example.org', 403],
      ['another host', 'https://evil.example', 'example.org', 403],
      ['a page in a sandbox', 'null', 'example.org', 403],
      ['a text that is no URL', 'example.org', 'example.org', 403],
      ['an empty origin', '', 'example.org', 403],
      ['another host, and no host to compare with', 'https://evil.example', '', 403],
      ['localhost, from this machine', 'http://localhost:5173', 'localhost:8080', 101],
      ['127.0.0.1, from this machine', 'http://127.0.0.1:5173', 'localhost:8080', 101],
      ['another address of loopback', 'http://127.8.9.1', '127.0.0.1:8080', 101],
      ['[::1], from this machine', 'http://[::1]:5173', '127.0.0.1', 101],
      ['localhost, from this machine to [::1]', 'http://localhost:5173', '[::1]:8080', 101],
      ['localhost, through a proxy on this machine', 'http://localhost:3000', 'example.org', 403],
      ['127.0.0.1, through a proxy on this machine', 'http://127.0.0.1:3000', 'example.org', 403],
      ['localhost, and no host to compare with', 'http://localhost:3000', '', 403],
      ['localhost, and a host that only begins like it', 'http://localhost:3000', 'localhost.evil.example', 403],
      ['a host that only begins like loopback', 'http://127.0.0.1.evil.example', 'example.org', 403],
      ['a host that only begins like localhost', 'http://localhost.evil.example', 'example.org', 403],
    ])('A server checks the origin of a page by default: %s', async (_what, origin, host, status) => {
      server = await testServer();
      expect(await statusOf(origin, host)).toBe(status);
      expect(warn).toHaveBeenCalledTimes(status === 403 ? 1 : 0);
    });

    it('A refused origin is logged with a warning that names the origin and the option', async () => {
      server = await testServer();
      const refused = await handshake(server.http, { headers: { Origin: 'https://evil.example' } });
      expect(refused).toMatchObject({ status: 403, body: 'this origin is not allowed\n' });
      // A second try would fail too.
      expect(refused.headers).not.toHaveProperty('retry-after');
      expect(warn.mock.calls).toEqual([
        [
          'rxmux: refused an upgrade: 403 /: this origin is not allowed: "https://evil.example"; name it in the option \'origins\' to let it in',
        ],
      ]);
      expect(server.refusals).toEqual([{ status: 403, reason: 'this origin is not allowed' }]);
    });
  });

  it.each<readonly [what: string, origins: Origins, origin: string | null, status: number]>([
    ['a string', ['https://a.example'], 'https://a.example', 101],
    ['a string, and a page of another port', ['https://a.example'], 'https://a.example:8443', 403],
    ['a string, and a page of another scheme', ['https://a.example'], 'http://a.example', 403],
    ['a string for pages in a sandbox', ['null'], 'null', 101],
    ['an expression', [/^https:\/\/[a-z]+\.example$/], 'https://b.example', 101],
    ['an expression that does not match', [/^https:\/\/[a-z]+\.example$/], 'https://b.example.org', 403],
    ['an expression of another realm', [runInNewContext('/^https:.*example$/') as RegExp], 'https://b.example', 101],
    ['one of several', ['https://a.example', /^https:\/\/b\./], 'https://b.example', 101],
    ['a list, and no browser', ['https://a.example'], null, 101],
    ['a list without the own server', ['https://a.example'], 'https://example.org', 403],
    ['a list without loopback', ['https://a.example'], 'http://localhost', 403],
    ['an empty list', [], 'https://example.org', 403],
    ['a function', (origin) => origin === 'https://a.example', 'https://a.example', 101],
    ['a function that refuses', () => false, 'https://example.org', 403],
    ['a function that refuses requests without an origin', (origin) => origin !== undefined, null, 403],
  ])('The option `origins` decides about a page: %s', async (_what, origins, origin, status) => {
    server = await testServer({ origins });
    expect(await statusOf(origin)).toBe(status);
  });

  it.each<readonly [by: string, options: UpgradeOptions, status: number]>([
    ['not by default', {}, 101],
    ['by origins', { origins: ['http://localhost:5173'] }, 403],
    ['by verify', { verify: ({ headers }) => headers.authorization === 'Bearer s3cret' || 401 }, 401],
  ])('A page whose name was rebound to this server is refused: %s', async (_by, options, status) => {
    server = await testServer(options);
    expect(await statusOf('http://evil.example:8080', 'evil.example:8080')).toBe(status);
  });

  it('A global expression in `origins` accepts the same origin each time', async () => {
    server = await testServer({ origins: [/^https:\/\/a\.example/g] });
    const statuses = [await statusOf('https://a.example'), await statusOf('https://a.example'), await statusOf('https://a.example')];
    expect(statuses).toEqual([101, 101, 101]);
  });

  it('A function in `origins` receives the origin and the request', async () => {
    const seen: unknown[] = [];
    server = await testServer({
      origins: (origin, request) => {
        seen.push([origin, request.url, request.socket.localPort === portOf(server.http)]);
        return true;
      },
    });
    await statusOf('https://a.example');
    await statusOf(null);
    expect(seen).toEqual([
      ['https://a.example', '/', true],
      [undefined, '/', true],
    ]);
  });

  it('A function in `origins` that throws is answered with 500, and the server survives', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    let calls = 0;
    server = await testServer({
      origins: () => {
        if (calls++ === 0) throw new Error('no list');
        return true;
      },
    });
    expect(await statusOf('https://a.example')).toBe(500);
    expect(error).toHaveBeenCalledTimes(1);
    expect(await statusOf('https://a.example')).toBe(101);
  });

  it.each<readonly [what: string, verdict: () => unknown, told: string]>([
    ['a promise of true', () => Promise.resolve(true), 'a promise'],
    ['a promise of false', () => Promise.resolve(false), 'a promise'],
    ['a promise that rejects', () => Promise.reject(new Error('no list')), 'a promise'],
    ['a match', () => ['https://a.example'], 'object'],
    ['a text', () => 'https://a.example', 'string'],
    ['1', () => 1, 'number'],
    ['undefined', () => undefined, 'undefined'],
    ['null', () => null, 'object'],
  ])('A function in `origins` that returns %s is answered with 500 and logged', async (_what, verdict, told) => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    server = await testServer({ origins: verdict as () => boolean });
    expect(await statusOf('https://a.example')).toBe(500);
    expect(error.mock.calls.map(([, cause]) => cause)).toEqual([new TypeError(`origins: expected a boolean, got ${told}`)]);
  });

  it('A function in `origins` that accepts and closes the server is answered with 503', async () => {
    server = await testServer({
      origins: () => {
        void server.mux.close();
        return true;
      },
    });
    expect(await statusOf('https://a.example')).toBe(503);
    expect(server.peers).toEqual([]);
  });
});

describe('loopback origins', () => {
  it.each<readonly [address: string | undefined, allowed: boolean]>([
    ['127.0.0.1', true],
    ['127.8.9.1', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['192.168.0.7', false],
    ['::ffff:192.168.0.7', false],
    ['10.127.0.1', false],
    ['fe80::1', false],
    ['::12', false],
    [undefined, false],
  ])('A loopback page is accepted only from this machine: from %s, %s', (remoteAddress, allowed) => {
    const request = new IncomingMessage(Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress }));
    Object.assign(request.headers, { host: 'localhost:8080', origin: 'http://localhost:5173' });
    expect(originAllowed(request, undefined)).toBe(allowed);
  });
});
