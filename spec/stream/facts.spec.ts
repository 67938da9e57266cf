import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { respond } from '../../src/index.js';
import type { StreamHandler } from '../../src/peer/hooks.js';
import { guard } from '../../src/rx/subscribers.js';
import type { Stream } from '../../src/stream/stream.js';
import { createPair } from '../../src/testing.js';
import { collectLogs } from '../support/peer/logs.js';
import { opened, read, stays } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';

describe('Stream', () => {
  const time = virtualPeerTime();

  it('A stream exposes its peer, id, opener, headers and payload', async () => {
    const streams: Stream[] = [];
    const { dialer, acceptor, stream } = opened((_, remote) => void streams.push(remote));
    await time.advance();
    expect(stream).toMatchObject({ id: 1, local: true, headers: { a: 1 }, payload: 'p', hasPayload: true });
    expect(streams[0]).toMatchObject({ id: 1, local: false, headers: { a: 1 }, payload: 'p', hasPayload: true });
    expect([stream.peer, streams[0]?.peer]).toEqual([dialer, acceptor]);
    expect([stream.peer === dialer, streams[0]?.peer === acceptor]).toEqual([true, true]);
  });

  it.each<[string, unknown, boolean]>([
    ['no payload', undefined, false],
    ['null', null, true],
  ])('`hasPayload` identifies an open with %s, and the handler receives null', async (_what, payload, hasPayload) => {
    const seen: unknown[] = [];
    const { dialer, acceptor } = createPair();
    acceptor.onStream((given, stream) => void seen.push([given, stream.payload, stream.hasPayload]));
    const stream = dialer.open(payload);
    await time.advance();
    expect(seen).toEqual([[null, null, hasPayload]]);
    expect([stream.payload, stream.hasPayload]).toEqual([null, hasPayload]);
  });

  it('A stream updates phase, reply headers and trailers before it delivers their payload or end', async () => {
    const seen: unknown[] = [];
    const { stream } = opened(async (_, remote) => {
      await remote.send(1, { headers: { h: 1 } });
      await remote.reply(2, { trailers: { t: 2 } });
    });
    const facts = () => [stream.phase, stream.replyHeaders, stream.trailers];
    expect(facts()).toEqual(['open', null, null]);
    stream.subscribe({ next: (value) => seen.push(value, ...facts()), complete: () => seen.push('complete', ...facts()) });
    void stream.end();
    await time.advance();
    expect(seen).toEqual([1, 'halfClosedLocal', { h: 1 }, null, 2, 'closed', { h: 1 }, { t: 2 }, 'complete', 'closed', { h: 1 }, { t: 2 }]);
  });

  it('A stream sets its cause before its readers complete', async () => {
    const { stream } = opened((_, remote) => remote.reply(1));
    void stream.end();
    const seen: unknown[] = [];
    stream.subscribe({ complete: () => seen.push(stream.cause) });
    await time.advance();
    expect(seen).toEqual([{ how: 'ended' }]);
  });

  it('A stream whose remote has ended completes for readers, even when this side resets it later', async () => {
    const { stream } = opened((_, remote) => {
      void remote.reply(1);
      return stays(_, remote);
    });
    await time.advance();
    stream.reset(300);
    expect([stream.cause, read(stream)]).toEqual([expect.objectContaining({ how: 'reset' }), [1, 'complete']]);
  });

  it('A stream passes through its phases, seen from both sides', async () => {
    const streams: Stream[] = [];
    const { stream } = opened((_, remote) => {
      streams.push(remote);
      remote.subscribe();
      return new Promise(() => undefined);
    });
    const phases = () => [stream.phase, streams[0]?.phase];
    await time.advance();
    expect(phases()).toEqual(['open', 'open']);
    void stream.end();
    await time.advance();
    expect(phases()).toEqual(['halfClosedLocal', 'halfClosedRemote']);
    void streams[0]?.end();
    await time.advance();
    expect(phases()).toEqual(['closed', 'closed']);
    expect([stream.cause, streams[0]?.cause]).toEqual([{ how: 'ended' }, { how: 'ended' }]);
  });

  it('A stream ends on this side when its end is written, not when it is queued', async () => {
    const { link, stream } = opened(stays);
    await time.advance();
    link.stall('acceptor');
    // More than a socket accepts at once: later frames wait.
    void stream.send('x'.repeat(3_000_000));
    void stream.end();
    await time.advance();
    expect(stream.phase).toBe('open');
    link.resume('acceptor');
    await time.advance(1_000);
    expect(stream.phase).toBe('halfClosedLocal');
  });

  it.each<[string, StreamHandler, object]>([
    ['ended', (_, stream) => stream.reply(), { how: 'ended' }],
    [
      'reset by the remote',
      (_, stream) => {
        stream.reset(300, 'why', { a: 1 });
      },
      { how: 'reset', by: 'remote', code: 300, reason: 'why', payload: { a: 1 } },
    ],
    [
      'reset without a payload',
      (_, stream) => {
        stream.reset(300);
      },
      { how: 'reset', by: 'remote', code: 300, reason: '', payload: null },
    ],
  ])('A stream keeps its cause when it was %s', async (_what, handler, cause) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const stream = dialer.open(null, { end: true });
    expect(stream.cause).toBeNull();
    await time.advance();
    expect(stream.cause).toEqual(cause);
    expect(await stream.closed).toEqual(cause);
  });

  it('A stream keeps the close reason when it was lost', async () => {
    const { link, stream } = opened(stays);
    const closed = stream.closed;
    await time.advance();
    link.cut({ code: 1001, reason: 'bye' });
    const cause = { how: 'lost', reason: { code: 1001, reason: 'bye', wasClean: false, willRetry: false } };
    expect(stream.cause).toEqual(cause);
    expect(await closed).toEqual(cause);
  });

  it('A stream keeps only its first cause', async () => {
    const { stream } = opened(stays);
    await time.advance();
    stream.reset(300, 'first');
    stream.reset(301, 'second');
    await time.advance();
    expect(stream.cause).toEqual({ how: 'reset', by: 'user', code: 300, reason: 'first', payload: null });
  });

  it('`closed` resolves for a first read after the end, and never rejects', async () => {
    const { stream } = opened((_, remote) => {
      remote.reset(300);
    });
    await time.advance();
    expect(await stream.closed).toMatchObject({ how: 'reset', code: 300 });
  });

  it.each<[string, StreamHandler, object | null]>([
    [
      'is reset by the remote',
      (_, remote) => {
        remote.reset(300, 'why');
      },
      { code: 'RESET', resetCode: 300 },
    ],
    ['simply ends', (_, remote) => remote.reply(), null],
  ])('A stream aborts its signal when it %s, with the error as the reason', async (_what, handler, reason) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const stream = dialer.open(null, { end: true });
    const { signal } = stream;
    expect([signal.aborted, stream.signal === signal]).toEqual([false, true]);
    await time.advance();
    expect(signal.aborted).toBe(true);
    if (reason === null) expect(signal.reason).toMatchObject({ name: 'AbortError' });
    else expect(signal.reason).toMatchObject(reason);
  });

  it('A stream returns an aborted signal after its end', async () => {
    const { stream } = opened((_, remote) => {
      remote.reset(300);
    });
    await time.advance();
    expect(stream.signal.aborted).toBe(true);
    expect(stream.signal.reason).toMatchObject({ resetCode: 300 });
  });

  it('A stream aborts the signal of its handler when the opener cancels', async () => {
    const causes: unknown[] = [];
    const { stream } = opened((_, remote) => {
      remote.signal.addEventListener('abort', () => causes.push(remote.cause));
      return new Promise(() => undefined);
    });
    await time.advance();
    stream.reset();
    await time.advance();
    expect(causes).toEqual([{ how: 'reset', by: 'remote', code: 8, reason: '', payload: null }]);
  });

  it('`replyHeaders$` emits the headers when they arrive, and replays them synchronously', async () => {
    const { stream } = opened((_, remote) => remote.reply(1, { headers: { h: 1 } }));
    const seen: unknown[] = [];
    stream.replyHeaders$.subscribe({ next: (headers) => seen.push(headers), complete: () => seen.push('complete') });
    expect(seen).toEqual([]);
    await time.advance();
    expect(seen).toEqual([{ h: 1 }, 'complete']);
    const late: unknown[] = [];
    stream.replyHeaders$.subscribe((headers) => late.push(headers));
    expect(late).toEqual([{ h: 1 }]);
  });

  it('`replyHeaders$` emits at once to a late subscriber of a live stream', async () => {
    const { stream } = opened((_, remote) => {
      void remote.send(1, { headers: { h: 1 } });
      return new Promise(() => undefined);
    });
    await time.advance();
    const late: unknown[] = [];
    stream.replyHeaders$.subscribe({ next: (headers) => late.push(headers), complete: () => late.push('complete') });
    expect([stream.phase, late]).toEqual(['open', [{ h: 1 }, 'complete']]);
  });

  it('`replyHeaders$` emits empty headers for an answer without headers', async () => {
    const { stream } = opened((_, remote) => remote.reply(1));
    const seen: unknown[] = [];
    stream.replyHeaders$.subscribe((headers) => seen.push(headers));
    await time.advance();
    expect([seen, stream.replyHeaders]).toEqual([[{}], {}]);
  });

  it.each<[string, boolean]>([
    ['that waits', true],
    ['that comes later', false],
  ])('`replyHeaders$` completes empty for a subscriber %s when the stream ends first', async (_what, waits) => {
    const { stream } = opened((_, remote) => {
      remote.reset();
    });
    const seen: unknown[] = [];
    const subscribe = () =>
      stream.replyHeaders$.subscribe({ next: (headers) => seen.push(headers), complete: () => seen.push('complete') });
    if (waits) subscribe();
    await time.advance();
    if (!waits) subscribe();
    expect([seen, stream.replyHeaders]).toEqual([['complete'], null]);
  });

  it('A stream has trailers only when its end carried trailers', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((payload, stream) => stream.end(payload === 'some' ? { trailers: { t: 1 } } : {}));
    const streams = ['some', 'none'].map((payload) => dialer.open(payload, { end: true }));
    await time.advance();
    expect(streams.map((stream) => stream.trailers)).toEqual([{ t: 1 }, null]);
  });

  it('A handler receives the trailers of an open that ends its stream', async () => {
    const { acceptor, link } = createPair();
    const seen: unknown[] = [];
    acceptor.onStream((_, stream) => void seen.push(stream.trailers));
    link.inject('acceptor', JSON.stringify({ type: 'open', stream: 1, end: true, payload: 1, trailers: { rows: 7 } }));
    await time.advance();
    expect(seen).toEqual([{ rows: 7 }]);
  });

  it('A handler that reads to the end receives the trailers of the opener', async () => {
    const seen: unknown[] = [];
    const { stream } = opened(async (_, remote) => {
      for await (const value of remote) seen.push(value, remote.trailers);
      seen.push(remote.trailers);
    });
    void stream.send(1);
    await time.advance();
    void stream.end({ trailers: { t: 1 } });
    await time.advance();
    expect(seen).toEqual([1, null, { t: 1 }]);
    expect(stream.cause).toEqual({ how: 'ended' });
  });
});

