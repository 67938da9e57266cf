import { EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BehaviorSubject, catchError, EMPTY, firstValueFrom, map, mergeMap, NEVER, of, Subject, take, throwError, toArray } from 'rxjs';
import { connect as connectInBrowser, logger, ResetCode, ResetError, respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, serve } from '../../src/node.js';
import { createServer, virtualTime } from '../../src/testing.js';
import { Network } from '../support/peer-network.js';
import { createPair } from '../support/tracked.js';
import type { VirtualTime } from '../../src/testing.js';
import { marbles } from '../../marbles/support/virtual.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';

const page = loadRecipes() as Recipes;
/** What callers are told of an error that was not written for them. */
const INTERNAL = { name: 'Error', message: 'internal error' };

/** Ids that count, as long as they are asked to be. */
function counting(): (bytes: number) => string {
  let count = 0;
  return (bytes) => (++count).toString(16).padStart(bytes * 2, '0');
}

describe('the page of recipes', () => {
  it('exports what is tested here, and nothing else', () => {
    const tested: Record<keyof Recipes, true> = {
      request: true,
      stream: true,
      serveCalls: true,
      answers: true,
      liveSearch: true,
      serveSearch: true,
      serveTicker: true,
      ticker: true,
      rename: true,
      chat: true,
      serveRoom: true,
      pushedStore: true,
      push: true,
      serveStore: true,
      askedStore: true,
      PublicError: true,
      reporting: true,
      bySession: true,
      connectAs: true,
      untilRefused: true,
      greet: true,
      connectionNotice: true,
      childOf: true,
      trace: true,
      forward: true,
      upload: true,
      serveUploads: true,
      follow: true,
      serveLog: true,
      closeOnSignal: true,
      book: true,
    };
    expect(Object.keys(page).sort()).toEqual(Object.keys(tested).sort());
  });
});

describe('the typed contract', () => {
  it(
    'is kept by both ends',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const ticks$ = cold('--0-1-(2|)', { 0: 0, 1: 1, 2: 2 });
      const subs = '       ^---!';
      const expected = '   --0-(1|)';
      page.serveCalls(acceptor, { ...page.answers, ticks: () => ticks$ });
      expectObservable(page.stream(dialer, 'ticks', { everyMs: 2 }).pipe(take(2))).toBe(expected, { 0: 0, 1: 1 });
      expectSubscriptions(ticks$.subscriptions).toBe(subs);
    }),
  );

  it('has the answers of the page', async () => {
    const { dialer, acceptor } = createPair();
    page.serveCalls(acceptor, page.answers);
    expect(await page.request(dialer, 'square', { n: 12 })).toBe(144);
    expect(await firstValueFrom(page.stream(dialer, 'ticks', { everyMs: 1 }).pipe(take(2), toArray()))).toEqual([0, 1]);
    await expect(page.request(dialer, 'toString', {})).rejects.toMatchObject({ code: 'REFUSED' });
  });
});

describe('the live search', () => {
  it(
    'ends the search on the server for a term that is no longer wanted',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const typed$ = hot('  -r-x 250ms j');
      const rx$ = cold('         100ms a 200ms b     ', { a: ['rxjs'], b: ['rxjs', 'rxmux'] });
      const rxj$ = cold('                   100ms c  ', { c: ['rxjs'] });
      const rxSubs = '      203ms ^ 250ms !';
      const rxjSubs = '     454ms ^  99ms !';
      const expected = '    303ms a 250ms (c|)';
      page.serveSearch(acceptor, (term) => ({ rx: rx$, rxj: rxj$ })[term] ?? NEVER);
      const term$ = typed$.pipe(map((letter) => ({ r: 'r', x: 'rx', j: 'rxj' })[letter] ?? ''));
      expectObservable(page.liveSearch(dialer, term$).pipe(take(2))).toBe(expected, { a: ['rxjs'], c: ['rxjs'] });
      expectSubscriptions(rx$.subscriptions).toBe(rxSubs);
      expectSubscriptions(rxj$.subscriptions).toBe(rxjSubs);
    }),
  );

  it(
    'finds nothing for a term whose search fails, and goes on with the next',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const term$ = hot('        a 299ms b');
      const a$ = cold<string[]>('-#');
      const b$ = cold('          -h', { h: ['rxmux'] });
      const aSubs = '            200ms ^!';
      const bSubs = '            500ms ^';
      const expected = '         201ms n 299ms h';
      page.serveSearch(acceptor, (term) => (term === 'a' ? a$ : b$));
      expectObservable(page.liveSearch(dialer, term$)).toBe(expected, { n: [], h: ['rxmux'] });
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
      expectSubscriptions(b$.subscriptions).toBe(bSubs);
    }),
  );
});

