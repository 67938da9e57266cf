import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect as connectTcp, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { logger } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer, ServeOptions, UpgradeOptions } from '../../src/node.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { selfSigned } from '../support/socket/certificate.js';
import { answerOn, handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';

const HOUR = 3_600_000;

/** Dials `count` peers, each with one stream that lasts until its function in `finishes` is called. */
async function busy(server: MuxServer, count: number) {
  const finishes: (() => void)[] = [];
  const goaways: Peer[] = [];
  const accepted: Peer[] = [];
  server.peers$.subscribe((peer) => {
    accepted.push(peer);
    peer.onStream((_payload, stream) => new Promise<void>((resolve) => finishes.push(() => resolve(stream.reply('done')))));
    peer.onFrame((direction, { type }) => {
      if (direction === 'tx' && type === 'goaway') goaways.push(peer);
    });
  });
  const dialers: Peer[] = [];
  const answers: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    const dialer = connect(`ws://127.0.0.1:${portOf(server)}`, { keepalive: false, requestTimeoutMs: 0 });
    dialers.push(dialer);
    answers.push(dialer.request(n).catch((error: unknown) => error));
  }
  await until('every stream to be served', () => finishes.length === count);
  return { dialers, accepted, answers, finishes, goaways };
}

async function refuses(port: number): Promise<boolean> {
  const socket = connectTcp(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

describe('close', () => {
  let leaks: ReturnType<typeof watchResources>;

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    expect(await leaks()).toEqual({});
  });

  const listens = async (): Promise<MuxServer> => {
    const server = serve({ port: 0, host: '127.0.0.1', keepalive: false });
    await server.listening;
    return server;
  };

  it.each<readonly [what: string, options: object]>([
    ['drainMs', { drainMs: -1 }],
    ['code', { code: 0.5 }],
    ['reason', { reason: 7 }],
  ])('`close` throws TypeError for an invalid %s even without peers, and the server keeps listening', async (_what, options) => {
    const server = serve({ port: 0, host: '127.0.0.1' });
    await server.listening;
    expect(() => server.close(options)).toThrow(TypeError);
    expect(await refuses(portOf(server))).toBe(false);
    await server.close();
  });

  it('`close` closes every peer with 1000, completes the observables, and frees the port', async () => {
    const server = await listens();
    const port = portOf(server);
    const completed: string[] = [];
    server.peers$.subscribe({ complete: () => completed.push('peers$') });
    server.refusals$.subscribe({ complete: () => completed.push('refusals$') });
    const dialers = [0, 1, 2].map(() => connect(`ws://127.0.0.1:${port}`, { keepalive: false }));
    await Promise.all(dialers.map((dialer) => dialer.opened));
    await until('every peer', () => server.peers.size === 3);
    await server.close({ reason: 'new version' });
    expect(server.peers.size).toBe(0);
    expect(server.address()).toBeNull();
    expect(completed).toEqual(['peers$', 'refusals$']);
    for (const dialer of dialers)
      expect(await dialer.closed).toEqual({ code: 1000, reason: 'new version', wasClean: true, willRetry: false });
    expect(await refuses(port)).toBe(true);
  });

  it('`close` logs a teardown that throws, and completes nevertheless', async () => {
    const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const server = await listens();
    const port = portOf(server);
    const completed: string[] = [];
    server.peers$.subscribe().add(() => {
      throw new Error('a teardown');
    });
    server.refusals$.subscribe({ complete: () => completed.push('refusals$') });
    await server.close();
    expect(completed).toEqual(['refusals$']);
    expect(logged.mock.calls.map(([message]) => message)).toEqual(['rxmux: a subscriber of a server failed']);
    expect(await refuses(port)).toBe(true);
  });

  it('`close` returns the same promise each time, even after the end', async () => {
    const server = await listens();
    const first = server.close({ drainMs: HOUR });
    expect(server.close()).toBe(first);
    expect(server.closed).toBe(first);
    await first;
    expect(server.close()).toBe(first);
  });

  it('`close` does not wait for idle connections', async () => {
    const server = await listens();
    const sockets = await Promise.all([rawSocket(server), rawSocket(server)]);
    const ended = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    sockets[1].write('GET / HTTP/1.1\r\nHo');
    for (const socket of sockets) socket.resume().on('error', () => undefined);
    for (let n = 0; n < 20; n++) await turn();
    await server.close();
    expect(server.address()).toBeNull();
    for (const socket of sockets) socket.end();
    await ended;
  });

  it('`close` with a drain ends at once without peers', async () => {
    const server = await listens();
    await server.close({ drainMs: HOUR });
    expect(server.address()).toBeNull();
  });

  it.each(['127.0.0.1', 'localhost', undefined])('`close` closes a server that does not listen yet, on %s', async (host) => {
    const server = serve({ port: 0, host });
    const listening = server.listening.then(
      () => 'listens',
      (error: unknown) => (error as Error).message,
    );
    await server.close();
    expect(await listening).toMatch(/^(listens|expected the server to listen, but it was closed before)$/);
    expect(server.address()).toBeNull();
  });

  it.each([-1, NaN, '5'])('`close` refuses %p as drainMs, and the server keeps serving', async (drainMs) => {
    const server = await listens();
    expect(() => server.close({ drainMs: drainMs as number })).toThrow(/^drainMs: expected a number of at least 0, got/);
    const dialer = connect(`ws://127.0.0.1:${portOf(server)}`, { keepalive: false });
    await dialer.opened;
    await dialer.close();
    await server.close();
  });

  describe('drains', () => {
    let time: VirtualTime | undefined;

    /** Runs everything that is due on real sockets and virtual timers. */
    const settle = async (): Promise<void> => {
      for (let n = 0; n < 50; n++) {
        await time?.advance();
        await turn();
      }
    };

    afterEach(() => {
      time?.restore();
      time = undefined;
    });

    it('A drain spreads its goaways over the first half of its time, and running streams finish', async () => {
      const server = await listens();
      const { accepted, answers, finishes, goaways, dialers } = await busy(server, 4);
      await leaks(0);
      time = virtualTime();
      const closed = server.close({ drainMs: 8_000 });
      const told = [goaways.length];
      for (const ms of [999, 1, 999, 1, 999, 1, 1_000]) {
        await time.advance(ms);
        told.push(goaways.length);
      }
      expect(told).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
      expect(goaways).toEqual(accepted);
      for (const finish of finishes) finish();
      await settle();
      expect(await Promise.all(answers)).toEqual(['done', 'done', 'done', 'done']);
      await closed;
      for (const dialer of dialers) expect(dialer.status).toMatchObject({ state: 'closed', reason: { code: 1000 } });
    });

    it('A drain spreads its goaways over at most 5 s, and ends all peers at the same time', async () => {
      const server = await listens();
      const { answers, goaways } = await busy(server, 2);
      await leaks(0);
      time = virtualTime();
      const closed = server.close({ drainMs: 60_000 });
      await time.advance(2_499);
      expect(goaways).toHaveLength(1);
      await time.advance(1);
      expect(goaways).toHaveLength(2);
      await time.advance(57_499);
      await settle();
      expect(server.peers.size).toBe(2);
      await time.advance(1);
      await settle();
      await closed;
      expect(time.now).toBe(60_000);
      expect(await Promise.all(answers)).toEqual([0, 1].map(() => expect.objectContaining({ code: 'RESET', resetCode: 8 })));
    });

    it('A second `close` shortens a drain', async () => {
      const server = await listens();
      const { goaways } = await busy(server, 3);
      await leaks(0);
      time = virtualTime();
      const closed = server.close({ drainMs: HOUR });
      expect(goaways).toHaveLength(1);
      void server.close();
      expect(goaways).toHaveLength(3);
      await settle();
      await closed;
      expect(time.now).toBe(0);
    });

    it('An endless drain sends its goaways, and ends with a second `close`', async () => {
      const server = await listens();
      const { goaways } = await busy(server, 2);
      await leaks(0);
      time = virtualTime();
      const closed = server.close({ drainMs: Infinity });
      await time.advance(2_500);
      expect(goaways).toHaveLength(2);
      await time.advance(HOUR);
      await settle();
      expect(server.peers.size).toBe(2);
      void server.close();
      await settle();
      await closed;
    });

    it('A second `close` does not prolong a drain', async () => {
      const server = await listens();
      const { goaways } = await busy(server, 2);
      await leaks(0);
      time = virtualTime();
      const closed = server.close({ drainMs: 100 });
      void server.close({ drainMs: HOUR });
      await time.advance(25);
      expect(goaways).toHaveLength(2);
      await time.advance(75);
      await settle();
      await closed;
      expect(time.now).toBe(100);
    });
  });

  it('A second `close` keeps the code and the reason of the first', async () => {
    const server = await listens();
    const { dialers } = await busy(server, 3);
    const frames: unknown[] = [];
    for (const dialer of dialers)
      dialer.onFrame((direction, { type, code, reason }) => {
        if (direction === 'rx' && type === 'goaway') frames.push([code, reason]);
      });
    void server.close({ drainMs: HOUR, code: 256, reason: 'a deploy' });
    await server.close();
    expect(frames).toEqual([1, 2, 3].map(() => [256, 'a deploy']));
    expect(await leaks()).toEqual({});
  });

  it('A second `close` leaves no timer of a delayed goaway', async () => {
    const server = await listens();
    await busy(server, 5);
    const closed = server.close({ drainMs: HOUR });
    void server.close();
    await closed;
    expect(await leaks()).toEqual({});
  });

  it('A drain leaves no timer of a delayed goaway once its last peer has closed', async () => {
    const server = await listens();
    const { dialers, finishes } = await busy(server, 5);
    const closed = server.close({ drainMs: HOUR });
    for (const finish of finishes) finish();
    await Promise.all(dialers.map((dialer) => dialer.close()));
    await closed;
    expect(await leaks()).toEqual({});
  });
});

