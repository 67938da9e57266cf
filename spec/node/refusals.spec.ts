import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { finalize, mergeMap, NEVER } from 'rxjs';
import type { Observable } from 'rxjs';
import { JsonCodec, respond } from '../../src/index.js';
import { connect, handleUpgrade, refuse, serve } from '../../src/node.js';
import type { MuxServer, Refusal, UpgradeOptions } from '../../src/node.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import type { Offer } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { closing, listening } from '../support/socket/listening.js';
import { testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

describe('refusals', () => {
  const logs = collectLogs();
  const MINUTE_MS = 60_000;

  describe('refused upgrades', () => {
    let leaks: ReturnType<typeof watchResources>;
    let server: TestServer;

    beforeEach(() => {
      leaks = watchResources();
    });

    afterEach(async () => {
      jest.useRealTimers();
      await server.dispose();
      expect(await leaks()).toEqual({});
    });

    /** Fakes only the timers that end a period of the log. Sockets and rxjs keep real timers. */
    const fakePeriods = (): void => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance', 'Date'] });
    };
    const offer = async (offered: Offer, times: number): Promise<void> => {
      for (let nth = 0; nth < times; nth++) await handshake(server.http, offered);
    };

    describe('log lines', () => {
      it.each<readonly [what: string, offer: Offer, options: UpgradeOptions & { path?: string }, line: string]>([
        [
          'another codec',
          { path: '/mux?token=1', protocols: ['mux.v1.msgpack'] },
          { path: '/mux' },
          "400 /mux: expected the subprotocol 'mux.v1.json' in first place, got 'mux.v1.msgpack'",
        ],
        ['a malformed handshake', { headers: { 'Sec-WebSocket-Key': null } }, {}, '400 /: Missing or invalid Sec-WebSocket-Key header'],
        [
          'another path',
          { path: '/other?token=1' },
          { path: '/mux' },
          '404 /other: nothing answers at /other; this server answers at /mux',
        ],
        ['no credentials', {}, { verify: () => 401 }, '401 /: verify refused the request'],
        ['a verdict of false', {}, { verify: () => false }, '403 /: verify refused the request'],
        ['a verdict with its own status', {}, { verify: () => refuse(429, {}, 'too many') }, '429 /: too many'],
        [
          'a foreign page',
          { headers: { Origin: 'https://evil.example' } },
          {},
          `403 /: this origin is not allowed: "https://evil.example"; name it in the option 'origins' to let it in`,
        ],
      ])(
        'Refused upgrades are logged once immediately, and then once per period with a count: %s',
        async (_what, offered, options, line) => {
          fakePeriods();
          server = await testServer(options);
          await offer(offered, 5);
          expect(logs.warnings).toEqual([`rxmux: refused an upgrade: ${line}`]);
          jest.advanceTimersByTime(MINUTE_MS);
          expect(logs.warnings.slice(1)).toEqual([`rxmux: refused 4 more, the last: ${line}`]);
        },
      );

      it('The count of refused upgrades starts at the previous line, and a quiet period ends the series', async () => {
        fakePeriods();
        server = await testServer({ path: '/mux' });
        await offer({ path: '/a' }, 2);
        jest.advanceTimersByTime(MINUTE_MS);
        await offer({ path: '/b' }, 3);
        jest.advanceTimersByTime(MINUTE_MS - 1);
        expect(logs.warnings).toHaveLength(2);
        jest.advanceTimersByTime(1);
        jest.advanceTimersByTime(2 * MINUTE_MS);
        await offer({ path: '/c' }, 1);
        expect(logs.warnings).toEqual([
          'rxmux: refused an upgrade: 404 /a: nothing answers at /a; this server answers at /mux',
          'rxmux: refused 1 more, the last: 404 /a: nothing answers at /a; this server answers at /mux',
          'rxmux: refused 3 more, the last: 404 /b: nothing answers at /b; this server answers at /mux',
          'rxmux: refused an upgrade: 404 /c: nothing answers at /c; this server answers at /mux',
        ]);
      });

      it('Refused upgrades have a log line for each cause', async () => {
        server = await testServer({ path: '/mux', verify: ({ headers }) => (headers.authorization === undefined ? 401 : 403) });
        for (const offered of [{ path: '/x' }, { path: '/mux' }, { path: '/mux', headers: { Authorization: 'x' } }])
          await offer(offered, 3);
        expect(logs.warnings.map((line) => /\d{3}/.exec(line)?.[0])).toEqual(['404', '401', '403']);
      });

      it('A server that closes logs the last count of refused upgrades', async () => {
        server = await testServer({ path: '/mux' });
        await offer({ path: '/other' }, 4);
        await server.mux.close();
        expect(logs.warnings.slice(1)).toEqual([
          'rxmux: refused 3 more, the last: 404 /other: nothing answers at /other; this server answers at /mux',
        ]);
      });

      it('Refused upgrades of foreign origins are logged again after one second', async () => {
        fakePeriods();
        server = await testServer();
        for (const page of ['a', 'b', 'c']) await offer({ headers: { Origin: `https://${page}.example` } }, 1);
        jest.advanceTimersByTime(1_000);
        expect(logs.warnings.map((line) => /https:[^"]*/.exec(line)?.[0])).toEqual(['https://a.example', 'https://c.example']);
        expect(logs.warnings[1]).toContain('refused 2 more,');
      });

      it('The log line of a refused upgrade quotes at most 100 characters of the remote, and no control characters', async () => {
        server = await testServer();
        // The socket sends UTF-8, which Node reads as Latin-1.
        const hostile = `https://\u009b31m\u0085${'x'.repeat(7_000)}`;
        await offer({ headers: { Origin: hostile } }, 1);
        await offer({ protocols: [hostile] }, 1);
        expect(logs.warnings).toHaveLength(2);
        for (const line of logs.warnings) {
          expect(line).toContain('https://Â\\u009b31mÂ\\u0085xxx');
          expect(line).not.toMatch(/\p{Cc}|x{100}/u);
        }
      });

      it('A `verify` that throws repeatedly is logged with its last error and a count', async () => {
        fakePeriods();
        let nth = 0;
        server = await testServer({ verify: () => Promise.reject(new Error(`no database ${String(nth++)}`)) });
        await offer({}, 3);
        jest.advanceTimersByTime(1_000);
        expect(logs.errors).toEqual([
          'rxmux: an upgrade request could not be judged',
          'rxmux: an upgrade request could not be judged, the last of 2 more',
        ]);
        expect(logs.warnings).toEqual([]);
      });

      it('The timer of a log period does not keep the process alive', async () => {
        fakePeriods();
        server = await testServer({ path: '/mux' });
        const timers = jest.spyOn(globalThis, 'setTimeout');
        await offer({ path: '/other' }, 1);
        const made = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
        expect(made.map((timer) => timer.hasRef())).toEqual([false]);
      });
    });

    describe('refusals$', () => {
      const refused = async (offered: Offer): Promise<Refusal> => {
        server = await testServer({ path: '/mux', verify: () => refuse(403, {}, 'not you\r\n\u009b31m') });
        const refusals: Refusal[] = [];
        server.mux.refusals$.subscribe((refusal) => refusals.push(refusal));
        await handshake(server.http, { ...offered, headers: { Cookie: 'session=s3cret', ...offered.headers } });
        const [refusal] = refusals;
        if (refusal === undefined) throw new Error('expected a refusal');
        return refusal;
      };

      it.each<readonly [what: string, offer: Offer, line: string]>([
        ['another path', { path: '/other?token=s3cret' }, '404 /other: nothing answers at /other'],
        ['a reason of several lines', { path: '/mux' }, '403 /mux: not you\\r\\n\\u009b31m'],
        ['a long path', { path: `/${'x'.repeat(3_000)}` }, `404 /${'x'.repeat(99)}…: nothing answers at /${'x'.repeat(99)}…`],
      ])('A refusal prints and serializes as one line: %s', async (_what, offered, line) => {
        const refusal = await refused(offered);
        expect(String(refusal)).toBe(line);
        expect(JSON.parse(JSON.stringify({ refusal }))).toEqual({ refusal: line });
        expect(inspect(refusal)).toBe(line);
        expect(inspect({ refusal }, { depth: Infinity, showHidden: true, breakLength: Infinity })).toBe(`{ refusal: ${line} }`);
      });

      it('A refusal has the request, but its copies have no headers', async () => {
        const refusal = await refused({ path: '/other' });
        expect(refusal.request.headers.cookie).toBe('session=s3cret');
        expect({ ...refusal }).toEqual({ status: 404, reason: 'nothing answers at /other' });
      });
    });

    it.each<readonly [what: string, offer: Offer]>([
      ['another codec', { path: '/mux', protocols: ['<script>'] }],
      ['another path', { path: '/<script>' }],
    ])('A browser does not interpret the body of a refusal, although the body quotes the request: %s', async (_what, offered) => {
      server = await testServer({ path: '/mux' });
      const { body, headers } = await handshake(server.http, offered);
      expect(body).toContain('<script>');
      expect(headers['x-content-type-options']).toBe('nosniff');
    });
  });

  describe('handleUpgrade', () => {
    const http = httpServer();

    it('`handleUpgrade` logs its refusals', async () => {
      http.now.on('upgrade', (request, socket, head) => {
        handleUpgrade(request, socket, head, { keepalive: false });
      });
      for (let nth = 0; nth < 3; nth++) await handshake(http.now, { path: '/mine', protocols: ['x'] });
      expect(logs.warnings).toEqual([
        "rxmux: refused an upgrade: 400 /mine: expected the subprotocol 'mux.v1.json' in first place, got 'x'",
      ]);
    });
  });
});

describe('failed sockets', () => {
  const MASK = [0, 0, 0, 0];

  /** Frames that break RFC 6455. Each ends the WebSocket, and none ends the TCP connection. */
  const MALFORMED: readonly (readonly [what: string, bytes: readonly number[]])[] = [
    ['a reserved opcode', [0x83, 0x80, ...MASK]],
    ['a reserved bit', [0xc1, 0x80, ...MASK]],
    ['no mask', [0x81, 0x00]],
    ['a length beyond 2^53', [0x81, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, ...MASK]],
    ['a length over maxMessageBytes', [0x81, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, ...MASK]],
    ['text that is not UTF-8', [0x81, 0x81, ...MASK, 0xff]],
    ['a continuation of nothing', [0x80, 0x80, ...MASK]],
    ['a fragmented ping', [0x09, 0x80, ...MASK]],
    ['a close without a whole code', [0x88, 0x81, ...MASK, 0x03]],
  ];

  /** Runs everything that is due without time passing. */
  async function settled(time: VirtualTime | undefined): Promise<void> {
    for (let n = 0; n < 100; n++) {
      await time?.advance();
      await turn();
    }
  }

  collectLogs();

  describe.each(MALFORMED)('a frame with %s', (_what, bytes) => {
    let server: MuxServer;
    let time: VirtualTime | undefined;
    const sockets: Socket[] = [];

    afterEach(async () => {
      for (const socket of sockets.splice(0)) socket.destroy();
      time?.restore();
      time = undefined;
      await server.close();
    });

    const settle = (): Promise<void> => settled(time);

    /** Sends the frame, reads the whole answer, and keeps the TCP connection open. */
    async function stranger(): Promise<Socket> {
      const { socket, status } = await handshake(server);
      expect(status).toBe(101);
      sockets.push(socket.on('error', () => undefined));
      socket.write(Buffer.from(bytes));
      await once(socket, 'data');
      return socket;
    }

    const used = (): number => server.stats().limits.maxConnections?.used ?? NaN;

    async function statusOfNext(): Promise<number> {
      const { socket, status } = await handshake(server);
      sockets.push(socket);
      return status;
    }

    it('A stranger whose frame ended the WebSocket keeps his place until his socket is destroyed, 2 s later', async () => {
      server = serve({ port: 0, host: '127.0.0.1', keepalive: false, totalLimits: { maxConnections: 1 } });
      await server.listening;
      time = virtualTime();
      const socket = await stranger();
      await settle();
      expect(await statusOfNext()).toBe(503);
      await time.advance(1_999);
      await settle();
      expect([await statusOfNext(), used()]).toEqual([503, 1]);
      await time.advance(1);
      await until('the place', () => used() === 0);
      expect(await statusOfNext()).toBe(101);
      await until('the reset of a destroyed socket', () => socket.destroyed || !socket.write('x'));
    });

    it('`server.close()` destroys the socket of such a stranger after 2 s', async () => {
      server = serve({ port: 0, host: '127.0.0.1', keepalive: false });
      await server.listening;
      time = virtualTime();
      await stranger();
      let isClosed = false;
      void server.close().then(() => (isClosed = true));
      await settle();
      expect(isClosed).toBe(false);
      await time.advance(2_000);
      await settle();
      expect(isClosed).toBe(true);
    });

    it('The handlers of such a stranger end at the failure, while he still has his place', async () => {
      server = serve({ port: 0, host: '127.0.0.1', keepalive: false, totalLimits: { maxConnections: 1 } });
      await server.listening;
      let begun = 0;
      let ended = 0;
      const answer = (): Observable<never> => {
        begun++;
        return NEVER.pipe(finalize(() => ended++));
      };
      server.peers$.pipe(mergeMap(({ streams$ }) => streams$.pipe(respond(answer)))).subscribe();
      time = virtualTime();
      const { socket } = await handshake(server);
      sockets.push(socket.on('error', () => undefined));
      socket.write(text('{"type":"open","stream":1,"payload":1}'));
      await until('the call', () => begun === 1);
      expect([ended, used()]).toEqual([0, 1]);
      socket.write(Buffer.from(bytes));
      await once(socket, 'data');
      await settle();
      expect([ended, server.peers.size, used()]).toEqual([1, 0, 1]);
      await time.advance(2_000);
      await until('the place', () => used() === 0);
    });
  });

  /** One frame of masked text. */
  function text(content: string): Buffer {
    return Buffer.from([0x81, 0x80 + content.length, ...MASK, ...Buffer.from(content)]);
  }

  it('The calls of a dialer fail at a malformed frame, while its socket is still open', async () => {
    let closed = 0;
    let answered = 0;
    let write = (bytes: readonly number[]): unknown => bytes;
    const http = await listening(createServer());
    http.on('upgrade', (request, socket) => {
      const key = String(request.headers['sec-websocket-key']);
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
      socket.on('error', () => undefined).on('close', () => closed++);
      socket.write([...head, 'Sec-WebSocket-Protocol: mux.v1.json', '', ''].join('\r\n'));
      write = (bytes) => socket.write(Buffer.from(bytes));
      socket.once('data', () => answered++).resume();
    });
    const peer = connect(`ws://127.0.0.1:${portOf(http)}`, { reconnect: false, keepalive: false });
    await peer.opened;
    const time = virtualTime();
    let failed = 0;
    for (const payload of [1, 2]) peer.request(payload).catch(() => failed++);
    await until('the calls', () => answered === 1);
    write([0x83, 0x00]);
    await until('the failures', () => failed === 2);
    await settled(time);
    expect(closed).toBe(0);
    await time.advance(2_000);
    // A destroyed socket resets the connection at the next byte.
    await until('the destroyed socket', () => {
      write([0]);
      return closed === 1;
    });
    time.restore();
    await closing(http);
  });
});

describe('upgrade socket', () => {
  const http = httpServer();

  /** Arguments of an upgrade listener. */
  type Upgrade = readonly [request: IncomingMessage, socket: Duplex, head: Buffer];

  describe('upgrades on a shared HTTP server', () => {
    collectLogs();

    let servers: MuxServer[];

    const served = (...paths: readonly string[]): void => {
      servers = paths.map((path) => serve({ server: http.now, path, keepalive: false }));
    };

    afterEach(async () => {
      await Promise.all(servers.map((server) => server.close()));
    });

    it('A reset of a socket that another listener handles throws no error', async () => {
      served('/a', '/b');
      const dialer = await rawSocket(http.now);
      dialer.write(requestOf({ path: '/theirs' }));
      const [, socket] = (await once(http.now, 'upgrade')) as unknown as Upgrade;
      const listeners = socket.listenerCount('error');
      const failed = new Promise((resolve) => socket.once('close', resolve));
      dialer.resetAndDestroy();
      expect([await failed, listeners]).toEqual([true, 1]);
    });

    it.each<readonly [what: string, offer: Offer, status: number]>([
      ['accepts', {}, 101],
      ['refuses', { protocols: ['x'] }, 400],
    ])('Servers on one HTTP server share one error listener on a socket that handleUpgrade %s', async (_what, offer, status) => {
      served('/a', '/b');
      const listeners: unknown[] = [];
      http.now.once('upgrade', (...upgrade) => {
        handleUpgrade(...upgrade, { keepalive: false });
        listeners.push(...upgrade[1].listeners('error'));
      });
      const answer = await handshake(http.now, { ...offer, path: '/theirs' });
      expect(answer.status).toBe(status);
      expect(listeners).toEqual([...new Set(listeners)]);
      answer.socket.destroy();
    });
  });

  describe('a message that arrives with the handshake', () => {
    let server: MuxServer;

    afterEach(() => server.close());

    it.each<readonly [when: string, knows: 'nobody' | 'onPeer' | 'peers$', order: readonly string[]]>([
      ['in the turn of the upgrade where only its handler knows the peer', 'nobody', ['handler', 'next turn']],
      ['in a later turn where `onPeer` has received the peer', 'onPeer', ['next turn', 'handler']],
      ['in a later turn where a subscriber of `peers$` has received the peer', 'peers$', ['next turn', 'handler']],
    ])('A server reads it %s', async (_when, knows, order) => {
      const seen: string[] = [];
      const socket = await rawSocket(http.now);
      await new Promise<void>((resolve) => {
        server = serve({
          server: http.now,
          keepalive: false,
          origins: () => {
            setImmediate(() => seen.push('next turn'));
            return true;
          },
          onPeer: knows === 'onPeer' ? () => undefined : undefined,
          handler: () => {
            seen.push('handler');
            setImmediate(resolve);
          },
        });
        if (knows === 'peers$') server.peers$.subscribe();
        const open = Buffer.from(new JsonCodec().encode({ type: 'open', stream: 1, end: true }));
        // A frame with a mask of zeros.
        socket.write(Buffer.concat([Buffer.from(requestOf()), Buffer.from([0x81, 0x80 | open.length, 0, 0, 0, 0]), open]));
      });
      socket.destroy();
      expect(seen).toEqual(order);
    });
  });
});