describe('the ticker', () => {
  it(
    'gives a reader on a slow line fewer prices, each the newest when it leaves',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair({ latencyMs: 3 });
      const price$ = cold('-abcdefghijklmnop');
      const subs = '       ---^';
      const expected = '   -------a-----g-----m-----p';
      page.serveTicker(acceptor, price$);
      expectObservable(page.ticker(dialer)).toBe(expected);
      expectSubscriptions(price$.subscriptions).toBe(subs);
    }),
  );

  it(
    'keeps one price for a reader that is away',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor, link } = createPair();
      const price$ = cold('  -a-b-c-d-e');
      const away$ = cold('   --s------r');
      const expected = '     -a-------(be)';
      const subs = '         ^';
      page.serveTicker(acceptor, price$);
      away$.subscribe((what) => {
        if (what === 's') link.stall('dialer');
        else link.resume('dialer');
      });
      expectObservable(page.ticker(dialer)).toBe(expected);
      expectSubscriptions(price$.subscriptions).toBe(subs);
    }),
  );

  it(
    'is one stream for many subscribers, and ends a second after the last',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const price$ = cold('-a-b-c');
      const subs = '       ^ 1004ms !';
      const ticker$ = page.ticker(dialer);
      page.serveTicker(acceptor, price$);
      expectObservable(ticker$, '   ^--!').toBe('-a-');
      expectObservable(ticker$, '   --^--!').toBe('--ab-');
      expectSubscriptions(price$.subscriptions).toBe(subs);
    }),
  );

  it(
    'goes on after a lost connection',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const server = createServer();
      const price$ = cold('-a-b');
      const cut$ = cold('  --c');
      const subs = ['      ^-!', '--^'];
      const expected = '   -a-a-b';
      server.peers$.subscribe((acceptor) => page.serveTicker(acceptor, price$));
      const reconnect = { minDelayMs: 0, maxDelayMs: 0 };
      const dialer = connectInBrowser('ws://test', { socket: server.socket, keepalive: false, reconnect });
      cut$.subscribe(() => server.link?.cut());
      expectObservable(page.ticker(dialer)).toBe(expected);
      expectSubscriptions(price$.subscriptions).toBe(subs);
    }),
  );
});

describe('the optimistic interface', () => {
  const before = { id: 7, title: 'write' };
  const after = { id: 7, title: 'rewrite' };

  it(
    'shows the change at once, and calls again where the server has not begun',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const answer$ = cold('--a|', { a: { id: 7, title: 'Rewrite' } });
      const task$ = new BehaviorSubject(before);
      let refusals = 1;
      acceptor.streams$
        .pipe(
          respond((_, stream) => {
            if (refusals-- <= 0) return answer$;
            stream.reset(ResetCode.REFUSED, 'restarting');
            return undefined;
          }),
        )
        .subscribe();
      const saved$ = page.rename(dialer, task$, 'rewrite').pipe(map(({ title }) => title));
      const looks$ = cold('a 2s b');
      const shown = '      a 2s b';
      // The attempt after the refusal begins at a random time within 500 ms.
      saved$.subscribe();
      expectObservable(looks$.pipe(map(() => task$.value.title))).toBe(shown, { a: 'rewrite', b: 'Rewrite' });
      expectSubscriptions(looks$.subscriptions).toBe('^');
    }),
  );

  it(
    'takes the change back when it fails',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const answer$ = cold(' ---#');
      const subs = '         ^--!';
      const failed = '       ---#';
      const shown = '        a--b';
      const task$ = new BehaviorSubject(before);
      acceptor.streams$.pipe(respond(() => answer$)).subscribe();
      expectObservable(page.rename(dialer, task$, 'rewrite')).toBe(failed, undefined, expect.objectContaining({ code: 'REMOTE' }));
      expectObservable(task$).toBe(shown, { a: after, b: before });
      expectSubscriptions(answer$.subscriptions).toBe(subs);
    }),
  );

  it.each<[string, string, string, string]>([
    ['a change that fails late does not touch a later one that is saved', '----#', '-s', 'abs'],
    ['a change that is saved late does not touch a later one that is saved', '----f', '-s', 'abs'],
    ['a change that fails after a later one has failed leaves what was before both', '----#', '-#', 'aba-o'],
    ['a change that fails before a later one fails leaves what was before both', '--#', '----#', 'ab---o'],
    ['a change that is saved stays when a later one fails', '--f', '----#', 'ab---f'],
  ])(
    '%s',
    marbles<[string, string, string, string]>(({ cold, expectObservable, expectSubscriptions }, _, first, second, expected) => {
      const { dialer, acceptor } = createPair();
      const call$ = cold('ab');
      const subs = '      ^';
      const saved = { f: { id: 7, title: 'First' }, s: { id: 7, title: 'Second' } };
      const answers = { first: cold(first, saved), second: cold(second, saved) };
      const task$ = new BehaviorSubject(before);
      acceptor.streams$.pipe(respond(({ title }: { title: 'first' | 'second' }) => answers[title])).subscribe();
      const rename = (title: string) => page.rename(dialer, task$, title).pipe(catchError(() => EMPTY));
      call$.pipe(mergeMap((call) => rename(call === 'a' ? 'first' : 'second'))).subscribe();
      const titles = { o: 'write', a: 'first', b: 'second', f: 'First', s: 'Second' };
      expectObservable(task$.pipe(map(({ title }) => title))).toBe(expected, titles);
      expectSubscriptions(call$.subscriptions).toBe(subs);
    }),
  );
});

