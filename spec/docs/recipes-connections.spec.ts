import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BehaviorSubject, firstValueFrom, NEVER, of, Subject, throwError } from 'rxjs';
import { connect as connectInBrowser, logger, ResetCode, ResetError, respond } from '../../src/index.js';
import type { Peer } from '../../src/index.js';
import { createServer, virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { Network } from '../support/peer/network.js';
import { createPair } from '../support/peer/tracked.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';
import { collectLogs } from '../support/peer/logs.js';

const page = loadRecipes() as Recipes;
/** The payload that callers receive for an internal error. */
const INTERNAL = { name: 'Error', message: 'internal error' };

describe('connections', () => {
  collectLogs();

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

  it('`connectAs` dials until an absent server is back', async () => {
    const { network, ...tokens } = countingTokens(() => true);
    network.answer = { status: null };
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket });
    await time.advance(600_000);
    expect(peer.status.state).toBe('waiting');
    network.answer = 'accept';
    await time.advance(30_000);
    expect(peer.status.state).toBe('open');
  });

  it('`connectAs` with `untilRefused` fails at a refused token', async () => {
    const { network, ...tokens } = countingTokens(() => false);
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const peer = page.connectAs('ws://test', tokens, { socket: network.socket, reconnect: page.untilRefused });
    await time.advance(30_000);
    await expect(peer.opened).rejects.toMatchObject({ code: 'REMOTE', message: 'no t1' });
    expect([tokens.current(), peer.status.state]).toEqual(['t1', 'closed']);
    expect(warn.mock.calls).toEqual([]);
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
