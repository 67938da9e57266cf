import { once } from 'node:events';
import { createServer, get, IncomingMessage, request as httpRequest } from 'node:http';
import type { RequestListener, Server as ServerFromNodeHttp } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Socket } from 'node:net';
import type { Server } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { logger } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, NodeConnectOptions, ServeOptions } from '../../src/node.js';
import { judgeUpgrades } from '../../src/node/upgrade-hub.js';
import { collectLogs } from '../support/peer/logs.js';
import { selfSigned } from '../support/socket/certificate.js';
import { answerOn, handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { closing, listening } from '../support/socket/listening.js';

const named =
  (name: string): StreamHandler =>
  (payload, stream) =>
    stream.reply(`${name} got ${String(payload)}`);

describe('servers', () => {
  let leaks: ReturnType<typeof watchResources>;
  /** Functions that run in this order after each test. */
  let endings: (() => unknown)[];

  const listens = <S extends Server>(server: S): Promise<S> => {
    endings.push(() => closing(server));
    return listening(server);
  };
  const served = (options: Parameters<typeof serve>[0]): MuxServer => {
    const server = serve({ keepalive: false, ...options });
    endings.unshift(() => server.close());
    return server;
  };
  const ask = async (server: { address(): ReturnType<Server['address']> }, path = '/', options: NodeConnectOptions = {}, scheme = 'ws') => {
    const peer = connect(`${scheme}://127.0.0.1:${portOf(server)}${path}`, { keepalive: false, ...options });
    const answer = await peer.request('hi');
    await peer.close();
    return answer;
  };
  const page = (server: Server, path = '/'): Promise<{ readonly status: number | undefined; readonly text: string }> =>
    new Promise((resolve, reject) => {
      get({ port: portOf(server), host: '127.0.0.1', path, agent: false }, (response: IncomingMessage) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          resolve({ status: response.statusCode, text });
        });
      }).on('error', reject);
    });

  beforeEach(() => {
    leaks = watchResources();
    endings = [];
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    for (const end of endings) await end();
    expect(await leaks()).toEqual({});
  });

  describe('own ports', () => {
    it('A server on its own port listens on a free port, and answers pages with 426', async () => {
      const server = served({ port: 0, host: '127.0.0.1', handler: named('own') });
      expect(server.address()).toBeNull();
      const address = await server.listening;
      expect(address).toEqual(server.address());
      expect(address).toMatchObject({ address: '127.0.0.1', family: 'IPv4' });
      expect(await ask(server)).toBe('own got hi');
      expect(await page(server as unknown as Server)).toEqual({ status: 426, text: 'expected a WebSocket upgrade\n' });
    });

    it('A server on its own port closes the connection of a page', async () => {
      const server = served({ port: 0, host: '127.0.0.1' });
      await server.listening;
      const socket = await rawSocket(server);
      socket.write('GET / HTTP/1.1\r\nHost: example.org\r\n\r\n');
      expect(await answerOn(socket)).toMatchObject({ status: 426, headers: { connection: 'close' } });
      socket.destroy();
    });

    it('A server on its own port speaks TLS', async () => {
      const { key, cert } = selfSigned();
      const server = served({ port: 0, host: '127.0.0.1', tls: { key, cert }, handler: named('tls') });
      await server.listening;
      expect(await ask(server, '/', { tls: { ca: cert } }, 'wss')).toBe('tls got hi');
      const stranger = connect(`wss://127.0.0.1:${portOf(server)}`, { keepalive: false });
      await expect(stranger.opened).rejects.toMatchObject({
        code: 'CONNECT',
        status: null,
        message: expect.stringContaining('certificate'),
      });
    });
  });

  describe('HTTP servers of the user', () => {
    it('An HTTP server answers its pages before, while and after it serves peers', async () => {
      const routes: RequestListener = (request, response) => response.end(`page ${String(request.url)}`);
      const http = createServer(routes);
      const mux = served({ server: http, path: '/mux', handler: named('joined') });
      await listens(http);
      expect(await mux.listening).toEqual(http.address());
      expect(await page(http, '/a')).toEqual({ status: 200, text: 'page /a' });
      const peer = connect(`ws://127.0.0.1:${portOf(http)}/mux`, { keepalive: false });
      expect(await peer.request('hi')).toBe('joined got hi');
      expect(await page(http, '/mux')).toEqual({ status: 200, text: 'page /mux' });
      await mux.close();
      expect(await peer.closed).toMatchObject({ code: 1000 });
      expect(http.listening).toBe(true);
      expect(await page(http, '/b')).toEqual({ status: 200, text: 'page /b' });
    });

    it('A closed server leaves no listener on the HTTP server of the user', async () => {
      const http = createServer();
      const counts = () => http.eventNames().map((name) => [name, http.listenerCount(name)]);
      const before = counts();
      const mux = served({ server: http });
      await listens(http);
      await mux.listening;
      await mux.close();
      expect(counts()).toEqual(before);
    });

    it('A server joins an HTTPS server', async () => {
      const { key, cert } = selfSigned();
      const https = createTlsServer({ key, cert });
      served({ server: https, handler: named('https') });
      await listens(https);
      expect(await ask(https, '/', { tls: { ca: cert } }, 'wss')).toBe('https got hi');
    });

    it('A server joins an HTTP server that already listens', async () => {
      const http = await listens(createServer());
      const mux = served({ server: http, handler: named('late') });
      expect(await mux.listening).toEqual(http.address());
      expect(await ask(http)).toBe('late got hi');
    });

    it('Several servers share one HTTP server by their paths', async () => {
      const http = createServer();
      served({ server: http, path: '/a', handler: named('a') });
      served({ server: http, path: '/b', handler: named('b') });
      await listens(http);
      expect(await Promise.all([ask(http, '/a'), ask(http, '/b')])).toEqual(['a got hi', 'b got hi']);
    });

    it('A server shares one HTTP server with another WebSocket server behind a router', async () => {
      const http = createServer();
      served({ server: http, path: '/mux', handler: named('mux') });
      const others = new WebSocketServer({ noServer: true });
      others.on('connection', (ws) => ws.send('other'));
      http.on('upgrade', (request, socket, head) => {
        if (request.url === '/other') others.handleUpgrade(request, socket, head, (ws) => others.emit('connection', ws));
      });
      await listens(http);
      expect(await ask(http, '/mux')).toBe('mux got hi');
      const other = new WebSocket(`ws://127.0.0.1:${portOf(http)}/other`);
      const message = await new Promise((resolve) => other.once('message', (data: Buffer) => resolve(data.toString())));
      expect(message).toBe('other');
      other.terminate();
    });

    it('A server leaves the errors of the HTTP server to its user', async () => {
      const taken = await listens(createServer());
      const http = createServer();
      const mux = served({ server: http });
      // A server without an error listener throws in Node. A listener of the library would prevent that.
      expect(http.listenerCount('error')).toBe(0);
      const seen = new Promise((resolve) => http.once('error', resolve));
      http.listen(portOf(taken), '127.0.0.1');
      await expect(mux.listening).rejects.toMatchObject({ code: 'EADDRINUSE' });
      expect(await seen).toMatchObject({ code: 'EADDRINUSE' });
      expect(http.listenerCount('error')).toBe(0);
    });
  });

  it('A server reports each peer to peers$ and onPeer, and adds it to peers, before it reads', async () => {
    const order: unknown[] = [];
    const http = await listens(createServer());
    const mux = served({
      server: http,
      onPeer: (peer, request) => {
        order.push(['onPeer', request?.url, mux.peers.has(peer)]);
        peer.onStream((payload, stream) => stream.reply(['answered', payload]));
      },
    });
    mux.peers$.subscribe((peer) => {
      order.push(['peers$', mux.peers.has(peer)]);
      peer.onFrame((direction, { type }) => order.push([direction, type]));
    });
    expect(await ask(http, '/x?y=1')).toEqual(['answered', 'hi']);
    expect(order.slice(0, 4)).toEqual([
      ['peers$', true],
      ['onPeer', '/x?y=1', true],
      ['rx', 'open'],
      ['tx', 'data'],
    ]);
  });

  it('A server does not warn of calls that a subscriber of peers$ and onPeer make', async () => {
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const mux = served({ port: 0, host: '127.0.0.1', onPeer: (peer) => peer.notify('from onPeer') });
    mux.peers$.subscribe((peer) => {
      peer.notify('from peers$');
    });
    await mux.listening;
    const received: unknown[] = [];
    const dialer = connect(mux.url, { keepalive: false, onStream: (payload, stream) => received.push(payload) && stream.end() });
    await until('two pushes', () => received.length === 2);
    await dialer.close();
    expect([received, warn.mock.calls]).toEqual([['from peers$', 'from onPeer'], []]);
  });

  it('A server returns the same peers$ and refusals$ at each read', () => {
    const mux = served({ server: createServer() });
    expect(mux.peers$).toBe(mux.peers$);
    expect(mux.refusals$).toBe(mux.refusals$);
  });

  it('A server has a peer in peers while the peer is connected', async () => {
    const http = await listens(createServer());
    const mux = served({ server: http, handler: named('x') });
    const gone: unknown[] = [];
    mux.peers$.subscribe((peer) => void peer.closed.then((reason) => gone.push(reason)));
    const dialers = [0, 1, 2].map(() => connect(`ws://127.0.0.1:${portOf(http)}`, { keepalive: false }));
    await Promise.all(dialers.map((dialer) => dialer.request('hi')));
    expect(mux.peers.size).toBe(3);
    await Promise.all(dialers.map((dialer) => dialer.close()));
    while (gone.length < 3) await turn();
    expect(mux.peers.size).toBe(0);
    expect(gone).toEqual([0, 1, 2].map(() => ({ code: 1000, reason: '', wasClean: true, willRetry: false })));
  });

  it('A server and its peer survive an onPeer that throws', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const http = await listens(createServer());
    served({
      server: http,
      handler: named('still'),
      onPeer: () => {
        throw new Error('no such room');
      },
    });
    expect(await ask(http)).toBe('still got hi');
    expect(error.mock.calls).toEqual([['rxmux: onPeer failed', new Error('no such room')]]);
  });

  it('A server logs a dialer that another listener has answered, and sends nothing', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const http = await listens(createServer());
    const other = new WebSocketServer({ noServer: true, handleProtocols: () => 'mux.v1.json' });
    served({ server: http });
    const ours = http.emit.bind(http);
    http.emit = (event: string, ...args: unknown[]): boolean => {
      if (event === 'upgrade') other.handleUpgrade(...(args as [IncomingMessage, Socket, Buffer]), () => undefined);
      return ours(event, ...args);
    };
    const { status, body, socket } = await handshake(http);
    expect([status, body]).toEqual([101, '']);
    expect(error.mock.calls.map(([what]) => what)).toEqual(['rxmux: an upgrade failed']);
    socket.destroy();
    other.close();
  });
});

