import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { describe, expect, it } from '@jest/globals';
import { interval, of, repeat, retry, Subject, take } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { reopenOnReconnect, ResetCode, respond, retryWhenSafe, withCredit } from '../../../src/index.js';
import type { Input, Peer, Stream } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { dialing, SOON } from '../../support/peer/dialing.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Network } from '../../support/peer/network.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** The events of a call, and the complete uploads that arrived at the remote. */
interface Story {
  readonly told: unknown[];
  readonly uploads: unknown[][];
}

/** Refuses the first streams. Then it records each complete upload, and replies to its opener. */
const receiving = (uploads: unknown[][], refusals = 0) => {
  let opened = 0;
  return (_payload: unknown, stream: Stream): Promise<unknown> | undefined => {
    if (opened++ < refusals) {
      stream.reset(ResetCode.REFUSED);
      return undefined;
    }
    const upload: unknown[] = [];
    return new Promise((resolve) =>
      stream.subscribe({
        next: (value) => upload.push(value),
        error: resolve,
        complete: () => resolve(uploads.push(upload) > 0 && stream.reply('stored')),
      }),
    );
  };
};

const listen = (call$: Observable<unknown>, told: unknown[]): unknown =>
  call$.subscribe({
    next: (value) => told.push(value),
    error: (error: unknown) => told.push(error),
    complete: () => told.push('complete'),
  });

/** A call with the given input, piped through `again`. */
const calling =
  (refusals: number, again: (call$: Observable<unknown>) => Observable<unknown>) =>
  async (input: Input<unknown>): Promise<Story> => {
    const { dialer, acceptor } = createPair();
    const story: Story = { told: [], uploads: [] };
    acceptor.onStream(receiving(story.uploads, refusals));
    listen(again(dialer.open$('up', { input })), story.told);
    await time.advance(60_000);
    return story;
  };

const KINDS: readonly (readonly [kind: string, got: string, make: () => ObservableInput<unknown>])[] = [
  ['an iterator', 'an iterator', () => ['a', 'b'].values()],
  [
    'a generator',
    'an iterator',
    () =>
      (function* () {
        yield* ['a', 'b'];
      })(),
  ],
  [
    'an async generator',
    'an iterator',
    () =>
      (async function* () {
        yield* ['a', await Promise.resolve('b')];
      })(),
  ],
  [
    'a ReadableStream',
    'a ReadableStream',
    () =>
      new ReadableStream({
        start(controller) {
          for (const value of ['a', 'b']) controller.enqueue(value);
          controller.close();
        },
      }),
  ],
  ['a stream of Node', 'a stream of Node', () => Readable.from(['a', 'b'])],
  [
    'a stream of another peer',
    'a stream',
    () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => stream.sendAll(['a', 'b']));
      return dialer.open('rows', { end: true });
    },
  ],
];

const spent = (got: string): TypeError =>
  new TypeError(
    `expected an input that can be sent again, or a function that makes a fresh one for each attempt, got ${got} that was taken before`,
  );

