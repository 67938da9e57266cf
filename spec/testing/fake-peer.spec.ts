import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { firstValueFrom, map, mergeMap, of, switchMap, take, timer, toArray } from 'rxjs';
import { marbles } from '../../marbles/support/virtual.js';
import { JsonCodec, ResetError } from '../../src/index.js';
import type { Codec, StreamHandler } from '../../src/index.js';
import { play, readLines, record, withoutContent, writeLine } from '../../src/inspect.js';
import type { Line, PlayOptions, RecordedFrame } from '../../src/inspect.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { fakePeer, replay, virtualTime } from '../../src/testing.js';
import type { Pair, ReplayOptions, VirtualTime } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { createPair } from '../support/peer/tracked.js';
import { CLOCKS } from './clocks.js';
import type { Clock } from './clocks.js';

describe('fakePeer', () => {
  const logs = collectLogs();

  it(
    '`fakePeer` answers each call with the row of its name, from the start of the call on',
    marbles((helpers) => {
      const rows = { 'open prices': '--a-b-|', 'request sum': '--r|' };
      const calls = '       p-----s---p';
      const expected = '    --a-b---r---a-b';
      const { peer } = fakePeer(helpers, rows);
      const call$ = helpers.cold(calls).pipe(switchMap((what) => (what === 's' ? peer.request$({ op: 'sum' }) : peer.open$('prices'))));
      helpers.expectObservable(call$).toBe(expected);
    }),
  );

  it(
    '`fakePeer` records each call and the values that it sent',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open chat': '----|' });
      const input$ = helpers.cold('-a-b|');
      peer.open$({ op: 'chat', room: 1 }, { headers: { token: 't' }, input: input$ }).subscribe();
      helpers.flush();
      expect(calls).toStrictEqual([
        { row: 'open chat', payload: { op: 'chat', room: 1 }, headers: { token: 't' }, sent: ['a', 'b'], cancelled: false },
      ]);
      helpers.expectSubscriptions(input$.subscriptions).toBe('^---!');
    }),
  );

  it(
    '`fakePeer` records whether the program cancelled a call or received its answer',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open ticks': '-a-b-c', 'request sum': '---r|' });
      peer.open$('ticks').pipe(take(2)).subscribe();
      peer.request$('sum').subscribe();
      helpers.cold('--x').subscribe(() => {
        expect(calls.map(({ cancelled }) => cancelled)).toEqual([false, false]);
      });
      helpers.flush();
      expect(calls).toEqual([
        { row: 'open ticks', payload: 'ticks', headers: {}, sent: [], cancelled: true },
        { row: 'request sum', payload: 'sum', headers: {}, sent: [], cancelled: false },
      ]);
    }),
  );

  it(
    '`fakePeer` records a deadline, and an input that fails, as a cancel',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open late': '------r', 'open fed': '------r' });
      const input$ = helpers.cold('--#');
      helpers
        .expectObservable(peer.open$('late', { timeoutMs: 3 }), '^---')
        .toBe('---#', undefined, expect.objectContaining({ code: 'DEADLINE_EXCEEDED' }));
      helpers.expectObservable(peer.open$('fed', { input: input$ })).toBe('--#');
      helpers.expectSubscriptions(input$.subscriptions).toBe('^-!');
      helpers.flush();
      expect(calls.map(({ row, cancelled }) => [row, cancelled])).toEqual([
        ['open late', true],
        ['open fed', true],
      ]);
    }),
  );

  it(
    '`fakePeer` stops an upload that goes on behind its answer, as a server does',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open store': '---(r|)' });
      const input$ = helpers.cold('-a-b-c-');
      helpers.expectObservable(peer.open$('store', { input: input$ })).toBe('---(r|)');
      helpers.expectSubscriptions(input$.subscriptions).toBe('^--!');
      helpers.flush();
      expect(calls).toMatchObject([{ sent: ['a'], cancelled: false }]);
    }),
  );

  it(
    'The answers of fakePeer show when each row was subscribed',
    marbles((helpers) => {
      const { peer, answers } = fakePeer(helpers, { 'open ticks': '-a-b-c', 'request sum': '---r|', 'open rest': '-a' });
      const calls$ = helpers.cold('x--x');
      const ticks$ = peer.open$('ticks').pipe(take(2));
      helpers.expectObservable(calls$.pipe(mergeMap(() => ticks$))).toBe('-a-ba-b');
      helpers.expectObservable(peer.request$('sum')).toBe('---(r|)');
      helpers.expectSubscriptions(answers['open ticks'].subscriptions).toBe(['^--!', '---^--!']);
      helpers.expectSubscriptions(answers['request sum'].subscriptions).toBe('^---!');
      helpers.expectSubscriptions(answers['open rest'].subscriptions).toBe([]);
    }),
  );

  it(
    '`fakePeer` refuses a call without a row, and names the rows',
    marbles((helpers) => {
      const { peer, calls } = fakePeer(helpers, { 'open prices': '-a', 'request sum': '-r|' });
      const reason = "expected one of open prices, request sum, got a call named 'product'";
      helpers.expectObservable(peer.request$({ op: 'product' })).toBe('#', undefined, expect.objectContaining({ code: 'REFUSED', reason }));
      helpers.flush();
      expect(calls.map(({ row, cancelled }) => [row, cancelled])).toEqual([['product', false]]);
    }),
  );

  it.each([
    [{ 'request list': '-r|', 'open list': '-a-b' }, "'request list' and 'open list'"],
    [{ list: '-r|', 'open sum': '-s|', 'open list': '-a-b' }, "'list' and 'open list'"],
  ])(
    '`fakePeer` throws for two rows for calls of one name: %j',
    marbles<[Readonly<Record<string, string>>, string]>((helpers, rows, named) => {
      expect(() => fakePeer(helpers, rows)).toThrow(new TypeError(`rows: expected one for calls named 'list', got ${named}`));
    }),
  );

  it(
    '`fakePeer` maps letters to values, and # to an error',
    marbles((helpers) => {
      const values = { a: { price: 1 }, b: { price: 2 } };
      const { peer, calls } = fakePeer(helpers, { 'open prices': '-a-b-#' }, { values, error: new RangeError('market closed') });
      helpers
        .expectObservable(peer.open$('prices'))
        .toBe(
          '-a-b-#',
          values,
          expect.objectContaining({ code: 'REMOTE', reason: 'market closed', payload: { name: 'RangeError', message: 'market closed' } }),
        );
      helpers.flush();
      expect(calls).toMatchObject([{ row: 'open prices', cancelled: false }]);
    }),
  );

  it.each<[error: unknown, outcome: object]>([
    [{ code: 'E1' }, { code: 'REMOTE', payload: { name: 'Error', message: 'E1' } }],
    [new ResetError(300, 'closed', { until: 9 }), { code: 'RESET', resetCode: 300, reason: 'closed', payload: { until: 9 } }],
  ])(
    '`fakePeer` fails at # with the same error as a handler that throws it, and logs none: %j',
    marbles<[unknown, object]>((helpers, error, outcome) => {
      const { peer } = fakePeer(helpers, { 'open prices': '-a-#' }, { error });
      helpers.expectObservable(peer.open$('prices')).toBe('-a-#', undefined, expect.objectContaining(outcome));
      helpers.flush();
      expect(logs.errors).toEqual([]);
    }),
  );

  it.each<[payload: unknown, name: string]>([
    ['prices', 'prices'],
    ['prices of today', 'prices of today'],
    [{ op: 'prices' }, 'prices'],
    [{ kind: 'prices' }, '{"kind":"prices"}'],
    [7, '7'],
    [undefined, 'null'],
  ])(
    '`fakePeer` names the call of payload %j as %s',
    marbles<[unknown, string]>((helpers, payload, name) => {
      const { peer } = fakePeer(helpers, { [`open ${name}`]: '-a|' });
      helpers.expectObservable(peer.open$(payload)).toBe('-a|');
    }),
  );

  it(
    '`fakePeer` calls its option name for the name of a call',
    marbles((helpers) => {
      const { peer } = fakePeer(helpers, { 'open 7': '-a|' }, { name: (payload) => String(payload) });
      helpers.expectObservable(peer.open$(7)).toBe('-a|');
    }),
  );

  it(
    '`fakePeer` speaks the codec of its options',
    marbles((helpers) => {
      const values = { a: new Uint8Array([1]) };
      const { peer } = fakePeer(helpers, { 'request bytes': '-(a|)' }, { codec: new MsgpackCodec(), values });
      helpers.expectObservable(peer.request$('bytes')).toBe('-(a|)', values);
    }),
  );

  it(
    '`fakePeer` passes on the options of a peer',
    marbles((helpers) => {
      const { peer } = fakePeer(helpers, { 'request slow': '-----r|' }, { requestTimeoutMs: 3 });
      helpers.expectObservable(peer.request$('slow')).toBe('---#', undefined, expect.objectContaining({ code: 'DEADLINE_EXCEEDED' }));
    }),
  );
});

