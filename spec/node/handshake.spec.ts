import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, mergeMap } from 'rxjs';
import { logger } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, serve } from '../../src/node.js';
import type { Origins, UpgradeOptions } from '../../src/node.js';
import { hostOf } from '../../src/acceptor/address.js';
import { originAllowed } from '../../src/acceptor/origin.js';
import { clientAddress, readTrustProxy, trustsNone } from '../../src/node/origin.js';
import type { TrustProxy } from '../../src/node/origin.js';
import { askedBy } from '../../src/node/refusal.js';
import { collectLogs } from '../support/peer/logs.js';
import { answerOn, handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import type { Offer } from '../support/socket/handshake.js';
import { until, watchResources } from '../support/socket/leaks.js';
import { clientFrame, plain } from '../support/socket/raw-client.js';
import { emptied, testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

const NAME = "expected the subprotocol 'mux.v1.json' in first place";

describe('handshakes', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;

  const started = async (options?: Parameters<typeof testServer>[0]): Promise<TestServer> => (server = await testServer(options));

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  // After the server, which writes its last lines as it ends.
  collectLogs();

  describe('accepted subprotocols', () => {
    it.each<readonly [what: string, protocols: readonly string[]]>([
      ['alone', ['mux.v1.json']],
      ['in first place, with others behind it', ['mux.v1.json, token.abc, mux.v2.json']],
      ['in first place, with others in further header lines', ['mux.v1.json', 'token.abc', 'x']],
      ['with spaces and tabs around it', [' \tmux.v1.json \t,\tx']],
    ])('A server accepts a handshake with its subprotocol: %s', async (_what, protocols) => {
      const { http, peers, refusals } = await started();
      const { status, headers, socket } = await handshake(http, { protocols });
      expect(status).toBe(101);
      expect(headers['sec-websocket-protocol']).toBe('mux.v1.json');
      expect(headers['sec-websocket-extensions']).toBeUndefined();
      expect(headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
      expect(peers).toHaveLength(1);
      expect(refusals).toEqual([]);
      socket.destroy();
    });

    it('A server accepts a handshake and declines the offered compression', async () => {
      const { http } = await started();
      const { status, headers, socket } = await handshake(http, { headers: { 'Sec-WebSocket-Extensions': 'permessage-deflate' } });
      expect([status, headers['sec-websocket-extensions']]).toEqual([101, undefined]);
      socket.destroy();
    });

    it('A server accepts the subprotocol that names its codec', async () => {
      const { http } = await started({ codec: new MsgpackCodec() });
      const accepted = await handshake(http, { protocols: ['mux.v1.msgpack'] });
      expect(accepted.status).toBe(101);
      accepted.socket.destroy();
      expect(await handshake(http)).toMatchObject({ status: 400, body: expect.stringContaining("'mux.v1.msgpack'") });
    });

    it('A server accepts a handshake with 900 header lines', async () => {
      const { http } = await started();
      const headers = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`x${n}`, '']));
      const { status, socket } = await handshake(http, { headers });
      expect(status).toBe(101);
      socket.destroy();
    });
  });

  describe('refused subprotocols', () => {
    it.each<readonly [what: string, protocols: readonly string[], got: string]>([
      ['none', [], 'none'],
      ['an empty one', [''], "''"],
      ['another codec', ['mux.v1.msgpack'], "'mux.v1.msgpack'"],
      ['another generation', ['mux.v2.json'], "'mux.v2.json'"],
      ['the right one in second place', ['mux.v2.json, mux.v1.json'], "'mux.v2.json, mux.v1.json'"],
      ['the right one in the second header line', ['x', 'mux.v1.json'], "'x, mux.v1.json'"],
      ['the right one after an empty one', [', mux.v1.json'], "', mux.v1.json'"],
      ['another letter case', ['Mux.v1.json'], "'Mux.v1.json'"],
      ['a prefix of the right one', ['mux.v1.jso'], "'mux.v1.jso'"],
      ['the right one with a suffix', ['mux.v1.json.gz'], "'mux.v1.json.gz'"],
    ])('A server refuses another subprotocol with 400 and a line that names the right one: %s', async (_what, protocols, got) => {
      const { http, peers, refusals } = await started();
      const { status, headers, body } = await handshake(http, { protocols });
      const line = `${NAME}, got ${got}`;
      expect(status).toBe(400);
      expect(body).toBe(`${line}\n`);
      expect(headers).toEqual({
        connection: 'close',
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'content-length': String(line.length + 1),
        'sec-websocket-version': '13',
      });
      expect(peers).toEqual([]);
      expect(refusals).toEqual([{ status: 400, reason: line }]);
      await emptied(http);
    });
  });

  it('The Content-Length of a refusal counts bytes and not characters', async () => {
    const { http } = await started();
    const { status, headers, body } = await handshake(http, { protocols: ['é'] });
    expect([status, headers['content-length']]).toEqual([400, String(Buffer.byteLength(body, 'latin1'))]);
    expect(body).toMatch(/'\n$/);
  });

  describe('malformed handshakes', () => {
    it.each<readonly [what: string, offer: Offer, named: string]>([
      ['no key', { headers: { 'Sec-WebSocket-Key': null } }, 'Sec-WebSocket-Key'],
      ['a key that is too short', { headers: { 'Sec-WebSocket-Key': 'YWJj' } }, 'Sec-WebSocket-Key'],
      ['no version', { headers: { 'Sec-WebSocket-Version': null } }, 'Sec-WebSocket-Version'],
      ['a version of the future', { headers: { 'Sec-WebSocket-Version': '14' } }, 'Sec-WebSocket-Version'],
      ['another method', { method: 'POST' }, 'method'],
      ['an upgrade to WebSocket and to another protocol', { headers: { Upgrade: 'websocket, h2c' } }, 'Upgrade'],
      ['a subprotocol twice', { protocols: ['mux.v1.json, mux.v1.json'] }, 'Sec-WebSocket-Protocol'],
      ['a subprotocol that is no token', { protocols: ['mux.v1.json, a b'] }, 'Sec-WebSocket-Protocol'],
    ])('A server refuses a malformed handshake with 400 and a line that names the fault: %s', async (_what, offer, named) => {
      const { http, peers, refusals } = await started();
      const { status, body } = await handshake(http, offer);
      expect(status).toBe(400);
      expect(body).toMatch(/^.+\n$/);
      expect(body).toContain(named);
      expect(peers).toEqual([]);
      expect(refusals).toEqual([{ status: 400, reason: body.trim() }]);
      await emptied(http);
    });
  });

  describe('paths', () => {
    it.each([
      ['/mux', 101],
      ['/mux?token=1', 101],
      ['/mux/', 404],
      ['/MUX', 404],
      ['/', 404],
      ['/?path=/mux', 404],
    ])('The path %s is answered with %i by a server of /mux', async (path, status) => {
      const { http, refusals } = await started({ path: '/mux' });
      const answer = await handshake(http, { path });
      expect(answer.status).toBe(status);
      if (status === 404) expect(refusals).toEqual([{ status, reason: `nothing answers at ${path.split('?', 1)[0] ?? ''}` }]);
      answer.socket.destroy();
    });

    it('A server leaves other paths to another upgrade listener', async () => {
      const { http, refusals } = await started({ path: '/mux' });
      http.on('upgrade', (request, socket) => {
        if (request.url === '/theirs') socket.end('HTTP/1.1 418 Theirs\r\n\r\n', () => socket.destroy());
      });
      expect((await handshake(http, { path: '/theirs' })).status).toBe(418);
      expect(refusals).toEqual([]);
      const ours = await handshake(http, { path: '/mux' });
      expect(ours.status).toBe(101);
      ours.socket.destroy();
    });

    it.each<readonly [what: string, paths: readonly (string | undefined)[], status: number]>([
      ['one with another path', ['/b'], 404],
      ['two with other paths', ['/b', '/c'], 404],
      ['one with this path', ['/b', '/x'], 101],
      ['one with all paths', [undefined], 101],
    ])('Several servers of the library answer a path once: %s', async (_what, paths, status) => {
      const { http, refusals } = await started({ path: '/a' });
      const others = paths.map((path) => serve({ server: http, path, keepalive: false }));
      const told: unknown[] = [...refusals];
      for (const mux of [server.mux, ...others]) mux.refusals$.subscribe(({ reason }) => told.push(reason));
      const answer = await handshake(http, { path: '/x' });
      expect(answer.status).toBe(status);
      expect(told).toEqual(status === 404 ? ['nothing answers at /x'] : []);
      answer.socket.destroy();
      await Promise.all(others.map((mux) => mux.close()));
    });

    it('A server without a path accepts every path', async () => {
      const { http } = await started();
      const answer = await handshake(http, { path: '/any/where' });
      expect(answer.status).toBe(101);
      answer.socket.destroy();
    });
  });

  it('A server reports no refusal for a handshake that another listener answers', async () => {
    const { http, peers, refusals } = await started({ path: '/' });
    http.once('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 429 Theirs\r\n\r\nlater');
    });
    expect(await handshake(http, { path: '/x' })).toMatchObject({ status: 429, body: 'later' });
    expect([peers, refusals]).toEqual([[], []]);
    await emptied(http);
  });

  describe('servers that go away', () => {
    it.each<readonly [what: string, offer: Offer]>([
      ['offers another subprotocol', { protocols: ['x'] }],
      ['comes from a foreign page', { headers: { Origin: 'https://evil.example' } }],
    ])('A server that goes away refuses a handshake with 503 even if it %s, and calls no hook', async (_what, offer) => {
      const origins = jest.fn(() => false);
      const { http, mux, refusals } = await started({ origins });
      const dialer = connect(`ws://127.0.0.1:${portOf(http)}`, { keepalive: false });
      origins.mockReturnValueOnce(true);
      await dialer.opened;
      await until('the peer', () => mux.peers.size === 1);
      for (const peer of mux.peers) peer.onStream((_payload, stream) => stream.closed);
      const stream = dialer.open('long');
      await dialer.ping();
      const closed = mux.close({ drainMs: 3_600_000 });
      origins.mockClear();
      expect((await handshake(http, offer)).status).toBe(503);
      expect(refusals).toEqual([{ status: 503, reason: 'this side is going away' }]);
      expect(origins).not.toHaveBeenCalled();
      stream.reset();
      await closed;
    });

    it('A server that goes away refuses a handshake with 503 while running streams finish', async () => {
      const { http, mux, refusals } = await started();
      const dialer = connect(`ws://127.0.0.1:${portOf(http)}`, { keepalive: false });
      const [peer] = await Promise.all([new Promise<void>((resolve) => mux.peers$.subscribe(() => resolve())), dialer.opened]);
      expect(peer).toBeUndefined();
      const held = [...mux.peers].map((each) => each.onStream((_payload, stream) => stream.closed));
      expect(held).toHaveLength(1);
      const stream = dialer.open('long');
      await dialer.ping();
      const closed = mux.close({ drainMs: 3_600_000 });
      expect(await handshake(http)).toMatchObject({ status: 503, body: 'this side is going away\n' });
      expect(refusals).toEqual([{ status: 503, reason: 'this side is going away' }]);
      stream.reset();
      await closed;
    });
  });

  describe('misbehaving dialers', () => {
    it.each(['/mux', '/other'])('A dialer that stays half open after its refusal leaves nothing behind, at %s', async (path) => {
      const { http } = await started({ path: '/mux' });
      const socket = await rawSocket(http);
      socket.write(requestOf({ path, protocols: ['x'] }));
      expect((await answerOn(socket)).status).toBeGreaterThanOrEqual(400);
      expect(socket.writable).toBe(true);
      await emptied(http);
      socket.destroy();
    });

    it.each(['/mux', '/other'])('A dialer that resets at once leaves nothing behind, and others still connect, at %s', async (path) => {
      const { http } = await started({ path: '/mux' });
      for (let n = 0; n < 20; n++) {
        const socket = await rawSocket(http);
        socket.write(requestOf({ path, protocols: n % 2 === 0 ? ['x'] : ['mux.v1.json'] }), () => socket.resetAndDestroy());
      }
      await emptied(http);
      const good = await handshake(http, { path: '/mux' });
      expect(good.status).toBe(101);
      good.socket.destroy();
    });

    it('A server loses no frame that arrives in one write with the handshake', async () => {
      const seen: unknown[] = [];
      const { http } = await started({ handler: (payload) => void seen.push(payload) });
      const socket = await rawSocket(http);
      const text = Buffer.from('{"type":"open","stream":1,"payload":"early","end":true}');
      const mask = Buffer.from([0, 0, 0, 0]);
      const frame = Buffer.concat([Buffer.from([0x81, 0x80 | text.length]), mask, text]);
      socket.write(Buffer.concat([Buffer.from(requestOf()), frame]));
      expect((await answerOn(socket)).status).toBe(101);
      await until('the frame to arrive', () => seen.length > 0);
      expect(seen).toEqual(['early']);
      socket.destroy();
    });

    it('A server loses no frame that arrives in one write with the handshake and with the close frame behind it', async () => {
      const seen: unknown[] = [];
      const { http, mux } = await started({ handler: (payload) => void seen.push(payload) });
      const ended = firstValueFrom(mux.peers$.pipe(mergeMap(({ closed }) => closed)));
      const socket = await rawSocket(http);
      const frames = [plain('{"type":"open","stream":1,"payload":"early","end":true}'), clientFrame(0x88, Buffer.from([0x03, 0xe8]))];
      socket.write(Buffer.concat([Buffer.from(requestOf()), ...frames]));
      expect(await ended).toMatchObject({ code: 1000, wasClean: true });
      expect(seen).toEqual(['early']);
      socket.destroy();
    });
  });
});

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
      ['a page in a file, for localhost', 'file://', 'localhost', 403],
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
    ['required, and a request without one', { required: true }, null, 403],
    ['required, and a page of the own server', { required: true }, 'https://example.org', 101],
    ['required, and a foreign page', { required: true }, 'https://a.example', 403],
    ['required and listed', { required: true, allow: ['https://a.example'] }, 'https://a.example', 101],
    [
      'required and listed, and a page that the list leaves out',
      { required: true, allow: ['https://a.example'] },
      'https://example.org',
      403,
    ],
    ['listed in an object, and no browser', { allow: ['https://a.example'] }, null, 101],
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
    expect(originAllowed(askedBy(request), undefined)).toBe(allowed);
  });
});