describe.each(KINDS)('Input that is %s', (_kind, got, make) => {
  it.each<[string, (input: Input<unknown>) => Promise<Story>]>([
    ['retryWhenSafe', calling(1, retryWhenSafe({ delay: 1 }))],
    ['retry of rxjs', calling(1, retry({ count: 1, delay: 1 }))],
    [
      '`retry` of the call, whose function returns the same input again,',
      async (input) => {
        const { dialer, acceptor } = createPair();
        const story: Story = { told: [], uploads: [] };
        acceptor.onStream(receiving(story.uploads, 1));
        const same = (): ObservableInput<unknown> => input as ObservableInput<unknown>;
        listen(dialer.open$('up', { input: same, retry: { delay: 1 } }), story.told);
        await time.advance(60_000);
        return story;
      },
    ],
    [
      'reopenOnReconnect',
      async (input) => {
        const story: Story = { told: [], uploads: [] };
        const network = new Network({
          onStream: (_, stream) => new Promise(() => stream.subscribe({ complete: () => story.uploads.push(['another']) })),
        });
        const peer = dialing(network, { reconnect: SOON });
        listen(reopenOnReconnect(peer, { open: () => peer.open$('up', { input }) }), story.told);
        await time.advance(100);
        expect(story).toEqual({ told: [], uploads: [['another']] });
        story.uploads.pop();
        network.last.link.cut();
        await time.advance(60_000);
        void peer.close();
        return story;
      },
    ],
  ])('The second attempt of %s fails with a used input and ends the retries, and no partial upload arrives', async (_what, use) => {
    expect(await use(make())).toEqual({ told: [spent(got)], uploads: [] });
  });

  it('`repeat` sends a used input once, and its second call fails', async () => {
    const story = await calling(0, repeat(3))(make());
    expect(story).toEqual({ told: ['stored', spent(got)], uploads: [['a', 'b']] });
  });

  it('`sendAll` sends a used input once, and resets a second stream', async () => {
    const { dialer, acceptor } = createPair();
    const uploads: unknown[][] = [];
    acceptor.onStream(receiving(uploads));
    const input = make();
    void dialer.open().sendAll(input);
    await time.advance();
    const stream = dialer.open();
    const failed = stream.sendAll(input).catch((error: unknown) => error);
    await time.advance();
    expect([uploads, await failed]).toEqual([[['a', 'b']], spent(got)]);
    expect(stream.cause).toMatchObject({ how: 'reset', code: ResetCode.APPLICATION_ERROR });
  });

  it.each<[string, (stream: Stream, input: ObservableInput<unknown>) => ObservableInput<unknown>]>([
    ['respond', (_stream, input) => input],
    ['spend', (stream, input) => withCredit(8).spend(stream)(input)],
  ])('An answer of %s is sent for one call, and fails for the next one', async (_what, project) => {
    const { dialer, acceptor } = createPair();
    const input = make();
    acceptor.streams$.pipe(respond((_, stream) => project(stream, input))).subscribe();
    const told: unknown[] = [];
    for (let n = 0; n < 2; n++) {
      listen(dialer.open$('rows', { input: of(8) }), told);
      await time.advance();
    }
    expect(told).toEqual(['a', 'b', 'complete', expect.objectContaining({ code: 'REMOTE', message: spent(got).message })]);
  });

  it('An input function that makes a fresh input is sent again', async () => {
    const { told, uploads } = await calling(1, retryWhenSafe({ delay: 1 }))(make);
    expect({ told, uploads }).toEqual({ told: ['stored', 'complete'], uploads: [['a', 'b']] });
  });
});

describe('Input that may be sent any number of times', () => {
  it.each<[string, Input<unknown>]>([
    ['an array', ['a', 'b']],
    ['a Set', new Set(['a', 'b'])],
    ['an iterable', { [Symbol.iterator]: () => ['a', 'b'].values() }],
    ['an async iterable', { [Symbol.asyncIterator]: () => Readable.from(['a', 'b'])[Symbol.asyncIterator]() }],
    ['an Observable', of('a', 'b')],
    ['a text', 'ab'],
    ['a function', () => ['a', 'b'].values()],
  ])('An input that may be sent again is %s', async (_what, input) => {
    const { told, uploads } = await calling(0, repeat(2))(input);
    expect([told, uploads]).toEqual([
      ['stored', 'stored', 'complete'],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    ]);
  });

  it('A stream may be sent again while a subscriber reads it', async () => {
    const { dialer, acceptor } = createPair();
    const source = createPair();
    source.acceptor.onStream((_, stream) => stream.sendAll(interval(10).pipe(take(4))));
    const shared = source.dialer.open('rows', { end: true });
    acceptor.onStream((_, stream) => stream.sendAll(shared));
    const told: unknown[][] = [[], []];
    for (const each of told) {
      listen(dialer.open$('rows'), each);
      await time.advance(25);
    }
    await time.advance(1_000);
    expect(told).toEqual([
      [0, 1, 2, 3, 'complete'],
      [2, 3, 'complete'],
    ]);
  });
});