const LARGE = 'a"\\é€😀'.repeat(8_000);

/** Squares a number, ticks for a text, and returns everything else. */
const handler: StreamHandler = (payload: unknown, stream) => {
  if (typeof payload === 'number') return stream.reply(payload * payload);
  return payload === 'ticks' ? stream.sendAll(timer(10, 10).pipe(take(3))) : stream.reply(payload);
};

/** The calls of a client. */
function use({ dialer }: Pick<Pair, 'dialer'>): Promise<unknown[]> {
  const ticks = firstValueFrom(dialer.open$('ticks').pipe(toArray()));
  return Promise.all([ticks, dialer.request(12), dialer.request(LARGE, { headers: { a: 1 } })]);
}

const ANSWERS = [[0, 1, 2], 144, LARGE];

/** Frames as short texts, by stream. */
function texts(frames: readonly RecordedFrame[]): readonly string[] {
  const byStream = [...frames].sort((one, other) => Number(one['stream']) - Number(other['stream']));
  return byStream.map((f) => JSON.stringify({ ...f, fragment: JSON.stringify(f['fragment'])?.length }));
}

describe.each(CLOCKS)('replay in $kind time', ({ start }) => {
  let clock: Clock;

  beforeEach(() => {
    clock = start();
  });

  afterEach(() => {
    clock.stop();
  });

  async function recording(codec: Codec): Promise<string> {
    const pair = createPair({ codec });
    pair.acceptor.onStream(handler);
    const made = record(pair.dialer, { payloads: true });
    await clock.until(use(pair));
    return made.text;
  }

  it.each<[name: string, codec: Codec]>([
    ['json', new JsonCodec()],
    ['msgpack', new MsgpackCodec()],
  ])('A handler receives the recorded calls under %s, and its frames compare with the recorded ones', async (_, codec) => {
    const { peer, sent$, recorded, played, skipped } = replay(await recording(codec), { codec, onStream: handler });
    const sent = firstValueFrom(sent$.pipe(take(recorded.length), toArray()));
    expect(texts(await clock.until(sent))).toEqual(texts(recorded));
    await clock.until(played);
    expect([peer.isDialer, skipped]).toEqual([false, 0]);
    await clock.until(peer.close());
  });

  it('A client receives the recorded answers to its calls', async () => {
    const { peer, recorded, sent$ } = replay(await recording(new JsonCodec()), { side: 'acceptor' });
    expect(await clock.until(use({ dialer: peer }))).toEqual(ANSWERS);
    await clock.until(peer.close());
    expect(texts(await firstValueFrom(sent$.pipe(toArray())))).toEqual(texts(recorded));
  });

  it('A recording may be played at once', async () => {
    const { peer, recorded, sent$ } = replay(await recording(new JsonCodec()), { speed: Infinity, onStream: handler });
    expect(await clock.until(firstValueFrom(sent$.pipe(take(recorded.length), toArray())))).toHaveLength(recorded.length);
    await clock.until(peer.close());
  });
});

