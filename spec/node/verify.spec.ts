import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { lastValueFrom, Observable, of } from 'rxjs';
import { WebSocket, WebSocketServer } from 'ws';
import { logger, RemoteError } from '../../src/index.js';
import type { PeerContext } from '../../src/index.js';
import { accept, connect, handleUpgrade, refuse, serve } from '../../src/node.js';
import type { AcceptOptions, UpgradeOptions, Verdict } from '../../src/node.js';
import { collectLogs } from '../support/peer/logs.js';
import { answerOn, handshake, portOf, rawSocket, requestOf } from '../support/socket/handshake.js';
import { httpServer } from '../support/socket/http.js';
import { turn, until, watchResources } from '../support/socket/leaks.js';
import { emptied, testServer } from '../support/socket/servers.js';
import type { TestServer } from '../support/socket/servers.js';

interface Decide {
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: Error) => void;
}

/** A text message of a dialer, masked with zeros, that opens a stream with `payload`. */
function openOf(stream: number, payload: string): Buffer {
  const text = Buffer.from(JSON.stringify({ type: 'open', stream, payload, end: true }));
  const header = Buffer.alloc(8);
  header.writeUInt16BE(0x81fe, 0);
  header.writeUInt16BE(text.length, 2);
  return Buffer.concat([header, text]);
}