type Row = readonly [trust: TrustProxy | null, remote: string | undefined, forwarded: string | undefined, client: string | null];

function addressOf(trust: TrustProxy | null, remoteAddress: string | undefined, forwarded: string | undefined): string | null {
  const request = { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as unknown as IncomingMessage;
  return clientAddress(request, trust === null ? trustsNone : readTrustProxy('trustProxy', trust));
}

describe('the address of a client', () => {
  it.each<Row>([
    [null, '127.0.0.1', '198.51.100.1', '127.0.0.1'],
    [null, '::ffff:127.0.0.1', undefined, '127.0.0.1'],
    [null, undefined, '198.51.100.1', null],
    [0, '127.0.0.1', '198.51.100.1', '127.0.0.1'],
    [1, '127.0.0.1', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
    [2, '127.0.0.1', '6.6.6.6, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    [1, undefined, '198.51.100.1', '198.51.100.1'],
    [1, '127.0.0.1', undefined, '127.0.0.1'],
    [9, '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    [['10.0.0.0/8', '::1'], '::1', '6.6.6.6,198.51.100.1,10.1.2.3', '198.51.100.1'],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    [['10.0.0.0/8'], '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    [['2001:db8::/32'], '2001:db8::1', '2001:db9::2', '2001:db9::2'],
    [['10.0.0.0/8'], undefined, '198.51.100.1', null],
    [(address) => address.startsWith('10.'), '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    [(_address, hop) => hop === 0, '10.0.0.1', '198.51.100.1, 10.0.0.2', '10.0.0.2'],
    [1, '127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    [1, '127.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    [3, '127.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
    [3, '127.0.0.1', 'secret', '127.0.0.1'],
  ])('With trustProxy %p, a request from %s that was forwarded for %s comes from %s', (trust, remote, forwarded, client) => {
    expect(addressOf(trust, remote, forwarded)).toBe(client);
  });

  it.each([
    '198.51.100.1',
    '::ffff:198.51.100.1',
    '::FFFF:198.51.100.1',
    '::ffff:c633:6401',
    '::ffff:C633:6401',
    '0:0:0:0:0:ffff:198.51.100.1',
    '0:0:0:0:0:FFFF:C633:6401',
    '0000:0000:0000:0000:0000:ffff:c633:6401',
    '0::ffff:c633:6401',
    '[::ffff:c633:6401]:4711',
    '[0:0:0:0:0:ffff:198.51.100.1]',
    '::ffff:c633:6401%eth0',
  ])('An IPv4 address is one address however a proxy spells it: %s', (spelled) => {
    expect(addressOf(1, '127.0.0.1', spelled)).toBe('198.51.100.1');
    expect(addressOf(null, spelled, undefined)).toBe('198.51.100.1');
    expect(addressOf(['198.51.100.0/24'], spelled, '203.0.113.9')).toBe('203.0.113.9');
  });

  it.each(['2001:db8::1', '2001:DB8::1', '2001:0db8:0:0::0001', '2001:db8:0:0:0:0:0:1', '2001:db8::0.0.0.1', '[2001:db8::1]:443'])(
    'An IPv6 address is one address however a proxy spells it: %s',
    (spelled) => {
      expect(addressOf(1, '127.0.0.1', spelled)).toBe('2001:db8::1');
    },
  );

  it.each(['::ffff:10.0.0.1', '::ffff:a00:1', '::ffff:10.0.0.0/104'])('A trusted IPv4 proxy may be listed as %s', (entry) => {
    expect(addressOf([entry], '10.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  });

  it.each([
    ['trustProxy: expected an integer of at least 0, a list of addresses, or a function, got -1', -1],
    ['trustProxy: expected a count of proxies, a list of their addresses, or a function, got true', true],
    ["trustProxy[1]: expected an address or a subnet, such as '10.0.0.0/8', got 'nginx'", ['10.0.0.1', 'nginx']],
    ["trustProxy[0]: expected an address or a subnet, such as '10.0.0.0/8', got '10.0.0.0/99'", ['10.0.0.0/99']],
    ["trustProxy[0]: expected an address or a subnet, such as '10.0.0.0/8', got '10.0.0.0/'", ['10.0.0.0/']],
    ["trustProxy[0]: expected an address or a subnet, such as '10.0.0.0/8', got '10.0.0.0/ '", ['10.0.0.0/ ']],
    ["trustProxy[0]: expected an address or a subnet, such as '10.0.0.0/8', got '10.0.0.0/1e1'", ['10.0.0.0/1e1']],
    ["trustProxy[0]: expected an address or a subnet, such as '10.0.0.0/8', got '10.0.0.0/8/16'", ['10.0.0.0/8/16']],
  ])('`trustProxy` throws: %s', (message, given) => {
    expect(() => readTrustProxy('trustProxy', given as TrustProxy)).toThrow(new TypeError(message));
  });

  it.each<readonly [what: string, verdict: () => unknown]>([
    ['a promise', () => Promise.resolve(false)],
    ['a promise', () => Promise.reject(new Error('no list'))],
    ['undefined', () => undefined],
  ])('A function that returns %s trusts no proxy, and throws', (got, verdict) => {
    expect(() => addressOf(verdict as () => boolean, '127.0.0.1', '198.51.100.1')).toThrow(
      new TypeError(`trustProxy: expected a boolean, got ${got}`),
    );
  });

  it.each([
    ['198.51.100.1', '198.51.100.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['1:2::3:4:5:6.7.8.9', '1:2:0:3::/64'],
    ['1::', '1:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ])('The host of %s is %s', (address, host) => {
    expect(hostOf(address)).toBe(host);
  });
});
