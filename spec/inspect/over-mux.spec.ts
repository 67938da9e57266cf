import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  BehaviorSubject,
  concat,
  filter,
  firstValueFrom,
  map,
  NEVER,
  of,
  ReplaySubject,
  scan,
  Subject,
  take,
  takeWhile,
  toArray,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { logger, RefusedError } from '../../src/index.js';
import type { Peer, StreamHandler } from '../../src/index.js';
import { answerInspector, inspect, inspectorFeed, Omitted } from '../../src/inspect.js';
import type { InspectorBatch } from '../../src/inspect.js';
import { MsgpackCodec } from '../../src/msgpack.js';
import { connect, serve } from '../../src/node.js';
import type { MuxServer } from '../../src/node.js';
import { createPair, createServer } from '../../src/testing.js';
import type { Pair } from '../../src/testing.js';

const pairs: Pair[] = [];

afterEach(async () => {
  for (const { dialer } of pairs.splice(0)) await dialer.close();
});

/** A server's peer under inspection, and a second connection for its viewer. */
function watched(verify: () => unknown = () => true, maxWaitingLines?: number): { readonly app: Pair; readonly viewer: Pair } {
  const app = createPair({ codec: new MsgpackCodec(), acceptor: { onStream: (_, stream) => stream.reply('fine') } });
  const handler = answerInspector(inspect(app.acceptor, { historyMs: 0 }), { verify: verify as () => boolean, maxWaitingLines });
  const viewer = createPair({ acceptor: { onStream: handler } });
  pairs.push(app, viewer);
  return { app, viewer };
}

function linesOf(batches: ReplaySubject<InspectorBatch>): ReturnType<typeof firstValueFrom<InspectorBatch['lines']>> {
  return firstValueFrom(
    batches.pipe(
      scan((all: InspectorBatch['lines'], { lines }) => [...all, ...lines], []),
      filter(({ length }) => length >= 2),
    ),
  );
}

function view(viewer: Pair, payloads = false): ReplaySubject<InspectorBatch> {
  const batches = new ReplaySubject<InspectorBatch>(100);
  inspectorFeed(viewer.dialer)(new BehaviorSubject(payloads)).subscribe(batches);
  return batches;
}

/** A viewer of batches that the test makes. */
function viewerOf(batches$: Observable<InspectorBatch>): Pair {
  const inspection = { feed: () => batches$, lines: [], close: () => undefined };
  const viewer = createPair({ acceptor: { onStream: answerInspector(inspection, { verify: () => true }) } });
  pairs.push(viewer);
  return viewer;
}

/** A batch of lines with a field of one megabyte each. */
function megabytes(count: number, fields: object = { payload: 'x'.repeat(1e6) }): InspectorBatch {
  const f = { type: 'data', stream: 1, ...fields };
  return { at: 0, lines: Array.from({ length: count }, (_, t) => ({ v: 1, t, c: 1, d: '>', b: 1e6, f })), dropped: 0, peers: [] };
}

