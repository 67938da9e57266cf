import { describe, expect, it, jest } from '@jest/globals';
import { concat, firstValueFrom, map, mergeMap, NEVER, of, range, share, Subject, throwError, timer, toArray } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { ABSENT, connect, encodeOnce, ResetError, respond, SharedPayload } from '../../src/index.js';
import { OverflowBuffer } from '../../src/stream/feed.js';
import type { Outlet, Overflow } from '../../src/stream/feed.js';
import type { Stream } from '../../src/stream/stream.js';
import { createPair } from '../../src/testing.js';
import { checkedCodec } from '../../src/wire/codec.js';
import type { Codec } from '../../src/wire/codec.js';
import { shippedCodec } from '../support/codec/breakable.js';
import type { CodecName } from '../support/codec/breakable.js';
import { CODECS } from '../support/codec/shipped.js';
import { endless } from '../support/peer/endless.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { Network } from '../support/peer/network.js';
import { progressOf, settled } from '../support/peer/outcome.js';
import { fillSocket, joined, learningPair } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';
import { createPair as createPairFromTracked } from '../support/peer/tracked.js';

describe('send all', () => {
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
});

describe('shared payload', () => {
  const time = virtualPeerTime();

  /** A shipped codec, and the payloads that it was given to encode. */
  function counting(name: CodecName): { readonly codec: Codec; readonly encoded: unknown[] } {
    const codec = shippedCodec(name);
    const encoded: unknown[] = [];
    const encodePayload = codec.encodePayload.bind(codec);
    // A peer tries a codec of bytes with two numbers.
    checkedCodec(codec);
    codec.encodePayload = (payload) => {
      encoded.push(payload);
      return encodePayload(payload);
    };
    return { codec, encoded };
  }

  describe.each(CODECS.map(([name]) => [name as CodecName]))('A shared payload under %s', (name) => {
    it.each([
      ['a small value', { price: 12.5, name: 'é😀' }],
      ['a value in fragments', 'é'.repeat(100_000)],
      ['null', null],
    ])('%s is encoded once for many streams, and arrives as its value', async (_what, value) => {
      const { codec, encoded } = counting(name);
      const { dialer, acceptor } = createPairFromTracked({ codec });
      const shared = new SharedPayload(value);
      acceptor.onStream((_, stream) => stream.reply(shared));
      const answers = [1, 2, 3].map(() => settled(dialer.request()));
      await time.advance(1_000);
      expect(await Promise.all(answers)).toEqual([{ value }, { value }, { value }]);
      expect(encoded).toEqual([value]);
    });

    it('Open, notify, send and inputs take a shared payload, and observers see its value', async () => {
      const { codec, encoded } = counting(name);
      const { dialer, acceptor } = createPairFromTracked({ codec });
      const got: unknown[] = [];
      const seen: unknown[] = [];
      acceptor.onStream((payload, stream) => {
        got.push(payload);
        stream.subscribe((value) => got.push(value));
      });
      dialer.onFrame((direction, { payload }) => {
        if (direction === 'tx' && payload !== undefined && payload !== ABSENT) seen.push(payload);
      });
      const shared = new SharedPayload({ n: 1 });
      dialer.notify(shared);
      const stream = dialer.open(shared);
      void stream.send(shared);
      void stream.end();
      dialer.open$(shared, { input: of(shared) }).subscribe();
      await time.advance();
      expect(stream.payload).toEqual({ n: 1 });
      expect([got, seen]).toEqual([Array(5).fill({ n: 1 }), Array(5).fill({ n: 1 })]);
      expect(encoded).toEqual([{ n: 1 }]);
    });
  });

  describe('A shared payload', () => {
    it('A shared payload is sent as it was when it was encoded', async () => {
      const { dialer, acceptor } = createPairFromTracked();
      const got: unknown[] = [];
      acceptor.onStream((payload) => void got.push(payload));
      const value = { n: 1 };
      const shared = new SharedPayload(value);
      dialer.notify(shared);
      value.n = 2;
      dialer.notify(shared);
      await time.advance();
      expect(got).toEqual([{ n: 1 }, { n: 1 }]);
    });

    it.each(['json', 'msgpack'] as const)('A payload, headers and trailers may hold a shared payload under %s', async (name) => {
      const { dialer, acceptor } = createPairFromTracked({ codec: shippedCodec(name) });
      const price = new SharedPayload({ cents: 5 });
      acceptor.onStream((payload, stream) => stream.reply([payload, stream.headers, price], { trailers: { price } }));
      const stream = dialer.open({ price }, { headers: { price }, end: true });
      const answer = settled(firstValueFrom(stream));
      await time.advance();
      const held = { price: { cents: 5 } };
      expect([await answer, stream.trailers]).toEqual([{ value: [held, held, { cents: 5 }] }, held]);
    });

    it('Each codec encodes a shared payload for itself', () => {
      const at = new Date(0);
      const shared = new SharedPayload({ at });
      const [json, msgpack] = [shippedCodec('json'), shippedCodec('msgpack')];
      expect(json.decodePayload(shared.encodedBy(json))).toEqual({ at: at.toISOString() });
      expect(msgpack.decodePayload(shared.encodedBy(msgpack))).toEqual({ at });
    });

    it('A shared payload that the codec cannot represent fails each call', () => {
      const { dialer } = createPairFromTracked();
      const shared = new SharedPayload(new Map());
      const notify = (): void => {
        dialer.notify(shared);
      };
      expect(notify).toThrow(
        "codec 'json': expected a value it can carry at payload, got a Map: try Object.fromEntries(map) or rxmux/rich",
      );
      expect(notify).toThrow(TypeError);
    });

    it.each([[undefined], [ABSENT]])('%p is no value to share', (value) => {
      expect(() => new SharedPayload(value)).toThrow(TypeError);
    });
  });

  describe('`encodeOnce`', () => {
    it('Streams that answer with one hot source encode each value once', async () => {
      const { codec, encoded } = counting('json');
      const { dialer, acceptor } = createPairFromTracked({ codec });
      const source$ = new Subject<number>();
      const shared$ = source$.pipe(encodeOnce(), share());
      acceptor.streams$.pipe(respond(() => shared$)).subscribe();
      const answers = Promise.all([1, 2, 3].map(() => firstValueFrom(dialer.open$<number>().pipe(toArray()))));
      await time.advance();
      for (const value of [10, 20]) source$.next(value);
      source$.complete();
      await time.advance();
      expect(await answers).toEqual([[10, 20], [10, 20], [10, 20]]); // prettier-ignore
      expect(encoded).toEqual([10, 20]);
    });

    it('`encodeOnce` emits values in the place of the source, and its errors', async () => {
      const values = await firstValueFrom(of(1, 2).pipe(encodeOnce(), map(({ value }) => value), toArray())); // prettier-ignore
      expect(values).toEqual([1, 2]);
      const failed = firstValueFrom(of(1).pipe(mergeMap(() => Promise.reject(new Error('of the source'))), encodeOnce())); // prettier-ignore
      await expect(failed).rejects.toThrow('of the source');
    });
  });
});

