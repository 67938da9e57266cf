import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import {
  BehaviorSubject,
  catchError,
  EMPTY,
  firstValueFrom,
  lastValueFrom,
  map,
  mergeMap,
  NEVER,
  of,
  Subject,
  take,
  tap,
  toArray,
} from 'rxjs';
import { dialed } from '../../marbles/support/dialing.js';
import { marbles } from '../../marbles/support/virtual.js';
import { contract, request } from '../../src/contract.js';
import { connect, logger, ResetCode, respond } from '../../src/index.js';
import type { SocketLike, Stream } from '../../src/index.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { portSocket } from '../../src/port.js';
import { virtualTime } from '../../src/testing.js';
import type { VirtualTime } from '../../src/testing.js';
import { endless } from '../support/peer/endless.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { loadRecipes } from './recipes.js';
import type { Recipes } from './recipes.js';

const page = loadRecipes() as Recipes;

describe('exports', () => {
  it('The page of recipes exports exactly what the specs test', () => {
    const tested: Record<keyof Recipes, true> = {
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
      serveFeed: true,
      PublicError: true,
      onlyPublic: true,
      bySession: true,
      connectAs: true,
      greet: true,
      greetJwt: true,
      sessionOf: true,
      greetSession: true,
      connectInSession: true,
      connectionNotice: true,
      childOf: true,
      trace: true,
      forward: true,
      upload: true,
      serveUploads: true,
      sendFile: true,
      serveFiles: true,
      follow: true,
      serveLog: true,
      ask: true,
      serveAnswers: true,
      closeOnSignal: true,
      book: true,
      metricsOf: true,
      joinPages: true,
      serveTab: true,
      forwardTo: true,
      leavePort: true,
      serveReady: true,
      limitEach: true,
      useStream: true,
    };
    expect(Object.keys(page).sort()).toEqual(Object.keys(tested).sort());
  });
});

describe('live search', () => {
  collectLogs();

  it(
    '`liveSearch` ends the search on the server when the term changes',
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
    '`liveSearch` finds nothing for a term whose search fails, and continues with the next term',
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

  it(
    '`liveSearch` does not search again for a term that is replaced and typed again',
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const { dialer, acceptor } = createPair();
      const term$ = hot('   a 299ms b-a');
      const a$ = cold('     -h', { h: ['rxmux'] });
      const aSubs = '       200ms ^';
      const expected = '    201ms h';
      page.serveSearch(acceptor, () => a$);
      expectObservable(page.liveSearch(dialer, term$)).toBe(expected, { h: ['rxmux'] });
      expectSubscriptions(a$.subscriptions).toBe(aSubs);
    }),
  );
});

