import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  asyncScheduler,
  BehaviorSubject,
  catchError,
  delayWhen,
  firstValueFrom,
  map,
  mergeMap,
  NEVER,
  of,
  Subject,
  throwError,
  timer,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { WebSocket } from 'ws';
import { marbles } from '../../marbles/support/virtual.js';
import { connect as connectInBrowser, logger, ResetCode, ResetError, respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { connect, serve } from '../../src/node.js';
import { sessionRefused } from '../../src/session.js';
import { createServer as createServerFromTesting, virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import { createPair } from '../support/peer/tracked.js';
import { otherPlatform } from '../support/platform/globals.js';
import { handshake } from '../support/socket/handshake.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';

describe('recipes servers', () => {
  const page = loadRecipes() as Recipes;

  collectLogs();

  describe('session cookie', () => {
    const verify = page.bySession((session) => Promise.resolve(session === 's2' ? undefined : 'ann'));

    it.each([
      ['s1 alone', 'session=s1', { user: 'ann' }],
      ['s1 among others', 'lang=en; session=s1; theme=dark', { user: 'ann' }],
      ['an unknown session', 'session=s2', 401],
      ['a cookie whose name ends like it', 'nosession=s1', 401],
      ['an empty session', 'session=', 401],
      ['no cookie', undefined, 401],
    ])('`bySession` judges a request by its session cookie: %s', async (_, cookie, verdict) => {
      expect(await verify({ headers: { cookie } } as never)).toEqual(verdict);
    });

    it('`bySession` sets the context of the peer', async () => {
      const server = serve({ port: 0, verify, handler: (_, stream) => stream.reply(stream.peer.context) });
      const { port } = await server.listening;
      const peer = connect(`ws://localhost:${port}`, { headers: { cookie: 'session=s1' } });
      expect(await peer.request(null)).toEqual({ user: 'ann' });
      await expect(connect(`ws://localhost:${port}`).opened).rejects.toMatchObject({ status: 401 });
      await Promise.all([peer.close(), server.close()]);
    });
  });

  describe('cookie that expires', () => {
    it('`sessionOf` and `greetSession` refuse an unknown session, and extend one that has expired', async () => {
      const sessions = new Map([['s1', { user: 'ann', endsAt: new Date(0) }]]);
      const server = serve({
        port: 0,
        verify: page.sessionOf,
        onHello: page.greetSession((id) => Promise.resolve(sessions.get(id))),
        handler: (_, stream) => stream.reply(stream.peer.context),
      });
      const { port } = await server.listening;
      const extend = () => Promise.resolve(sessions.set('s1', { user: 'ann', endsAt: new Date(Date.now() + 3_600_000) }));
      const dial = (cookie: string) =>
        page.connectInSession(`ws://localhost:${port}`, extend, {
          socket: (url, protocol) => new WebSocket(url, protocol, { headers: { cookie } }),
        });
      const unknown = dial('session=s2');
      await expect(unknown.opened).rejects.toMatchObject({ code: 'REMOTE', message: 'log in again' });
      const peer = dial('session=s1');
      expect(await peer.request(null)).toEqual({ session: 's1', user: 'ann' });
      await Promise.all([peer.close(), server.close()]);
    });
  });

  describe('metrics', () => {
    it('`metricsOf` prints each fact of a server as a line of text', async () => {
      const server = serve({ port: 0, handler: (_, stream) => stream.reply('hi'), totalLimits: { maxConnections: 4 } });
      const { port } = await server.listening;
      const peer = connect(`ws://localhost:${port}`);
      await peer.request(null);
      const lines = page.metricsOf(server).split('\n');
      expect(lines).toEqual(
        expect.arrayContaining([
          'rxmux_connections{by="open"} 1',
          'rxmux_streams{by="opened"} 1',
          'rxmux_ended{by="ended"} 1',
          'rxmux_sent{by="frames"} 1',
          'rxmux_peersNearLimits{by="maxStreams"} 0',
          'rxmux_limits{by="maxConnections"} 0.25',
        ]),
      );
      expect(lines.pop()).toBe('');
      expect(lines.every((line) => /^rxmux_[a-zA-Z]+\{by="[\w ]+"\} [\d.]+$/.test(line))).toBe(true);
      await Promise.all([peer.close(), server.close()]);
    });
  });

  describe('one port', () => {
    it('A server on one port serves pages and streams, and refuses one peer too many with 429', async () => {
      const http = createServer((_request, response) => response.end('a page'));
      const mux = page.joinPages(http, (payload, stream) => stream.reply(payload), 1);
      http.listen(0, '127.0.0.1');
      const { port } = await mux.listening;
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('a page');
      const peer = connect(`ws://127.0.0.1:${port}/mux`);
      expect(await peer.request('hi')).toBe('hi');
      const { status, headers, socket } = await handshake(http, { path: '/mux' });
      expect([status, headers['retry-after']]).toEqual([429, '5']);
      socket.destroy();
      const left = page.leavePort(http, mux);
      expect(http.listening).toBe(false);
      await left;
      expect(await peer.closed).toMatchObject({ code: 1000 });
    });
  });

  describe('deploy', () => {
    it('`serveReady` answers the probe with 200, and with 503 while the last call goes on', async () => {
      const answer = new Subject<string>();
      const { http, drain } = page.serveReady((_, stream) => stream.sendAll(answer));
      http.listen(0, '127.0.0.1');
      const { port } = (await once(http, 'listening').then(() => http.address())) as AddressInfo;
      const probe = async (): Promise<number> =>
        (await fetch(`http://127.0.0.1:${port}/ready`, { headers: { connection: 'close' } })).status;
      const peer = connect(`ws://127.0.0.1:${port}/mux`);
      const asked = peer.open(null);
      const value = firstValueFrom(asked);
      await peer.ping();
      expect(await probe()).toBe(200);
      const drained = drain();
      expect(await probe()).toBe(503);
      answer.next('done');
      answer.complete();
      expect(await value).toBe('done');
      await drained;
      expect(http.listening).toBe(false);
    });

    it.each(['SIGTERM', 'SIGINT'])(
      '`closeOnSignal` closes the server at the first %s with a drain of 20 s, and ignores a second signal',
      async (signal) => {
        const process = new EventEmitter();
        const closes: unknown[] = [];
        const server = { close: (options: unknown) => Promise.resolve(closes.push(options)) };
        const closed = page.closeOnSignal(server as never, process);
        expect(closes).toEqual([]);
        process.emit(signal);
        await closed;
        expect(closes).toEqual([{ drainMs: 20_000, reason: 'deploy' }]);
        expect(process.eventNames()).toEqual([]);
      },
    );

    it('The old server answers its calls during a deploy, and the new server answers new ones', async () => {
      const deploy = (name: string) => {
        const server = serve({ port: 0, handler: (payload, stream) => answer(name, payload as Call, stream.reply.bind(stream)) });
        server.peers$.subscribe((peer) => {
          page.serveLog(peer, past, entries$);
        });
        return server;
      };
      interface Call {
        readonly op: string;
        readonly seat?: string;
      }
      const finish$ = new Subject<void>();
      const started$ = new Subject<void>();
      const entries$ = new Subject<{ seq: number }>();
      const past: { seq: number }[] = [];
      const append = (seq: number): void => {
        past.push({ seq });
        entries$.next({ seq });
      };
      const answer = async (name: string, { seat = '' }: Call, reply: (value: string) => Promise<void>): Promise<void> => {
        if (seat === 'slow') {
          started$.next();
          await firstValueFrom(finish$);
        }
        await reply(`${seat} on the ${name}`);
      };

      const old = deploy('old');
      const next = deploy('new');
      let address = await old.listening;
      const peer = connect(() => `ws://localhost:${address.port}`, { reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
      const process = new EventEmitter();
      const exited = page.closeOnSignal(old, process);
      const followed: number[] = [];
      const following = page.follow(peer).subscribe(({ seq }) => followed.push(seq));
      append(1);

      const hasStarted = firstValueFrom(started$);
      const slow = page.book(peer, 'slow');
      await hasStarted;
      address = await next.listening;
      const moved = firstValueFrom(next.peers$);
      process.emit('SIGTERM');
      await moved;
      append(2);
      expect(await page.book(peer, '12A')).toBe('12A on the new');
      finish$.next();
      expect(await slow).toBe('slow on the old');
      await exited;
      append(3);
      await peer.ping();
      expect(followed).toEqual([1, 2, 3]);
      following.unsubscribe();
      await Promise.all([peer.close(), next.close()]);
    });
  });
});

const page = loadRecipes() as Recipes;
/** The payload that callers receive for an internal error. */
const INTERNAL = { name: 'Error', message: 'internal error' };

describe('connections', () => {
  collectLogs();
  const pretend = otherPlatform();

  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    time.restore();
  });

  it('`connectAs` sends a refreshed token in the hello of each socket, and with each call', async () => {
    let serial = 0;
    const tokens = { current: () => `t${serial}`, refresh: () => Promise.resolve(`t${++serial}`) };
    const greeter = page.greet((token) => Promise.resolve({ name: `the holder of ${token}` }));
    const seen: unknown[] = [];
    const server = createServerFromTesting({
      onStream: (payload, stream) => {
        seen.push([payload, stream.headers, { ...stream.peer.context }]);
        return typeof payload === 'object' ? greeter(payload, stream) : stream.reply(stream.headers['authorization']);
      },
    });
    const peer = page.connectAs('ws://test', tokens, { socket: server.socket });
    await time.advance(10);
    const first = peer.request('mine');
    await time.advance(10);
    expect(await first).toBe('Bearer t1');
    server.link?.cut();
    await time.advance(30_000);
    const second = peer.request('mine');
    await time.advance(10);
    expect(await second).toBe('Bearer t2');
    expect(seen).toEqual([
      [{ token: 't1' }, { 'mux.hello': 'renews' }, {}],
      ['mine', { authorization: 'Bearer t1' }, { name: 'the holder of t1' }],
      [{ token: 't2' }, { 'mux.hello': 'renews' }, {}],
      ['mine', { authorization: 'Bearer t2' }, { name: 'the holder of t2' }],
    ]);
  });

  /** Tokens that count up, and a server that accepts a token if `isGood` does. */
  const countingTokens = (isGood: (token: string) => boolean) => {
    let serial = 0;
    const onHello = page.greet((token) => (isGood(token) ? Promise.resolve({ name: token }) : Promise.reject(new Error(`no ${token}`))));
    return { current: () => `t${serial}`, refresh: () => Promise.resolve(`t${++serial}`), network: new Network({ onHello }) };
  };

  it('`connectAs` replaces a refused token, and `opened` resolves once a token is accepted', async () => {
    const { network, ...tokens } = countingTokens((token) => token === 't2');
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    const { opened } = peer;
    await time.advance(30_000);
    await opened;
    expect([tokens.current(), peer.status.state]).toEqual(['t2', 'open']);
    expect(warn.mock.calls.map(([line]) => line)).toEqual([
      'rxmux: a dial failed, and more follow: the hello has failed: no t1',
      'rxmux: connected to ws://test after 1 failed dial',
    ]);
  });

  it('`connectAs` dials in a page until an absent server is back', async () => {
    pretend({ document: {} });
    const { network, ...tokens } = countingTokens(() => true);
    network.answer = { status: null };
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    await time.advance(600_000);
    expect(peer.status.state).toBe('waiting');
    network.answer = 'accept';
    await time.advance(30_000);
    expect(peer.status.state).toBe('open');
  });

  it('`connectAs` stops at a token that `sessionRefused` refuses', async () => {
    const network = new Network({ onHello: page.greet(() => Promise.reject(sessionRefused('unknown token'))) });
    const tokens = { current: () => 't', refresh: () => Promise.resolve('t') };
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    const { opened } = peer;
    const outcome = expect(opened).rejects.toMatchObject({ code: 'REMOTE', message: 'unknown token' });
    await time.advance(600_000);
    await outcome;
    expect([network.dials.length, peer.status.state]).toEqual([1, 'closed']);
  });

  /** Signs tokens as a JWT library does, and verifies them with the error codes of jose. */
  const KEY = 'secret';
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signatureOf = (text: string): string => createHmac('sha256', KEY).update(text).digest('base64url');
  const signed = (payload: object): string => {
    const text = `${encoded({ alg: 'HS256' })}.${encoded(payload)}`;
    return `${text}.${signatureOf(text)}`;
  };
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  const verifyJwt = (token: string): Promise<{ payload: { sub?: string; exp?: number } }> => {
    const [header = '', body = '', signature] = token.split('.');
    if (signatureOf(`${header}.${body}`) !== signature) return Promise.reject(coded('ERR_JWS_SIGNATURE_VERIFICATION_FAILED'));
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { sub?: string; exp: number };
    return payload.exp * 1_000 <= asyncScheduler.now() ? Promise.reject(coded('ERR_JWT_EXPIRED')) : Promise.resolve({ payload });
  };
  const inSeconds = (seconds: number): number => asyncScheduler.now() / 1_000 + seconds;

  it('`greetJwt` renews the tokens of `connectAs` on one socket, before each expires', async () => {
    const network = new Network({ onHello: page.greetJwt(verifyJwt) });
    let refreshes = 0;
    const refresh = () => Promise.resolve(signed({ sub: `ann ${++refreshes}`, exp: inSeconds(300) }));
    const peer = page.connectAs('ws://test', { current: () => '', refresh }, { socket: network.socket });
    await time.advance(269_000);
    expect([refreshes, network.last.peer.context]).toEqual([1, { name: 'ann 1' }]);
    await time.advance(631_000);
    expect([network.dials.length, network.last.peer.context, peer.status.state]).toEqual([1, { name: 'ann 4' }, 'open']);
    void peer.close();
    await time.advance(3_000);
  });

  it.each<[string, () => string, number, string]>([
    ['stops at a forged token', () => `${signed({ sub: 'ann', exp: 1e9 }).slice(0, -2)}xx`, 1, 'bad token'],
    ['asks once for a fresh token', () => signed({ sub: 'ann', exp: inSeconds(-1) }), 2, 'the session has expired'],
  ])('`greetJwt` %s', async (_what, token, dials, message) => {
    const network = new Network({ onHello: page.greetJwt(verifyJwt) });
    const tokens = { current: () => '', refresh: () => Promise.resolve(token()) };
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    const outcome = expect(peer.opened).rejects.toMatchObject({ code: 'REMOTE', message });
    await time.advance(600_000);
    await outcome;
    expect(network.dials.length).toBe(dials);
  });

  it('`greetJwt` is a fault of the server, and no refusal, when the key server is away', async () => {
    let asked = 0;
    const onHello = page.greetJwt((token) => (++asked < 3 ? Promise.reject(coded('ERR_JWKS_TIMEOUT')) : verifyJwt(token)));
    const network = new Network({ onHello });
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const tokens = { current: () => '', refresh: () => Promise.resolve(signed({ sub: 'ann', exp: inSeconds(300) })) };
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    await time.advance(60_000);
    expect([asked, peer.status.state]).toEqual([3, 'open']);
    expect(warn.mock.calls.length).toBeGreaterThan(0);
    void peer.close();
    await time.advance(3_000);
  });

  it('`greetSession` has the page extend its session before the session ends, on the same socket', async () => {
    const session = { user: 'ann', endsAt: new Date(asyncScheduler.now() + 100_000) };
    const onHello = page.greetSession((id) => Promise.resolve(id === 's1' ? session : undefined));
    const network = new Network({ onHello, context: { session: 's1' } as object });
    let extended = 0;
    const extend = () => {
      extended++;
      session.endsAt = new Date(asyncScheduler.now() + 100_000);
      return Promise.resolve();
    };
    const peer = page.connectInSession('ws://test', extend, { socket: network.socket });
    await time.advance(69_000);
    expect([extended, network.last.peer.context]).toEqual([0, { session: 's1', user: 'ann' }]);
    await time.advance(2_000);
    expect(extended).toBe(1);
    await time.advance(300_000);
    expect([network.dials.length, peer.status.state]).toEqual([1, 'open']);
    void peer.close();
    await time.advance(3_000);
  });

  it('`askedStore` emits only a few stores to a slow client, and the newest one last', async () => {
    const { dialer, acceptor, link } = createPair();
    const store$ = new BehaviorSubject<Readonly<Record<string, unknown>>>({ nth: 0 });
    const seen: unknown[] = [];
    page.serveStore(acceptor, store$);
    const asking = page.askedStore(dialer).subscribe(({ nth }) => seen.push(nth));
    await time.advance();
    link.stall('dialer');
    for (let nth = 1; nth <= 100; nth++) {
      store$.next({ nth, text: 'x'.repeat(100_000) });
      await time.advance();
    }
    link.resume('dialer');
    await time.advance(1_000);
    expect(seen.at(-1)).toBe(100);
    expect(seen.length).toBeLessThan(20);
    asking.unsubscribe();
  });

  it('`onlyPublic` reports the errors of handlers to onError, for requests and for notifications', async () => {
    const onError = jest.fn();
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: page.onlyPublic, onError } });
    acceptor.onStream((payload) => Promise.reject(new RangeError(String(payload))));
    dialer.notify('pushed');
    const outcome = expect(dialer.request('asked')).rejects.toMatchObject({ reason: 'internal error', payload: INTERNAL });
    await time.advance();
    await outcome;
    expect(onError.mock.calls.map(([error]) => error)).toEqual([new RangeError('pushed'), new RangeError('asked')]);
  });

  it('`onlyPublic` sends the text of a PublicError to the caller and does not report it', async () => {
    const onError = jest.fn();
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: page.onlyPublic, onError } });
    const errors: readonly Error[] = [new RangeError('broken'), new page.PublicError('no seat'), new ResetError(300, 'of another peer')];
    acceptor.streams$.pipe(respond((nth: number) => throwError(() => errors[nth]))).subscribe();
    const outcomes = Promise.allSettled(errors.map((_, nth) => dialer.request(nth)));
    await time.advance();
    expect(await outcomes).toMatchObject([
      { reason: { code: 'REMOTE', reason: 'internal error', payload: INTERNAL } },
      { reason: { code: 'REMOTE', reason: 'no seat', payload: { name: 'PublicError', message: 'no seat' } } },
      { reason: { resetCode: 300, reason: 'internal error', payload: INTERNAL } },
    ]);
    expect(onError.mock.calls.map(([error]) => error)).toEqual(errors.slice(0, 1));
  });

  it.each<[string, (peer: Peer) => unknown]>([
    ['serveSearch', (peer) => page.serveSearch(peer, () => of(['found']))],
    ['serveStore', (peer) => page.serveStore(peer, of({}))],
    ['serveTicker', (peer) => page.serveTicker(peer, of('price'))],
    ['serveRoom', (peer) => page.serveRoom(peer, new Subject())],
    ['serveLog', (peer) => page.serveLog(peer, [], NEVER)],
    ['pushedStore', (peer) => page.pushedStore(peer).subscribe()],
    ['serveUploads', (peer) => page.serveUploads(peer, () => Promise.resolve())],
  ])('`%s` leaves other streams to other handlers', async (_, serve) => {
    const { dialer, acceptor } = createPair();
    serve(acceptor);
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const answers = Promise.all([dialer.request({ op: 'other' }), dialer.request(undefined), dialer.request('text')]);
    await time.advance();
    expect(await answers).toEqual([{ op: 'other' }, null, 'text']);
  });

  it('`connectionNotice` follows the connection up to the reason of its end', async () => {
    const network = new Network({});
    network.answer = { status: null };
    const reconnect = { minDelayMs: 1_500, maxDelayMs: 1_500, maxAttempts: 2 };
    jest.spyOn(Math, 'random').mockReturnValue(1);
    const peer = connectInBrowser('ws://test', { socket: network.socket, reconnect });
    const notices: (string | null)[] = [];
    page.connectionNotice(peer).subscribe((notice) => notices.push(notice));
    await time.advance(1_000);
    network.answer = 'accept';
    await time.advance(1_000);
    network.answer = { status: 403 };
    void peer.close();
    await time.advance(1_000);
    expect(notices).toEqual(['Connecting …', 'Connection lost. Next attempt in 2 s.', 'Reconnecting …', null, 'Disconnected.']);
    const refused = connectInBrowser('ws://test', { socket: network.socket });
    await time.advance(1_000);
    expect(await firstValueFrom(page.connectionNotice(refused))).toBe(
      'Disconnected: expected ws://test to accept the handshake, got HTTP 403',
    );
  });

  it('`connectionNotice` reports a page without a network', async () => {
    const peer = { status$: of({ state: 'waiting', offline: true, delayMs: 500 }) } as never;
    expect(await firstValueFrom(page.connectionNotice(peer))).toBe('You are offline.');
  });

  it('`book` retries a refused booking', async () => {
    const { dialer, acceptor } = createPair();
    const asked: unknown[] = [];
    acceptor.onStream((payload, stream) => {
      if (asked.push(payload) > 1) return stream.reply('booked');
      stream.reset(ResetCode.REFUSED, 'restarting');
      return undefined;
    });
    const booked = page.book(dialer, '12A');
    await time.advance(1_000);
    expect(await booked).toBe('booked');
    expect(asked).toEqual([1, 2].map(() => ({ op: 'book', seat: '12A' })));
  });
});