describe('the chat', () => {
  it(
    'tells everybody in the room what each says, until they leave',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const ann = createPair();
      const bob = createPair();
      const room$ = new Subject<{ readonly by: string; readonly text: string }>();
      const annSays$ = cold('--1-----3----|');
      const bobSays$ = cold('----2---------4');
      const annSubs = '      ^------------!';
      const annHears = '     --x-y---z----|';
      const bobHears = '     --x-y---z-----w';
      const said = { x: { by: 'ann', text: '1' }, y: { by: 'bob', text: '2' }, z: { by: 'ann', text: '3' }, w: { by: 'bob', text: '4' } };
      page.serveRoom(ann.acceptor, room$);
      page.serveRoom(bob.acceptor, room$);
      expectObservable(page.chat(ann.dialer, 'ann', annSays$)).toBe(annHears, said);
      expectObservable(page.chat(bob.dialer, 'bob', bobSays$)).toBe(bobHears, said);
      expectSubscriptions(annSays$.subscriptions).toBe(annSubs);
    }),
  );
});

describe('the server push', () => {
  it(
    'keeps the last value of each topic at every client',
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
    'lives on where a stream has no payload',
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
    'keeps one store for all who look at it',
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
});

describe('in virtual time', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    time.restore();
  });

  it('the refreshed token is said on each socket, and goes with each call', async () => {
    let serial = 0;
    const tokens = { current: () => `t${serial}`, refresh: () => Promise.resolve(`t${++serial}`) };
    const greeter = page.greet((token) => Promise.resolve({ name: `the holder of ${token}` }));
    const seen: unknown[] = [];
    const server = createServer({
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
      [{ token: 't1' }, {}, {}],
      ['mine', { authorization: 'Bearer t1' }, { name: 'the holder of t1' }],
      [{ token: 't2' }, {}, {}],
      ['mine', { authorization: 'Bearer t2' }, { name: 'the holder of t2' }],
    ]);
  });

  /** Tokens that count, and a server that takes those that `isGood` does. */
  const countingTokens = (isGood: (token: string) => boolean) => {
    let serial = 0;
    const onHello = page.greet((token) => (isGood(token) ? Promise.resolve({ name: token }) : Promise.reject(new Error(`no ${token}`))));
    return { current: () => `t${serial}`, refresh: () => Promise.resolve(`t${++serial}`), network: new Network({ onHello }) };
  };

  it('a token that is refused is replaced, and opened resolves after the next that is taken', async () => {
    const { network, ...tokens } = countingTokens((token) => token === 't2');
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    const { opened } = peer;
    await time.advance(30_000);
    await opened;
    expect([tokens.current(), peer.status.state]).toEqual(['t2', 'open']);
    expect(warn.mock.calls.map(([line]) => line)).toEqual(['rxmux: the hello has failed']);
  });

  it('a client that loads while the server is away dials until it is there', async () => {
    const { network, ...tokens } = countingTokens(() => true);
    network.answer = { status: null };
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    await time.advance(600_000);
    expect(peer.status.state).toBe('waiting');
    network.answer = 'accept';
    await time.advance(30_000);
    expect(peer.status.state).toBe('open');
  });

  it('a token that is refused is the end where that is wanted', async () => {
    const { network, ...tokens } = countingTokens(() => false);
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket, reconnect: page.untilRefused });
    await time.advance(30_000);
    await expect(peer.opened).rejects.toMatchObject({ code: 'REMOTE', message: 'no t1' });
    expect([tokens.current(), peer.status.state]).toEqual(['t1', 'closed']);
    expect(warn.mock.calls.map(([line]) => line)).toEqual(['rxmux: the hello has failed']);
  });

  it('a store that was asked for gives a slow client a few stores, the last of them the newest', async () => {
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

  it('what handlers fail with is reported, of requests and of what nobody waits for', async () => {
    const reported: unknown[] = [];
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: page.reporting((error) => reported.push(error)) } });
    acceptor.onStream((payload) => Promise.reject(new RangeError(String(payload))));
    dialer.notify('pushed');
    const outcome = expect(dialer.request('asked')).rejects.toMatchObject({ reason: 'internal error', payload: INTERNAL });
    await time.advance();
    await outcome;
    expect(reported).toEqual([new RangeError('pushed'), new RangeError('asked')]);
  });

  it('what answers of respond() fail with is reported, and a ResetError is not, which is an answer', async () => {
    const reported: unknown[] = [];
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: page.reporting((error) => reported.push(error)) } });
    const errors: readonly Error[] = [new RangeError('broken'), new page.PublicError('no seat'), new ResetError(300, 'not you')];
    acceptor.streams$.pipe(respond((nth: number) => throwError(() => errors[nth]))).subscribe();
    const outcomes = Promise.allSettled(errors.map((_, nth) => dialer.request(nth)));
    await time.advance();
    expect(await outcomes).toMatchObject([
      { reason: { reason: 'internal error', payload: INTERNAL } },
      { reason: { reason: 'no seat', payload: { name: 'PublicError', message: 'no seat' } } },
      { reason: { resetCode: 300, reason: 'not you' } },
    ]);
    expect(reported).toEqual(errors.slice(0, 2));
  });

  it.each<[string, (peer: Peer) => unknown]>([
    ['serveSearch', (peer) => page.serveSearch(peer, () => of(['found']))],
    ['serveStore', (peer) => page.serveStore(peer, of({}))],
    ['serveTicker', (peer) => page.serveTicker(peer, of('price'))],
    ['serveRoom', (peer) => page.serveRoom(peer, new Subject())],
    ['serveCalls', (peer) => page.serveCalls(peer, page.answers)],
    ['serveLog', (peer) => page.serveLog(peer, [], NEVER)],
    ['pushedStore', (peer) => page.pushedStore(peer).subscribe()],
    ['serveUploads', (peer) => page.serveUploads(peer, () => Promise.resolve())],
  ])('%s leaves streams that are not its own to others', async (_, serve) => {
    const { dialer, acceptor } = createPair();
    serve(acceptor);
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const answers = Promise.all([dialer.request({ op: 'other' }), dialer.request(undefined), dialer.request('text')]);
    await time.advance();
    expect(await answers).toEqual([{ op: 'other' }, null, 'text']);
  });

  it('the notice follows the connection, down to the reason of its end', async () => {
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
    expect(await firstValueFrom(page.connectionNotice(refused))).toBe('Disconnected: expected the handshake to be accepted, got HTTP 403');
  });

  it('the trace goes through a peer to the next, and back to the caller', async () => {
    const front = createPair();
    const back = createPair();
    const newId = counting();
    const seen: unknown[] = [];
    page.trace(front.dialer, newId);
    page.trace(front.acceptor, newId);
    front.acceptor.onStream(page.forward(back.dialer, newId));
    back.acceptor.onStream((payload, stream) => {
      seen.push(stream.headers['traceparent']);
      return stream.reply(payload);
    });
    let told: unknown;
    const answer = front.dialer.request('x', {
      onOpen: (stream) => stream.replyHeaders$.subscribe((headers) => (told = headers['traceparent'])),
    });
    await time.advance();
    expect(await answer).toBe('x');
    const trace = '1'.padStart(32, '0');
    expect(seen).toEqual([`00-${trace}-${'3'.padStart(16, '0')}-01`]);
    expect(told).toBe(`00-${trace}-${'4'.padStart(16, '0')}-01`);
  });

  it.each([
    ['begins a trace without a parent', undefined, `00-${'1'.padStart(32, '0')}-${'2'.padStart(16, '0')}-01`],
    ['begins a trace where the parent makes no sense', '00-x-y-01', `00-${'1'.padStart(32, '0')}-${'2'.padStart(16, '0')}-01`],
    ['keeps the trace of its parent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`, `00-${'a'.repeat(32)}-${'1'.padStart(16, '0')}-01`],
  ])('the trace context %s', (_, parent, expected) => {
    expect(page.childOf(parent, counting())).toBe(expected);
  });
});