it('A stream that a call reads may be sent on again when its first taker has left', async () => {
  const { dialer, acceptor } = createPair();
  const source = createPair();
  source.acceptor.onStream((_, stream) => stream.sendAll(interval(10).pipe(take(3))));
  const own: unknown[] = [];
  const streams: Stream[] = [];
  listen(source.dialer.open$('rows', { onOpen: (stream) => streams.push(stream) }), own);
  acceptor.onStream((_, stream) => stream.sendAll(streams[0] ?? []));
  dialer.open$('rows').pipe(take(1)).subscribe();
  await time.advance(15);
  const told: unknown[] = [];
  listen(dialer.open$('rows'), told);
  await time.advance(1_000);
  expect([own, told]).toEqual([
    [0, 1, 2, 'complete'],
    [1, 2, 'complete'],
  ]);
});

it('A stream that completes its call is not shared by the next attempt, which begins before the reader has left', async () => {
  const { dialer, acceptor } = createPair();
  const source = createPair();
  const rows$ = new Subject();
  source.acceptor.onStream((_, stream) => stream.sendAll(rows$));
  let uploads = 0;
  acceptor.onStream((_, stream) => {
    stream.subscribe({ error: () => undefined, complete: () => uploads++ });
    return stream.reply('early');
  });
  const told: unknown[] = [];
  listen(dialer.open$('up', { input: source.dialer.open('rows', { end: true }) }).pipe(repeat(2)), told);
  await time.advance();
  rows$.next('a');
  rows$.complete();
  await time.advance();
  expect([told, uploads]).toEqual([['early', spent('a stream')], 1]);
});

describe('Input that no call took', () => {
  const after = async (input: Input<unknown>, first: (peer: Peer) => unknown): Promise<Story> => {
    const { dialer, acceptor } = createPair();
    const story: Story = { told: [], uploads: [] };
    acceptor.onStream(receiving(story.uploads));
    first(dialer);
    await time.advance();
    listen(dialer.open$('up', { input }), story.told);
    await time.advance();
    return story;
  };
  const aborted = (input: Input<unknown>) => (peer: Peer) =>
    peer.open$('up', { input, signal: AbortSignal.abort() }).subscribe({ error: () => undefined });

  it.each(KINDS)('An input that no call took is stopped, and fails a later call, when it is %s', async (_kind, got, make) => {
    const input = make();
    expect(await after(input, aborted(input))).toEqual({ told: [spent(got)], uploads: [] });
  });

  it.each(KINDS.slice(3))('An input stays with the call that has taken it, when it is %s', async (_kind, _got, make) => {
    const { dialer, acceptor } = createPair();
    const story: Story = { told: [], uploads: [] };
    acceptor.onStream(receiving(story.uploads));
    const input = make();
    listen(dialer.open$('up', { input }), story.told);
    aborted(input)(dialer);
    await time.advance();
    expect(story).toEqual({ told: ['stored', 'complete'], uploads: [['a', 'b']] });
    expect(logs.errors).toEqual([]);
  });
});

it('A ReadableStream that other code has locked fails its call, and can be sent once it is unlocked', async () => {
  const input = new ReadableStream({ start: (controller) => controller.close() });
  const reader = input.getReader();
  const { told } = await calling(0, retryWhenSafe({ delay: 1 }))(input);
  expect(told).toEqual([expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(/locked/i) })]);
  expect(logs.errors).toEqual([]);
  reader.releaseLock();
  const { uploads } = await calling(0, retryWhenSafe({ delay: 1 }))(input);
  expect(uploads).toEqual([[]]);
});
