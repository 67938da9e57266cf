import { describe, expect, it } from '@jest/globals';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import type { PeerOptions } from '../../../src/peer/options.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { sends } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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
