import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { Agent, createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Server } from 'node:net';
import { WebSocket } from 'ws';
import { CodecMismatch, ConnectError, connect as connectW3c } from '../../src/index.js';
import type { ConnectUrl, PeerStatus } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect } from '../../src/node.js';
import type { NodeConnectOptions } from '../../src/node.js';
import { virtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { FakeSocket } from '../support/socket/fake.js';
import { portOf } from '../support/socket/handshake.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { closing, listening } from '../support/socket/listening.js';
import { testServer } from '../support/socket/servers.js';

collectLogs();

describe('connect', () => {
  let leaks: ReturnType<typeof watchResources>;
  let endings: (() => unknown)[];

  const listens = <S extends Server>(server: S): Promise<S> => {
    endings.push(() => closing(server));
    return listening(server);
  };
  const page = (answer: RequestListener) => listens(createServer(answer));
  const muxServer = async (...options: Parameters<typeof testServer>) => {
    const server = await testServer(...options);
    endings.push(() => server.dispose());
    return server;
  };
  const dial = (server: Server, options: NodeConnectOptions = {}) =>
    connect(`ws://127.0.0.1:${portOf(server)}`, { keepalive: false, ...options });

  beforeEach(() => {
    leaks = watchResources();
    endings = [];
  });

  afterEach(async () => {
    for (const end of endings) await end();
    expect(await leaks()).toEqual({});
  });

  it('`connect` sends headers and uses an agent', async () => {
    let seen: IncomingMessage['headers'] = {};
    const { http } = await muxServer({ verify: ({ headers }) => ((seen = headers), true) });
    const made: unknown[] = [];
    class CountingAgent extends Agent {
      override createConnection(...args: Parameters<Agent['createConnection']>): ReturnType<Agent['createConnection']> {
        made.push(args);
        return super.createConnection(...args);
      }
    }
    const peer = dial(http, { headers: { Authorization: 'Bearer x', Cookie: ['a=1', 'b=2'] }, agent: new CountingAgent() });
    await peer.opened;
    expect(seen).toMatchObject({ authorization: 'Bearer x', cookie: 'a=1; b=2', 'sec-websocket-protocol': 'mux.v1.json' });
    expect(seen['sec-websocket-extensions']).toBeUndefined();
    expect(made).toHaveLength(1);
    await peer.close();
  });

  describe('refusals', () => {
    it('`connect` fails with CodecMismatch at 400, and does not dial again', async () => {
      const { http, refusals } = await muxServer({ codec: new MsgpackCodec() });
      const peer = dial(http, { reconnect: true });
      const closes: unknown[] = [];
      peer.onClose((reason) => closes.push(reason));
      const failure = await peer.opened.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(CodecMismatch);
      expect(failure).toMatchObject({ code: 'CODEC_MISMATCH', offered: 'mux.v1.json' });
      expect(closes).toEqual([{ code: 1008, reason: (failure as Error).message, wasClean: false, willRetry: false }]);
      expect(refusals).toHaveLength(1);
    });

    /** Answers each upgrade with 400 and these bytes, and ends the connection unless `open`. */
    const refusing = async (body: string | Buffer, open = false) => {
      const http = await page(() => undefined);
      http.on('upgrade', (_request, socket) => {
        socket.on('error', () => undefined).write(Buffer.concat([Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), Buffer.from(body)]));
        if (!open) socket.end();
        endings.unshift(() => socket.destroy());
      });
      return http;
    };

    it('`connect` recognizes the answer of an acceptor by its beginning', async () => {
      const http = await refusing("expected the subprotocol 'mux.v1.cbor' in first place, got 'mux.v1.json'\n");
      await expect(dial(http).opened).rejects.toMatchObject({ code: 'CODEC_MISMATCH', offered: 'mux.v1.json', selected: '' });
    });

    it.each<readonly [what: string, body: string | Buffer, shown: string]>([
      ['of a TLS port of Go', 'Client sent an HTTP request to an HTTPS server.\n', ': "Client sent an HTTP request to an HTTPS server."'],
      [
        'of a TLS port of nginx',
        '<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n<body>\r\n',
        ': "400 The plain HTTP request was sent to HTTPS port"',
      ],
      ['of another WebSocket server', "expected the subprotocol 'graphql-ws'", ': "expected the subprotocol \'graphql-ws\'"'],
      ['of `ws`', 'Missing or invalid Sec-WebSocket-Key header', ': "Missing or invalid Sec-WebSocket-Key header"'],
      ['without a text', '', ''],
      ['of empty lines', '\r\n \n\r\n', ''],
      ['with controls', 'a\u001b[31mb\u202ec\n', ': "a\\u001b[31mb\\u202ec"'],
      ['with a long line', 'x'.repeat(100_000), `: "${'x'.repeat(100)}…"`],
      ['of nothing but brackets', '<'.repeat(100_000), `: "${'<'.repeat(100)}…"`],
      ['that is no text', Buffer.from([0xff, 0x0a]), ': "\ufffd"'],
    ])('`connect` shows the first line of an HTTP 400 %s, and does not dial again', async (_what, body, shown) => {
      const http = await refusing(body);
      const peer = dial(http, { reconnect: true });
      const failure = await peer.opened.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConnectError);
      expect(failure).toMatchObject({
        status: 400,
        message: `expected ws://127.0.0.1:${portOf(http)} to accept the handshake, got HTTP 400${shown}; does this port speak TLS?`,
        reason: { code: 1006, willRetry: false },
      });
      expect(peer.status).toMatchObject({ state: 'closed', error: failure });
    });

    it('`connect` does not wait for the end of an HTTP 400', async () => {
      for (const body of ['a line\nand no end', 'a line']) {
        const failure = await dial(await refusing(body, true), { connectTimeoutMs: 0 }).opened.catch((error: unknown) => error);
        expect(failure).toMatchObject({ status: 400, message: expect.stringContaining('got HTTP 400: "a line"; does') });
      }
    });

    it('`connect` ends at `close` while it reads an HTTP 400', async () => {
      const http = await refusing('a line', true);
      const peer = dial(http, { connectTimeoutMs: 0 });
      await new Promise((resolve) => http.once('upgrade', resolve));
      await turn();
      await peer.close();
      expect(peer.status.state).toBe('closed');
    });

    it('`connect` without TLS asks about TLS when the port answers with an alert of TLS, or hangs up', async () => {
      for (const answer of [[0x15, 3, 1, 0, 2, 2, 0x46], []]) {
        const tcp = await listens(
          createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(Buffer.from(answer)))),
        );
        await expect(dial(tcp).opened).rejects.toMatchObject({
          message: expect.stringMatching(/ \(1006 .+\); does this port speak TLS\?$/),
        });
      }
    });

    it.each([401, 403] as const)('`connect` fails with the status %i, and does not dial again', async (status) => {
      const { http, refusals } = await muxServer({ verify: () => status });
      const peer = dial(http, { reconnect: true });
      const failure = await peer.opened.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConnectError);
      expect(failure).toMatchObject({
        status,
        reason: { code: 1006, reason: `the handshake was answered with HTTP ${status}`, willRetry: false },
        message: `expected ws://127.0.0.1:${portOf(http)} to accept the handshake, got HTTP ${status}`,
      });
      expect(peer.status).toEqual({ state: 'closed', reason: expect.objectContaining({ code: 1006 }), error: failure });
      expect(refusals).toHaveLength(1);
    });

    it.each<[how: string, give: (socket: WebSocket) => void]>([
      ['closed', (socket) => socket.close()],
      ['terminated', (socket) => socket.terminate()],
    ])('`connect` dials again after a socket that was %s before it opened', async (_how, give) => {
      const { http } = await muxServer();
      let dials = 0;
      const peer = dial(http, {
        reconnect: { minDelayMs: 1, maxDelayMs: 1 },
        socket: (url, protocols) => {
          const socket = new WebSocket(url, protocols);
          socket.on('error', () => undefined);
          if (++dials === 1) give(socket);
          return socket;
        },
      });
      const closes: unknown[] = [];
      peer.onClose((reason) => closes.push(reason));
      await peer.opened;
      expect(dials).toBe(2);
      expect(closes).toEqual([expect.objectContaining({ code: 1006, willRetry: true })]);
      await peer.close();
    });

    it('`connect` fails pending calls, `opened` and pings when it is refused', async () => {
      const { http } = await muxServer({ verify: () => false });
      const peer = dial(http);
      const [asked, opened, pinged] = await Promise.allSettled([peer.request(1), peer.opened, peer.ping()]);
      expect(asked).toMatchObject({ status: 'rejected', reason: { retriable: true } });
      expect(opened).toMatchObject({ status: 'rejected', reason: { code: 'CONNECT', status: 403 } });
      expect(pinged).toMatchObject({ status: 'rejected', reason: { code: 'CONNECT', status: 403 } });
    });
  });

  describe('other servers', () => {
    it.each([200, 301, 404, 503])('`connect` fails with ConnectError at a page with status %i', async (status) => {
      const http = await page((_request, response) => response.writeHead(status, { Location: '/', Connection: 'close' }).end('a page'));
      await expect(dial(http).opened).rejects.toMatchObject({ code: 'CONNECT', status });
    });

    it('`connect` fails with ConnectError when no server listens', async () => {
      const http = await page(() => undefined);
      const url = `ws://127.0.0.1:${portOf(http)}`;
      await new Promise((resolve) => http.close(resolve));
      endings = [];
      await expect(connect(url).opened).rejects.toMatchObject({
        code: 'CONNECT',
        status: null,
        // The platform reports the cause, so the message needs no hints.
        message: `the connection to ${url} could not be opened (1006 connect ECONNREFUSED ${url.slice('ws://'.length)})`,
        cause: { code: 'ECONNREFUSED' },
      });
    });

    it('`connect` fails with ConnectError when the answer is not HTTP', async () => {
      const tcp = await listens(
        createTcpServer((socket) =>
          socket
            .on('error', () => undefined)
            .resume()
            .end('220 mail.example\r\n'),
        ),
      );
      await expect(dial(tcp).opened).rejects.toMatchObject({ code: 'CONNECT', status: null });
    });

    it('`connect` fails with ConnectError when the socket is reset', async () => {
      const tcp = await listens(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
      await expect(dial(tcp).opened).rejects.toMatchObject({ code: 'CONNECT', status: null });
    });

    it.each<readonly [what: string, url: ConnectUrl]>([
      ['a function that returns no URL', () => 'nowhere'],
      ['a function that returns another scheme', () => 'ftp://127.0.0.1'],
      ['a fragment', 'ws://127.0.0.1/#x'],
      [
        'a function that throws',
        () => {
          throw new Error('no address');
        },
      ],
      ['a function that rejects', () => Promise.reject(new Error('no address'))],
    ])('`connect` fails with ConnectError for %s', async (_what, url) => {
      const failure = await connect(url).opened.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConnectError);
      expect((failure as Error).cause).toBeInstanceOf(Error);
    });
  });

  it.each<readonly [what: string, lines: readonly string[], selected: string]>([
    ['selects no subprotocol', [], ''],
    ['selects another subprotocol', ['Sec-WebSocket-Protocol: mux.v1.msgpack'], 'mux.v1.msgpack'],
  ])('`connect` fails with CodecMismatch when the server %s, and does not dial again', async (_what, lines, selected) => {
    const http = await page(() => undefined);
    http.on('upgrade', (request, socket) => {
      const key = String(request.headers['sec-websocket-key']);
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
      socket.on('error', () => undefined).end([...head, ...lines, '', ''].join('\r\n'));
    });
    const peer = dial(http, { reconnect: true });
    const failure = await peer.opened.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CodecMismatch);
    expect(failure).toMatchObject({ offered: 'mux.v1.json', selected });
    expect(await peer.closed).toEqual({ code: 1008, reason: (failure as Error).message, wasClean: false, willRetry: false });
  });

  it('`connect` closes with 1008 and fails with CodecMismatch when the socket opens with another subprotocol', async () => {
    const socket = new FakeSocket('CONNECTING');
    const peer = connect('ws://example.org', { socket: () => socket });
    socket.protocol = 'mux.v1.msgpack';
    socket.emit('open', {}, 'OPEN');
    const failure = await peer.opened.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CodecMismatch);
    expect(failure).toMatchObject({ offered: 'mux.v1.json', selected: 'mux.v1.msgpack' });
    expect(socket.closes[0]).toEqual([4008, (failure as Error).message]);
    expect(await peer.closed).toMatchObject({ code: 1008, willRetry: false });
    socket.emit('close', { code: 1006 }, 'CLOSED');
  });

  describe('silent servers', () => {
    it.each([
      ['ws', (url: string, options: NodeConnectOptions) => connect(url, options)],
      [
        'a W3C-shaped socket',
        (url: string, options: NodeConnectOptions) =>
          connectW3c(url, { ...options, socket: (address, protocol) => new WebSocket(address, protocol) }),
      ],
    ] as const)('`connect` fails after connectTimeoutMs without an answer, over %s', async (_what, dialTo) => {
      let met = 0;
      let left = 0;
      const tcp = await listens(
        createTcpServer((socket) => {
          met++;
          socket.on('error', () => undefined).on('close', () => left++);
          socket.resume();
        }),
      );
      await leaks(0);
      const time = virtualTime();
      try {
        const peer = dialTo(`ws://127.0.0.1:${portOf(tcp)}`, { connectTimeoutMs: 3_000 });
        const failed = peer.opened.catch((error: unknown) => error);
        const statuses: PeerStatus['state'][] = [];
        peer.status$.subscribe(({ state }) => statuses.push(state));
        await until('the dialer to come', () => met === 1);
        await time.advance(2_999);
        expect(statuses).toEqual(['connecting']);
        await time.advance(1);
        expect(await failed).toMatchObject({ code: 'CONNECT', message: expect.stringContaining('within 3000 ms'), reason: { code: 1006 } });
        expect(statuses).toEqual(['connecting', 'closed']);
        await until('the dialer to leave', () => left === 1);
      } finally {
        time.restore();
      }
    });

    it('`close` ends an unanswered `connect` at once', async () => {
      const sockets: { destroyed: boolean }[] = [];
      const tcp = await listens(createTcpServer((socket) => sockets.push(socket.on('error', () => undefined).resume())));
      const peer = dial(tcp);
      await until('the dialer to come', () => sockets.length === 1);
      expect(await peer.close()).toEqual({ code: 1000, reason: 'closed before it was open', wasClean: false, willRetry: false });
      await until('the dialer to leave', () => sockets[0]?.destroyed === true);
    });
  });

  it('A peer leaves no timer behind when its calls are over', async () => {
    const { http } = await muxServer({ handler: (payload, stream) => stream.reply(payload) });
    const peer = connect(`ws://127.0.0.1:${portOf(http)}`, { reconnect: true });
    expect(await Promise.all(Array.from({ length: 50 }, (_, n) => peer.request(n)))).toEqual(Array.from({ length: 50 }, (_, n) => n));
    await peer.close();
    await turn();
  });
});
