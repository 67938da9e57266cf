import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer, get } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, NodeConnectOptions, ServeOptions } from '../../src/node.js';
import { logger } from '../../src/index.js';
import type { StreamHandler } from '../../src/index.js';
import { selfSigned } from '../support/socket/certificate.js';
import { answerOn, handshake, portOf, rawSocket } from '../support/socket/handshake.js';
import { turn, watchResources } from '../support/socket/leaks.js';
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
    const other = new WebSocketServer({ server: http, handleProtocols: () => 'mux.v1.json' });
    served({ server: http });
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
