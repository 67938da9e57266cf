import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Server } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { CodecMismatch, ConnectError, JsonCodec, logger, settings } from '../../src/index.js';
import type { Peer, PeerContext } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { accept, connect, handleUpgrade, serve } from '../../src/node.js';
import type { AcceptOptions, UpgradeOptions, Verdict } from '../../src/node.js';
import { listening } from '../../src/node/listen.js';
import { collectLogs } from '../support/peer/logs.js';
import { nodePrograms } from '../support/process/node-child.js';
import { answerOn, handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { closing, listening as listeningFromListening } from '../support/socket/listening.js';
import { emptied } from '../support/socket/servers.js';

describe('accept', () => {
  const http = httpServer();

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const url = (): string => `ws://127.0.0.1:${portOf(http.now)}`;

  describe('accept', () => {
    it('`accept` with invalid options leaves the socket to a later `accept`', async () => {
      const wss = new WebSocketServer({ server: http.now, handleProtocols: () => 'mux.v1.json' });
      const accepted = new Promise<Peer>((resolve) => {
        wss.once('connection', (socket) => {
          expect(() => accept(socket, { requestTimeoutMs: -1 })).toThrow(TypeError);
          resolve(accept(socket, { keepalive: false, onStream: (payload, stream) => stream.reply(payload) }));
        });
      });
      const dialer = connect(url(), { keepalive: false });
      expect(await dialer.request(1)).toBe(1);
      expect(await dialer.request(2)).toBe(2);
      await dialer.close();
      await (
        await accepted
      ).closed;
      wss.close();
    });
  });

  describe('handleUpgrade', () => {
    collectLogs();

    /** The peer of the next upgrade. */
    const nextPeer = (options: UpgradeOptions): Promise<Peer> =>
      new Promise((resolve) => {
        http.now.once('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
          resolve(handleUpgrade(request, socket, head, { keepalive: false, ...options }));
        });
      });

    it('`handleUpgrade` returns a peer at once, which answers once it is connected', async () => {
      const seen: unknown[] = [];
      const next = nextPeer({ onPeer: (peer, request) => seen.push(peer, request?.url), verify: () => ({ user: 'ann' }) });
      const dialer = connect(`${url()}/x`, { keepalive: false });
      const peer = await next;
      peer.onStream((payload, stream) => stream.reply([payload, stream.peer.context]));
      expect(await dialer.request('hi')).toEqual(['hi', { user: 'ann' }]);
      expect(await peer.opened).toBe(peer);
      expect(seen).toEqual([peer, '/x']);
      await dialer.close();
      expect(await peer.closed).toMatchObject({ code: 1000 });
    });

    it('The first subscriber that gets a peer sees the address of its dialer', async () => {
      const named: string[] = [];
      const server = serve({ server: http.now, path: '/serve', keepalive: false });
      server.peers$.subscribe((peer) => named.push(String(peer)));
      const next = nextPeer({ verify: () => turn().then(() => true) });
      const dialers = ['/serve', '/own'].map((path) => connect(`${url()}${path}`, { keepalive: false }));
      named.push(String(await next));
      await Promise.all(dialers.map(({ opened }) => opened));
      expect(named).toEqual(Array.from({ length: 2 }, () => expect.stringMatching(/^Peer \d+ \(127\.0\.0\.1:\d+\) \{ state: connecting,/)));
      await Promise.all(dialers.map((dialer) => dialer.close()));
      await server.close();
    });

    it('`handleUpgrade` keeps the context of its options if verify returns none', async () => {
      const context = { given: 'by the options' } as PeerContext;
      const next = nextPeer({ context, verify: () => true });
      const dialer = connect(url(), { keepalive: false });
      await dialer.opened;
      expect((await next).context).toBe(context);
      await dialer.close();
    });

    it.each<readonly [what: string, options: UpgradeOptions, status: number]>([
      ['of another subprotocol', {}, 400],
      ['that verify refuses with false', { verify: () => false }, 403],
      ['that verify refuses with 401', { verify: () => Promise.resolve(401) }, 401],
      ['of a foreign page', { origins: [] }, 403],
    ])('`handleUpgrade` fails the peer of a request %s with the status', async (_what, options, status) => {
      jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
      const next = nextPeer(options);
      const protocols = status === 400 ? ['x'] : ['mux.v1.json'];
      expect(
        await handshake(http.now, { protocols, headers: { Origin: options.origins === undefined ? null : 'https://a.example' } }),
      ).toMatchObject({
        status,
      });
      const peer = await next;
      const closes: unknown[] = [];
      peer.onClose((reason) => closes.push(reason));
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', status });
      expect(await peer.closed).toMatchObject({ code: 1006, willRetry: false });
      expect(peer.status).toMatchObject({ state: 'closed', error: expect.any(ConnectError) });
    });

    it.each<readonly [how: string, leave: (socket: Socket) => void]>([
      ['leaves', (socket) => socket.destroy()],
      ['resets', (socket) => socket.resetAndDestroy()],
    ])('`handleUpgrade` fails the peer of a dialer that %s before the answer', async (_how, leave) => {
      const next = nextPeer({ verify: () => new Promise<Verdict>(() => undefined) });
      const socket = await rawSocket(http.now);
      socket.write(requestOf());
      const peer = await next;
      leave(socket);
      await expect(peer.opened).rejects.toMatchObject({
        code: 'CONNECT',
        status: null,
        reason: { code: 1006, reason: 'the dialer left before it was answered' },
      });
      await emptied(http.now);
    });

    it.each<readonly [what: string, options: UpgradeOptions]>([
      ['is acceptable', {}],
      ['has another codec', { codec: new MsgpackCodec() }],
    ])('`handleUpgrade` fails the peer of a dialer that %s and has already left', async (_what, options) => {
      const socket = await rawSocket(http.now);
      const held = new Promise<Parameters<typeof handleUpgrade>>((resolve) => {
        http.now.once('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
          stream.on('error', () => undefined);
          stream.once('close', () => {
            resolve([request, stream, head]);
          });
          socket.resetAndDestroy();
        });
      });
      socket.write(requestOf());
      const [request, stream, head] = await held;
      const peer = handleUpgrade(request, stream, head, options);
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', status: null });
    });

    it.each<readonly [what: string, verify: UpgradeOptions['verify']]>([
      ['at once', undefined],
      ['once verify has judged', () => Promise.resolve(true)],
    ])('`handleUpgrade` fails a second peer on the same socket %s, and the first peer still answers', async (_what, verify) => {
      const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
      const handler: UpgradeOptions['handler'] = (payload, stream) => stream.reply(payload);
      const [first, second] = [nextPeer({ verify, handler }), nextPeer({ verify })];
      const dialer = connect(url(), { keepalive: false });
      const failure = await (await second).opened.catch((cause: unknown) => cause);
      expect(failure).toBeInstanceOf(ConnectError);
      expect(failure).toMatchObject({ status: null, message: expect.stringContaining('called more than once with the same socket') });
      expect((await second).status).toMatchObject({ state: 'closed', error: failure });
      expect(error.mock.calls).toEqual([['rxmux: an upgrade failed', expect.any(Error)]]);
      expect(await dialer.request('hi')).toBe('hi');
      await dialer.close();
      expect(await (await first).closed).toMatchObject({ code: 1000 });
    });

    it.each<readonly [what: string, second: UpgradeOptions]>([
      ['at once', { codec: new MsgpackCodec() }],
      ['by verify', { verify: () => false }],
    ])('`handleUpgrade` fails a second peer that refuses the same socket %s, and the first peer still answers', async (_what, options) => {
      const handler: UpgradeOptions['handler'] = (payload, stream) => stream.reply(payload);
      const [first, second] = [nextPeer({ handler }), nextPeer(options)];
      const dialer = connect(url(), { keepalive: false });
      const failure = await (await second).opened.catch((cause: unknown) => cause);
      expect(failure).toMatchObject({ status: null, message: expect.stringContaining('the socket was upgraded before') });
      expect(await dialer.request('hi')).toBe('hi');
      await dialer.close();
      expect(await (await first).closed).toMatchObject({ code: 1000, wasClean: true });
    });

    it.each<readonly [when: string, act: (peer: Peer, decide: () => void) => Promise<unknown>]>([
      ['before verify has decided', (peer, decide) => peer.close().then(decide)],
      [
        'in the turn in which verify decides',
        (peer, decide) => {
          decide();
          return peer.close();
        },
      ],
    ])('`handleUpgrade` answers 503 when its peer is closed %s, and does not call onPeer', async (_when, act) => {
      let decide: (verdict: Verdict) => void = () => undefined;
      const onPeer = jest.fn();
      const next = nextPeer({ verify: () => new Promise<Verdict>((resolve) => (decide = resolve)), onPeer });
      const socket = await rawSocket(http.now);
      const answer = answerOn(socket);
      socket.write(requestOf());
      await act(await next, () => {
        decide(true);
      });
      expect((await answer).status).toBe(503);
      await turn();
      expect(onPeer).not.toHaveBeenCalled();
      socket.destroy();
      await emptied(http.now);
    });
  });

  describe('accept', () => {
    let sockets: WebSocketServer;

    const accepted = (protocol: string | false, options: AcceptOptions = {}): Promise<Peer> => {
      sockets = new WebSocketServer({ server: http.now, handleProtocols: () => protocol });
      return new Promise((resolve) =>
        sockets.once('connection', (socket) => {
          resolve(accept(socket, { keepalive: false, ...options }));
        }),
      );
    };

    afterEach(() => {
      sockets.close();
    });

    it('`accept` returns a peer for a socket that another server has accepted', async () => {
      const onPeer = jest.fn();
      const next = accepted('mux.v1.json', { handler: (payload, stream) => stream.reply(`got ${String(payload)}`), onPeer });
      const dialer = connect(url(), { keepalive: false });
      const peer = await next;
      expect(await dialer.request('hi')).toBe('got hi');
      expect(onPeer.mock.calls).toEqual([[peer, null]]);
      await peer.close({ reason: 'enough' });
      expect(await dialer.closed).toMatchObject({ code: 1000, reason: 'enough' });
    });

    it('`accept` takes a socket without a subprotocol', async () => {
      const next = accepted(false, { handler: (payload, stream) => stream.reply(payload) });
      const dialer = new WebSocket(url());
      const peer = await next;
      dialer.on('open', () => dialer.send('{"type":"open","stream":1,"payload":1,"end":true}'));
      const answer = await new Promise((resolve) => dialer.once('message', (data: Buffer) => resolve(data.toString())));
      expect(answer).toBe('{"type":"data","stream":1,"end":true,"payload":1}');
      dialer.terminate();
      expect(await peer.closed).toMatchObject({ code: 1006 });
    });

    it('`accept` closes a socket of another subprotocol with 1008, and reads no frame', async () => {
      const handler = jest.fn();
      const next = accepted('mux.v1.msgpack', { handler });
      const dialer = new WebSocket(url(), ['mux.v1.msgpack']);
      dialer.once('open', () => dialer.send('{"type":"open","stream":1,"end":true}'));
      const closed = new Promise((resolve) => dialer.once('close', (code, reason: Buffer) => resolve([code, reason.toString()])));
      const peer = await next;
      const failure = await peer.opened.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(CodecMismatch);
      expect(failure).toMatchObject({ offered: 'mux.v1.json', selected: 'mux.v1.msgpack' });
      const reason = (failure as Error).message;
      expect(await closed).toEqual([1008, reason]);
      expect(await peer.closed).toEqual({ code: 1008, reason, wasClean: true, willRetry: false });
      expect(handler).not.toHaveBeenCalled();
    });

    it('`accept` fails the peer of a socket that has already ended', async () => {
      sockets = new WebSocketServer({ server: http.now });
      const connection = new Promise<WebSocket>((resolve) => sockets.once('connection', resolve));
      const dialer = new WebSocket(url());
      const socket = await connection;
      await until('the dialer to open', () => dialer.readyState === WebSocket.OPEN);
      dialer.terminate();
      await until('the end', () => socket.readyState === WebSocket.CLOSED);
      const peer = accept(socket, { keepalive: false });
      await expect(peer.opened).rejects.toMatchObject({ code: 'CONNECT', reason: { code: 1006 } });
    });

    it('`accept` keeps frames that arrive during onPeer, and reads them one turn later', async () => {
      const order: string[] = [];
      sockets = new WebSocketServer({ server: http.now, handleProtocols: () => 'mux.v1.json' });
      sockets.once('connection', (socket) => {
        accept(socket, {
          keepalive: false,
          onPeer: (peer) => {
            order.push('onPeer');
            peer.onStream((payload) => void order.push(`stream ${String(payload)}`));
          },
        });
        order.push('accepted');
        socket.emit('message', Buffer.from('{"type":"open","stream":1,"payload":"early","end":true}'), false);
        order.push('received');
      });
      const dialer = new WebSocket(url(), ['mux.v1.json']);
      await until('the stream', () => order.length === 4);
      expect(order).toEqual(['onPeer', 'accepted', 'received', 'stream early']);
      dialer.terminate();
    });
  });
});

