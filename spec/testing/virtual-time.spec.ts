import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  asapScheduler,
  asyncScheduler,
  catchError,
  concatMap,
  delay,
  EMPTY,
  from,
  ignoreElements,
  interval,
  map,
  mergeMap,
  NEVER,
  Observable,
  of,
  queueScheduler,
  startWith,
  Subject,
  take,
  takeUntil,
  timer,
  toArray,
} from 'rxjs';
import type { Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';
import { marbles } from '../../marbles/support/virtual.js';
import { letterOf } from '../../marbles/support/wire.js';
import { contract, request, stream } from '../../src/contract.js';
import { CloseCode, connect, ResetCode, respond } from '../../src/index.js';
import type { Frame, FrameEvent } from '../../src/index.js';
import { logger } from '../../src/logger.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { createPair, createServer, fakePeer, frameMarbles, peerFromMarbles, printMarbles, virtualTime } from '../../src/testing.js';
import type { FakePeerOptions, PairOptions, TestServerOptions, VirtualTime } from '../../src/testing.js';
import fc from '../support/fast-check.js';
import { collectLogs } from '../support/peer/logs.js';

describe('virtual time', () => {
  const logs = collectLogs();

  describe('virtualTime', () => {
    let time: VirtualTime;

    beforeEach(() => {
      time = virtualTime();
    });

    afterEach(() => {
      time.restore();
    });

    it('Virtual time begins at 0 and stands still until it is advanced', async () => {
      await Promise.resolve();
      expect([time.now, asyncScheduler.now()]).toEqual([0, 0]);
      await time.advance(1_500);
      await time.advance(500);
      expect([time.now, asyncScheduler.now(), Date.now() > 2_000]).toEqual([2_000, 2_000, true]);
    });

    it('Virtual time runs tasks in order of their time, and of their scheduling at equal times', async () => {
      const done: string[] = [];
      for (const [name, ms] of [
        ['c', 30],
        ['a', 10],
        ['d', 30],
        ['b', 20],
        ['late', 31],
      ] as const)
        asyncScheduler.schedule(() => done.push(`${name} at ${time.now}`), ms);
      await time.advance(30);
      expect(done).toEqual(['a at 10', 'b at 20', 'c at 30', 'd at 30']);
      await time.advance(1);
      expect(done).toHaveLength(5);
    });

    it('Virtual time runs tasks that were scheduled on the way at their time', async () => {
      const done: number[] = [];
      timer(10)
        .pipe(
          concatMap(() => timer(10)),
          concatMap(() => timer(10)),
        )
        .subscribe(() => done.push(time.now));
      await time.advance(29);
      expect(done).toEqual([]);
      await time.advance(1);
      expect(done).toEqual([30]);
    });

    it('Virtual time runs asap work before timers, in the same ms', async () => {
      const done: string[] = [];
      asyncScheduler.schedule(() => done.push('timer'));
      asapScheduler.schedule(() => done.push('asap'));
      queueScheduler.schedule(() => done.push('queue'));
      await time.advance();
      expect(done).toEqual(['queue', 'asap', 'timer']);
      expect(time.now).toBe(0);
    });

    it('Virtual time repeats an interval', async () => {
      const done: number[] = [];
      interval(10)
        .pipe(take(3))
        .subscribe(() => done.push(time.now));
      await time.advance(100);
      expect(done).toEqual([10, 20, 30]);
    });

    it("Virtual time runs an interval's second run after a task that was set before its first and is due then", async () => {
      const done: string[] = [];
      interval(10)
        .pipe(take(2))
        .subscribe(() => done.push('interval'));
      timer(20).subscribe(() => done.push('timer'));
      await time.advance(20);
      expect(done).toEqual(['interval', 'timer', 'interval']);
    });

    it.each([2 ** 31, Infinity])('Virtual time runs a task with a delay of %p ms at once, as platforms do', async (ms) => {
      const done: string[] = [];
      asyncScheduler.schedule(() => done.push('too long'), ms);
      asyncScheduler.schedule(() => done.push('in 25 days'), 2 ** 31 - 1);
      await time.advance(1);
      expect(done).toEqual(['too long']);
    });

    it('Virtual time runs no unsubscribed task', async () => {
      const done: string[] = [];
      timer(10)
        .subscribe(() => done.push('timer'))
        .unsubscribe();
      asapScheduler.schedule(() => done.push('asap')).unsubscribe();
      await time.advance(100);
      expect(done).toEqual([]);
    });

    it('Promises settle between two steps of virtual time, however long their chain', async () => {
      const done: string[] = [];
      const chain = async (): Promise<void> => {
        for (let step = 0; step < 1_000; step++) await Promise.resolve();
        done.push('chain');
      };
      asyncScheduler.schedule(() => void chain(), 10);
      asyncScheduler.schedule(() => done.push('timer'), 10);
      await time.advance(10);
      expect(done).toEqual(['chain', 'timer']);
    });

    it('Virtual time waits for promises from before it, and runs the work that follows them', async () => {
      const all = from(Promise.resolve([1, 2, 3])).pipe(
        concatMap((values) => from(values)),
        delay(1_000),
        toArray(),
      );
      let seen: number[] | null = null;
      all.subscribe((values) => (seen = values));
      await time.advance(1_000);
      expect(seen).toEqual([1, 2, 3]);
    });

    it('An advance rejects with the error of a task, and the next one continues', async () => {
      const done: string[] = [];
      asyncScheduler.schedule(() => {
        throw new Error('in a timer');
      }, 10);
      asyncScheduler.schedule(() => done.push('next'), 20);
      await expect(time.advance(100)).rejects.toThrow('in a timer');
      await time.advance(100);
      expect(done).toEqual(['next']);
    });

    it('An advance rejects with the unhandled error of an Observable', async () => {
      timer(10)
        .pipe(
          concatMap(() => {
            throw new Error('unhandled');
          }),
        )
        .subscribe();
      await expect(time.advance(10)).rejects.toThrow('unhandled');
    });

    it('Virtual time never goes back, even when two advances overlap', async () => {
      await Promise.all([time.advance(100), time.advance(10)]);
      expect(time.now).toBe(100);
    });

    it.each([-1, Number.NaN, '10'])('`advance` rejects for %p', async (ms) => {
      await expect(time.advance(ms as number)).rejects.toThrow(TypeError);
    });

    it('`virtualTime` throws while another virtual time is not restored', () => {
      expect(virtualTime).toThrow('restored');
      time.restore();
      time = virtualTime();
      expect(time.now).toBe(0);
    });

    it('`virtualTime` throws inside TestScheduler.run', () => {
      time.restore();
      new TestScheduler(() => undefined).run(() => {
        expect(virtualTime).toThrow('restored');
      });
    });

    it("Virtual time drives a peer's answers, deadlines and keepalive", async () => {
      const { dialer, acceptor } = createPair({ latencyMs: 400, dialer: { keepalive: {} } });
      const pings: number[] = [];
      acceptor.frames$.subscribe(({ frame }) => frame.type === 'ping' && pings.push(time.now));
      acceptor.onStream((payload, stream) => (payload === 'x' ? stream.reply('y') : new Promise(() => undefined)));
      const answer = dialer.request('x');
      const late = dialer.request('never', { timeoutMs: 5_000 });
      late.catch(() => undefined);
      await time.advance(800);
      expect(await answer).toBe('y');
      await time.advance(4_200);
      await expect(late).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      await time.advance(60_000);
      expect(pings.length).toBeGreaterThan(1);
    });

    it('Virtual time carries a peer through half an hour of outages', async () => {
      const server = createServer({ onStream: (payload, stream) => stream.reply(payload) });
      const peer = connect('ws://test', { socket: server.socket, reconnect: true });
      for (let minute = 0; minute < 30; minute++) {
        server.refuse(503);
        server.link?.cut();
        await time.advance(30_000);
        server.refuse(null);
        await time.advance(30_000);
        const answer = peer.request(minute);
        await time.advance();
        expect(await answer).toBe(minute);
      }
      expect(time.now).toBe(30 * 60_000);
      // For each outage the first dial that failed, and the one that opened.
      expect(logs.warnings).toHaveLength(60);
    });
  });

  describe('virtualTime.restore', () => {
    it('`restore` returns the real clocks, timers and asap work', async () => {
      const time = virtualTime();
      time.restore();
      time.restore();
      const before = Date.now();
      const now = asyncScheduler.now();
      expect([before <= now, now <= Date.now()]).toEqual([true, true]);
      const asap = new Promise<string>((resolve) => asapScheduler.schedule(() => resolve('asap')));
      const async = new Promise<string>((resolve) => of('async').pipe(delay(1)).subscribe(resolve));
      expect(await Promise.all([asap, async])).toEqual(['asap', 'async']);
    });

    it('`restore` leaves a later virtual time alone', async () => {
      const before = virtualTime();
      before.restore();
      const time = virtualTime();
      before.restore();
      const done: number[] = [];
      timer(1_000_000).subscribe(() => done.push(time.now));
      await time.advance(1_000_000);
      time.restore();
      expect(done).toEqual([1_000_000]);
    });

    it('`restore` drops pending tasks, so that later tasks run in real time', async () => {
      const time = virtualTime();
      const done: string[] = [];
      asapScheduler.schedule(() => done.push('asap'));
      asyncScheduler.schedule(() => done.push('timer'), 1);
      time.restore();
      await new Promise<void>((resolve) => asapScheduler.schedule(resolve));
      await new Promise<void>((resolve) => asyncScheduler.schedule(() => resolve(), 1));
      expect(done).toEqual([]);
    });

    it('`restore` leaves the timers alone that were real before', async () => {
      const done: string[] = [];
      const outcomes: Subscription[] = [];
      outcomes.push(asyncScheduler.schedule(() => done.push('kept'), 1));
      outcomes.push(asyncScheduler.schedule(() => done.push('cleared'), 1));
      outcomes.push(asapScheduler.schedule(() => done.push('asap cleared')));
      const time = virtualTime();
      outcomes[1]?.unsubscribe();
      outcomes[2]?.unsubscribe();
      time.restore();
      await new Promise<void>((resolve) => asyncScheduler.schedule(() => resolve(), 1));
      expect(done).toEqual(['kept']);
    });

    it('Clearing a real timer does not end virtual time', async () => {
      const real = [asyncScheduler.schedule(() => undefined, 1), asapScheduler.schedule(() => undefined)];
      const time = virtualTime();
      for (const each of real) each.unsubscribe();
      const done: string[] = [];
      timer(1_000_000).subscribe(() => done.push('timer'));
      asapScheduler.schedule(() => done.push('asap'));
      await time.advance(1_000_000);
      time.restore();
      expect(done).toEqual(['asap', 'timer']);
    });
  });
});

const letters = map(letterOf);

describe('peerFromMarbles', () => {
  it(
    '`peerFromMarbles` reads its row, and emits the frames that the peer sends',
    marbles((helpers) => {
      const inbound = ' --o---O--|';
      const subs = '    ^--------!';
      const outbound = '--e---e--|';
      const frames = { o: frameMarbles(1).o, O: frameMarbles(3).o };
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frames, { onStream: (_, stream) => stream.reply('hi') });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` has the letters of stream 1 by default',
    marbles((helpers) => {
      const inbound = ' --o-d-e-|';
      const subs = '    ^-------!';
      const read = '    ----d---|';
      const { peer, ...row } = peerFromMarbles(helpers, inbound);
      helpers.expectObservable(peer.streams$.pipe(mergeMap((stream) => stream))).toBe(read);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` closes the socket cleanly at |',
    marbles((helpers) => {
      const inbound = ' -----|';
      const subs = '    ^----!';
      const closes = '  -----(c|)';
      const { peer, ...row } = peerFromMarbles(helpers, inbound);
      helpers.expectObservable(peer.closes$).toBe(closes, { c: { code: CloseCode.CLEAN, reason: '', wasClean: true, willRetry: false } });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` loses the socket at #',
    marbles((helpers) => {
      const inbound = ' -----#';
      const subs = '    ^----!';
      const closes = '  -----(c|)';
      const { peer, ...row } = peerFromMarbles(helpers, inbound);
      helpers
        .expectObservable(peer.closes$)
        .toBe(closes, { c: { code: CloseCode.ABNORMAL, reason: '', wasClean: false, willRetry: false } });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` unsubscribes from its row when the peer closes',
    marbles((helpers) => {
      const inbound = ' -----------p';
      const subs = '    ^---!       ';
      const outbound = '----(g|)    ';
      const closes = '  ----(c|)    ';
      const { peer, outbound$, ...row } = peerFromMarbles(helpers, inbound);
      helpers.cold('----x').subscribe(() => void peer.close());
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectObservable(peer.closes$).toBe(closes, { c: expect.objectContaining({ code: CloseCode.CLEAN, wasClean: true }) });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` unsubscribes from its row when the peer ends the connection over a frame',
    marbles((helpers) => {
      const inbound = ' ---x-----';
      const subs = '    ^--!     ';
      const outbound = '---(g|)  ';
      const frames = { x: { type: 'open', stream: 2 } };
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frames);
      helpers.expectObservable(outbound$.pipe(map(({ type, code }) => [type, code]))).toBe(outbound, {
        g: ['goaway', ResetCode.PROTOCOL_ERROR],
      });
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` makes a dialer, and speaks another codec, by its options',
    marbles((helpers) => {
      const inbound = ' ---d--e|';
      const subs = '    ^------!';
      const outbound = '-o-----|';
      const received = '---d--|';
      const codec = new MsgpackCodec();
      const { peer, outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(1), { isDialer: true, codec });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectObservable(peer.open$('x'), '-^').toBe(received);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` treats an undefined keepalive as a missing one',
    marbles((helpers) => {
      const inbound = ' 50s |';
      const subs = '    ^ 49999ms !';
      const outbound = '50s |';
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(), { keepalive: undefined });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(outbound);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it.each<[what: string, order: readonly number[]]>([
    ['before the call', [0, 1, 2]],
    ['after the call', [2, 1, 0]],
    ['before and after the call', [0, 2, 1]],
  ])(
    '`peerFromMarbles` emits a sent frame to all who subscribe in the same ms: %s',
    marbles<[string, readonly number[]]>((helpers, _what, order) => {
      const inbound = ' --------|';
      const subs = '    ^-------!';
      const sent = '    o--o----|';
      const later = '   ---^     ';
      const sentLater = '---o----|';
      const { peer, outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(), { isDialer: true });
      const expectations = [
        () => helpers.expectObservable(outbound$.pipe(letters)).toBe(sent),
        () => helpers.expectObservable(outbound$.pipe(letters), later).toBe(sentLater),
        () => {
          helpers.expectObservable(peer.open$('x', { input: NEVER }).pipe(catchError(() => EMPTY))).toBe('--------|');
          helpers.expectObservable(peer.open$('y', { input: NEVER }).pipe(catchError(() => EMPTY)), later).toBe('--------|');
        },
      ];
      for (const nth of order) expectations[nth]?.();
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    '`peerFromMarbles` emits no past frame to a subscriber a ms later',
    marbles((helpers) => {
      const inbound = ' --o-----|';
      const subs = '    ^-------!';
      const sent = '    --e-----|';
      const later = '   ---^     ';
      const sentLater = '--------|';
      const { outbound$, ...row } = peerFromMarbles(helpers, inbound, frameMarbles(1), { onStream: (_, stream) => stream.reply('hi') });
      helpers.expectObservable(outbound$.pipe(letters)).toBe(sent);
      helpers.expectObservable(outbound$.pipe(letters), later).toBe(sentLater);
      helpers.expectSubscriptions(row.inbound.subscriptions).toBe(subs);
    }),
  );

  it(
    'The peer and the socket of peerFromMarbles are open together',
    marbles((helpers) => {
      const { socket, peer, inbound } = peerFromMarbles(helpers, '---|');
      helpers.expectObservable(peer.status$.pipe(map(({ state }) => [state, socket.readyState]))).toBe('o--(x|)', {
        o: ['open', 1],
        x: ['closed', 3],
      });
      helpers.expectSubscriptions(inbound.subscriptions).toBe('^--!');
    }),
  );
});

const FRAMES = { ...frameMarbles(1), D: frameMarbles(3).d, O: frameMarbles(3).o, '?': { type: 'window_update', stream: 1 } };

/** Turns the letters of a row into events of one direction; capital letters belong to stream 3. */
const events = map((letter: string) => ({ direction: 'tx', frame: FRAMES[letter as 'o'] }) as FrameEvent);

/** Letters of one ms, `afterMs` after the letters before. */
interface Moment {
  readonly afterMs: number;
  readonly letters: string;
}

function draw(moments: readonly Moment[]): string {
  let text = '';
  new TestScheduler(() => undefined).run(({ flush }) => {
    const letters$ = from(moments).pipe(concatMap(({ afterMs, letters }) => timer(afterMs).pipe(concatMap(() => letters))));
    letters$.pipe(events, printMarbles()).subscribe((printed) => (text = printed));
    flush();
  });
  return text;
}

/** Reads a diagram as a TestScheduler does: entries such as `12 stream 1 tx d`. */
function read(text: string): readonly string[] {
  return new TestScheduler(() => undefined).run(() =>
    text.split('\n').flatMap((line) => {
      const gap = line.indexOf('  ');
      return TestScheduler.parseMarbles(line.slice(gap), undefined, undefined, undefined, true).map(
        ({ frame, notification }) => `${frame} ${line.slice(0, gap)} ${'value' in notification ? String(notification.value) : ''}`,
      );
    }),
  );
}

const ROWS: Readonly<Record<string, string>> = { p: 'connection tx', D: 'stream 3 tx' };

/** The expected entries. Each moment is in its own ms, or right after the moment before while that is being drawn. */
function readable(moments: readonly Moment[]): readonly string[] {
  let at = -(moments[0]?.afterMs ?? 0);
  let free = 0;
  return moments.flatMap(({ afterMs, letters }) => {
    at += afterMs;
    const drawnAt = Math.max(at, free);
    const marks = Array.from(letters, (letter) => ({ row: ROWS[letter] ?? 'stream 1 tx', letter: letter.toLowerCase() }));
    const most = Math.max(...marks.map(({ row }) => marks.filter((mark) => mark.row === row).length));
    free = drawnAt + (most > 1 ? most + 2 : 1);
    return marks.map(({ row, letter }) => `${drawnAt} ${row} ${letter}`);
  });
}

describe('printMarbles', () => {
  it.each<[row: string, drawn: string]>([
    ['|', ''],
    ['o|', 'stream 1 tx  o'],
    ['--o-d-e|', 'stream 1 tx  o-d-e'],
    ['--o-p-d-g|', 'stream 1 tx    o---d--\nconnection tx  --p---g'],
    ['o--O-d--D--r|', 'stream 1 tx  o----d-----r\nstream 3 tx  ---o----d---'],
    ['(ode)|', 'stream 1 tx  (ode)'],
    ['o-(de)-r|', 'stream 1 tx  o-(de)-r'],
    ['o-(dD)-(de)---r|', 'stream 1 tx  o-d----(de)---r\nstream 3 tx  --d------------'],
    ['o 20ms d|', 'stream 1 tx  o 20ms d'],
    ['o 10ms d|', 'stream 1 tx  o----------d'],
    ['o 2s O 3m d|', 'stream 1 tx  o 2000ms - 180000ms d\nstream 3 tx  - 2000ms o 180000ms -'],
    ['o-?|', 'stream 1 tx  o-?'],
  ])(
    '`printMarbles` draws %s',
    marbles<[string, string]>(({ cold, flush }, row, drawn) => {
      let text: string | null = null;
      cold(row)
        .pipe(events, printMarbles())
        .subscribe((printed) => (text = printed));
      flush();
      expect(text).toBe(drawn);
    }),
  );

  it(
    '`printMarbles` emits nothing before the session has ended, and errors with it',
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('o-d---').pipe(events, printMarbles())).toBe('------');
      expectObservable(cold('o-d-#').pipe(events, printMarbles())).toBe('----#');
    }),
  );

  it(
    '`printMarbles` draws all rows with the same width',
    marbles(({ cold, flush }) => {
      let text = '';
      cold('o--O-(dpD)------g 30ms r-(De)|')
        .pipe(events, printMarbles())
        .subscribe((printed) => (text = printed));
      flush();
      expect(new Set(text.split('\n').map(({ length }) => length)).size).toBe(1);
    }),
  );

  it.each<[moments: string, drawn: string]>([
    ['od, 1 d, 9 r', 'stream 1 tx  (od)d-----r'],
    ['od, 1 d, 1 d, 26 r', 'stream 1 tx  (od)dd 22ms r'],
    ['od, 1 De, 1 r, 5 D', 'stream 1 tx  (od)er--\nstream 3 tx  ----d--d'],
  ])('`printMarbles` moves only marks that follow a bracket too closely: %s', (moments, drawn) => {
    const given = moments.split(', ').map((each) => each.split(' ').reverse());
    expect(draw(given.map(([letters = '', afterMs = 0]) => ({ letters, afterMs: Number(afterMs) })))).toBe(drawn);
  });

  it('`printMarbles` draws rows that a TestScheduler reads with the same moments, or right after the moment before', () => {
    const moments = fc.array(
      fc.record({
        afterMs: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 40 })),
        letters: fc.string({ unit: fc.constantFrom('o', 'd', 'e', 'D', 'p'), minLength: 1, maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(moments, (given) => {
        expect([...read(draw(given))].sort()).toEqual([...readable(given)].sort());
      }),
      { numRuns: 200 },
    );
  });

  it('`printMarbles` stops when it is unsubscribed while its source emits synchronously', () => {
    const enough = new Subject<void>();
    let given = 0;
    new Observable<string>((to) => {
      while (!to.closed && given < 100) {
        if (++given === 3) enough.next();
        to.next('o');
      }
    })
      .pipe(events, printMarbles(), takeUntil(enough))
      .subscribe();
    expect(given).toBe(3);
  });

  it('`printMarbles` fails with an event that it cannot draw', () => {
    const errors: unknown[] = [];
    of({ direction: 'tx' } as FrameEvent)
      .pipe(printMarbles())
      .subscribe({ error: (error) => errors.push(error) });
    expect(errors).toEqual([expect.any(TypeError)]);
  });

  it('`printMarbles` draws a real session, in virtual time', async () => {
    const time = virtualTime();
    const { dialer, acceptor } = createPair({ latencyMs: 2 });
    acceptor.streams$.pipe(respond((_, stream) => stream.pipe(startWith('welcome')))).subscribe();
    let text = '';
    dialer.frames$.pipe(printMarbles()).subscribe((printed) => (text = printed));
    dialer.open$('x', { input: timer(5).pipe(ignoreElements()) }).subscribe();
    await time.advance(24);
    void dialer.close();
    await time.advance(10);
    time.restore();
    expect(text.split('\n')).toEqual([
      'stream 1 tx    o----e---- 14ms -',
      'stream 1 rx    ----d----e 14ms -',
      'connection tx  ---------- 14ms g',
    ]);
  });

  it('`printMarbles` draws a real session, in real time', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const drawn = new Promise<string>((resolve) => dialer.frames$.pipe(printMarbles()).subscribe(resolve));
    await dialer.request('x');
    await dialer.close();
    const rows = (await drawn).split('\n').map((row) => [row.slice(0, 13), row.slice(13).replace(/[0-9.]+m?s|[^a-z]/g, '')]);
    expect(rows).toEqual([
      ['stream 1 tx  ', 'o'],
      ['stream 1 rx  ', 'e'],
      ['connection tx', 'g'],
    ]);
  });
});

describe('bad options', () => {
  type Row = readonly [options: unknown, message: string];

  /** Wrong options of the line between two peers, and the errors. */
  const OF_LINES: readonly Row[] = [
    [null, 'options: expected an object, got null'],
    ['slow', "options: expected an object, got 'slow'"],
    [{ latencyMs: 'x' }, "latencyMs: expected a number of at least 0, got 'x'"],
    [{ latencyMs: NaN }, 'latencyMs: expected a number of at least 0, got NaN'],
    [{ latencyMs: -5 }, 'latencyMs: expected a number of at least 0, got -5'],
    [{ faults: 5 }, 'faults: expected a function, got 5'],
    [{ limits: 5 }, 'limits: expected an object, got 5'],
  ];

  it.each<Row>([
    ...OF_LINES,
    [{ dialer: 5 }, 'dialer: expected an object, got 5'],
    [{ acceptor: null }, 'acceptor: expected an object, got null'],
  ])('`createPair` throws for %p', (options, message) => {
    expect(() => createPair(options as PairOptions)).toThrow(new TypeError(message));
  });

  it.each<Row>([...OF_LINES, [{ onStream: 5 }, 'onStream: expected a function, got 5']])(
    '`createServer` throws for %p, not only at the first dial',
    (options, message) => {
      expect(() => createServer(options as TestServerOptions)).toThrow(new TypeError(message));
    },
  );

  it.each<[name: string, helpers: unknown, got: string]>([
    ['null', null, 'null'],
    ['an object without helpers', {}, 'an object'],
    ['a function', () => undefined, 'a function'],
  ])('`fakePeer` throws for %s as helpers', (_name, helpers, got) => {
    expect(() => fakePeer(helpers as RunHelpers, { a: '--a' })).toThrow(
      expect.objectContaining({ name: 'TypeError', message: `helpers: expected the helpers of TestScheduler.run, got ${got}` }),
    );
  });

  it.each<[name: string, rows: unknown, options: unknown, message: string]>([
    ['rows of null', null, {}, 'rows: expected an object, got null'],
    ['a row that is no string', { a: 5 }, {}, "rows['a']: expected marbles, got 5"],
    ['options of null', { a: '-a' }, null, 'options: expected an object, got null'],
    ['a name that is no function', { a: '-a' }, { name: 'op' }, "name: expected a function, got 'op'"],
  ])('`fakePeer` throws for %s', (_name, rows, options, message) => {
    new TestScheduler(() => undefined).run((helpers) => {
      expect(() => fakePeer(helpers, rows as Record<string, string>, options as FakePeerOptions)).toThrow(new TypeError(message));
    });
  });

  it.each<[name: string, inbound: unknown, frames: unknown, message: string]>([
    ['a letter without a frame', '--o--x|', undefined, "inbound: expected one of o, d, e, r, p, q, g, got 'x'"],
    ['a value that is no frame', '--a|', { a: 5 }, 'frames.a: expected a frame, got 5'],
    ['a row that is no text', 5, undefined, 'inbound: expected marbles, got 5'],
    ['frames of null', '--o|', null, 'frames: expected an object, got null'],
  ])('`peerFromMarbles` throws for %s', (_name, inbound, frames, message) => {
    new TestScheduler(() => undefined).run((helpers) => {
      expect(() => peerFromMarbles(helpers, inbound as string, frames as Record<string, Frame>)).toThrow(new TypeError(message));
    });
  });

  const api = contract({ price: stream<void, number>(), chat: { send: request() } });

  it.each<[name: string, rows: unknown, message: string]>([
    ['an unknown procedure', { prize: '-a|' }, "rows: no 'prize'; did you mean 'price'?"],
    ['a namespace', { chat: '-a|' }, "rows: expected one of price, chat.send, got 'chat'"],
    ['a number', { price: 5 }, "rows['price']: expected marbles, or [marbles, values, error], got 5"],
    ['an empty list', { price: [] }, "rows['price']: expected marbles, or [marbles, values, error], got undefined"],
  ])('`fakePeer` of a contract throws for a row of %s', (_name, rows, message) => {
    new TestScheduler(() => undefined).run((helpers) => {
      expect(() => fakePeer(helpers, api, rows as { price: string })).toThrow(new TypeError(message));
    });
  });

  it.each<[call: string, message: string, misuse: (link: ReturnType<typeof createPair>['link']) => void]>([
    ['stall', "stall: expected 'dialer' or 'acceptor', got 'me'", (link) => link.stall('me' as 'dialer')],
    ['resume', "resume: expected 'dialer' or 'acceptor', got undefined", (link) => link.resume(undefined as never)],
    ['inject', "inject: expected 'dialer' or 'acceptor', got 'x'", (link) => link.inject('x' as 'dialer', '{}')],
    ['a message of inject', 'inject: expected a text or an ArrayBuffer, got an object', (link) => link.inject('dialer', {} as never)],
  ])('A link throws for a wrong argument of %s', (_call, message, misuse) => {
    const { link } = createPair();
    expect(() => misuse(link)).toThrow(new TypeError(message));
  });

  it.each([
    ['dropp', "'dropp'"],
    [{ delay: 5 }, 'an object'],
  ])('A script that returns the fault %p ends the connection, and the log says why', async (fault, got) => {
    const error = jest.spyOn(logger, 'error').mockReturnValue(undefined);
    const { dialer } = createPair({ faults: () => fault as never });
    await expect(dialer.request(1)).rejects.toThrow('connection lost');
    const says = `faults: expected 'drop', 'duplicate', 'cut', { delayMs } or { replace }, got ${got}`;
    expect(error).toHaveBeenCalledWith(expect.any(String), new TypeError(says));
    error.mockRestore();
  });

  it('`advance` rejects for Infinity, because a keepalive never ends', async () => {
    const time = virtualTime();
    await expect(time.advance(Infinity)).rejects.toThrow(new TypeError('ms: expected a finite number, got Infinity'));
    time.restore();
  });
});