describe('serve', () => {
  it.each([
    ['neither a port nor a server', {}, 'port: expected an integer from 0 to 65535, or a server, got undefined'],
    ['a text for a port', { port: 'abc' }, "port: expected an integer from 0 to 65535, or a server, got 'abc'"],
    ['a port out of range', { port: 65_536 }, 'port: expected an integer from 0 to 65535, or a server, got 65536'],
    ['a negative port', { port: -1 }, 'port: expected an integer from 0 to 65535, or a server, got -1'],
    ['half a port', { port: 80.5 }, 'port: expected an integer from 0 to 65535, or a server, got 80.5'],
    ['a path that is a number', { port: 0, path: 5 }, "path: expected one that begins with '/', got 5"],
    ['an object for a server', { server: {} }, 'server: expected one of node:http or node:https, got an object'],
    ['a host that is a number', { port: 0, host: 127 }, 'host: expected a text, got 127'],
    ['no options', undefined, 'options: expected an object, got undefined'],
    ['null for options', null, 'options: expected an object, got null'],
    ['a path without its slash', { port: 0, path: 'mux' }, "path: expected one that begins with '/', got 'mux'"],
  ])('`serve` throws TypeError for %s', (_what, options, message) => {
    expect(() => serve(options as ServeOptions)).toThrow(new TypeError(message));
  });
});