describe('verify', () => {
  let leaks: ReturnType<typeof watchResources>;
  let server: TestServer;

  beforeEach(() => {
    leaks = watchResources();
  });

  afterEach(async () => {
    await server.dispose();
    expect(await leaks()).toEqual({});
  });

  // After the server, which writes its last lines as it ends.
  collectLogs();

  const user = { user: 'ann' } as PeerContext;

  it.each<readonly [what: string, verdict: unknown, status: number, context: unknown]>([
    ['true', true, 101, { given: 'by the options' }],
    ['a context', user, 101, user],
    ['a promise of true', Promise.resolve(true), 101, { given: 'by the options' }],
    ['a promise of a context', Promise.resolve(user), 101, user],
    ['false', false, 403, null],
    ['401', 401, 401, null],
    ['403', 403, 403, null],
    ['a promise of false', Promise.resolve(false), 403, null],
    ['a promise of 401', Promise.resolve(401), 401, null],
    ['undefined', undefined, 403, null],
    ['a promise of undefined', Promise.resolve(undefined), 403, null],
    ['null', null, 403, null],
    ['a truthy string', 'yes', 403, null],
    ['a number', 200, 403, null],
  ])('The verdict of verify decides about a request: %s', async (_what, verdict, status, context) => {
    server = await testServer({ verify: () => verdict as Verdict, context: { given: 'by the options' } as PeerContext });
    const answer = await handshake(server.http);
    expect(answer.status).toBe(status);
    if (status === 101) expect(server.peers.map((peer) => peer.context)).toEqual([context]);
    else expect(server.peers).toEqual([]);
    expect(server.refusals).toEqual(status === 101 ? [] : [{ status, reason: 'verify refused the request' }]);
    answer.socket.destroy();
  });

  it.each<readonly [verdict: unknown, got: string | null]>([
    [false, null],
    [401, null],
    [403, null],
    [429, '429'],
    [undefined, 'undefined'],
    [null, 'null'],
    ['s3cret', 'string'],
    [() => true, 'function'],
  ])('The log says what `verify` returned, unless it is a verdict: %p', async (verdict, got) => {
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    server = await testServer({ verify: () => verdict as Verdict });
    const { status, body } = await handshake(server.http);
    const detail = got === null ? '' : `: verify: expected a boolean, 401, 403, refuse(…) or an object for the context, got ${got}`;
    expect(warn.mock.calls).toEqual([[`rxmux: refused an upgrade: ${status} /: verify refused the request${detail}`]]);
    expect(body).toBe('verify refused the request\n');
  });

  it('A verify that throws a `refuse` is answered with 500, and the log says that it must return it', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const thrown$ = new Observable<Verdict>((subscriber) => {
      subscriber.error(refuse(429));
    });
    server = await testServer({ verify: () => lastValueFrom(thrown$) });
    expect((await handshake(server.http)).status).toBe(500);
    expect(error.mock.calls).toEqual([
      ['rxmux: an upgrade request could not be judged', new TypeError('verify: expected refuse(429) to be returned, got it thrown')],
    ]);
  });

  describe('own statuses', () => {
    it.each<readonly [what: string, verdict: () => unknown]>([
      ['at once', () => refuse(429, { 'Retry-After': 5, 'Set-Cookie': ['a=1', 'b=2'] }, 'too many connections')],
      ['later', () => Promise.resolve(refuse(429, { 'Retry-After': '5', 'Set-Cookie': ['a=1', 'b=2'] }, 'too many connections'))],
    ])('`refuse` answers with its own status and headers %s', async (_when, verdict) => {
      server = await testServer({ verify: verdict as () => Verdict });
      const { status, body, headers } = await handshake(server.http);
      expect([status, body]).toEqual([429, 'too many connections\n']);
      expect(headers).toEqual({
        connection: 'close',
        'content-length': '21',
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'sec-websocket-version': '13',
        'retry-after': '5',
        'set-cookie': 'b=2',
      });
      expect(server.refusals).toEqual([{ status: 429, reason: 'too many connections' }]);
      expect(server.peers).toEqual([]);
    });

    it('A dialer on Node receives the status of `refuse`', async () => {
      server = await testServer({ verify: () => refuse(451) });
      const dialer = connect(`ws://127.0.0.1:${portOf(server.http)}`, { keepalive: false });
      await expect(dialer.opened).rejects.toMatchObject({ code: 'CONNECT', status: 451 });
    });

    it('`refuse` may replace the default headers', async () => {
      server = await testServer({ verify: () => refuse(403, { 'content-type': 'application/json' }, '{}') });
      expect((await handshake(server.http)).headers['content-type']).toBe('application/json');
    });

    it('A `refuse` of another copy of the package refuses too', async () => {
      const [brand] = Object.getOwnPropertySymbols(refuse(429));
      if (brand === undefined) throw new Error('expected a brand');
      server = await testServer({
        verify: () => ({ status: 429, reason: 'no', headers: [], [Symbol.for(String(brand.description))]: true }),
      });
      expect((await handshake(server.http)).status).toBe(429);
    });

    it.each<readonly [what: string, verdict: object]>([
      ['an object', { status: 429, headers: { 'Retry-After': '5' } }],
      ['a Response', new Response(null, { status: 429 })],
    ])('A verdict that looks like a refusal is answered with 500 and logged: %s', async (_what, verdict) => {
      const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
      server = await testServer({ verify: () => verdict });
      expect((await handshake(server.http)).status).toBe(500);
      const [[, cause] = []] = error.mock.calls;
      expect(cause).toEqual(new TypeError('verify: expected refuse(429, headers), got an object with a status and headers'));
    });

    it.each<readonly [what: string, context: object]>([
      ['a status that is a text', { status: 'active', headers: {} }],
      ['a status that refuses nothing', { status: 200, headers: {} }],
      ['a status without headers', { status: 404 }],
      ['headers without a status', { headers: { trace: 1 } }],
    ])('A context may have %s', async (_what, context) => {
      server = await testServer({ verify: () => context });
      const answer = await handshake(server.http);
      expect(answer.status).toBe(101);
      expect(server.peers.map((peer) => peer.context)).toEqual([context]);
      answer.socket.destroy();
    });
  });

  it.each<readonly [what: string, verdict: object, logged: Error]>([
    ['an error', new Error('no such user'), new Error('no such user')],
    ['an empty list', [], new TypeError('verify: expected an object for the context, got an array')],
    ['a list', [{ user: 'ann' }], new TypeError('verify: expected an object for the context, got an array')],
    ['an Observable', of(false), new TypeError('verify: expected a promise, got an Observable: return firstValueFrom(…)')],
  ])('A verify that returns %s refuses the request by 500, and the log says why', async (_what, verdict, logged) => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    server = await testServer({ verify: () => verdict });
    expect((await handshake(server.http)).status).toBe(500);
    expect(error.mock.calls).toEqual([['rxmux: an upgrade request could not be judged', logged]]);
  });

  it('Each peer has its own empty context if verify returns none', async () => {
    server = await testServer({ verify: () => true });
    const answers = [await handshake(server.http), await handshake(server.http)];
    const contexts = server.peers.map(({ context }) => context);
    expect(contexts).toEqual([{}, {}]);
    expect(new Set(contexts).size).toBe(2);
    for (const { socket } of answers) socket.destroy();
  });

  it.each<readonly [what: string, verify: () => Promise<Verdict>]>([
    [
      'throws',
      () => {
        throw new Error('database is away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('database is away'))],
  ])('A verify that %s is answered with 500, and its error is logged and not sent', async (_what, verify) => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    server = await testServer({ verify });
    const { status, body } = await handshake(server.http);
    expect(status).toBe(500);
    expect(body).not.toContain('database');
    expect(error.mock.calls).toEqual([['rxmux: an upgrade request could not be judged', new Error('database is away')]]);
    expect(server.refusals).toEqual([{ status: 500, reason: 'the request could not be judged' }]);
  });

  it('A verify that rejects with a RemoteError is logged without the payload of the error', async () => {
    const error = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    server = await testServer({ verify: () => Promise.reject(new RemoteError('no such user', { password: 's3cret' })) });
    expect((await handshake(server.http)).status).toBe(500);
    expect(error.mock.calls).toEqual([
      ['rxmux: an upgrade request could not be judged', expect.stringMatching(/^RemoteError: no such user\n/)],
    ]);
  });

  it('Only requests that pass all other checks reach verify', async () => {
    const seen: unknown[] = [];
    server = await testServer({
      verify: ({ url, headers }) => {
        seen.push([url, headers.authorization]);
        return true;
      },
      origins: ['https://example.org'],
    });
    await handshake(server.http, { protocols: ['x'], path: '/wrong-protocol' });
    jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    await handshake(server.http, { headers: { Origin: 'https://evil.example' }, path: '/wrong-origin' });
    const good = await handshake(server.http, { path: '/good?x=1', headers: { Authorization: 'Bearer token' } });
    good.socket.destroy();
    expect(seen).toEqual([['/good?x=1', 'Bearer token']]);
  });

  it.each<readonly [what: string, verdict: () => Verdict | Promise<Verdict>]>([
    ['at once', () => true],
    ['later', () => Promise.resolve(true)],
  ])('A verify that closes the server and then accepts %s is answered with 503', async (_what, verdict) => {
    server = await testServer({
      verify: () => {
        void server.mux.close();
        return verdict();
      },
    });
    const answer = await handshake(server.http);
    expect(answer.status).toBe(503);
    expect(server.peers).toEqual([]);
    answer.socket.destroy();
  });

  describe('verifyTimeoutMs', () => {
    const never = (): Promise<Verdict> => new Promise(() => undefined);
    const start = async (options: UpgradeOptions): Promise<{ answers: ReturnType<typeof answerOn>[]; sockets: Socket[] }> => {
      server = await testServer(options);
      const sockets = await Promise.all(Array.from({ length: 20 }, () => rawSocket(server.http)));
      const answers = sockets.map(answerOn);
      for (const socket of sockets) socket.write(requestOf());
      return { answers, sockets };
    };

    beforeEach(() => {
      jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    });

    it('A verify that never decides is answered with 503 after verifyTimeoutMs, and its sockets are released', async () => {
      const { answers, sockets } = await start({ verify: never, verifyTimeoutMs: 20 });
      expect((await Promise.all(answers)).map(({ status, body }) => `${String(status)} ${body}`)).toEqual(
        answers.map(() => '503 the request could not be judged in time\n'),
      );
      await emptied(server.http);
      expect(jest.mocked(logger.warn).mock.calls[0]?.[0]).toBe(
        'rxmux: refused an upgrade: 503 /: the request could not be judged in time: verify took longer than verifyTimeoutMs (20 ms)',
      );
      for (const socket of sockets) socket.destroy();
    });

    it.each<readonly [what: string, settle: (decide: Decide) => void]>([
      ['accepts', ({ resolve }) => resolve(true)],
      ['refuses', ({ resolve }) => resolve(401)],
      ['rejects', ({ reject }) => reject(new Error('no database'))],
    ])('A verify that %s too late is answered only once', async (_what, settle) => {
      const late: Decide[] = [];
      const verify = (): Promise<Verdict> => new Promise((resolve, reject) => late.push({ resolve, reject }));
      const { answers, sockets } = await start({ verify, verifyTimeoutMs: 20 });
      expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([503]));
      late.forEach(settle);
      // An unhandled rejection fails the test at the end of a turn.
      await turn();
      expect(server.peers).toEqual([]);
      expect(server.refusals).toHaveLength(20);
      for (const socket of sockets) socket.destroy();
    });

    it.each<readonly [what: string, options: UpgradeOptions, delays: readonly number[]]>([
      ['10 s by default', {}, [10_000]],
      ['none for 0', { verifyTimeoutMs: 0 }, []],
      ['none for Infinity', { verifyTimeoutMs: Infinity }, []],
    ])('`verifyTimeoutMs` is %s', async (_what, options, delays) => {
      const timers = jest.spyOn(globalThis, 'setInterval');
      const asked = jest.fn(never);
      const { sockets } = await start({ ...options, verify: asked });
      await until('all to be asked', () => asked.mock.calls.length === sockets.length);
      expect([...new Set(timers.mock.calls.map(([, ms]) => ms))]).toEqual(delays);
      for (const socket of sockets) socket.destroy();
      await emptied(server.http);
    });

    it('A verify that never decides fails the peer of `handleUpgrade` with 503', async () => {
      server = await testServer({ path: '/none' });
      const failed = new Promise<unknown>((resolve) => {
        server.http.on('upgrade', (request, socket, head) => {
          handleUpgrade(request, socket, head, { verify: never, verifyTimeoutMs: 20, keepalive: false }).opened.catch(resolve);
        });
      });
      expect((await handshake(server.http, { path: '/mine' })).status).toBe(503);
      expect(await failed).toMatchObject({ code: 'CONNECT', status: 503 });
    });
  });

  describe('pending verdicts', () => {
    let decide: (verdict: Verdict) => void;
    let asked: Promise<void>;

    beforeEach(async () => {
      let ask = (): void => undefined;
      asked = new Promise((resolve) => {
        ask = resolve;
      });
      server = await testServer({
        verify: () =>
          new Promise<Verdict>((resolve) => {
            decide = resolve;
            ask();
          }),
      });
    });

    it.each<readonly [how: string, leave: (socket: Awaited<ReturnType<typeof rawSocket>>) => void]>([
      ['resets', (socket) => socket.resetAndDestroy()],
      ['closes', (socket) => socket.destroy()],
      ['ends its half', (socket) => socket.end()],
    ])('A server drops a pending request when its dialer %s, and a late verdict has no effect', async (_how, leave) => {
      const socket = await rawSocket(server.http);
      socket.write(requestOf());
      await asked;
      leave(socket);
      await emptied(server.http);
      decide(true);
      await turn();
      expect(server.peers).toEqual([]);
      expect(server.refusals).toEqual([]);
      socket.destroy();
    });

    it('A server reads frames behind a pending request only once verify has accepted the request', async () => {
      const arrived: unknown[] = [];
      server.mux.peers$.subscribe((peer) => peer.onStream((payload) => void arrived.push(payload)));
      const accepted: Socket[] = [];
      server.http.on('connection', (socket) => accepted.push(socket));
      const socket = await rawSocket(server.http);
      const frames = Buffer.concat(Array.from({ length: 200 }, (_, nth) => openOf(1 + 2 * nth, 'x'.repeat(60_000))));
      const answer = answerOn(socket);
      socket.write(Buffer.concat([Buffer.from(requestOf()), frames]));
      await asked;
      let read = 0;
      let idleTurns = 0;
      await until('the server to read no more', () => {
        const now = accepted[0]?.bytesRead ?? 0;
        idleTurns = now === read ? idleTurns + 1 : 0;
        read = now;
        return idleTurns === 1_000;
      });
      expect([arrived, read < frames.length / 16]).toEqual([[], true]);
      decide(true);
      expect((await answer).status).toBe(101);
      await until('all to arrive', () => arrived.length === 200);
      socket.destroy();
    });

    it('A server that closes answers a pending request with 503 and does not wait for verify', async () => {
      const socket = await rawSocket(server.http);
      const answer = answerOn(socket);
      socket.write(requestOf());
      await asked;
      await server.mux.close();
      expect(await answer).toMatchObject({ status: 503, body: 'this side is going away\n' });
      socket.destroy();
      decide(true);
      await turn();
      expect(server.peers).toEqual([]);
      expect(server.refusals).toEqual([{ status: 503, reason: 'this side is going away' }]);
    });

    it('A pending verdict does not hold up other dialers', async () => {
      const first = await rawSocket(server.http);
      const answers = [answerOn(first)];
      first.write(requestOf());
      await asked;
      const decideFirst = decide;
      const second = await rawSocket(server.http);
      answers.push(answerOn(second));
      second.write(requestOf());
      await until('the second to be asked', () => decide !== decideFirst);
      decide(true);
      expect((await answers[1])?.status).toBe(101);
      decideFirst(401);
      expect((await answers[0])?.status).toBe(401);
      first.destroy();
      second.destroy();
    });
  });
});

