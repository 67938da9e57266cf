import { describe, expect, it, jest } from '@jest/globals';
import { concat, firstValueFrom, NEVER, of, Subject, throwError, timer, toArray } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { ResetError } from '../../../src/index.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { endless } from '../../support/peer/endless.js';
import { CODECS } from '../../support/codec/shipped.js';
import { framesOf } from '../../support/peer/frames.js';
import { progressOf, settled } from '../../support/peer/outcome.js';
import { collectLogs } from '../../support/peer/logs.js';
import { learningPair } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

async function* asynchronously<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) {
    await Promise.resolve();
    yield value;
  }
}

const KIB = 'x'.repeat(1024);

describe('Pulled answer', () => {
  it('A pulled answer continues when it begins beside a stalled large transfer', async () => {
    const { dialer, acceptor } = createPair({ latencyMs: 100 });
    acceptor.onStream((payload, stream) => {
      if (payload === 'large') return stream.reply('x'.repeat(3_000_000));
      if (payload === 'small') return stream.send(0).then(() => stream.closed);
      return stream.sendAll([1, 2, 3]);
    });
    for (const payload of ['large', 'small']) dialer.open$(payload).subscribe();
    await time.advance(150);
    const list = firstValueFrom(dialer.open$('list', { timeoutMs: 4_000 }).pipe(toArray()));
    await time.advance(5_000);
    expect(await list).toEqual([1, 2, 3]);
  });
});

describe('Async iterator that breaks its contract', () => {
  it.each([undefined, null, 7])('An async iterator that returns %p as a result fails the stream', async (result) => {
    const { dialer, acceptor } = createPair();
    const broken = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(result) }) } as unknown as AsyncIterable<unknown>;
    acceptor.onStream((_, stream) => stream.sendAll(broken));
    const failed = dialer.request('p').catch((error: unknown) => error);
    await time.advance();
    expect(await failed).toMatchObject({ code: 'REMOTE', message: `expected the result of an async iterator, got ${String(result)}` });
  });
});

describe.each(CODECS)('`sendAll` with %s', (_name, codec) => {
  it.each<[string, () => ObservableInput<unknown>]>([
    ['an array', () => [1, 2, 3]],
    ['a Set', () => new Set([1, 2, 3])],
    ['a generator', () => [1, 2, 3].values()],
    ['an async generator', () => asynchronously([1, 2, 3])],
    [
      'a ReadableStream',
      () =>
        new ReadableStream({
          start(controller) {
            for (const value of [1, 2, 3]) controller.enqueue(value);
            controller.close();
          },
        }),
    ],
    ['an Observable', () => of(1, 2, 3)],
    ['an Observable that takes its time', () => concat(of(1), timer(5), of(3))],
    ['a text', () => '123'],
  ])('`sendAll` sends the values of %s, and then the end', async (what, input) => {
    const { dialer, acceptor } = createPair({ codec });
    const received: unknown[] = [];
    acceptor.onStream(
      (_, stream) => new Promise((resolve) => stream.subscribe({ next: (v) => received.push(Number(v)), complete: () => resolve(0) })),
    );
    const stream = dialer.open();
    const outcome = progressOf(stream.sendAll(input()));
    await time.advance(10);
    expect(received).toEqual(what === 'an Observable that takes its time' ? [1, 0, 3] : [1, 2, 3]);
    expect(outcome).toEqual({ settled: true, error: null });
    expect(stream.phase).toBe('closed');
  });

  it('`sendAll` sends the one value of a promise', async () => {
    const { dialer, acceptor } = createPair({ codec });
    acceptor.onStream(() => undefined);
    const sent = framesOf(dialer);
    await time.advance();
    void dialer.open().sendAll(Promise.resolve('one'));
    await time.advance();
    expect(sent.slice(1)).toEqual([
      { type: 'data', stream: 1, payload: 'one' },
      { type: 'data', stream: 1, end: true },
    ]);
  });
});