describe('chat', () => {
  it(
    '`chat` sends each text to everyone in the room until they leave',
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

describe('log', () => {
  it(
    '`follow` emits the entries after the cursor and then new entries, each once',
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

describe('answers', () => {
  it.each<{
    does: string;
    tokens: string;
    cut?: string;
    stop?: string;
    subs: string;
    expected: string;
    again?: string;
    expectedAgain?: string;
  }>([
    {
      does: 'goes on after a lost socket, with nothing twice',
      tokens: '  a-b-c-d-|',
      cut: '     ---x------',
      subs: '    ^-------!',
      expected: '1-2-3-4-|',
    },
    {
      does: 'starts the answer again for a page that was loaded anew, without a second call of the model',
      tokens: '       a-b-c------d-|',
      subs: '         ^------------!',
      expected: '     1-2-3------4-|',
      again: '        ------^-------',
      expectedAgain: '------(123)4-|',
    },
    {
      does: 'ends the call of the model at the stop button',
      tokens: '  a-b-c-d-e-f',
      stop: '    -----x-----',
      subs: '    ^----!-----',
      expected: '1-2-3|',
    },
  ])(
    '`ask` $does',
    marbles(({ cold, expectObservable, expectSubscriptions }, row) => {
      const tokens$ = cold(row.tokens);
      const { server, dial } = dialed(() => undefined);
      page.serveAnswers(server.peers$, () => tokens$);
      const answer = page.ask(dial(), 'id', 'hello?');
      cold(row.cut ?? '').subscribe(() => server.link?.cut());
      cold(row.stop ?? '').subscribe(() => void answer.stop());
      const texts = { 1: 'a', 2: 'ab', 3: 'abc', 4: 'abcd' };
      expectObservable(answer.text$).toBe(row.expected, texts);
      if (row.again !== undefined) expectObservable(page.ask(dial(), 'id', 'hello?').text$, row.again).toBe(row.expectedAgain ?? '', texts);
      expectSubscriptions(tokens$.subscriptions).toBe(row.subs);
    }),
  );

  it('An answer that has gone is an error that the page can tell apart', async () => {
    const { dialer, acceptor } = createPair();
    page.serveAnswers(of(acceptor), () => NEVER);
    const stale = dialer.request({ op: 'ask', id: 'gone', prompt: '', since: 'k3f:7' });
    await expect(stale).rejects.toMatchObject({ code: 'REMOTE', payload: { name: 'CursorLost' } });
    expect(await dialer.request({ op: 'stop', id: 'gone' })).toBe(null);
  });
});

describe('tabs', () => {
  it('`serveTab` passes streams on to the server and back, and resets both ways', async () => {
    const { dialer, acceptor } = createPair();
    const causes: Promise<unknown>[] = [];
    acceptor.onStream(async (payload, stream: Stream<number>) => {
      causes.push(stream.closed);
      if (payload === 'fail') throw new RangeError('no such row');
      await stream.sendAll(payload === 'double' ? stream.pipe(map((n) => n * 2)) : endless().iterator);
    });
    const { port1, port2 } = new MessageChannel();
    page.serveTab(port2, dialer);
    const tab = connect('ws://localhost', { socket: (_url, protocol) => portSocket(port1, protocol) });
    expect(await firstValueFrom(tab.open$('double', { input: [1, 2, 3] }).pipe(toArray()))).toEqual([2, 4, 6]);
    jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    await expect(tab.request('fail')).rejects.toMatchObject({ code: 'REMOTE', reason: 'no such row' });
    expect(await firstValueFrom(tab.open$('count').pipe(take(2), toArray()))).toEqual([0, 1]);
    expect(await causes[2]).toMatchObject({ how: 'reset', by: 'remote', code: ResetCode.CANCEL });
    await tab.close();
  });

  it('`serveTab` refuses the hello of a tab, which would replace the one of the worker', async () => {
    const warn = jest.spyOn(logger, 'warn').mockImplementation(() => undefined);
    const { dialer, acceptor } = createPair();
    const asked: unknown[] = [];
    acceptor.onStream((payload, stream) => {
      asked.push(payload);
      return stream.reply('fine');
    });
    const { port1, port2 } = new MessageChannel();
    page.serveTab(port2, dialer);
    const socket = (_url: string, protocol: string): SocketLike => portSocket(port1, protocol);
    const tab = connect('ws://localhost', { socket, hello: () => ({ payload: 'token' }) });
    await expect(tab.opened).rejects.toThrow('this server expects no hello');
    expect(asked).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('`forwardTo` passes on headers and trailers of both ends, and refusals as refusals', async () => {
    const { dialer, acceptor } = createPair();
    const asked: unknown[] = [];
    acceptor.onStream(async (payload, stream: Stream) => {
      if (payload === 'busy') {
        stream.reset(ResetCode.REFUSED, 'busy');
        return;
      }
      stream.sendHeaders({ total: 2 });
      asked.push(stream.headers, await firstValueFrom(stream.pipe(toArray())), stream.trailers);
      await stream.reply('done', { trailers: { rows: 1 } });
    });
    const near = createPair();
    near.acceptor.onStream(page.forwardTo(dialer));
    const call = near.dialer.open('count', { headers: { trace: 't1' } });
    void call.send('a');
    void call.end({ trailers: { sum: 1 } });
    expect([await lastValueFrom(call), call.replyHeaders, call.trailers]).toEqual(['done', { total: 2 }, { rows: 1 }]);
    expect(asked).toEqual([{ trace: 't1' }, ['a'], { sum: 1 }]);
    await expect(near.dialer.request('busy')).rejects.toMatchObject({ code: 'REFUSED', retriable: true, reason: 'busy' });
  });
});

describe('limitEach', () => {
  const api = contract({ now: request<void, string>() });

  /** Two users, whose calls share a limiter. */
  const usersOf = (limiter: RateLimiterAbstract) =>
    ['ann', 'bob'].map((user) => createPair(api, { now: () => 'noon' }, { around: page.limitEach(limiter, () => user) }).calls);

  it('`limitEach` refuses a call beyond the rate of a user, and names the time to wait', async () => {
    const [ann, bob] = usersOf(new RateLimiterMemory({ points: 1, duration: 60 }));
    expect(await ann?.now.promise()).toBe('noon');
    const refused = ann?.now.promise();
    await expect(refused).rejects.toMatchObject({ resetCode: 300, reason: 'too many calls', payload: { waitMs: expect.any(Number) } });
    expect(await bob?.now.promise()).toBe('noon');
  });

  it('`limitEach` fails a call with the error of a failed store', async () => {
    const limiter = new RateLimiterMemory({ points: 1, duration: 60 });
    jest.spyOn(limiter, 'consume').mockRejectedValue(new Error('no store'));
    jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    const [ann] = usersOf(limiter);
    await expect(ann?.now.promise()).rejects.toMatchObject({ code: 'REMOTE', reason: 'no store' });
  });
});

describe('upload', () => {
  it('`upload` reports how much has arrived, and sends every byte', async () => {
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

  it('`upload` waits while the server writes', async () => {
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

  it('`upload` stops when it is unsubscribed', async () => {
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

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rxmux-files-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('`sendFile` goes on where the server stands after a lost socket, and the file is whole', async () => {
    const codec = new MsgpackCodec();
    const bytes = Uint8Array.from({ length: 20 * 65_536 }, (_, index) => index % 251);
    const { server, dial } = dialed((peer) => page.serveFiles(peer, (id) => join(folder, id)), { codec });
    const peer = dial({ codec });
    const read = new Blob([bytes]);
    const reads = jest.spyOn(read, 'slice');
    let isCut = false;
    const shares: number[] = [];
    await lastValueFrom(
      page.sendFile(peer, 'one', read).pipe(
        tap((share) => {
          shares.push(share);
          if (share < 0.5 || isCut) return;
          isCut = true;
          server.link?.cut();
        }),
      ),
    );
    expect(readFileSync(join(folder, 'one')).equals(bytes)).toBe(true);
    expect([isCut, shares.at(-1), shares.filter((share) => share === 0)]).toEqual([true, 1, [0]]);
    // A second beginning would read all slices again.
    expect(reads.mock.calls.length).toBeLessThan(40);
    await peer.close();
  });

  it('`sendFile` of an empty file is complete at once', async () => {
    const { dialer, acceptor } = createPair({ codec: new MsgpackCodec() });
    page.serveFiles(acceptor, (id) => join(folder, id));
    expect(await firstValueFrom(page.sendFile(dialer, 'none', new Blob()).pipe(toArray()))).toEqual([1]);
  });
});

describe('recipes views', () => {
  const page = loadRecipes() as Recipes;

  describe('ticker', () => {
    it(
      '`ticker` emits fewer prices on a slow line, each the newest when it leaves',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const { dialer, acceptor } = createPair({ latencyMs: 3 });
        const price$ = cold('-abcdefghijklmnop');
        const subs = '       ---^ 1024ms !';
        const expected = '   -------a-----g-----m-----(p|)';
        page.serveTicker(acceptor, price$);
        expectObservable(page.ticker(dialer).pipe(take(4))).toBe(expected);
        expectSubscriptions(price$.subscriptions).toBe(subs);
      }),
    );

    it(
      '`ticker` keeps one price for a reader that is away',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const { dialer, acceptor, link } = createPair();
        const price$ = cold('  -a-b-c-d-e');
        const away$ = cold('   --s------r');
        const expected = '     -a-------(be|)';
        const subs = '         ^ 1008ms !';
        page.serveTicker(acceptor, price$);
        away$.subscribe((what) => {
          if (what === 's') link.stall('dialer');
          else link.resume('dialer');
        });
        expectObservable(page.ticker(dialer).pipe(take(3))).toBe(expected);
        expectSubscriptions(price$.subscriptions).toBe(subs);
      }),
    );

    it(
      '`ticker` shares one stream among its subscribers, and ends it a second after the last one',
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
  });

  describe('optimistic interface', () => {
    collectLogs();

    const before = { id: 7, title: 'write' };
    const after = { id: 7, title: 'rewrite' };

    it(
      '`rename` shows the change at once, and retries a call that the server refused',
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
      '`rename` undoes the change when it fails',
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

    it(
      '`rename` changes the task at its subscription, and restores that task when it fails',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const { dialer, acceptor } = createPair();
        const call$ = cold('   -c');
        const answer$ = cold('  --#');
        const subs = '         -^-!';
        const shown = '        ea-e';
        const edited = { id: 7, title: 'edit' };
        const task$ = new BehaviorSubject(before);
        const renamed$ = page.rename(dialer, task$, 'rewrite').pipe(catchError(() => EMPTY));
        task$.next(edited);
        acceptor.streams$.pipe(respond(() => answer$)).subscribe();
        call$.pipe(mergeMap(() => renamed$)).subscribe();
        expectObservable(task$).toBe(shown, { a: after, e: edited });
        expectSubscriptions(answer$.subscriptions).toBe(subs);
      }),
    );

    it.each<[string, string, string, string]>([
      ['A change that fails late does not touch a later saved one', '----#', '-s', 'abs'],
      ['A change that is saved late does not touch a later saved one', '----f', '-s', 'abs'],
      ['A change that fails after a later failed one restores the task before both', '----#', '-#', 'aba-o'],
      ['A change that fails before a later one fails restores the task before both', '--#', '----#', 'ab---o'],
      ['A saved change stays when a later one fails', '--f', '----#', 'ab---f'],
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
});

describe('trace context', () => {
  const page = loadRecipes() as Recipes;

  /** Returns a maker of ids that count up, padded to the requested length. */
  function counting(): (bytes: number) => string {
    let count = 0;
    return (bytes) => (++count).toString(16).padStart(bytes * 2, '0');
  }

  /** The first trace that {@link counting} begins. */
  const BEGUN = `00-${'1'.padStart(32, '0')}-${'2'.padStart(16, '0')}-01`;

  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  it('A trace goes through a proxy to the next peer, and back to the caller', async () => {
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

  it('The hooks keep the trace of a caller, and begin no trace once they are removed', async () => {
    const { dialer, acceptor } = createPair();
    const remove = page.trace(dialer, counting());
    acceptor.onStream((_, stream) => stream.reply(stream.headers));
    const headers = { traceparent: 'of the caller' };
    const kept = dialer.request('x', { headers });
    remove();
    const bare = dialer.request('x');
    await time.advance();
    expect(await Promise.all([kept, bare])).toEqual([headers, {}]);
  });

  it('`forward` keeps the trace of a proxied call through a retry and a cancel', async () => {
    const [front, back] = [createPair(), createPair()];
    front.acceptor.onStream(page.forward(back.dialer, counting()));
    const causes: unknown[] = [];
    back.acceptor.onStream((payload, stream) => {
      void stream.closed.then(() => causes.push(stream.cause));
      if (causes.length === 0) stream.reset(ResetCode.REFUSED, 'busy');
      else return payload === 'waits' ? stream.closed : stream.reply(payload);
      return undefined;
    });
    const answer = front.dialer.request('x');
    await time.advance(1_000);
    expect(await answer).toBe('x');
    const left = front.dialer.request$('waits').subscribe();
    await time.advance();
    left.unsubscribe();
    await time.advance();
    expect(causes.at(-1)).toMatchObject({ how: 'reset', by: 'remote', code: ResetCode.CANCEL });
  });

  it.each([
    ['begins a trace without a parent', undefined, BEGUN],
    ['begins a trace for an invalid parent', '00-x-y-01', BEGUN],
    ['begins a trace for a parent with more than its flags', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00-x`, BEGUN],
    ['keeps the trace of its parent', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`, `00-${'a'.repeat(32)}-${'1'.padStart(16, '0')}-01`],
  ])('`childOf` %s', (_, parent, expected) => {
    expect(page.childOf(parent, counting())).toBe(expected);
  });
});