describe('the session cookie', () => {
  const verify = page.bySession((session) => Promise.resolve(session === 's1' ? 'ann' : undefined));

  it.each([
    ['s1 alone', 'session=s1', { user: 'ann' }],
    ['s1 among others', 'lang=en; session=s1; theme=dark', { user: 'ann' }],
    ['a session that nobody knows', 'session=s2', 401],
    ['a cookie whose name ends like it', 'nosession=s1', 401],
    ['an empty one', 'session=', 401],
    ['no cookie', undefined, 401],
  ])('lets in who has one: %s', async (_, cookie, verdict) => {
    expect(await verify({ headers: { cookie } } as never)).toEqual(verdict);
  });

  it('becomes the context of the peer', async () => {
    const server = serve({ port: 0, verify, handler: (_, stream) => stream.reply(stream.peer.context) });
    const { port } = (await server.listening) as AddressInfo;
    const peer = connect(`ws://localhost:${port}`, { headers: { cookie: 'session=s1' } });
    expect(await peer.request(null)).toEqual({ user: 'ann' });
    await expect(connect(`ws://localhost:${port}`).opened).rejects.toMatchObject({ status: 401 });
    await Promise.all([peer.close(), server.close()]);
  });
});

describe('the log', () => {
  it(
    'gives what came after the cursor, and then what comes, each entry once',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const entries = { a: { seq: 1 }, b: { seq: 2 }, c: { seq: 3 } };
      const log: { seq: number }[] = [];
      const added$ = hot(' ab--c', entries);
      const told$ = hot('  --ab--c', entries);
      const subs = '       --^';
      const expected = '   --(ab)c';
      added$.subscribe((entry) => log.push(entry));
      page.serveLog(acceptor, log, told$);
      expectObservable(page.follow(dialer), subs).toBe(expected, entries);
      expectSubscriptions(told$.subscriptions).toBe(subs);
    }),
  );
});

