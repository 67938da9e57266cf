import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from, lastValueFrom, of, Subject, switchMap, take, toArray } from 'rxjs';
import { JsonCodec } from '../../src/index.js';
import type { Limits, Stream } from '../../src/index.js';
import type { StreamHandler } from '../../src/peer/hooks.js';
import type { PeerOptions } from '../../src/peer/options.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { read, sends } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';

describe('stream reading', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  const sendsAndEnds =
    (...values: readonly unknown[]): StreamHandler =>
    (_, stream) =>
      stream.sendAll(values);

  /** Ends the answer, and keeps reading the upload. */
  const repliesAndReads = (stream: Stream): void => {
    void stream.reply(1);
    stream.subscribe({ error: () => undefined });
  };

  function opened(handler: StreamHandler, dialerOptions: PeerOptions = {}) {
    const pair = createPair({ dialer: dialerOptions });
    pair.acceptor.onStream(handler);
    const sent = framesOf(pair.dialer);
    return { ...pair, sent, stream: pair.dialer.open('p', { end: true }) };
  }

  describe('Stream of this side as an Observable', () => {
    it('A stream accepts a Subject as observer: it receives every event, and its errors are logged', async () => {
      const { stream } = opened(sendsAndEnds(1, 2));
      const subject = new Subject<unknown>();
      const seen: unknown[] = [];
      subject.subscribe({ next: (value) => seen.push(value), complete: () => seen.push('complete') });
      stream.subscribe(subject);
      const next = () => {
        throw new Error('no');
      };
      stream.subscribe(Object.assign(new Subject<unknown>(), { next }));
      await time.advance();
      expect(seen).toEqual([1, 2, 'complete']);
      expect(logs.errors).toEqual(Array<string>(2).fill('rxmux: a subscriber of a stream failed'));
    });

    it.each([
      ['its completion', sendsAndEnds()],
      ['its error', (_: unknown, stream: Stream) => stream.reset(300)],
    ])('The error that an observer throws at %s is logged', async (_when, handler) => {
      const fails = (): never => {
        throw new Error('no');
      };
      opened(handler).stream.subscribe({ complete: fails, error: fails });
      await time.advance();
      expect(logs.errors).toEqual(['rxmux: a subscriber of a stream failed']);
    });

    it('A stream accepts an observer of its completion only', async () => {
      const { stream } = opened(sendsAndEnds(1, 2));
      const seen: string[] = [];
      stream.subscribe({ complete: () => seen.push('complete') });
      await time.advance();
      expect([seen, logs.errors]).toEqual([['complete'], []]);
    });

    it('A subscriber beside a call continues when the call is unsubscribed', async () => {
      const { dialer, acceptor } = createPair();
      const remotes: Stream[] = [];
      acceptor.onStream((_, remote) => {
        remotes.push(remote);
        return new Promise(() => undefined);
      });
      const seen: unknown[] = [];
      const call = dialer.open$('p', { onOpen: (stream) => stream.subscribe((value) => seen.push(value)) }).subscribe();
      await time.advance();
      call.unsubscribe();
      await time.advance();
      void remotes[0]?.send(1);
      await time.advance();
      expect([seen, remotes[0]?.phase]).toEqual([[1], 'halfClosedRemote']);
    });

    it('A stream keeps its payloads for the first subscriber, even after its end', async () => {
      const { stream } = opened(sendsAndEnds(1, 2));
      await time.advance();
      expect(stream.phase).toBe('closed');
      expect(read(stream)).toEqual([1, 2, 'complete']);
    });

    it('A stream keeps its payloads ahead of its error', async () => {
      const { stream } = opened((_, remote) => {
        void remote.send(1);
        remote.reset(300);
      });
      await time.advance();
      expect(read(stream)).toEqual([1, expect.objectContaining({ code: 'RESET', resetCode: 300 })]);
      expect(read(stream)).toEqual([expect.objectContaining({ resetCode: 300 })]);
    });

    it('A stream emits to each subscriber the values from its subscription on, and replays none', async () => {
      const streams: Stream[] = [];
      const { stream } = opened((_, remote) => {
        streams.push(remote);
        return new Promise(() => undefined);
      });
      await time.advance();
      const [remote] = streams;
      const first = read(stream);
      void remote?.send(1);
      await time.advance();
      const second = read(stream);
      void remote?.reply(2);
      await time.advance();
      expect([first, second]).toEqual([
        [1, 2, 'complete'],
        [2, 'complete'],
      ]);
    });

    it('A stream completes at once for a subscriber after its end', async () => {
      const { stream } = opened(sendsAndEnds(1));
      read(stream);
      await time.advance();
      expect(read(stream)).toEqual(['complete']);
    });

    it('A stream completes for a late subscriber after the end of the remote, even when it was lost since', async () => {
      const { dialer, acceptor, link } = createPair();
      acceptor.streams$.subscribe(repliesAndReads);
      const stream = dialer.open('p');
      await time.advance();
      const early = read(stream);
      link.cut();
      await time.advance();
      expect([stream.cause, early, read(stream)]).toMatchObject([{ how: 'lost' }, [1, 'complete'], ['complete']]);
    });

    it('A stream is reset with CANCEL when its last subscriber leaves, and not before', async () => {
      const { stream, sent } = opened(sends());
      const subscriptions = [stream.subscribe(), stream.subscribe()];
      await time.advance();
      subscriptions[0]?.unsubscribe();
      expect(sent).toHaveLength(1);
      subscriptions[1]?.unsubscribe();
      expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' });
      expect(stream.cause).toEqual({ how: 'reset', by: 'user', code: 8, reason: 'unsubscribed', payload: null });
      expect(read(stream)).toEqual([expect.objectContaining({ code: 'CANCELLED', retriable: false })]);
    });

    it('A reader that leaves while another receives queued values does not reset the stream', async () => {
      const { stream, sent } = opened(sends(1, 2, 3));
      await time.advance();
      let other: readonly unknown[] = [];
      const seen: unknown[] = [];
      stream.subscribe((value) => {
        seen.push(value);
        if (value === 1) other = read(stream, 1);
      });
      expect([seen, other]).toEqual([
        [1, 2, 3],
        [2, 'complete'],
      ]);
      expect([stream.phase, sent.length]).toEqual(['halfClosedLocal', 1]);
    });

    it.each<[string, StreamHandler, unknown[]]>([
      ['a stream that goes on', sends(1, 2, 3), []],
      ['a stream that has ended', sendsAndEnds(1, 2, 3), ['complete']],
    ])('A subscriber that comes while another receives queued values shares those that remain: %s', async (_what, handler, end) => {
      const { stream } = opened(handler);
      await time.advance();
      const seen: unknown[] = [];
      let [second, third]: (readonly unknown[])[] = [];
      stream.subscribe({
        next: (value) => {
          seen.push(value);
          if (value === 1) second = read(stream);
          if (value === 2) third = read(stream);
        },
        complete: () => seen.push('complete'),
      });
      expect([seen, second, third]).toEqual([
        [1, 2, 3, ...end],
        [2, 3, ...end],
        [3, ...end],
      ]);
    });

    it('A first subscriber that leaves among queued values resets the stream with CANCEL', async () => {
      const { stream, sent } = opened(sends(1, 2, 3));
      await time.advance();
      expect(read(stream, 2)).toEqual([1, 2, 'complete']);
      expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 8 });
    });

    it('`firstValueFrom` sends no CANCEL when the end comes with the value', async () => {
      const { stream, sent } = opened((_, remote) => remote.reply(1));
      const first = firstValueFrom(stream);
      await time.advance();
      expect(await first).toBe(1);
      expect(sent).toHaveLength(1);
      expect(stream.cause).toEqual({ how: 'ended' });
      expect(read(stream)).toEqual(['complete']);
    });

    it.each<[string, StreamHandler]>([
      ['an end in a frame of its own', (_, remote) => void remote.send(1)],
      ['further payloads', sendsAndEnds(1, 2)],
    ])('`firstValueFrom` sends CANCEL when more may come: %s', async (_what, handler) => {
      const { stream, sent } = opened(handler);
      const first = firstValueFrom(stream);
      await time.advance();
      expect(await first).toBe(1);
      expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 8 });
    });

    it('`firstValueFrom` sends no CANCEL when everything had arrived before', async () => {
      const { stream, sent } = opened(sendsAndEnds(1, 2));
      await time.advance();
      expect(await firstValueFrom(stream)).toBe(1);
      expect(sent).toHaveLength(1);
    });

    it('A stream drops its queued values when its last reader leaves after the end', async () => {
      const { stream } = opened(sendsAndEnds(1, 2));
      await time.advance();
      expect(read(stream, 1)).toEqual([1, 'complete']);
      expect(read(stream)).toEqual(['complete']);
    });

    it('`from(stream)` returns the stream, and `switchMap` and async functions pass it on', async () => {
      const { stream, dialer } = opened(sendsAndEnds(1, 2));
      expect(from(stream)).toBe(stream);
      const byValue = lastValueFrom(
        of(0).pipe(
          switchMap(() => dialer.open('q', { end: true })),
          toArray(),
        ),
      );
      const made = await (async () => {
        await Promise.resolve();
        return dialer.open('r', { end: true });
      })();
      const byPromise = lastValueFrom(made.pipe(toArray()));
      await time.advance();
      expect([await byValue, await byPromise]).toEqual([
        [1, 2],
        [1, 2],
      ]);
    });

    it('A stream is not thenable: `await` returns the stream itself', async () => {
      const { dialer } = opened(sends());
      const stream = dialer.open();
      expect(await Promise.resolve(stream)).toBe(stream);
      expect('then' in stream).toBe(false);
    });

    it.each<[string, (stream: Stream) => void]>([
      ['nothing', (stream) => void stream.subscribe()],
      ['null', (stream) => void stream.subscribe(null)],
      ['a function', (stream) => void stream.subscribe(() => undefined)],
      ['an observer without error', (stream) => void stream.subscribe({ next: () => undefined })],
      ['an observer whose error is undefined', (stream) => void stream.subscribe({ error: undefined } as object)],
    ])('A stream logs its error when it was subscribed to with %s', async (_what, subscribe) => {
      const { stream } = opened((_, remote) => {
        remote.reset(300);
      });
      subscribe(stream);
      await time.advance();
      expect(logs.errors).toEqual([expect.stringContaining('no error handler')]);
    });

    it('A stream calls three functions with its values, its error and its completion', async () => {
      const seen: unknown[] = [];
      const { dialer } = opened((payload, remote) => (payload === 'bad' ? remote.reset(300) : remote.reply(1)));
      for (const payload of ['good', 'bad']) {
        const handlers = [(value: unknown) => seen.push(value), (error: unknown) => seen.push(error), () => seen.push('complete')] as const;
        dialer.open(payload, { end: true }).subscribe(...handlers);
      }
      await time.advance();
      expect(seen).toEqual([1, 'complete', expect.objectContaining({ resetCode: 300 })]);
    });

    it('A stream calls the methods of an observer as methods', async () => {
      const { stream } = opened(sendsAndEnds(1));
      class Collector {
        readonly seen: unknown[] = [];
        next(value: unknown): void {
          this.seen.push(value);
        }
        complete(): void {
          this.seen.push('complete');
        }
      }
      const collector = new Collector();
      stream.subscribe(collector);
      await time.advance();
      expect(collector.seen).toEqual([1, 'complete']);
    });

    it('A reset by the remote is not logged without a subscriber', async () => {
      const { stream } = opened((_, remote) => {
        remote.reset(300);
      });
      await time.advance();
      expect(stream.cause).toMatchObject({ how: 'reset', by: 'remote', code: 300 });
      expect(logs.errors).toEqual([]);
    });

    it('A stream delivers no value after a subscriber has reset it', async () => {
      const { stream } = opened(sends(1, 2));
      const seen: unknown[] = [];
      stream.subscribe({
        next: (value) => {
          seen.push(value);
          stream.reset();
        },
        error: (error: unknown) => seen.push(error),
      });
      await time.advance();
      expect(seen).toEqual([1, expect.objectContaining({ code: 'CANCELLED' })]);
    });
  });

  describe('Stream of the remote whose reader has left', () => {
    /** Reads one value and leaves. A second reader comes once all values have arrived. */
    async function readTwice(values: number): Promise<readonly unknown[]> {
      const { dialer, acceptor } = createPair();
      const streams: Stream[] = [];
      acceptor.onStream((_, stream) => (streams.push(stream), new Promise(() => undefined)));
      const stream = dialer.open();
      for (let value = 1; value <= values; value++) void stream.send(value);
      await time.advance();
      const [remote] = streams;
      const seen: unknown[] = [];
      remote?.pipe(take(1)).subscribe((value) => seen.push(value));
      remote?.subscribe((value) => seen.push(value));
      void stream.send('later');
      await time.advance();
      return seen;
    }

    it('A second reader that missed values causes a warning', async () => {
      expect(await readTwice(3)).toEqual([1, 'later']);
      expect(logs.warnings).toEqual([
        'rxmux: stream 1: a second reader subscribed after the first had left and missed the payloads in between: keep one iterator',
      ]);
    });

    it('A second reader that missed no value causes no warning', async () => {
      expect(await readTwice(1)).toEqual([1, 'later']);
      expect(logs.warnings).toEqual([]);
    });

    it('`replyHeaders$` is the same object at each read', () => {
      const { stream } = opened(sends());
      expect(stream.replyHeaders$).toBe(stream.replyHeaders$);
    });
  });
});