describe('draining servers', () => {
  collectLogs();

  let leaks: ReturnType<typeof watchResources>;
  let server: MuxServer;
  let dialers: Peer[];

  /** A draining server, on its own port or on an HTTP server of the user. */
  const draining = async (options: object = {}): Promise<number> => {
    server = serve({ port: 0, host: '127.0.0.1', keepalive: false, ...options });
    await server.listening;
    const port = portOf(server);
    ({ dialers } = await busy(server, 1));
    void server.close({ drainMs: HOUR });
    return port;
  };

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    await server.close();
    await Promise.all(dialers.map((dialer) => dialer.close()));
    expect(await leaks()).toEqual({});
  });

  it('A draining server frees its own port at once, and another server listens there', async () => {
    const port = await draining();
    expect([server.address(), await refuses(port), dialers[0]?.status.state]).toEqual([null, true, 'draining']);
    const next = serve({ port, host: '127.0.0.1', handler: (_payload, stream) => stream.reply('next') });
    const dialer = connect(`ws://127.0.0.1:${port}`);
    expect(await dialer.request()).toBe('next');
    await dialer.close();
    await next.close();
    expect(server.peers.size).toBe(1);
  });

  it('A draining server answers 503 to pages and upgrades on earlier connections', async () => {
    server = serve({ port: 0, host: '127.0.0.1', keepalive: false });
    await server.listening;
    const [page, upgrade] = await Promise.all([rawSocket(server), rawSocket(server)]);
    // Half a request each, because a newer Node closes idle connections when its server stops listening.
    const requests = ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', requestOf()] as const;
    page.write(requests[0].slice(0, 16));
    upgrade.write(requests[1].slice(0, 16));
    ({ dialers } = await busy(server, 1));
    void server.close({ drainMs: HOUR });
    page.write(requests[0].slice(16));
    upgrade.write(requests[1].slice(16));
    for (const socket of [page, upgrade]) {
      const { status, headers } = await answerOn(socket);
      expect([status, headers['retry-after'], headers['connection']]).toEqual([503, '1', 'close']);
      socket.destroy();
    }
  });

  it('A draining server with listenWhileDraining keeps its port and answers 503 to pages and upgrades', async () => {
    const port = await draining({ listenWhileDraining: true });
    const page = await fetch(`http://127.0.0.1:${port}`);
    expect([page.status, page.headers.get('retry-after'), await page.text()]).toEqual([503, '1', 'this side is going away\n']);
    expect(await handshake(server)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  });

  it('A draining server on an HTTP server of the user keeps the port and answers 503 to upgrades', async () => {
    const http = createHttpServer((_request, response) => response.end('a page'));
    http.listen(0, '127.0.0.1');
    await draining({ server: http, port: undefined, host: undefined });
    expect(await handshake(http)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(http.listening).toBe(true);
    http.close();
    http.closeAllConnections();
  });

  it.each([1, 'yes', null])('`serve` refuses %p as listenWhileDraining', (listenWhileDraining) => {
    dialers = [];
    server = serve({ server: createHttpServer() });
    const options = { port: 0, listenWhileDraining } as unknown as ServeOptions;
    expect(() => serve(options)).toThrow(/^listenWhileDraining: expected a boolean, got/);
  });
});