const NOT_REGISTERED = expect.objectContaining({ code: 'CODEC_NOT_REGISTERED', configured: 'cbor', available: ['json'], retriable: false });

const ECHOING: AcceptOptions = { keepalive: false, handler: (payload, stream) => stream.reply(payload) };

describe('unregistered codecs', () => {
  const http = httpServer();

  afterEach(() => {
    settings.reload();
  });

  const dialed = (): Peer => connect(`ws://127.0.0.1:${portOf(http.now)}`, { keepalive: false, codec: new JsonCodec() });

  it('`accept` throws for an unregistered codec, and leaves the socket to the next call', async () => {
    const sockets = new WebSocketServer({ server: http.now, handleProtocols: () => 'mux.v1.json' });
    const connection = new Promise<WebSocket>((resolve) => sockets.once('connection', resolve));
    const dialer = dialed();
    const socket = await connection;
    settings.codec = 'cbor';
    expect(() => accept(socket, ECHOING)).toThrow(NOT_REGISTERED);
    settings.reload();
    const peer = accept(socket, ECHOING);
    expect(await dialer.request('hi')).toBe('hi');
    await dialer.close();
    expect(await peer.closed).toMatchObject({ code: 1000 });
    sockets.close();
  });

  it('`handleUpgrade` throws for an unregistered codec, and leaves the request to the next call', async () => {
    const held = new Promise<[IncomingMessage, Duplex, Buffer]>((resolve) => {
      http.now.once('upgrade', (...upgrade: [IncomingMessage, Duplex, Buffer]) => {
        resolve(upgrade);
      });
    });
    const dialer = dialed();
    const upgrade = await held;
    settings.codec = 'cbor';
    expect(() => handleUpgrade(...upgrade, ECHOING)).toThrow(NOT_REGISTERED);
    settings.reload();
    const peer = handleUpgrade(...upgrade, ECHOING);
    expect(await dialer.request('hi')).toBe('hi');
    await dialer.close();
    expect(await peer.closed).toMatchObject({ code: 1000 });
  });

  it('`serve` throws for an unregistered codec, before it listens or joins a server', () => {
    settings.codec = 'cbor';
    expect(() => serve({ ...ECHOING, server: http.now })).toThrow(NOT_REGISTERED);
    expect(() => serve({ ...ECHOING, port: 0 })).toThrow(NOT_REGISTERED);
    expect(http.now.listenerCount('upgrade')).toBe(0);
  });

  it('A later setting does not change the codec of a running server', async () => {
    const server = serve({ ...ECHOING, server: http.now });
    settings.codec = 'cbor';
    const dialer = dialed();
    expect(await dialer.request('hi')).toBe('hi');
    await dialer.close();
    await server.close();
  });
});