describe('Stream of the remote as an Observable', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  async function received(limits: PeerOptions['limits'] = {}) {
    const { dialer, acceptor } = createPair({ acceptor: { limits } });
    const streams: Stream[] = [];
    acceptor.onStream((_, stream) => {
      streams.push(stream);
      return new Promise(() => undefined);
    });
    const sent = framesOf(acceptor);
    const local = dialer.open();
    await time.advance();
    const [stream] = streams;
    if (stream === undefined) throw new Error('expected a stream');
    return { local, stream, sent };
  }

  it('A stream of the remote is not reset when its last subscriber leaves: it drops later values', async () => {
    const { local, stream, sent } = await received();
    const first = read(stream, 1);
    void local.send(1);
    void local.send(2);
    await time.advance();
    expect([first, sent, stream.phase]).toEqual([[1, 'complete'], [], 'open']);
    const second = read(stream);
    void local.reply(3);
    await time.advance();
    expect(second).toEqual([3, 'complete']);
  });

  it('A second reader causes one warning for values that came while no subscriber read', async () => {
    const { local, stream } = await received();
    stream.subscribe().unsubscribe();
    void local.send(1);
    await time.advance();
    const seen = [read(stream), read(stream)];
    void local.reply(2);
    await time.advance();
    expect([seen, logs.warnings]).toEqual([
      [
        [2, 'complete'],
        [2, 'complete'],
      ],
      [expect.stringContaining('missed the payloads in between')],
    ]);
  });

  it('A stream whose last reader has left counts no unread bytes', async () => {
    const { local, stream } = await received({ maxUnreadBytes: 1_000 });
    stream.subscribe().unsubscribe();
    for (let n = 0; n < 100; n++) void local.send('x'.repeat(500));
    await time.advance();
    expect(stream.phase).toBe('open');
  });

  it('A stream of the remote errors when the remote resets it', async () => {
    const { local, stream } = await received();
    const seen = read(stream);
    local.reset(300, 'why', { a: 1 });
    await time.advance();
    expect(seen).toEqual([expect.objectContaining({ code: 'RESET', resetCode: 300, reason: 'why', payload: { a: 1 }, streamId: 1 })]);
  });
});