describe('recipes push', () => {
  const page = loadRecipes() as Recipes;

  describe('one feed', () => {
    it(
      '`serveFeed` encodes each value once for all subscribers',
      marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
        const pairs = [createPair(), createPair()];
        let encoded = 0;
        const value = (n: number): unknown => ({ toJSON: () => (encoded++, n) });
        const feed$ = cold('--a--b|', { a: value(1), b: value(2) });
        const subs = '      ^-----!';
        const expected = '  --a--b|';
        page.serveFeed(of(...pairs.map(({ acceptor }) => acceptor)), feed$);
        for (const { dialer } of pairs) expectObservable(dialer.open$({ op: 'feed' })).toBe(expected, { a: 1, b: 2 });
        expectSubscriptions(feed$.subscriptions).toBe(subs);
        flush();
        expect(encoded).toBe(2);
      }),
    );
  });

  describe('server push', () => {
    collectLogs();

    it(
      '`pushedStore` keeps the last value of each topic at every client',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const pairs = [createPair(), createPair()];
        const change$ = cold('--a--b--c', {
          a: { topic: 'stock', value: 3 },
          b: { topic: 'price', value: 7 },
          c: { topic: 'stock', value: 2 },
        });
        const subs = '        ^';
        const expected = '    o-a--b--c';
        const stores = { o: {}, a: { stock: 3 }, b: { stock: 3, price: 7 }, c: { stock: 2, price: 7 } };
        for (const { dialer } of pairs) expectObservable(page.pushedStore(dialer)).toBe(expected, stores);
        change$.subscribe((change) => {
          page.push(
            pairs.map(({ acceptor }) => acceptor),
            change,
          );
        });
        expectSubscriptions(change$.subscriptions).toBe(subs);
      }),
    );

    it(
      '`pushedStore` survives a stream without a payload',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const { dialer, acceptor } = createPair();
        const change$ = cold('-n-a', { n: undefined, a: { op: 'change', topic: 'stock', value: 3 } });
        const subs = '        ^';
        const expected = '    o--a';
        expectObservable(page.pushedStore(dialer)).toBe(expected, { o: {}, a: { stock: 3 } });
        change$.subscribe((change) => {
          acceptor.notify(change);
        });
        expectSubscriptions(change$.subscriptions).toBe(subs);
      }),
    );

    it(
      '`pushedStore` keeps one store for all its subscribers',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const { dialer, acceptor } = createPair();
        const change$ = cold('--a--b', { a: { topic: 'stock', value: 3 }, b: { topic: 'price', value: 7 } });
        const subs = '        ^';
        const expected1 = '   o-a--b';
        const expected2 = '   ----ab';
        const stores = { o: {}, a: { stock: 3 }, b: { stock: 3, price: 7 } };
        const store$ = page.pushedStore(dialer);
        expectObservable(store$).toBe(expected1, stores);
        expectObservable(store$, '----^').toBe(expected2, stores);
        change$.subscribe((change) => {
          page.push([acceptor], change);
        });
        expectSubscriptions(change$.subscriptions).toBe(subs);
      }),
    );

    it(
      '`pushedStore` answers changes while it has a subscriber, and starts empty for a later one',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const { dialer, acceptor } = createPair();
        const change$ = cold('--a--b--c', {
          a: { op: 'change', topic: 'stock', value: 3 },
          b: { op: 'change', topic: 'stock', value: 5 },
          c: { op: 'change', topic: 'price', value: 7 },
        });
        const subs = '        ^';
        const looks1 = '      ^---!';
        const looks2 = '      -------^';
        const expected1 = '   o-a';
        const expected2 = '   -------oc';
        const answers = '     --t--r--t';
        const store$ = page.pushedStore(dialer);
        const stores = { o: {}, a: { stock: 3 }, c: { price: 7 } };
        const asked$ = change$.pipe(
          mergeMap((change) => acceptor.request$(change).pipe(catchError(({ code }: { readonly code: string }) => of(code)))),
        );
        expectObservable(store$, looks1).toBe(expected1, stores);
        expectObservable(store$, looks2).toBe(expected2, stores);
        expectObservable(asked$).toBe(answers, { t: null, r: 'REFUSED' });
        expectSubscriptions(change$.subscriptions).toBe(subs);
      }),
    );
  });

  interface Seq extends Readonly<Record<string, unknown>> {
    readonly seq: number;
  }

  /** Streams of values, each with its server and its client. */
  const FOLLOWED: readonly [string, (peer: Peer, value$: Observable<Seq>) => unknown, (peer: Peer) => Observable<unknown>][] = [
    ['ticker', (peer, price$) => page.serveTicker(peer, price$), (peer) => page.ticker(peer)],
    ['askedStore', (peer, store$) => page.serveStore(peer, store$), (peer) => page.askedStore(peer)],
    ['follow', (peer, entry$) => page.serveLog(peer, [], entry$), (peer) => page.follow(peer)],
  ];

  describe.each(FOLLOWED)('%s', (_, serve, follow) => {
    collectLogs();

    const VALUES = { a: { seq: 1 }, b: { seq: 2 } };
    const NOW = { reconnect: { minDelayMs: 0, maxDelayMs: 0 }, keepalive: false } as const;

    afterEach(() => {
      jest.restoreAllMocks();
    });

    it.each<[what: string, servedAfterMs: number, after: string, expected: string]>([
      ['after a lost connection', 0, '   --^', '     -a-b'],
      ['after refusals by a restarted server', 100, '502ms ^', '-a 501ms b'],
    ])(
      'A followed stream continues %s',
      marbles<[string, number, string, string]>(
        ({ cold, expectObservable, expectSubscriptions }, _what, servedAfterMs, after, expected) => {
          const server = createServerFromTesting();
          const value$ = [cold('-a', VALUES), cold('-b', VALUES)] as const;
          const cut$ = cold('    --c');
          const before = '       ^-!';
          // With a random value of 1 the delay of a second attempt is the longest.
          jest.spyOn(Math, 'random').mockReturnValue(1);
          server.peers$
            .pipe(
              map((acceptor, nth) => ({ acceptor, nth })),
              delayWhen(({ nth }) => (nth === 0 || servedAfterMs === 0 ? of(nth) : timer(servedAfterMs))),
            )
            .subscribe(({ acceptor, nth }) => serve(acceptor, value$[nth === 0 ? 0 : 1]));
          const dialer = connectInBrowser('ws://test', { ...NOW, socket: server.socket });
          cut$.subscribe(() => server.link?.cut());
          expectObservable(follow(dialer)).toBe(expected, VALUES);
          expectSubscriptions(value$[0].subscriptions).toBe(before);
          expectSubscriptions(value$[1].subscriptions).toBe(after);
        },
      ),
    );
  });
});