const LINE = { v: 1, t: 0, c: 1, d: '>' } as const;
const OPEN: Line = { ...LINE, f: { type: 'open', stream: 1, payload: 'x' } };

describe('replay', () => {
  let time: VirtualTime;

  beforeEach(() => {
    time = virtualTime();
  });

  afterEach(() => {
    time.restore();
  });

  it('A recording may be played so slowly that no timer counts its pauses', async () => {
    const lines: Line[] = [OPEN, { ...LINE, t: 3_600_000, f: { type: 'open', stream: 3, payload: 'y' } }];
    const heard: unknown[] = [];
    replay(lines, { speed: 1e-6, onStream: (payload) => void heard.push(payload) });
    await time.advance(60_000);
    expect(heard).toEqual(['x']);
  });

  it('A replay keeps the recorded time', async () => {
    const lines = [
      OPEN,
      { ...LINE, t: 500, f: { type: 'data', stream: 1, payload: 1 } },
      { ...LINE, t: 60_000, f: { type: 'reset', stream: 1, code: 8 } },
    ];
    const heard: unknown[] = [];
    const { peer } = replay(lines, {
      onStream: async (_, stream) => {
        stream.signal.addEventListener('abort', () => heard.push([time.now, 'abort']));
        for await (const value of stream) heard.push([time.now, value]);
      },
      onError: () => undefined,
    });
    await time.advance(100_000);
    expect(heard).toEqual([
      [500, 1],
      [60_000, 'abort'],
    ]);
    await Promise.all([time.advance(), peer.close()]);
  });

  it('A recorded answer keeps its distance to the open of the call', async () => {
    const lines: Line[] = [
      { ...OPEN, t: 1_000 },
      { ...LINE, t: 1_200, d: '<', f: { type: 'data', stream: 1, end: true, payload: 'y' } },
    ];
    const { peer } = replay(lines, { side: 'acceptor' });
    await time.advance(5_000);
    const answered = firstValueFrom(peer.request$('x').pipe(map((answer) => [answer, time.now])));
    await time.advance(5_000);
    expect(await answered).toEqual(['y', 5_200]);
    await Promise.all([time.advance(), peer.close()]);
  });

  it('A replay skips streams without an open, and messages that do not decode', async () => {
    const lines: Line[] = [{ ...LINE, f: { type: 'data', stream: 3, payload: 1 } }, { ...LINE, f: null }, OPEN];
    const { peer, skipped, sent$ } = replay(lines, { onStream: (payload, stream) => stream.reply(payload) });
    const sent = firstValueFrom(sent$);
    await time.advance(10);
    expect([skipped, await sent]).toEqual([2, { type: 'data', stream: 1, end: true, payload: 'x' }]);
    await Promise.all([time.advance(), peer.close()]);
  });

  it.each<[title: string, recording: string | readonly Line[], options: ReplayOptions, message: string]>([
    ['sizes only', [withoutContent(OPEN)], {}, 'expected a recording with payloads, got only sizes at 0 ms'],
    ['another connection', writeLine(OPEN), { connection: 2 }, 'expected frames of connection 2 in the recording, got none'],
    ['no recording', '{}', {}, 'expected a line of a recording'],
    ['another codec', [{ ...OPEN, f: { type: 'open', stream: 1, payload: new Uint8Array(1) } }], {}, "codec 'json': expected a value"],
    ['frames that no peer sends', [{ ...OPEN, f: { type: 'open', stream: 1, more: 1 } }], {}, "field 'more': expected a boolean"],
    ['bytes', new Uint8Array(2) as never, {}, "recording: expected a text, as readFileSync(path, 'utf8') returns, got an object"],
    ['a speed of 0', [OPEN], { speed: 0 }, 'speed: expected a number above 0, got 0'],
    ['another side', [OPEN], { side: 'server' as 'dialer' }, "side: expected 'dialer' or 'acceptor', got 'server'"],
  ])('A replay refuses %s at once', (_, recording, options, message) => {
    expect(() => replay(recording, options)).toThrow(message);
  });

  it('`play` refuses a side that hears nothing', () => {
    expect(() => play([OPEN], { side: 'dialer' } as PlayOptions)).toThrow(new TypeError('heard$: expected an Observable, got undefined'));
  });

  it('The frames of a side play on any wire', async () => {
    const played = firstValueFrom(play([OPEN], { side: 'dialer', heard$: of() }).pipe(toArray()));
    await time.advance();
    expect(await played).toEqual([OPEN.f]);
    expect(readLines(writeLine(OPEN))).toEqual([OPEN]);
  });
});