/** The header of a TLS record of 512 bytes, and the first byte of its ClientHello. */
const CUT_HELLO = Buffer.from([0x16, 3, 1, 2, 0, 1]);

describe('close with TLS', () => {
  collectLogs();

  let leaks: ReturnType<typeof watchResources>;
  const tls = selfSigned();

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    expect(await leaks()).toEqual({});
  });

  const listens = async (options: UpgradeOptions = {}): Promise<MuxServer> => {
    const server = serve({ port: 0, host: '127.0.0.1', tls, keepalive: false, ...options });
    await server.listening;
    return server;
  };
  /** A connection whose TLS handshake is over. */
  const shaken = async (server: MuxServer): Promise<Socket> => {
    const socket = connectTls({ port: portOf(server), host: '127.0.0.1', ca: tls.cert });
    await once(socket, 'secureConnect');
    return socket;
  };

  it.each<readonly [what: string, dial: (server: MuxServer) => Promise<Socket>, text: Buffer | string]>([
    ['a silent connection', rawSocket, ''],
    ['a connection with half a TLS handshake', rawSocket, CUT_HELLO],
    ['a connection that is silent after its TLS handshake', shaken, ''],
    ['a connection with half an HTTP request', shaken, 'GET / HTTP/1.1\r\nHo'],
  ])('A closing TLS server does not wait for %s, and ends it', async (_what, dial, text) => {
    const server = await listens();
    const socket = await dial(server);
    const ended = new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
    socket.resume().on('error', () => undefined);
    socket.write(text);
    // Once a later connection is answered, this one has been accepted.
    const dialer = connect(`wss://127.0.0.1:${portOf(server)}`, { keepalive: false, tls: { ca: tls.cert } });
    await dialer.opened;
    let closed = false;
    void server.close().then(() => (closed = true));
    await until('the server to close', () => closed);
    await ended;
    expect(await dialer.closed).toMatchObject({ code: 1000 });
    socket.destroy();
  });

  it('A TLS server keeps nothing of connections that have ended', async () => {
    const server = await listens();
    const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => /^T(CP|LS)/.test(kind)).length;
    const before = sockets();
    const dialer = connect(`wss://127.0.0.1:${portOf(server)}`, { keepalive: false, tls: { ca: tls.cert } });
    await dialer.opened;
    expect(sockets()).toBeGreaterThan(before);
    await dialer.close();
    await until('both ends of its socket to be gone', () => sockets() === before);
    await turn();
    const destroyed = jest.spyOn(Socket.prototype, 'destroy');
    const closed = server.close();
    expect(destroyed).not.toHaveBeenCalled();
    destroyed.mockRestore();
    await closed;
  });

  it('A closing TLS server answers 503 to a dialer whose verdict is pending', async () => {
    let asked = false;
    const server = await listens({
      verify: () => {
        asked = true;
        return new Promise(() => undefined);
      },
    });
    const socket = await shaken(server);
    const answer = answerOn(socket);
    socket.write(requestOf());
    await until('verify to be asked', () => asked);
    await server.close();
    expect(await answer).toMatchObject({ status: 503, body: 'this side is going away\n' });
    socket.destroy();
  });

  it('`close` keeps the other connections of an HTTPS server of the user', async () => {
    const https = createServer(tls, (_request, response) => response.end('a page'));
    https.listen(0, '127.0.0.1');
    const server = serve({ server: https, keepalive: false });
    await server.listening;
    const accepted = once(https, 'connection');
    const socket = connectTls({ port: portOf(server), host: '127.0.0.1', ca: tls.cert });
    const secured = once(socket, 'secureConnect');
    await accepted;
    await server.close();
    await secured;
    socket.write('GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n');
    expect(await answerOn(socket)).toMatchObject({ status: 200, body: expect.stringContaining('a page') });
    https.close();
  });
});

describe('dispose', () => {
  it('A server and its client in one `await using` block answer, and are closed at its end', async () => {
    const ended: Promise<unknown>[] = [];
    const block = async (): Promise<MuxServer> => {
      await using server = serve({ port: 0, handler: (n: number, stream) => stream.reply(n * n) });
      await server.listening;
      await using peer = connect(`ws://127.0.0.1:${portOf(server)}`);
      ended.push(server.closed, peer.closed);
      expect(await peer.request(12)).toBe(144);
      return server;
    };
    const server = await block();
    expect(await Promise.all(ended)).toMatchObject([undefined, { code: 1000, wasClean: true }]);
    expect([server.address(), server.peers.size]).toEqual([null, 0]);
  });
});