describe('readers beside a call', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  /** A call that records its events, and passes its stream to `onOpen`. */
  async function called(onOpen: (stream: Stream) => void, { limits, onNext }: { limits?: Partial<Limits>; onNext?: () => void } = {}) {
    const { dialer, acceptor } = createPair({ dialer: { limits } });
    const remotes: Stream[] = [];
    acceptor.onStream((_, stream) => {
      remotes.push(stream);
      return new Promise(() => undefined);
    });
    const seen: unknown[] = [];
    dialer.open$('p', { onOpen }).subscribe({
      next: (value) => {
        seen.push(value);
        onNext?.();
      },
      error: (error: unknown) => seen.push(error),
      complete: () => seen.push('complete'),
    });
    await time.advance();
    const [remote] = remotes;
    if (remote === undefined) throw new Error('expected a stream');
    return { remote, seen };
  }

  describe('Call that is answered during its upload', () => {
    it('A call that is answered during its upload completes, and the upload continues', async () => {
      const { dialer, acceptor } = createPair();
      const uploaded: unknown[][] = [];
      acceptor.onStream((_, stream) => {
        uploaded.push(read(stream));
        return stream.reply('first');
      });
      const input = new Subject<number>();
      const answered: unknown[] = [];
      dialer.open$('p', { input }).subscribe({ next: (value) => answered.push(value), complete: () => answered.push('complete') });
      await time.advance();
      input.next(1);
      input.complete();
      await time.advance();
      expect([answered, uploaded]).toEqual([['first', 'complete'], [[1, 'complete']]]);
    });
  });

  describe('Reader beside a call', () => {
    it('A reader beside a call receives the end, and so does the call', async () => {
      const beside: unknown[][] = [];
      const { remote, seen } = await called((stream) => beside.push(read(stream)));
      void remote.reply(1);
      await time.advance();
      expect([beside, seen]).toEqual([[[1, 'complete']], [1, 'complete']]);
    });

    it('A reader beside a request also receives the values after the answer of the request', async () => {
      const { dialer, acceptor } = createPair();
      acceptor.onStream((_, stream) => {
        void stream.send(1);
        void stream.reply(2);
      });
      const beside: unknown[][] = [];
      const streams: Stream[] = [];
      const onOpen = (stream: Stream): void => {
        streams.push(stream);
        beside.push(read(stream));
      };
      const answer = dialer.request('p', { onOpen });
      await time.advance();
      expect([await answer, beside]).toEqual([1, [[1, 2, 'complete']]]);
      // No side has cancelled the stream.
      expect(streams.map(({ signal }): unknown => signal.reason)).toMatchObject([{ name: 'AbortError' }]);
    });

    it('A reader beside a call receives the cancel by the call, and not the value that caused it', async () => {
      const beside: unknown[][] = [];
      const streams: Stream[] = [];
      const { remote, seen } = await called(
        (stream) => {
          streams.push(stream);
          beside.push(read(stream));
        },
        { onNext: () => streams[0]?.reset() },
      );
      void remote.send(1);
      await time.advance();
      const cancelled = expect.objectContaining({ code: 'CANCELLED' });
      expect([beside, seen, logs.errors]).toEqual([[[cancelled]], [1, cancelled], []]);
    });

    it('Values that a call reads are not kept after the reader beside it has left', async () => {
      const streams: Stream[] = [];
      const onOpen = (stream: Stream): void => {
        streams.push(stream);
        stream.pipe(take(1)).subscribe();
      };
      const { remote, seen } = await called(onOpen, { limits: { maxUnreadBytes: 1_000 } });
      for (let n = 0; n < 10; n++) void remote.send('x'.repeat(500));
      await time.advance();
      expect([seen.length, remote.phase]).toEqual([10, 'halfClosedRemote']);
      const late = streams.map((stream) => read(stream));
      void remote.reply('last');
      await time.advance();
      expect([late, seen.slice(10)]).toEqual([[['last', 'complete']], ['last', 'complete']]);
    });
  });
});