describe('listening', () => {
  it('`listening` resolves even if the event has arguments, as in Bun', async () => {
    const server = new Server();
    const address = { address: '::', family: 'IPv6', port: 8080 };
    jest.spyOn(server, 'address').mockReturnValue(address);
    const outcome = listening(server);
    server.emit('listening', null, 'localhost', 8080);
    expect(await outcome).toBe(address);
    expect(server.eventNames()).toEqual(new Server().eventNames());
  });

  it('`listening` resolves with the new address of a server that listens again', async () => {
    const server = new Server();
    for (const host of ['127.0.0.1', '0.0.0.0']) {
      await once(server.listen(0, host), 'listening');
      expect(await listening(server)).toMatchObject({ address: host });
      await once(server.close(), 'close');
    }
  });
});

describe('taken port', () => {
  const run = nodePrograms();
  let leaks: ReturnType<typeof watchResources>;
  let taken: ReturnType<typeof createServer>;
  let port: number;

  beforeEach(async () => {
    leaks = watchResources();
    taken = await listeningFromListening(createServer());
    ({ port } = taken.address() as AddressInfo);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await closing(taken);
    expect(await leaks()).toEqual({});
  });

  describe('programs with a taken port', () => {
    it.each<readonly [what: string, rest: string]>([
      ['does nothing else', ''],
      ['waits for `closed`', 'await server.closed;'],
      ['has a signal handler', `process.once('SIGTERM', () => void server.close());`],
    ])('A program whose port is taken exits with code 1 and names the port if it never reads `listening` and %s', async (_what, rest) => {
      const { status, stderr } = await run(`const server = serve({ port: ${String(port)}, host: '127.0.0.1' }); ${rest}`);
      expect(status).toBe(1);
      const line = `expected port ${String(port)} of 127.0.0.1 to be free, but another program listens there (EADDRINUSE): `;
      expect(stderr).toContain(line);
      expect(stderr).not.toMatch(/^ +at /m);
    });

    it.each<readonly [what: string, program: string]>([
      ['handles `listening`', 'await server.listening.catch(({ code }) => console.log(code)); await server.closed;'],
      ['closes its server at once', `await server.close(); console.log('EADDRINUSE');`],
    ])('A program whose port is taken continues if it %s', async (_what, program) => {
      const { status, stdout } = await run(
        `logger.level = 'silent'; const server = serve({ port: ${String(port)}, host: '127.0.0.1' }); ${program}`,
      );
      expect([status, stdout]).toEqual([0, 'EADDRINUSE\n']);
    });
  });

  describe('servers that cannot listen', () => {
    it('A server that cannot listen rejects `listening`, completes its observables and settles `closed`', async () => {
      const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
      const server = serve({ port, host: '127.0.0.1' });
      const completed: string[] = [];
      server.peers$.subscribe({ complete: () => completed.push('peers$') });
      server.refusals$.subscribe({ complete: () => completed.push('refusals$') });
      await expect(server.listening).rejects.toMatchObject({ code: 'EADDRINUSE' });
      await server.closed;
      expect(completed).toEqual(['peers$', 'refusals$']);
      expect(error.mock.calls).toEqual([
        [
          `rxmux: the server failed: expected port ${String(port)} of 127.0.0.1 to be free, but another program listens there (EADDRINUSE): ` +
            'stop it, or pass another port; 0 takes a free one',
        ],
      ]);
      expect(server.address()).toBeNull();
      await server.close();
    });
  });
});