describe('`bufferedAmount`', () => {
  const time = virtualPeerTime();
  collectLogs();

  const KIB = 1024;
  const text = (bytes: number): string => 'x'.repeat(bytes);

  it('`bufferedAmount` is 0 while the remote reads everything', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const answer = dialer.request<string>(text(300 * KIB));
    await time.advance(1_000);
    expect((await answer).length).toBe(300 * KIB);
    expect([dialer.bufferedAmount, acceptor.bufferedAmount]).toEqual([0, 0]);
  });

  it('`bufferedAmount` grows with each push to a stalled reader, in socket and queue, and falls when it reads', async () => {
    const { dialer, acceptor, link } = createPair();
    acceptor.onStream((payload, stream) => stream.reply(payload));
    await time.advance();
    link.stall('acceptor');
    const amounts: number[] = [];
    for (let n = 0; n < 30; n++) {
      dialer.notify(text(100 * KIB));
      await time.advance();
      amounts.push(Math.round(dialer.bufferedAmount / (100 * KIB)));
    }
    expect(amounts).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    link.resume('acceptor');
    await time.advance(1_000);
    expect(dialer.bufferedAmount).toBe(0);
  });

  it('`bufferedAmount` counts the bytes that wait for a connection', async () => {
    const network = new Network();
    network.answer = 'silence';
    const peer = connect('ws://test', { socket: network.socket, reconnect: true });
    peer.notify(text(5_000));
    await time.advance();
    // A text takes its characters and two quotes.
    expect(peer.bufferedAmount).toBe(5_002);
    void peer.close();
    expect(peer.bufferedAmount).toBe(0);
  });
});