describe('`sendAll` that its handler did not return', () => {
  const OWN_END = { name: 'ProtocolError', message: 'stream 1: expected nothing to be sent after the end' };

  it.each<[string, () => ObservableInput<unknown>]>([
    ['an Observable', () => timer(10)],
    ['a promise', () => firstValueFrom(timer(10))],
    ['an iterable that does not fit the queue', () => Array.from({ length: 100 }, () => KIB.repeat(64))],
    [
      'an async iterable',
      () =>
        (async function* () {
          yield await firstValueFrom(timer(10));
        })(),
    ],
    ['a ReadableStream', () => new ReadableStream({ pull: () => new Promise(() => undefined) })],
  ])('`sendAll` rejects with a warning when the end of the handler cuts %s short', async (_what, input) => {
    const { dialer, acceptor } = createPair({ latencyMs: 1 });
    const outcomes: ReturnType<typeof progressOf>[] = [];
    acceptor.onStream((_, stream) => {
      outcomes.push(progressOf(stream.sendAll(input())));
    });
    const ends = jest.fn();
    dialer.open$('p').subscribe({ complete: ends });
    await time.advance(1_000);
    expect(ends).toHaveBeenCalledTimes(1);
    expect(outcomes).toEqual([{ settled: true, error: expect.objectContaining(OWN_END) }]);
    expect(logs.warnings).toEqual([expect.stringContaining('return a promise from it')]);
  });

  it('`sendAll` rejects with a warning when the end of the handler also stops an upload', async () => {
    const { dialer, acceptor } = createPair({ latencyMs: 1 });
    const outcomes: ReturnType<typeof progressOf>[] = [];
    acceptor.onStream((_, stream) => {
      outcomes.push(progressOf(stream.sendAll(timer(10))));
    });
    const upload = dialer.open('p');
    await time.advance(1_000);
    expect(upload.cause).toMatchObject({ how: 'reset', by: 'remote', code: 0 });
    expect(outcomes).toEqual([{ settled: true, error: expect.objectContaining(OWN_END) }]);
    expect(logs.warnings).toEqual([expect.stringContaining('return a promise from it')]);
  });

  it('`sendAll` resolves when the handler ends after all values were accepted', async () => {
    const { dialer, acceptor } = createPair();
    const outcomes: ReturnType<typeof progressOf>[] = [];
    acceptor.onStream((_, stream) => {
      outcomes.push(progressOf(stream.sendAll([1, 2])));
    });
    const values: unknown[] = [];
    dialer.open$('p').subscribe((value) => values.push(value));
    await time.advance();
    expect([outcomes, values, logs.warnings]).toEqual([[{ settled: true, error: null }], [1, 2], []]);
  });

  it('`sendAll` with `end: false` resolves when another call ends the stream', async () => {
    const { dialer, acceptor } = createPair();
    const outcomes: ReturnType<typeof progressOf>[] = [];
    acceptor.onStream((_, stream) => {
      outcomes.push(progressOf(stream.sendAll(NEVER, { end: false })));
      return stream.reply('done');
    });
    void dialer.request('p');
    await time.advance();
    expect([outcomes, logs.warnings]).toEqual([[{ settled: true, error: null }], []]);
  });
});

