import { createHash } from 'node:crypto';
import { Agent, createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server as ServerFromNodeHttp } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { CodecMismatch, connect as connectW3c, connect as connectFromIndex, ConnectError } from '../../src/index.js';
import type { ConnectUrl, DeadlineExceededError, Peer, PeerStatus, SocketEvent, SocketLike } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, serve } from '../../src/node.js';
import type { NodeConnectOptions } from '../../src/node.js';
import { virtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { FakeSocket } from '../support/socket/fake.js';
import { portOf } from '../support/socket/handshake.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { closing, listening } from '../support/socket/listening.js';
import { emptied, testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

describe('connect', () => {
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

    it('`connect` leaves out a header that is undefined', async () => {
      let seen: IncomingMessage['headers'] = {};
      const { http } = await muxServer({ verify: ({ headers }) => ((seen = headers), true) });
      const peer = dial(http, { headers: { Authorization: undefined, 'X-A': '' } });
      await peer.opened;
      expect([seen.authorization, seen['x-a']]).toEqual([undefined, '']);
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

    it('`connect` fails for a `socket` that returns a promise, also one that rejects', async () => {
      const peer = connect('ws://example.org', { socket: () => Promise.reject(new Error('no socket')) as never });
      await expect(peer.opened).rejects.toThrow('socket: expected a WebSocket, got an object');
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
          expect(await failed).toMatchObject({
            code: 'CONNECT',
            message: expect.stringContaining('within 3000 ms'),
            reason: { code: 1006 },
          });
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
});

describe('dials explained', () => {
  const logs = collectLogs();

  let leaks: ReturnType<typeof watchResources>;
  let endings: (() => unknown)[] = [];

  beforeEach(() => {
    leaks = watchResources();
    endings = [];
  });

  afterEach(async () => {
    for (const end of endings) await end();
    expect(await leaks()).toEqual({});
  });

  const ending = (peer: Peer): Peer => {
    endings.push(() => peer.close());
    return peer;
  };

  function listens(server: ServerFromNodeHttp): Promise<ServerFromNodeHttp> {
    endings.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return listening(server);
  }

  /** A port on which nothing listens. */
  async function freePort(): Promise<number> {
    const server = serve({ port: 0, host: '127.0.0.1' });
    await server.listening;
    const port = portOf(server);
    await server.close();
    return port;
  }

  describe('calls without a server', () => {
    it.each<readonly [returned: unknown, got: string]>([
      [undefined, 'undefined'],
      [Promise.resolve(null), 'null'],
      ['example.org/mux?token=secret', 'example.org/mux'],
      ['ftp://ann:secret@example.org', 'ftp://example.org'],
    ])('A dial whose function returns %p fails with an error that shows it, and no secret', async (returned, got) => {
      const peer = ending(connect(() => returned as string));
      expect(await settled(peer.request('p'))).toMatchObject({
        error: { code: 'CONNECT', message: `url: expected a ws: or wss: address, got '${got}'` },
      });
    });

    it('A call that times out without a server reports that it was never sent, why, and that it is retriable', async () => {
      const port = await freePort();
      const peer = ending(connect(`ws://ann:secret@127.0.0.1:${port}/mux?token=secret`, { reconnect: { maxAttempts: Infinity } }));
      await until('a failed dial', () => logs.warnings.length > 0);
      const { error } = (await settled(peer.request('p', { timeoutMs: 1 }))) as { error: DeadlineExceededError };
      expect(error.message).toBe(
        `expected the stream to end within 1 ms, but it was never sent: no connection to ws://127.0.0.1:${port}/mux; last dial: connect ECONNREFUSED 127.0.0.1:${port}`,
      );
      expect(error).toMatchObject({
        code: 'DEADLINE_EXCEEDED',
        retriable: true,
        cause: { code: 'CONNECT', cause: { code: 'ECONNREFUSED' } },
      });
    });

    it('A dialer logs the first failed dial of a series with its address, and the dial that opens', async () => {
      const port = await freePort();
      const peer = ending(
        connect(`ws://127.0.0.1:${port}/mux?token=secret`, { reconnect: { maxAttempts: Infinity, minDelayMs: 1, maxDelayMs: 1 } }),
      );
      let failed = 0;
      peer.onClose(() => failed++);
      await until('some failed dials', () => failed > 2);
      expect(logs.warnings).toEqual([
        `rxmux: a dial failed, and more follow: the connection to ws://127.0.0.1:${port}/mux could not be opened (1006 connect ECONNREFUSED 127.0.0.1:${port})`,
      ]);
      const server = serve({ port, host: '127.0.0.1' });
      endings.push(() => server.close());
      await peer.opened;
      expect(logs.warnings.slice(1)).toEqual([`rxmux: connected to ws://127.0.0.1:${port}/mux after ${failed} failed dials`]);
    });
  });

  describe('failed dials', () => {
    it('The error of a name with several addresses names each of them and has their errors as its cause', async () => {
      const port = await freePort();
      const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
      const lookup = (_host: string, _options: unknown, found: (error: null, all: readonly object[]) => void): void => {
        found(null, addresses);
      };
      const peer = ending(connect(`ws://several.test:${port}`, { tls: { lookup } as object }));
      const { error } = (await settled(peer.opened)) as { error: ConnectError };
      expect(error.message).toBe(
        `the connection to ws://several.test:${port} could not be opened (1006 connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port})`,
      );
      expect(error.cause).toMatchObject({ code: 'ECONNREFUSED', errors: [{ code: 'ECONNREFUSED' }, { code: 'ECONNREFUSED' }] });
    });

    it('The error of a dial with TLS to a server without it has one line', async () => {
      const server = serve({ port: 0, host: '127.0.0.1' });
      endings.push(() => server.close());
      await server.listening;
      const { error } = (await settled(ending(connect(`wss://127.0.0.1:${portOf(server)}`)).opened)) as { error: ConnectError };
      expect(error.message).toMatch(
        /^the connection to .+ could not be opened \(1006 .+(wrong version number|packet length too long):\S+\); does this port speak TLS\?$/,
      );
    });

    it('The error of newer versions of OpenSSL for an answer without TLS has the same question', async () => {
      // Under older versions such a record fails with this error. Under newer ones a line of HTTP does, too.
      const record = Buffer.from([0x16, 0x03, 0x03, 0xff, 0xff, ...Buffer.alloc(64)]);
      const other = createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end(record)));
      endings.push(() => other.close());
      await listening(other);
      const { error } = (await settled(ending(connect(`wss://127.0.0.1:${portOf(other)}`)).opened)) as { error: ConnectError };
      expect(error.message).toMatch(/\(1006 .+(packet|data) length too long:\S+\); does this port speak TLS\?$/);
    });

    it('The error of a proxy that passes no upgrade names the proxy', async () => {
      const server = serve({ port: 0, host: '127.0.0.1' });
      endings.push(() => server.close());
      await server.listening;
      // The proxy forwards the request without its hop-by-hop headers.
      const proxy = await listens(
        createServer().on('upgrade', (_request, socket) => {
          void fetch(`http://127.0.0.1:${portOf(server)}`).then(({ status }) => socket.end(`HTTP/1.1 ${status} Upgrade Required\r\n\r\n`));
        }),
      );
      await expect(connect(`ws://127.0.0.1:${portOf(proxy)}`).opened).rejects.toMatchObject({
        status: 426,
        message: expect.stringContaining('a proxy on the way may not pass upgrades'),
      });
    });

    it.each<readonly [what: string, status: number, hint: string]>([
      ['a page in place of a handshake', 200, 'a web server has answered, which knows of no WebSocket there'],
      ['404', 404, 'the log of an rxmux server names the paths that would answer'],
    ])('The error of a dial that gets %s asks whether the path is right', async (_what, status, hint) => {
      const web = await listens(createServer((_request, response) => response.writeHead(status).end('<html>')));
      const address = `ws://127.0.0.1:${portOf(web)}/mx`;
      await expect(connect(address).opened).rejects.toMatchObject({
        status,
        message: `expected ${address} to accept the handshake, got HTTP ${status}; is this the path? ${hint}`,
      });
    });

    it('A wrong path has the same question for the dialer, and its answer in the log of the server', async () => {
      const http = await listens(createServer());
      for (const path of ['/mux', '/admin'])
        endings.push(
          (
            (mux) => () =>
              mux.close()
          )(serve({ server: http, path })),
        );
      const { error } = (await settled(ending(connect(`ws://127.0.0.1:${portOf(http)}/mx?token=secret`)).opened)) as {
        error: ConnectError;
      };
      expect(error.message).toContain('got HTTP 404; is this the path?');
      expect(logs.warnings).toEqual(['rxmux: refused an upgrade: 404 /mx: nothing answers at /mx; this server answers at /mux, /admin']);
    });

    it.each<readonly [header: string, least: number, most: number]>([
      ['2', 2_000, 3_000],
      ['3600', 30_000, 30_000],
      ['Fri, 27 Nov 2026 00:00:00 GMT', 0, 500],
      ['-1', 0, 500],
    ])('A dialer waits for the time of Retry-After: %s', async (header, least, most) => {
      const http = await listens(
        createServer().on('upgrade', (_request, socket) => socket.end(`HTTP/1.1 503 x\r\nRetry-After: ${header}\r\n\r\n`)),
      );
      const peer = ending(connect(`ws://127.0.0.1:${portOf(http)}`, { reconnect: true }));
      const status = await firstValueFrom(peer.status$.pipe(filter(({ state }) => state === 'waiting')));
      const { delayMs } = status as { readonly delayMs: number };
      expect(delayMs).toBeGreaterThanOrEqual(least);
      expect(delayMs).toBeLessThanOrEqual(most);
    });
  });
});

/** A socket that dials again by itself at each loss, until it is closed, as several libraries do. */
class RedialingSocket implements SocketLike {
  readonly #target = new EventTarget();
  #isWanted = true;
  #socket: WebSocket;
  readonly #dial: () => WebSocket;

  constructor(url: string, protocol: string) {
    this.#dial = () => {
      const socket = new WebSocket(url, protocol);
      socket.binaryType = 'arraybuffer';
      socket.on('error', () => undefined);
      socket.on('open', () => this.#target.dispatchEvent(new Event('open')));
      socket.on('message', (data, isBinary) =>
        this.#target.dispatchEvent(new MessageEvent('message', { data: isBinary ? data : String(data) })),
      );
      socket.on('close', (code) => {
        // The next dial is already on its way when the listeners hear of the loss.
        queueMicrotask(() => {
          if (this.#isWanted) this.#socket = this.#dial();
        });
        this.#target.dispatchEvent(Object.assign(new Event('close'), { code, reason: '', wasClean: false }));
      });
      return socket;
    };
    this.#socket = this.#dial();
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  binaryType = 'arraybuffer';

  send(data: string | ArrayBuffer): void {
    this.#socket.send(data);
  }

  close(code?: number, reason?: string): void {
    this.#isWanted = false;
    this.#socket.close(code, reason);
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#target.addEventListener(type, listener);
  }

  removeEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#target.removeEventListener(type, listener);
  }
}

describe('a socket that dials again by itself', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;

  beforeEach(async () => {
    leaks = watchResources();
    server = await testServer({ handler: (payload, stream) => stream.reply(payload) });
  });

  afterEach(async () => {
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  it('A peer keeps one connection over several losses, and none after its close', async () => {
    const lines = new Set<Duplex>();
    server.http.on('connection', (line: Duplex) => lines.add(line));
    const dialed: unknown[] = [];
    const peer = connectFromIndex(`ws://127.0.0.1:${portOf(server.http)}`, {
      reconnect: { minDelayMs: 1, maxDelayMs: 1 },
      socket: (url, protocol) => {
        dialed.push(url);
        return new RedialingSocket(url, protocol);
      },
    });
    for (let loss = 1; loss <= 3; loss++) {
      expect(await peer.request(loss, { retry: 'safe' })).toBe(loss);
      lines.forEach((line) => {
        line.destroy();
      });
      await until('the next dial', () => dialed.length > loss);
    }
    expect(await peer.request('last', { retry: 'safe' })).toBe('last');
    await peer.close();
    await emptied(server.http);
    expect(server.peers).toHaveLength(dialed.length);
  });
});