describe('back pressure', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  const KIB = 1024;
  const text = (bytes: number): string => 'x'.repeat(bytes);
  const TOO_MUCH =
    'stream 1: too much is queued (maxUnsentBytes): await send(), set the option overflow of an input that pushes, or send an input that is pulled';

  describe('Values that a reader has not reached', () => {
    it('Unread values count after the end of their stream', async () => {
      const { dialer, acceptor } = createPair({ acceptor: { limits: { maxHeldBytes: 1024 * KIB } } });
      const sent = framesOf(acceptor);
      // Each reader has read its first value, and no other.
      const iterators: AsyncIterator<unknown>[] = [];
      acceptor.streams$.subscribe((stream) => void iterators[iterators.push(stream[Symbol.asyncIterator]()) - 1]?.next());
      for (let nth = 0; nth < 4; nth++) {
        const stream = dialer.open(nth);
        for (const value of ['first', text(400 * KIB)]) void stream.send(value);
        await time.advance();
        stream.reset();
        await time.advance();
      }
      expect(sent.filter(({ type }) => type !== 'pong').map(({ type, stream, code }) => [type, stream, code])).toEqual([
        ['reset', 5, 11],
        ['reset', 7, 11],
      ]);
      expect(iterators).toHaveLength(4);
    });
  });

  describe('Queue beyond `maxUnsentBytes`', () => {
    it('A queue beyond `maxUnsentBytes` accepts an end, which takes no room and destroys nothing', async () => {
      const { dialer, acceptor, link } = createPair({ acceptor: { limits: { maxUnsentBytes: 100 * KIB } } });
      acceptor.onStream((_, stream) => {
        void stream.send(text(2_000 * KIB));
      });
      link.stall('dialer');
      const seen: unknown[] = [];
      dialer
        .open$<string>('q')
        .subscribe({ next: ({ length }) => seen.push(length), error: (e) => seen.push(e), complete: () => seen.push('end') });
      await time.advance(100);
      expect(seen).toEqual([]);
      link.resume('dialer');
      await time.advance(1_000);
      expect(seen).toEqual([2_000 * KIB, 'end']);
    });
  });

  describe('Unread values', () => {
    /** A request that waits behind 20 KiB of unread values of another stream. */
    async function waiting() {
      const { dialer, acceptor, local, remote } = await joined(time, { limits: { pauseBytes: 10 * KIB, maxUnreadBytes: 24 * KIB } });
      acceptor.onStream((payload, stream) => stream.reply(payload));
      for (let n = 0; n < 10; n++) void remote.send(text(2 * KIB));
      await time.advance();
      return { local, answer: progressOf(dialer.request('waits')) };
    }

    it('A `for await` that begins late grants nothing by beginning, only by reading', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => stream.sendAll(Array.from({ length: 100 }, () => text(64 * KIB))));
      const sent = framesOf(dialer);
      const pongs = (): number => sent.filter(({ type }) => type === 'pong').length;
      const iterator = dialer.open('pieces', { end: true })[Symbol.asyncIterator]();
      await time.advance(100);
      const before = pongs();
      await iterator.next();
      await time.advance(100);
      expect(pongs()).toBe(before);
      for (let nth = 1; nth < 20; nth++) await iterator.next();
      await time.advance(100);
      expect(pongs()).toBeGreaterThan(before);
      await iterator.return?.();
    });

    it('Unread values pause the socket near `maxUnreadBytes`, for all streams, until they are read', async () => {
      const { local, answer } = await waiting();
      await time.advance(100);
      expect(answer.settled).toBe(false);
      local.subscribe();
      await time.advance();
      expect(answer).toEqual({ settled: true, error: null });
    });

    it('Unread values pause the socket for 5 s at most', async () => {
      const { local, answer } = await waiting();
      await time.advance(4_999);
      expect(answer.settled).toBe(false);
      await time.advance(1);
      expect([answer.settled, local.phase]).toEqual([true, 'open']);
    });

    it('Unread values over `maxUnreadBytes` end their stream, and no other', async () => {
      const { dialer, local, remote } = await joined(time, { limits: { pauseBytes: Infinity, maxUnreadBytes: 10 * KIB } });
      const sent = framesOf(dialer);
      const other = dialer.open('other');
      for (let n = 0; n < 8; n++) void remote.send(text(2 * KIB));
      await time.advance();
      expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 3, reason: expect.stringContaining('(maxUnreadBytes)') });
      expect([local.cause, other.phase]).toEqual([expect.objectContaining({ how: 'reset', by: 'library', code: 3 }), 'open']);
      const seen: unknown[] = [];
      local.subscribe({ next: () => seen.push('value'), error: (error: unknown) => seen.push(error) });
      expect(seen).toEqual(['value', 'value', 'value', 'value', expect.objectContaining({ code: 'RESET', resetCode: 3, streamId: 1 })]);
    });

    it('A last payload that finds no room is an error, even when it ended the stream', async () => {
      const { dialer, acceptor } = createPair({ limits: { maxUnreadBytes: 10 * KIB, pauseBytes: Infinity } });
      acceptor.onStream((_, stream) => stream.reply(text(20 * KIB)));
      const stream = dialer.open('p', { end: true });
      await time.advance();
      const seen: unknown[] = [];
      stream.subscribe({
        next: () => seen.push('value'),
        error: (error: unknown) => seen.push(error),
        complete: () => seen.push('complete'),
      });
      expect(seen).toEqual([expect.objectContaining({ code: 'RESET', resetCode: 3 })]);
    });

    it('Values read on arrival count for nothing', async () => {
      const { local, remote } = await joined(time, { limits: { maxUnreadBytes: 10 * KIB, pauseBytes: 5 * KIB } });
      let bytes = 0;
      local.subscribe((value) => (bytes += (value as string).length));
      for (let n = 0; n < 50; n++) void remote.send(text(20 * KIB));
      await time.advance();
      expect([bytes, local.phase]).toEqual([50 * 20 * KIB, 'open']);
    });

    it('Unread values count against `maxHeldBytes` of the connection: the stream that exceeds it is reset', async () => {
      const { dialer, acceptor } = createPair({ limits: { maxHeldBytes: 10 * KIB, pauseBytes: Infinity } });
      acceptor.onStream((_, stream) => {
        void stream.send(text(6 * KIB));
        return new Promise(() => undefined);
      });
      const streams = [dialer.open(1), dialer.open(2)];
      await time.advance();
      expect(streams.map((stream) => stream.cause)).toEqual([null, expect.objectContaining({ by: 'library', code: 11 })]);
      // Read bytes are released.
      streams[0]?.subscribe();
      const third = dialer.open(3);
      await time.advance();
      expect(third.cause).toBeNull();
    });
  });

  describe('`send`', () => {
    it('`send` resolves at once in the common case, with one shared promise', async () => {
      const { local, remote } = await joined(time);
      const promises = [local.send(1), local.send(2), remote.send(3)];
      expect(new Set(promises).size).toBe(1);
      await promises[0];
    });

    it('`send` waits while 256 KiB of its stream are queued, and resolves below', async () => {
      const { local, link } = await joined(time);
      link.stall('acceptor');
      for (let n = 0; n < 5; n++) void local.send(text(256 * KIB));
      const waiting = progressOf(local.send(text(KIB)));
      await time.advance();
      expect(waiting.settled).toBe(false);
      link.resume('acceptor');
      await time.advance(100);
      expect(waiting).toEqual({ settled: true, error: null });
    });

    it('`send` waits while `sendHighWaterBytes` of all streams are queued, even on an idle stream', async () => {
      const { dialer, local, link } = await joined(time, { limits: { sendHighWaterBytes: 300 * KIB } });
      const idle = dialer.open('idle');
      await time.advance();
      link.stall('acceptor');
      for (let n = 0; n < 8; n++) void local.send(text(200 * KIB));
      const waiting = progressOf(idle.send(1));
      await time.advance();
      expect(waiting.settled).toBe(false);
      link.resume('acceptor');
      await time.advance(1_000);
      expect(waiting).toEqual({ settled: true, error: null });
    });

    it('The overflow error of `sendAll` names the ways to slow an Observable that pushes too much', async () => {
      const { local, link } = await joined(time, { limits: { maxUnsentBytes: 1024 * KIB } });
      link.stall('acceptor');
      await expect(local.sendAll(range(0, 12).pipe(map(() => text(200 * KIB))))).rejects.toMatchObject({
        code: 'QUEUE_OVERFLOW',
        message: TOO_MUCH,
      });
    });

    it('Repeated `send` calls that ignore their promises fail their stream at `maxUnsentBytes`, and no other', async () => {
      const { dialer, local, link } = await joined(time, { limits: { maxUnsentBytes: 1024 * KIB } });
      const other = dialer.open('other');
      await time.advance();
      link.stall('acceptor');
      const outcomes = Array.from({ length: 12 }, () => progressOf(local.send(text(200 * KIB))));
      await time.advance();
      const failed = outcomes.filter(({ error }) => error !== null);
      expect(failed.length).toBeGreaterThan(0);
      expect(failed[0]?.error).toMatchObject({ code: 'QUEUE_OVERFLOW', streamId: 1, retriable: false, message: TOO_MUCH });
      expect(local.cause).toMatchObject({ how: 'reset', by: 'user', code: 8, reason: 'the sender overflowed its queue' });
      link.resume('acceptor');
      await time.advance(100);
      const fine = progressOf(other.send('fine'));
      await time.advance();
      expect([fine, other.phase]).toEqual([{ settled: true, error: null }, 'open']);
    });

    it('A peer accepts small requests beside a request larger than `maxUnsentBytes`', async () => {
      const { acceptor, dialer } = await joined(time, { limits: { maxUnsentBytes: 1024 * KIB } });
      acceptor.onStream((payload, stream) => stream.reply(String(payload).length));
      const large = dialer.request(text(2 * 1024 * KIB));
      const small = dialer.request('small');
      await time.advance(100);
      expect(await Promise.all([large, small])).toEqual([2 * 1024 * KIB, 5]);
    });

    it('`send` accepts a value on a stream with an empty queue, however much other streams have queued', async () => {
      const { dialer, local, link } = await joined(time, { limits: { maxUnsentBytes: 1024 * KIB } });
      await local.send('first');
      link.stall('acceptor');
      const calls = Array.from({ length: 4 }, () => progressOf(dialer.request(text(1024 * KIB))));
      const small = progressOf(local.send('small'));
      await time.advance();
      expect([small.error, local.phase]).toEqual([null, 'open']);
      link.resume('acceptor');
      await time.advance(1_000);
      expect([small, ...calls].map(({ settled, error }) => [settled, error])).toEqual([[true, null], ...calls.map(() => [false, null])]);
    });

    it.each<[string, () => AsyncIterable<string> | Iterable<string>]>([
      ['an iterable', () => [1, 2, 3].map(() => text(100 * KIB))],
      [
        'an async iterable',
        async function* () {
          for (const value of ['a', 'b', 'c']) yield await Promise.resolve(value.repeat(100 * KIB));
        },
      ],
    ])('`sendAll` never overflows with %s, which is pulled: a value waits for room', async (_what, values) => {
      const { dialer, local, remote, link } = await joined(time, { limits: { maxUnsentBytes: 1024 * KIB } });
      const read: unknown[] = [];
      remote.subscribe((value) => read.push(String(value).length));
      link.stall('acceptor');
      const sent = progressOf(local.sendAll(values()));
      for (let n = 0; n < 4; n++) void settled(dialer.request(text(1024 * KIB)));
      await time.advance();
      expect([sent.error, local.phase]).toEqual([null, 'open']);
      link.resume('acceptor');
      await time.advance(1_000);
      expect([sent, read]).toEqual([{ settled: true, error: null }, [100 * KIB, 100 * KIB, 100 * KIB]]);
    });

    it.each<[string, (sides: Awaited<ReturnType<typeof joined>>) => void, object]>([
      [
        'the remote resets the stream',
        ({ remote }) => {
          remote.reset(300, 'why');
        },
        { code: 'RESET', resetCode: 300 },
      ],
      [
        'this side resets the stream',
        ({ local }) => {
          local.reset();
        },
        { code: 'CANCELLED' },
      ],
      [
        'the socket is lost',
        ({ link }) => {
          link.cut();
        },
        { code: 'CONNECTION_LOST' },
      ],
      [
        'the remote breaks a rule',
        ({ link }) => {
          link.inject('dialer', JSON.stringify({ type: 'data', stream: 1, fragment: 'x', end: true, more: true }));
        },
        { code: 'RESET', resetCode: 1 },
      ],
    ])('A waiting `send` rejects when %s, and its promise may stay unhandled', async (_what, act, error) => {
      const sides = await joined(time);
      sides.link.stall('acceptor');
      for (let n = 0; n < 7; n++) void sides.local.send(text(256 * KIB));
      const waiting = progressOf(sides.local.send(1));
      await time.advance();
      act(sides);
      await time.advance();
      expect(waiting).toEqual({ settled: true, error: expect.objectContaining(error) });
      expect(logs.errors).toEqual([]);
    });

    it('A waiting `send` rejects when the remote does not read and its socket is terminated', async () => {
      const { dialer, local, link } = await joined(time);
      link.stall('acceptor');
      fillSocket(dialer);
      for (let n = 0; n < 7; n++) void local.send(text(256 * KIB));
      const waiting = progressOf(local.send(1));
      await time.advance(55_000);
      expect(waiting.settled).toBe(false);
      await time.advance(10_000);
      expect(waiting).toEqual({ settled: true, error: expect.objectContaining({ code: 'CONNECTION_LOST' }) });
      expect(logs.errors).toEqual([]);
    });

    it('`send` sends the value as it was at the call', async () => {
      const { local, remote, link } = await joined(time);
      const seen: unknown[] = [];
      remote.subscribe((value) => seen.push(value));
      link.stall('acceptor');
      void local.send(text(2_000 * KIB));
      const value = { list: [1] };
      void local.send(value);
      value.list.push(2);
      link.resume('acceptor');
      await time.advance(100);
      expect(seen[1]).toEqual({ list: [1] });
    });

    it('A small request overtakes a big transfer', async () => {
      const { dialer, acceptor, local, remote } = await joined(time);
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const order: string[] = [];
      remote.subscribe(() => order.push('big'));
      void local.send(text(8_000 * KIB));
      void dialer.request('small').then(() => order.push('small'));
      await time.advance(1_000);
      expect(order).toEqual(['small', 'big']);
    });
  });
});