describe('`sendAll`', () => {
  it('`sendAll` in a proxy sends the values of another stream', async () => {
    const back = createPair();
    const front = createPair();
    back.acceptor.onStream((_, stream) => stream.sendAll(['a', 'b']));
    front.acceptor.onStream((payload, stream) => stream.sendAll(back.dialer.open(payload, { end: true })));
    const received: unknown[] = [];
    front.dialer.open$('p').subscribe({ next: (value) => received.push(value), complete: () => received.push('end') });
    await time.advance();
    expect(received).toEqual(['a', 'b', 'end']);
  });

  it('`sendAll` passes on the reset of the stream that it sends', async () => {
    const back = createPair();
    const front = createPair();
    back.acceptor.onStream((_, stream) => {
      stream.reset(300, 'quota', { limit: 1 });
    });
    front.acceptor.onStream((payload, stream) => stream.sendAll(back.dialer.open(payload, { end: true })));
    const errors: unknown[] = [];
    front.dialer.open$('p').subscribe({ error: (error: unknown) => errors.push(error) });
    await time.advance();
    expect(errors).toEqual([expect.objectContaining({ code: 'RESET', resetCode: 300, reason: 'quota', payload: { limit: 1 } })]);
  });

  it.each<[string, boolean | undefined, boolean]>([
    ['ends the stream by default', undefined, true],
    ['leaves the stream open with end: false', false, false],
  ])('`sendAll` %s', async (_what, end, ended) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(() => new Promise(() => undefined));
    const sent = framesOf(dialer);
    const stream = dialer.open();
    await stream.sendAll([1], { end });
    expect(sent.at(-1)).toEqual(ended ? { type: 'data', stream: 1, end: true } : { type: 'data', stream: 1, payload: 1 });
    expect(stream.phase).toBe(ended ? 'halfClosedLocal' : 'open');
  });

  it.each<[string, ObservableInput<unknown>]>([
    ['values', ['lost']],
    ['an Observable that never emits', NEVER],
  ])('`sendAll` rejects %s on a stream that has ended on both sides', async (_what, input) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply('done'));
    const stream = dialer.open('p', { end: true });
    await time.advance();
    expect([stream.phase, stream.cause]).toEqual(['closed', { how: 'ended' }]);
    expect(await settled(stream.sendAll(input))).toEqual({
      error: expect.objectContaining({ code: 'PROTOCOL', message: 'stream 1: expected nothing to be sent after the end' }),
    });
  });

  it('`sendAll` sends the trailers with its end', async () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const stream = dialer.open();
    stream.setTrailers({ rows: 1 });
    await stream.sendAll([1]);
    expect(sent.at(-1)).toEqual({ type: 'data', stream: 1, end: true, trailers: { rows: 1 } });
  });

  it('`sendAll` pulls lazily: as much as the socket accepts, and more as it drains', async () => {
    const { dialer, acceptor, link, knowLine } = learningPair(time);
    acceptor.onStream((_, stream) => new Promise((resolve) => stream.subscribe({ complete: () => resolve(0) })));
    await knowLine();
    link.stall('acceptor');
    let asked = 0;
    const lines = (function* () {
      for (; asked < 4_000; asked++) yield KIB;
    })();
    const stream = dialer.open();
    const outcome = progressOf(stream.sendAll(lines));
    await time.advance(100);
    // Fills the 1 MiB of the socket, and queues nothing behind it.
    expect(asked * KIB.length).toBeGreaterThan(0.9 * 1024 * 1024);
    expect(asked * KIB.length).toBeLessThanOrEqual(1024 * 1024);
    expect(outcome.settled).toBe(false);
    link.resume('acceptor');
    await time.advance(1_000);
    expect([asked, outcome]).toEqual([4_000, { settled: true, error: null }]);
  });

  it('`sendAll` pulls an async iterable one value at a time', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(() => new Promise(() => undefined));
    const answers: ((result: IteratorResult<number>) => void)[] = [];
    const input = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<number>>((resolve) => answers.push(resolve)) }),
    };
    const sent = framesOf(dialer);
    void dialer.open().sendAll(input);
    await time.advance();
    expect(answers).toHaveLength(1);
    answers[0]?.({ done: false, value: 1 });
    await time.advance();
    expect([answers.length, sent.length]).toEqual([2, 2]);
    answers[1]?.({ done: true, value: undefined });
    await time.advance();
    expect(sent.at(-1)).toEqual({ type: 'data', stream: 1, end: true });
  });

  it('`sendAll` waits for thenables of an async iterable that are no native promises', async () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const results = [
      { done: false, value: 'v' },
      { done: true, value: undefined },
    ];
    const next = () => {
      const result = results.shift();
      return { then: (resolve: (value: unknown) => void) => resolve(result) };
    };
    void dialer.open().sendAll({ [Symbol.asyncIterator]: () => ({ next }) } as unknown as AsyncIterable<unknown>);
    await time.advance();
    expect(sent.slice(1)).toEqual([
      { type: 'data', stream: 1, payload: 'v' },
      { type: 'data', stream: 1, end: true },
    ]);
  });

  it('`sendAll` accepts the values that an Observable pushes', async () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const input = new Subject<number>();
    const outcome = progressOf(dialer.open().sendAll(input));
    input.next(1);
    input.next(2);
    expect(sent.map((frame) => frame['payload'])).toEqual([undefined, 1, 2]);
    input.complete();
    await time.advance();
    expect([outcome.settled, input.observed]).toEqual([true, false]);
  });

  const broken = new RangeError('no more');

  it.each<[string, () => ObservableInput<unknown>]>([
    ['an Observable', () => throwError(() => broken)],
    ['a promise', () => Promise.reject(broken)],
    [
      'a generator',
      () =>
        (function* () {
          yield* [];
          throw broken;
        })(),
    ],
    [
      'an async generator',
      () =>
        (async function* () {
          yield* [];
          await Promise.resolve();
          throw broken;
        })(),
    ],
    [
      'a ReadableStream',
      () =>
        new ReadableStream({
          start: (controller) => {
            controller.error(broken);
          },
        }),
    ],
    [
      'an iterable that cannot begin',
      () => ({
        [Symbol.iterator]() {
          throw broken;
        },
      }),
    ],
  ])('`sendAll` resets the stream with the error of %s, and rejects with it', async (_what, input) => {
    const { dialer, acceptor } = createPair();
    const seen: unknown[] = [];
    acceptor.onStream((_, stream) => {
      stream.subscribe({ error: (error: unknown) => seen.push(error) });
      return new Promise(() => undefined);
    });
    const sent = framesOf(dialer);
    const stream = dialer.open();
    const outcome = progressOf(stream.sendAll(input()));
    await time.advance();
    expect(outcome.error).toBe(broken);
    expect(sent.at(-1)).toEqual({
      type: 'reset',
      stream: 1,
      code: 16,
      payload: { name: 'RangeError', message: 'no more' },
      reason: 'no more',
    });
    expect(seen).toEqual([expect.objectContaining({ code: 'REMOTE', message: 'no more' })]);
    expect(stream.cause).toMatchObject({ how: 'reset', by: 'user', code: 16 });
  });

  it.each<[string, unknown]>([
    ['a value the codec cannot represent', 1n],
    ['undefined', undefined],
  ])('`sendAll` resets the stream for %s, and stops the input', async (_what, value) => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    const { pulled, iterator } = endless();
    const input = (function* () {
      yield 1;
      yield value;
      yield* iterator;
    })();
    const outcome = progressOf(dialer.open().sendAll(input));
    await time.advance();
    expect(outcome.error).toBeInstanceOf(TypeError);
    expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 16 });
    expect(pulled.count).toBe(0);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a number', 1],
    ['an object that is no input', {}],
  ])('`sendAll` rejects with a TypeError for %s in place of an input', async (_what, input) => {
    const { dialer } = createPair();
    const outcome = progressOf(dialer.open().sendAll(input as ObservableInput<unknown>));
    await time.advance();
    expect(outcome.error).toBeInstanceOf(TypeError);
  });

  it('`sendAll` sends an error with a reset code as that reset', async () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    void dialer.open().sendAll(throwError(() => new ResetError(300, 'quota', { limit: 1 })));
    await time.advance();
    expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 300, payload: { limit: 1 }, reason: 'quota' });
  });

  it.each<[string, (stream: Stream) => unknown, string, object]>([
    ['has ended, and stops its input', (stream) => stream.end(), 'PROTOCOL', { count: 0, stopped: 1 }],
    [
      'was reset, and stops its input',
      (stream) => {
        stream.reset();
      },
      'CANCELLED',
      { count: 0, stopped: 1 },
    ],
  ])('`sendAll` rejects on a stream that %s', async (_what, before, code, taken) => {
    const { dialer } = createPair();
    const stream = dialer.open();
    void before(stream);
    const { pulled, iterator } = endless();
    const outcome = progressOf(stream.sendAll(iterator));
    await time.advance();
    expect(outcome.error).toMatchObject({ code });
    expect(pulled).toEqual(taken);
  });
});