describe('Promise of another realm', () => {
  // Native async functions return such promises when zone.js has replaced Promise.
  const foreign = (expression: string): Promise<never> => runInNewContext(`Promise.${expression}`) as Promise<never>;

  const time = virtualPeerTime();
  const logs = collectLogs();

  it('A promise of another realm that a hook returns is not awaited, and its rejection is logged', async () => {
    guard('a frame observer', () => foreign('reject(new Error("x"))'));
    await time.advance();
    expect(logs.errors).toEqual(['rxmux: a frame observer failed']);
  });

  it('A promise of another realm that resolves to undefined makes `respond` send an end only', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => foreign('resolve(undefined)'))).subscribe();
    const seen: unknown[] = [];
    dialer
      .open$('x')
      .subscribe({ next: (value) => seen.push(value), error: (error) => seen.push(error), complete: () => seen.push('end') });
    await time.advance(10);
    expect(seen).toEqual(['end']);
  });

  it('A promise of another realm that no stream takes may reject unseen', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      stream.reset();
      return stream.sendAll(foreign('reject(new Error("x"))')).catch(() => undefined);
    });
    let error: unknown;
    dialer.open$('x').subscribe({ error: (given: unknown) => (error = given) });
    await time.advance(10);
    // An unhandled rejection would fail the test at the end of a turn.
    await new Promise(setImmediate);
    expect(error).toMatchObject({ code: 'RESET', resetCode: 8 });
  });
});