describe('upgrade hub', () => {
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

    it('Servers of two copies of the package answer an unknown path once', async () => {
      // The second copy has a logger of its own.
      const said = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
      served('/a');
      await jest.isolateModulesAsync(async () => {
        const copy = await import('../../src/node.js');
        servers.push(copy.serve({ server: http.now, path: '/b', keepalive: false }));
      });
      const statusOf = async (path: string): Promise<number> => {
        const { status, socket } = await handshake(http.now, { path });
        socket.destroy();
        return status;
      };
      expect([await statusOf('/a'), await statusOf('/b'), await statusOf('/none')]).toEqual([101, 101, 404]);
      await servers[0]?.close();
      expect([await statusOf('/b'), await statusOf('/a')]).toEqual([101, 404]);
      expect(said.mock.calls).toEqual([[expect.stringContaining('404 /a: nothing answers at /a; this server answers at /b')]]);
      said.mockRestore();
    });

    it('A request may name the whole address in place of its path (RFC 9112 §3.2.2)', async () => {
      served(...PATHS);
      const targets = ['http://example.org/0?token=1', 'HTTP://example.org:8080/1', 'http://example.org'];
      const answers = await Promise.all(targets.map((path) => handshake(http.now, { path })));
      for (const { socket } of answers) socket.destroy();
      expect(answers.map(({ status, body }) => [status, body])).toEqual([
        [101, ''],
        [101, ''],
        [404, 'nothing answers at /\n'],
      ]);
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

  describe('upgrade listeners of others', () => {
    /** Whether rxmux or the other joins the HTTP server first. */
    const ORDERS = [
      ['first', true],
      ['second', false],
    ] as const;

    /** Joins a server of the library and another, in an order. */
    const join = (isFirst: boolean, options: Pick<ServeOptions, 'path' | 'verify'>, other: () => void): MuxServer => {
      if (!isFirst) other();
      const mux = serve({ server: http.now, handler: named('mux'), keepalive: false, ...options });
      servers = [mux];
      if (isFirst) other();
      return mux;
    };
    const greeter = (options: object): WebSocketServer => {
      const others = new WebSocketServer({ server: http.now, ...options });
      others.on('connection', (ws) => {
        ws.send('other');
      });
      return others;
    };
    const greeting = async (path: string, protocols: string[] = []): Promise<string> => {
      const socket = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}${path}`, protocols);
      const message = await new Promise<string>((resolve, reject) => {
        socket.on('error', reject);
        socket.once('message', (data: Buffer) => {
          resolve(data.toString());
        });
      });
      socket.terminate();
      return message;
    };
    const call = async (path: string): Promise<unknown> => {
      const peer = connect(`ws://127.0.0.1:${portOf(http.now)}${path}`, { keepalive: false });
      try {
        return await peer.request('hi');
      } finally {
        await peer.close();
      }
    };

    it.each(ORDERS)('A server that joins %s works beside a listener that ends each socket a turn later', async (_order, isFirst) => {
      const seen: unknown[] = [];
      join(isFirst, { path: '/mux' }, () => {
        http.now.on('upgrade', ({ url }, socket) => {
          seen.push(url);
          setImmediate(() => socket.end());
        });
      });
      const peer = connect(`ws://127.0.0.1:${portOf(http.now)}/mux`, { keepalive: false });
      for (let nth = 0; nth < 3; nth++) {
        expect(await peer.request('hi')).toBe('mux got hi');
        await turn();
      }
      await peer.close();
      const stray = await rawSocket(http.now);
      stray.write(requestOf({ path: '/page' }));
      await answerOn(stray);
      stray.destroy();
      expect(seen).toEqual(['/page']);
    });

    it.each([
      ...ORDERS.map(([order, isFirst]) => [order, 'of another path', isFirst, { path: '/other' }, { path: '/mux' }] as const),
      ...ORDERS.map(([order, isFirst]) => [order, 'of all paths', isFirst, {}, { path: '/mux' }] as const),
      ...ORDERS.map(([order, isFirst]) => [order, 'of a path, itself without one', isFirst, { path: '/other' }, {}] as const),
      ...ORDERS.map(([order, isFirst]) => [order, 'of all paths, itself without one', isFirst, {}, {}] as const),
    ])('A server that joins %s works beside a WebSocketServer %s', async (_order, _what, isFirst, theirs, ours) => {
      let others: WebSocketServer | undefined;
      const mux = join(isFirst, ours, () => {
        others = greeter(theirs);
      });
      expect([await call('/mux'), await greeting('/other'), await greeting('/other', ['chat'])]).toEqual(['mux got hi', 'other', 'other']);
      others?.close();
      expect(await call('/mux')).toBe('mux got hi');
      const again = greeter(theirs);
      await mux.close();
      expect(await greeting('/other')).toBe('other');
      again.close();
      expect(logs.warnings).toEqual([]);
    });

    it('A server leaves other paths to a listener that has removed all others', async () => {
      join(true, { path: '/mux' }, () => {
        http.now.removeAllListeners('upgrade');
        http.now.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 418 Theirs\r\n\r\n'));
      });
      expect(await call('/mux')).toBe('mux got hi');
      expect((await handshake(http.now, { path: '/page' })).status).toBe(418);
    });

    it('Other listeners do not see an upgrade that `verify` has not judged yet', async () => {
      const seen = jest.fn();
      let judge: (verdict: boolean) => void = () => undefined;
      const verify = jest.fn(() => new Promise<boolean>((resolve) => (judge = resolve)));
      join(true, { path: '/mux', verify }, () => {
        http.now.on('upgrade', seen);
      });
      const called = call('/mux');
      await until('verify is called', () => verify.mock.calls.length > 0);
      judge(true);
      expect(await called).toBe('mux got hi');
      expect(seen).not.toHaveBeenCalled();
    });

    it.each([
      ['a server of its path', { path: '/mux' }, 'chat', 400],
      ['a server of its path', { path: '/mux' }, 'mux.v1.msgpack', 400],
      ['a server without a path', {}, 'mux.v1.msgpack', 400],
    ])('An upgrade with the wrong subprotocol is refused beside another listener by %s', async (_what, options, protocol, status) => {
      const seen = jest.fn();
      join(true, options, () => {
        http.now.on('upgrade', seen);
      });
      expect(await handshake(http.now, { path: '/mux', protocols: [protocol] })).toMatchObject({ status });
      expect(seen).not.toHaveBeenCalled();
    });

    it('A closed server leaves its path to the other listeners, and the HTTP server as it was', async () => {
      const before = Object.getOwnPropertyNames(http.now);
      const mux = join(true, { path: '/mux' }, () => {
        http.now.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 418 Theirs\r\n\r\n'));
      });
      await mux.close();
      expect((await handshake(http.now, { path: '/mux' })).status).toBe(418);
      expect(Object.getOwnPropertyNames(http.now).filter((name) => !before.includes(name))).toEqual([]);
    });

    it('A closed server keeps the `emit` that others have put around its own', async () => {
      const mux = join(true, { path: '/mux' }, () => {
        http.now.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 418 Theirs\r\n\r\n'));
      });
      const around = jest.spyOn(http.now, 'emit');
      expect(await call('/mux')).toBe('mux got hi');
      await mux.close();
      expect(Object.getOwnPropertyDescriptor(http.now, 'emit')?.value).toBe(around);
      expect((await handshake(http.now, { path: '/mux' })).status).toBe(418);
      around.mockRestore();
    });

    it('A closed server restores the `emit` that the HTTP server had', async () => {
      const own = http.now.emit.bind(http.now);
      http.now.emit = own;
      const mux = join(true, { path: '/mux' }, () => undefined);
      expect(await call('/mux')).toBe('mux got hi');
      await mux.close();
      expect(Object.getOwnPropertyDescriptor(http.now, 'emit')?.value).toBe(own);
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
    const prepare = (server: ServerFromNodeHttp): void => {
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
    const h2c = (server: ServerFromNodeHttp): boolean => {
      const asked = server as ServerFromNodeHttp & { shouldUpgradeCallback(request: IncomingMessage): boolean };
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
});
