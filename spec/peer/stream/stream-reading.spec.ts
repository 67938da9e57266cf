import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from, lastValueFrom, of, Subject, switchMap, take, toArray } from 'rxjs';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import type { PeerOptions } from '../../../src/peer/options.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { read, sends } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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
    const other: unknown[] = [];
    const seen: unknown[] = [];
    stream.subscribe((value) => {
      seen.push(value);
      if (value === 1) other.push(...read(stream, 1));
    });
    expect([seen, other]).toEqual([
      [1, 3],
      [2, 'complete'],
    ]);
    expect([stream.phase, sent.length]).toEqual(['halfClosedLocal', 1]);
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
      'rxmux: stream 1: a second reader came after the first had left, and has missed the payloads between: keep one iterator',
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