describe('stream iterator', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();

  function opened(handler: StreamHandler, limits: PeerOptions['limits'] = {}) {
    const { dialer, acceptor } = createPair({ dialer: { limits } });
    acceptor.onStream(handler);
    const sent = framesOf(dialer);
    return { stream: dialer.open('p', { end: true }), sent, acceptor };
  }

  /** Runs a loop. Returns the values that it saw, then `over` or the error of the loop. */
  function loop(stream: AsyncIterable<unknown>, body: (value: unknown) => unknown = () => undefined): unknown[] {
    const seen: unknown[] = [];
    void (async () => {
      try {
        for await (const value of stream) {
          seen.push(value);
          if ((await body(value)) === 'break') break;
        }
        seen.push('over');
      } catch (error) {
        seen.push(error);
      }
    })();
    return seen;
  }

  describe('Loop over a stream', () => {
    it('A loop over a stream receives every payload and leaves after the end', async () => {
      const { stream, sent } = opened((_, remote) => remote.sendAll([1, 2, 3]));
      const seen = loop(stream);
      await time.advance();
      expect(seen).toEqual([1, 2, 3, 'over']);
      expect(sent).toHaveLength(1);
    });

    it('A loop over a stream receives earlier payloads, even when the stream has ended', async () => {
      const { stream } = opened((_, remote) => remote.sendAll([1, 2]));
      await time.advance();
      expect(stream.phase).toBe('closed');
      const seen = loop(stream);
      await time.advance();
      expect(seen).toEqual([1, 2, 'over']);
    });

    it('A loop over a stream throws the error of the stream after the earlier payloads', async () => {
      const { stream } = opened((_, remote) => {
        void remote.send(1);
        void remote.send(2);
        remote.reset(300, 'why');
      });
      const seen = loop(stream, () => time.now);
      await time.advance();
      expect(seen).toEqual([1, 2, expect.objectContaining({ code: 'RESET', resetCode: 300, reason: 'why' })]);
    });

    it.each<[string, (value: unknown) => unknown]>([
      ['breaks', (value) => (value === 2 ? 'break' : null)],
      ['throws', (value) => (value === 2 ? Promise.reject(new Error('loop')) : null)],
    ])('A loop whose body %s resets a stream of this side with CANCEL', async (_what, body) => {
      const { stream, sent } = opened(sends(1, 2, 3));
      const seen = loop(stream, body);
      await time.advance();
      expect(seen.slice(0, 2)).toEqual([1, 2]);
      expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' });
      expect(stream.cause).toMatchObject({ by: 'user', code: 8 });
    });

    it('A loop over a stream of the remote only stops reading when it is left', async () => {
      const { dialer, acceptor } = createPair();
      const sent = framesOf(acceptor);
      let seen: unknown[] = [];
      acceptor.onStream((_, stream) => {
        seen = loop(stream, () => 'break');
        return new Promise(() => undefined);
      });
      const stream = dialer.open();
      void stream.send(1);
      void stream.send(2);
      await time.advance();
      expect([seen, sent, stream.phase]).toEqual([[1, 'over'], [], 'open']);
    });

    it('A slow loop pauses reading, and neither loses nor reorders a value', async () => {
      const values = Array.from({ length: 300 }, (_, n) => `${n}${'x'.repeat(10_000)}`);
      const { stream } = opened((_, remote) => remote.sendAll(values), { pauseBytes: 50_000 });
      const seen: unknown[] = [];
      void (async () => {
        for await (const value of stream) {
          seen.push(value);
          await Promise.resolve();
        }
      })();
      await time.advance(10_000);
      expect(seen).toEqual(values);
    });

    it('A loop that stands still ends with its stream at a value that its codec fails to weigh', async () => {
      const weigh = (value: unknown): number => {
        if (value === 'b') throw new RangeError('no weight');
        return 0;
      };
      const codec = Object.assign(new JsonCodec(), { weigh });
      const { dialer, acceptor } = createPair({ dialer: { codec } });
      acceptor.onStream((_, remote) => remote.sendAll(['a', 'b', 'c']));
      const stream = dialer.open('p', { end: true });
      const seen = loop(stream, () => time.advance(10));
      await time.advance(100);
      expect(seen).toEqual(['a', expect.objectContaining({ code: 'RESET', resetCode: 2, reason: 'internal error' })]);
      expect(logs.errors).toEqual(['rxmux: stream 1: internal error']);
    });

    it('A loop that stands still counts unread values, and ends with FLOW_CONTROL after the received ones', async () => {
      const values = Array.from({ length: 50 }, (_, n) => `${n}${'x'.repeat(1_000)}`);
      let go: () => void = () => undefined;
      const { stream } = opened((_, remote) => remote.sendAll(values), { pauseBytes: 5_000, maxUnreadBytes: 10_000, pauseMs: 100 });
      const seen = loop(
        stream,
        () =>
          new Promise<void>((resolve) => {
            go = resolve;
          }),
      );
      await time.advance(1_000);
      expect(seen).toEqual([values[0]]);
      expect(stream.cause).toMatchObject({ how: 'reset', by: 'library', code: 3 });
      for (let n = 0; n < 50; n++) {
        go();
        await time.advance();
      }
      const read = seen.length - 1;
      expect(read).toBeGreaterThan(5);
      expect(seen).toEqual([...values.slice(0, read), expect.objectContaining({ code: 'RESET', resetCode: 3 })]);
    });

    it('Each value counts with its own size, even after a small value that came before the loop', async () => {
      const streams: Stream[] = [];
      const { stream } = opened(
        (_, remote) => {
          streams.push(remote);
          void remote.send('small');
          return new Promise(() => undefined);
        },
        { maxUnreadBytes: 3_000, pauseBytes: Infinity },
      );
      await time.advance();
      void stream[Symbol.asyncIterator]().next();
      for (let n = 0; n < 5; n++) void streams[0]?.send('x'.repeat(1_000));
      await time.advance();
      expect(stream.cause).toMatchObject({ how: 'reset', by: 'library', code: 3 });
    });

    it('A loop that keeps up releases its counts and never reaches a limit', async () => {
      const limits = { pauseBytes: 400, maxUnreadBytes: 600, maxHeldBytes: 1_000, pauseMs: 5 };
      const streams: Stream[] = [];
      const { stream } = opened((_, remote) => {
        streams.push(remote);
        return new Promise(() => undefined);
      }, limits);
      const seen = loop(stream);
      await time.advance();
      for (let n = 0; n < 200; n++) {
        for (const part of ['a', 'b', 'c']) void streams[0]?.send(part + 'x'.repeat(100));
        await time.advance(1);
      }
      expect([seen.length, stream.cause]).toEqual([600, null]);
    });
  });

  describe('Iterator of a stream', () => {
    it('An iterator answers early calls of `next` in order, and is done after the end', async () => {
      const { stream } = opened((_, remote) => remote.sendAll([1, 2]));
      const iterator = stream[Symbol.asyncIterator]();
      const results = Promise.all([iterator.next(), iterator.next(), iterator.next(), iterator.next()]);
      await time.advance();
      expect(await results).toEqual([
        { done: false, value: 1 },
        { done: false, value: 2 },
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    });

    it('An iterator throws the error of its stream once, and is done then', async () => {
      const { stream } = opened((_, remote) => {
        remote.reset(300);
      });
      const iterator = stream[Symbol.asyncIterator]();
      const first = iterator.next().catch((error: unknown) => error);
      const second = iterator.next();
      await time.advance();
      expect([await first, await second]).toEqual([expect.objectContaining({ resetCode: 300 }), { done: true, value: undefined }]);
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    });

    it('An iterator of a stream that has already failed throws once, and is done then', async () => {
      const { stream } = opened((_, remote) => {
        remote.reset(300);
      });
      await time.advance();
      const iterator = stream[Symbol.asyncIterator]();
      await expect(iterator.next()).rejects.toMatchObject({ resetCode: 300 });
      expect([await iterator.next(), await iterator.next()]).toEqual(Array(2).fill({ done: true, value: undefined }));
    });

    it('An iterator is done after `return`, which settles pending `next` calls and drops queued values and the error', async () => {
      const { stream, sent } = opened(sends());
      const iterator = stream[Symbol.asyncIterator]();
      const next = iterator.next();
      expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
      expect(await next).toEqual({ done: true, value: undefined });
      expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 8 });
      const failed = opened((_, remote) => {
        void remote.send('waits');
        remote.reset(300);
      });
      await time.advance();
      const late = failed.stream[Symbol.asyncIterator]();
      await late.return?.();
      expect(await late.next()).toEqual({ done: true, value: undefined });
    });

    it('An iterator whose first call is `return` leaves the stream', async () => {
      const { stream, sent } = opened(sends(1));
      await time.advance();
      await stream[Symbol.asyncIterator]().return?.();
      expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 8 });
    });

    it('An iterator leaves the stream at `throw`, and rejects with its error', async () => {
      const { stream, sent } = opened(sends(1));
      const error = new Error('stop');
      await expect(stream[Symbol.asyncIterator]().throw?.(error)).rejects.toBe(error);
      expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 8 });
    });

    it('An unused iterator does not touch its stream', async () => {
      const { stream, sent } = opened(sends(1));
      stream[Symbol.asyncIterator]();
      await time.advance();
      expect(sent).toHaveLength(1);
      expect(logs.errors).toEqual([]);
    });

    it('A loop over an iterator continues at its position', async () => {
      const { stream } = opened((_, remote) => remote.sendAll([1, 2, 3]));
      const iterator = stream[Symbol.asyncIterator]();
      const first = iterator.next();
      await time.advance();
      const seen = loop(iterator);
      await time.advance();
      expect([await first, seen]).toEqual([{ done: false, value: 1 }, [2, 3, 'over']]);
    });

    it('A stream serves two iterators with the same values', async () => {
      const streams: Stream[] = [];
      const { stream } = opened((_, remote) => {
        streams.push(remote);
        return new Promise(() => undefined);
      });
      const seen = [loop(stream), loop(stream)];
      await time.advance();
      void streams[0]?.reply('v');
      await time.advance();
      expect(seen).toEqual([
        ['v', 'over'],
        ['v', 'over'],
      ]);
    });
  });
});