describe('overflow', () => {
  /** An outlet whose room the test sets. */
  class Waiting implements Outlet {
    readonly closed = false;
    readonly queues = false;
    readonly full = false;
    hasRoom = false;
    readonly sent: unknown[] = [];
    readonly tasks: (() => void)[] = [];

    get hasDemand(): boolean {
      return this.hasRoom;
    }

    whenRoom(task: () => void): void {
      this.tasks.push(task);
    }

    whenDemand(task: () => void): void {
      this.whenRoom(task);
    }

    send(value: unknown): void {
      this.sent.push(value);
    }

    finish(): void {
      this.sent.push('complete');
    }

    fail(): never {
      throw new Error('expected no failure');
    }

    overflow(): never {
      throw new Error('expected room');
    }
  }

  it.each<[Overflow, readonly number[]]>([
    ['buffer', [1, 2, 3, 4]],
    ['latest', [4]],
    [{ dropOldest: 2 }, [3, 4]],
  ])('OverflowBuffer with overflow %j waits for room once, and then sends the kept values', (overflow, kept) => {
    const outlet = new Waiting();
    const buffer = new OverflowBuffer(outlet, overflow);
    for (let value = 1; value <= 4; value++) buffer.next(value);
    buffer.complete();
    expect([outlet.tasks.length, outlet.sent]).toEqual([1, []]);
    outlet.hasRoom = true;
    outlet.tasks[0]?.();
    expect(outlet.sent).toEqual([...kept, 'complete']);
  });
});
