import { describe, expect, it } from '@jest/globals';
import { map, range } from 'rxjs';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { progressOf, settled } from '../../support/peer/outcome.js';
import { fillSocket, joined } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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