describe('an inspector over rxmux', () => {
  it('A viewer has the lines of the server, from the side of the dialer', async () => {
    const { app, viewer } = watched();
    const batches = view(viewer);
    await firstValueFrom(batches);
    await app.dialer.request({ op: 'hi' });
    const lines = await linesOf(batches);
    expect(lines.map(({ d, n, f }) => [d, n, f?.['type'], f?.['payload'] instanceof Omitted])).toEqual([
      ['>', 'hi', 'open', true],
      ['<', undefined, 'data', true],
    ]);
  });

  it('Payloads pass, also those that the viewer’s codec does not know', async () => {
    const { app, viewer } = watched();
    const batches = view(viewer, true);
    await firstValueFrom(batches);
    const payload = { bytes: new Uint8Array([1, 2]), on: new Date(5) };
    await app.dialer.request(payload);
    const [open] = await linesOf(batches);
    expect(open?.f?.['payload']).toEqual(payload);
  });

  it('A batch has the state of the watched peers', async () => {
    const { app, viewer } = watched();
    await app.acceptor.opened;
    const { peers, dropped } = await firstValueFrom(inspectorFeed(viewer.dialer)(NEVER));
    expect(peers).toMatchObject([
      { c: 1, isDialer: false, state: 'open', reconnects: 0, rttMs: null, bufferedAmount: 0, codec: 'msgpack' },
    ]);
    expect(dropped).toBe(0);
  });

  it('A batch has the address of the server without its query, a codec other than json, and peers that have left since', async () => {
    const server = serve({
      codec: new MsgpackCodec(),
      port: 0,
      host: '127.0.0.1',
      path: '/mux',
      handler: (_, stream) => stream.reply('fine'),
    });
    await server.listening;
    const dialer = connect(`${server.url}?token=s3cret`, { codec: new MsgpackCodec() });
    await dialer.request(1);
    const batch = (source: Peer | MuxServer): Promise<InspectorBatch> => firstValueFrom(inspect(source).feed(NEVER));
    expect((await batch(dialer)).peers).toMatchObject([{ url: server.url, codec: 'msgpack' }]);
    expect(await batch(server)).toMatchObject({ url: server.url, peers: [{ codec: 'msgpack' }] });
    const states = firstValueFrom(
      inspect(server)
        .feed(NEVER)
        .pipe(
          takeWhile(({ peers }) => peers.length > 0),
          map(({ peers }) => peers[0]?.state),
          toArray(),
        ),
    );
    await dialer.close();
    expect((await states).at(-1)).toBe('closed');
    await server.close({ drainMs: 0 });
  });

  it('A socket that drains beside its replacement keeps the number of its connection', async () => {
    const server = createServer({ onStream: (payload, stream) => (payload === 'echo' ? stream.sendAll(stream) : stream.reply(payload)) });
    const accepted = firstValueFrom(server.peers$);
    const dialer = connect('ws://test', { socket: server.socket, keepalive: false, reconnect: true });
    const inspection = inspect(dialer);
    const echo = dialer.open('echo');
    const echoed = echo[Symbol.asyncIterator]();
    const speak = async (payload: number): Promise<void> => {
      await echo.send(payload);
      expect((await echoed.next()).value).toBe(payload);
    };
    await speak(0);
    const replaced = firstValueFrom(server.peers$);
    void (await accepted).close({ drainMs: 60_000 });
    await replaced;
    for (const payload of [1, 2]) {
      expect(await dialer.request(payload)).toBe(payload);
      await speak(payload);
    }
    const sample = (): Promise<InspectorBatch> => firstValueFrom(inspection.feed(NEVER));
    expect((await sample()).peers).toMatchObject([{ c: 2, state: 'open', draining: [1] }]);
    expect(inspection.lines.map(({ c, f }) => `${c} ${String(f?.['type'])}`).join()).toBe(
      '1 open,1 data,1 data,1 goaway,2 open,2 data,1 data,1 data,2 open,2 data,1 data,1 data',
    );
    await echo.end();
    const { peers } = await firstValueFrom(inspection.feed(NEVER).pipe(filter(({ peers: [peer] }) => peer?.draining === undefined)));
    expect(peers).toMatchObject([{ c: 2, state: 'open' }]);
    await dialer.close();
  });

  it('A viewer that is not accepted is refused, and so is another stream', async () => {
    const { viewer } = watched(() => false);
    await expect(firstValueFrom(inspectorFeed(viewer.dialer)(of(true)))).rejects.toBeInstanceOf(RefusedError);
    await expect(viewer.dialer.request({ op: 'other' })).rejects.toBeInstanceOf(RefusedError);
  });

  it.each<[title: string, verdict: unknown, shown: string]>([
    ['a status', 401, '401'],
    ['an error', new Error('no such session'), 'an object'],
    ['the promise of an error', Promise.resolve(new Error('no such session')), 'an object'],
    ['a text', 'false', 'a string'],
    ['a user', { name: 'ann' }, 'an object'],
    ['a list of users', [], 'an array'],
    ['nothing', undefined, 'nothing'],
    [
      'a query whose rows come later',
      {
        then: (rows: (found: unknown) => void) => {
          rows([]);
        },
      },
      'an array',
    ],
  ])('A verdict that is %s admits no viewer, and is logged', async (_, verdict, shown) => {
    const logged = jest.spyOn(logger, 'error').mockReturnValue();
    const { viewer } = watched(() => verdict);
    await expect(firstValueFrom(inspectorFeed(viewer.dialer)(of(true)))).rejects.toBeInstanceOf(RefusedError);
    expect(logged.mock.calls).toEqual([
      [
        'rxmux: an inspector was refused, because its verdict has no meaning',
        new TypeError(`verify: expected true or false, got ${shown}`),
      ],
    ]);
    logged.mockRestore();
  });

  it('A promise of true admits a viewer', async () => {
    const { viewer } = watched(() => Promise.resolve(true));
    expect(await firstValueFrom(inspectorFeed(viewer.dialer)(NEVER))).toMatchObject({ lines: [] });
  });

  it('A viewer on an inspected peer does not see its own stream', async () => {
    const pair: Pair = createPair({ acceptor: { onStream: ((payload, stream) => handler(payload, stream)) satisfies StreamHandler } });
    const handler = answerInspector(inspect(pair.acceptor), { verify: () => true });
    const three = inspectorFeed(pair.dialer)(of(false)).pipe(
      map(({ lines }) => lines.map(({ f }) => f?.['type'])),
      take(3),
      toArray(),
    );
    expect((await firstValueFrom(three)).slice(1)).toEqual([[], []]);
    await pair.dialer.close();
  });

  it('A long history comes in several batches, whole and in its order', async () => {
    const app = createPair({ acceptor: { onStream: (_, stream) => stream.reply('fine') } });
    const inspection = inspect(app.acceptor);
    const viewer = createPair({ acceptor: { onStream: answerInspector(inspection, { verify: () => true, maxWaitingLines: 40 }) } });
    pairs.push(app, viewer);
    for (let n = 0; n < 60; n++) await app.dialer.request(n);
    const batches = await firstValueFrom(inspectorFeed(viewer.dialer)(NEVER).pipe(take(3), toArray()));
    expect(batches.map(({ lines }) => lines.length)).toEqual([40, 40, 40]);
    expect(batches.flatMap(({ lines }) => lines).map(({ t }) => t)).toEqual(inspection.lines.map(({ t }) => t));
  });

  it('A slow viewer gets a part of the lines, and the count of the others', async () => {
    const { app, viewer } = watched(undefined, 50);
    const stream = viewer.dialer.open<InspectorBatch, boolean>(['rxmux.inspect'], { timeoutMs: 0 });
    const batches: AsyncIterator<InspectorBatch> = stream[Symbol.asyncIterator]();
    await stream.send(true);
    await batches.next();
    const text = 'x'.repeat(50_000);
    for (let n = 0; n < 200; n++) await app.dialer.request({ op: 'hi', text });
    let dropped = 0;
    while (dropped === 0) {
      const next = await batches.next();
      if (next.done === true) throw new Error('expected a batch that counts dropped lines');
      dropped = next.value.dropped;
    }
    expect(viewer.acceptor.bufferedAmount).toBeLessThan(200 * text.length);
  });

  it('Many large payloads come in batches that the viewer takes', async () => {
    const batches$ = inspectorFeed(viewerOf(concat(of(megabytes(20)), NEVER)).dialer)(NEVER);
    const lines = await firstValueFrom(
      batches$.pipe(
        scan((all: InspectorBatch['lines'], batch) => [...all, ...batch.lines], []),
        filter(({ length }) => length >= 20),
      ),
    );
    expect(lines.map(({ t }) => t)).toEqual(Array.from({ length: 20 }, (_, t) => t));
  });

  it('A viewer gets the batches that waited for it when the inspection ended', async () => {
    const batches = await firstValueFrom(inspectorFeed(viewerOf(of(megabytes(5))).dialer)(NEVER).pipe(toArray()));
    expect(batches.flatMap(({ lines }) => lines.map(({ t }) => t))).toEqual([0, 1, 2, 3, 4]);
  });

  it('A payload that is too large for a viewer is shown as its size', async () => {
    const f = { type: 'data', stream: 1, payload: 'x'.repeat(2e7) };
    const batch: InspectorBatch = { at: 0, lines: [{ v: 1, t: 0, c: 1, d: '>', b: 2e7, f }], dropped: 0, peers: [] };
    const { lines } = await firstValueFrom(inspectorFeed(viewerOf(concat(of(batch), NEVER)).dialer)(NEVER));
    expect(lines).toEqual([{ v: 1, t: 0, c: 1, d: '>', b: 2e7, f: { ...f, payload: new Omitted(2e7) } }]);
  });

  it('A slow viewer hears of a peer that has left while a batch was on its way', async () => {
    const batches$ = new Subject<InspectorBatch>();
    const seen$ = new ReplaySubject<InspectorBatch>(100);
    inspectorFeed(viewerOf(batches$).dialer)(NEVER).subscribe(seen$);
    while (!batches$.observed) await new Promise(setImmediate);
    const left = { c: 7, name: 'Peer 7', isDialer: false, state: 'closed', reconnects: 0, rttMs: null, bufferedAmount: 0 };
    const other = { ...left, c: 8, state: 'open' };
    for (const [at, peers] of [[other], [left, other], [other]].entries()) batches$.next({ ...megabytes(1), at, peers });
    const { peers } = await firstValueFrom(seen$.pipe(filter(({ at }) => at === 2)));
    expect(peers).toEqual([other, left]);
  });

  it.each([
    ['payloads', { payload: 'x'.repeat(1e6) }],
    ['reasons', { reason: 'x'.repeat(1e6), payload: new Omitted(1) }],
  ])('Few of the large %s wait for a slow viewer, and the others are counted', async (_, fields) => {
    const batches$ = new Subject<InspectorBatch>();
    const seen$ = new ReplaySubject<InspectorBatch>(100);
    inspectorFeed(viewerOf(batches$).dialer)(NEVER).subscribe(seen$);
    while (!batches$.observed) await new Promise(setImmediate);
    for (let n = 0; n < 100; n++) batches$.next(megabytes(1, fields));
    const { shown, dropped } = await firstValueFrom(
      seen$.pipe(
        scan((all, batch) => ({ shown: all.shown + batch.lines.length, dropped: all.dropped + batch.dropped }), { shown: 0, dropped: 0 }),
        filter((all) => all.shown + all.dropped === 100),
      ),
    );
    expect({ shown, dropped }).toEqual({ shown: 17, dropped: 83 });
  });
});