describe('refuse', () => {
  it.each<readonly [what: string, args: readonly unknown[], message: string | RegExp]>([
    ['no status', [undefined], 'status: expected an integer from 400 to 599, got undefined'],
    ['a status that refuses nothing', [200], 'status: expected an integer from 400 to 599, got 200'],
    ['a status out of range', [600], 'status: expected an integer from 400 to 599, got 600'],
    ['half a status', [400.5], 'status: expected an integer from 400 to 599, got 400.5'],
    ['a text for a status', ['429'], "status: expected an integer from 400 to 599, got '429'"],
    ['a text for headers', [429, 'Retry-After: 5'], "headers: expected an object, got 'Retry-After: 5'"],
    ['a name that is no token', [429, { 'Retry After': '5' }], /Retry After/],
    ['a name with a line end', [429, { 'a\r\nb': '5' }], /token/],
    ['a value with a line end', [429, { 'Retry-After': '5\r\nSet-Cookie: a=b' }], /Retry-After/],
    ['one of several values with a line end', [429, { 'Set-Cookie': ['a=1', 'b=2\n'] }], /Set-Cookie/],
    ['a value that is an object', [429, { 'Retry-After': { s: 5 } }], 'Retry-After: expected a string or a number, got an object'],
    [
      'a header that frames the answer',
      [429, { 'content-length': 0 }],
      'headers: expected none that frames the answer, got content-length',
    ],
    ['a reason that is no text', [429, {}, 5], 'reason: expected a string, got 5'],
  ])('`refuse` throws TypeError for %s', (_what, args, message) => {
    let thrown: unknown;
    try {
      Reflect.apply(refuse, undefined, args);
    } catch (error) {
      thrown = error;
    }
    // Compared by name, since the TypeError of `node:http` comes from another realm.
    expect(thrown).toMatchObject({ name: 'TypeError', message: expect.stringMatching(message) });
  });

  it('`refuse` omits a header that is undefined', () => {
    expect(refuse(503, { 'Retry-After': undefined, Vary: 'Origin' }).headers).toEqual([['Vary', 'Origin']]);
  });
});

