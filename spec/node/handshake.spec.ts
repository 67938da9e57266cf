import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connect, serve } from '../../src/node.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { collectLogs } from '../support/peer/logs.js';
import { answerOn, handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import type { Offer } from '../support/socket/handshake.js';
import { until, watchResources } from '../support/socket/leaks.js';
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

  it.each<readonly [what: string, offer: Offer]>([
    ['an acceptable one', {}],
    ['one with another subprotocol', { protocols: ['x'] }],
    ['one with another path', { path: '/x' }],
  ])('A server reports no refusal for a handshake that another listener has answered: %s', async (_what, offer) => {
    const { http, peers, refusals } = await started({ path: '/' });
    // Only once, since the server leaves other paths to a listener that stays.
    http.prependOnceListener('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 429 Theirs\r\n\r\nlater');
    });
    expect(await handshake(http, offer)).toMatchObject({ status: 429, body: 'later' });
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
  });
});
