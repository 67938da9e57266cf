import { describe, expect, it } from '@jest/globals';
import type { StreamHandler } from '../../../src/peer/base/hooks.js';
import type { PeerOptions } from '../../../src/peer/base/options.js';
import type { Stream } from '../../../src/peer/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

function opened(handler: StreamHandler, limits: PeerOptions['limits'] = {}) {
  const { dialer, acceptor } = createPair({ dialer: { limits } });
  acceptor.onStream(handler);
  const sent = framesOf(dialer);
  return { stream: dialer.open('p', { end: true }), sent, acceptor };
}

const sends =
  (...values: readonly unknown[]): StreamHandler =>
  (_, stream) => {
    for (const value of values) void stream.send(value);
    return new Promise(() => undefined);
  };

/** Runs a loop; gives what it saw, its error last, and `over` when it was left. */
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

describe('for await over a stream', () => {
  it('gives every payload and leaves after the end', async () => {
    const { stream, sent } = opened((_, remote) => remote.sendAll([1, 2, 3]));
    const seen = loop(stream);
    await time.advance();
    expect(seen).toEqual([1, 2, 3, 'over']);
    expect(sent).toHaveLength(1);
  });

  it('gives what came before the loop began, also when the stream has ended', async () => {
    const { stream } = opened((_, remote) => remote.sendAll([1, 2]));
    await time.advance();
    expect(stream.phase).toBe('closed');
    const seen = loop(stream);
    await time.advance();
    expect(seen).toEqual([1, 2, 'over']);
  });

  it('throws the error of the stream after the payloads that came before it', async () => {
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
    ['is left by break', (value) => (value === 2 ? 'break' : null)],
    ['throws', (value) => (value === 2 ? Promise.reject(new Error('loop')) : null)],
  ])('resets a stream of this side with CANCEL when its body %s', async (_what, body) => {
    const { stream, sent } = opened(sends(1, 2, 3));
    const seen = loop(stream, body);
    await time.advance();
    expect(seen.slice(0, 2)).toEqual([1, 2]);
    expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 8, reason: 'unsubscribed' });
    expect(stream.cause).toMatchObject({ by: 'user', code: 8 });
  });

  it('only stops reading when a loop over a stream of the remote is left', async () => {
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

  it('pauses reading where it is slow, without losing or reordering anything', async () => {
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

  it('counts what it has not pulled as unread: a loop that stands still ends in FLOW_CONTROL, after what had come', async () => {
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

  it('counts each value for itself, also after a small one that came before the loop began', async () => {
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

  it('gives back what it counted: a loop that keeps up never runs into a limit', async () => {
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

describe('the iterator of a stream', () => {
  it('answers calls of next() made ahead in their order, and done after the end', async () => {
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

  it('throws the error of its stream once, and is done from then on', async () => {
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

  it('throws it once too where the stream had failed before it was asked', async () => {
    const { stream } = opened((_, remote) => {
      remote.reset(300);
    });
    await time.advance();
    const iterator = stream[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toMatchObject({ resetCode: 300 });
    expect([await iterator.next(), await iterator.next()]).toEqual(Array(2).fill({ done: true, value: undefined }));
  });

  it('is done after return(), which answers calls of next() under way and forgets what waited and what failed', async () => {
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

  it('leaves the stream when return() is its first call', async () => {
    const { stream, sent } = opened(sends(1));
    await time.advance();
    await stream[Symbol.asyncIterator]().return?.();
    expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 8 });
  });

  it('leaves the stream and rejects with what throw() is given', async () => {
    const { stream, sent } = opened(sends(1));
    const error = new Error('stop');
    await expect(stream[Symbol.asyncIterator]().throw?.(error)).rejects.toBe(error);
    expect(sent.at(-1)).toMatchObject({ type: 'reset', code: 8 });
  });

  it('does not touch a stream that is never asked', async () => {
    const { stream, sent } = opened(sends(1));
    stream[Symbol.asyncIterator]();
    await time.advance();
    expect(sent).toHaveLength(1);
    expect(logs.errors).toEqual([]);
  });

  it('can itself be looped over, and goes on where it was', async () => {
    const { stream } = opened((_, remote) => remote.sendAll([1, 2, 3]));
    const iterator = stream[Symbol.asyncIterator]();
    const first = iterator.next();
    await time.advance();
    const seen = loop(iterator);
    await time.advance();
    expect([await first, seen]).toEqual([{ done: false, value: 1 }, [2, 3, 'over']]);
  });

  it('shares the stream with a second iterator', async () => {
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