describe('hello gate', () => {
  collectLogs();

  const http = httpServer((server) => {
    server.closeAllConnections();
  });

  /** The functions that make a peer on a server. Each returns a function that ends it. */
  const DOORS: readonly (readonly [name: string, open: (options: AcceptOptions) => () => unknown])[] = [
    [
      'serve',
      (options) => {
        const server = serve({ ...options, server: http.now });
        return () => server.close();
      },
    ],
    [
      'handleUpgrade',
      (options) => {
        http.now.on('upgrade', (request, socket, head) => handleUpgrade(request, socket, head, options));
        return () => undefined;
      },
    ],
    [
      'accept',
      (options) => {
        const sockets = new WebSocketServer({ server: http.now }).on('connection', (socket) => accept(socket, options));
        return () => {
          sockets.close();
        };
      },
    ],
  ];

  describe.each(DOORS)('hello of %s', (_name, open) => {
    it('A peer refuses all other streams until onHello has replied, and calls no handler for them', async () => {
      const seen: string[] = [];
      let welcome = (): void => undefined;
      const end = open({
        keepalive: false,
        onHello: async (token, stream) => {
          seen.push(`hello ${String(token)}`);
          await new Promise<void>((resolve) => (welcome = resolve));
          await stream.reply('welcome');
        },
        handler: (payload, stream) => {
          seen.push(`stream ${String(payload)}`);
          return stream.reply(payload);
        },
      });
      const dialer = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
      const frames: Record<string, unknown>[] = [];
      dialer.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Record<string, unknown>));
      await new Promise((resolve) => dialer.once('open', resolve));
      const ask = (stream: number, payload: string): void => dialer.send(JSON.stringify({ type: 'open', stream, payload, end: true }));

      // All in one turn, without waiting for the server.
      ask(1, 'token');
      for (const early of [3, 5, 7]) ask(early, 'early');
      await until('three answers', () => frames.length === 3);
      expect(frames.map(({ type, stream, code }) => [type, stream, code])).toEqual([3, 5, 7].map((early) => ['reset', early, 7]));
      expect(seen).toEqual(['hello token']);

      welcome();
      await until('the welcome', () => frames.length === 4);
      // The mark says that a hello was expected, because this one has none.
      expect(frames.at(-1)).toEqual({ type: 'data', stream: 1, headers: { 'mux.hello': true }, end: true, payload: 'welcome' });
      ask(9, 'late');
      await until('the answer', () => frames.length === 5);
      expect(frames.at(-1)).toEqual({ type: 'data', stream: 9, end: true, payload: 'late' });
      expect(seen).toEqual(['hello token', 'stream late']);
      dialer.terminate();
      await end();
    });

    it('A peer closes with 1008 when onHello rejects, and calls no handler', async () => {
      const seen: unknown[] = [];
      const end = open({
        keepalive: false,
        errorSerializer: () => ({ message: 'not you' }),
        onHello: () => Promise.reject(new Error('no such token in table users')),
        handler: (payload) => seen.push(payload),
      });
      const dialer = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
      const messages: string[] = [];
      dialer.on('message', (data: Buffer) => messages.push(data.toString()));
      const closed = new Promise<readonly [number, string]>((resolve) =>
        dialer.once('close', (code, reason) => {
          resolve([code, reason.toString()]);
        }),
      );
      await new Promise((resolve) => dialer.once('open', resolve));
      for (const stream of [1, 3]) dialer.send(JSON.stringify({ type: 'open', stream, payload: 'token', end: true }));
      const [code, reason] = await closed;
      expect(code).toBe(1008);
      expect(seen).toEqual([]);
      // Neither a payload nor a reason contains what the serializer leaves out.
      expect([...messages, reason].join()).not.toContain('table users');
      const rejected = { type: 'reset', stream: 1, code: 16, payload: { message: 'not you' }, reason: 'not you' };
      expect(messages.map((message) => JSON.parse(message) as unknown)).toContainEqual(rejected);
      await end();
    });
  });

  describe.each(DOORS)('options of %s', (_name, open) => {
    it('A peer closes with 1008 when the dialer sends no hello within helloTimeoutMs', async () => {
      const end = open({ keepalive: false, onHello: (_token, stream) => stream.reply('welcome'), helloTimeoutMs: 20 });
      const dialer = new WebSocket(`ws://127.0.0.1:${portOf(http.now)}`, ['mux.v1.json']);
      const code = await new Promise<number>((resolve) => dialer.once('close', resolve));
      expect(code).toBe(1008);
      await end();
    });

    it('A peer answers with its handler, and not with onStream, if it has both', async () => {
      const end = open({
        keepalive: false,
        onStream: (_payload, stream) => stream.reply('by onStream'),
        handler: (_payload, stream) => stream.reply('by the handler'),
      });
      const dialer = connect(`ws://127.0.0.1:${portOf(http.now)}`, { keepalive: false });
      expect(await dialer.request('hi')).toBe('by the handler');
      await dialer.close();
      await end();
    });
  });
});