describe('the upload', () => {
  it('tells how much has arrived, and carries every byte', async () => {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    const bytes = Uint8Array.from({ length: 150_000 }, (_, index) => index % 251);
    const written: Uint8Array[] = [];
    page.serveUploads(acceptor, (name, slice) => {
      expect(name).toBe('bytes.bin');
      written.push(slice);
      return Promise.resolve();
    });
    const progress = await firstValueFrom(page.upload(dialer, 'bytes.bin', new Blob([bytes])).pipe(toArray()));
    expect(progress.map((share) => Math.round(share * 100))).toEqual([44, 87, 100]);
    expect(Buffer.concat(written).equals(bytes)).toBe(true);
  });

  it('holds the sender back while the server writes', async () => {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    const file = new Blob([new Uint8Array(200 * 65_536)]);
    const read = jest.spyOn(file, 'slice');
    page.serveUploads(acceptor, () => new Promise(() => undefined));
    const uploading = page.upload(dialer, 'big', file).subscribe();
    let before = -1;
    for (let now = 0; now > before; now = read.mock.calls.length) {
      before = now;
      for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(100);
    uploading.unsubscribe();
  });

  it('stops when it is unsubscribed', async () => {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    let slices = 0;
    page.serveUploads(acceptor, () => {
      slices++;
      return Promise.resolve();
    });
    const first = await firstValueFrom(page.upload(dialer, 'big', new Blob([new Uint8Array(100 * 65_536)])));
    expect(first).toBe(0.01);
    await dialer.ping();
    expect(slices).toBeLessThan(100);
  });
});

describe('the deploy', () => {
  it('answers the calls of the old server, and takes the others to the new one', async () => {
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
    let address = (await old.listening) as AddressInfo;
    const peer = connect(() => `ws://localhost:${address.port}`, { reconnect: { minDelayMs: 1, maxDelayMs: 1 } });
    const process = new EventEmitter();
    const exited = page.closeOnSignal(old, process);
    const followed: number[] = [];
    const following = page.follow(peer).subscribe(({ seq }) => followed.push(seq));
    append(1);

    const hasStarted = firstValueFrom(started$);
    const slow = page.book(peer, 'slow');
    await hasStarted;
    address = (await next.listening) as AddressInfo;
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
