import { describe, expect, it, jest } from '@jest/globals';
import type { ReplyHeadersInterceptor } from '../../../src/peer/hooks.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { promised, settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();

const logs = collectLogs();

describe('Reply-headers interceptor', () => {
  const FIRST: readonly (readonly [call: string, (stream: Stream) => unknown])[] = [
    ['send', (stream) => stream.send('v', { headers: { a: 1 } })],
    ['reply', (stream) => stream.reply('v', { headers: { a: 1 } })],
    [
      'sendHeaders',
      (stream) => {
        stream.sendHeaders({ a: 1 });
      },
    ],
  ];

  it.each(FIRST)('Reply-headers interceptors change the headers of the first frame, inside %s, once a stream', async (_call, send) => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    const seen: unknown[] = [];
    acceptor.interceptReplyHeaders((headers, stream) => {
      seen.push([{ ...headers }, stream.headers, stream.payload]);
      headers['b'] = 2;
    });
    acceptor.interceptReplyHeaders((headers) => {
      seen.push({ ...headers });
    });
    let count = 0;
    acceptor.onStream((_, stream) => {
      void send(stream);
      count = seen.length;
      if (stream.phase === 'open') void stream.send('w');
    });
    dialer.open('p', { headers: { from: 'me' } });
    await time.advance();
    expect(count).toBe(2);
    expect(seen).toEqual([[{ a: 1 }, { from: 'me' }, 'p'], { a: 1, b: 2 }]);
    expect(sent[0]).toMatchObject({ type: 'data', headers: { a: 1, b: 2 } });
    expect(sent.slice(1).every((frame) => frame['headers'] === undefined)).toBe(true);
  });

  it.each<[string, (stream: Stream) => unknown]>([
    ['send', (stream) => stream.send('inner')],
    ['reply', (stream) => stream.reply('inner')],
    ['end', (stream) => stream.end()],
    [
      'sendHeaders',
      (stream) => {
        stream.sendHeaders({ inner: 1 });
      },
    ],
  ])('A reply-headers interceptor that calls %s on its stream gets a TypeError, and runs once', async (_call, sendInside) => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    const refusals: unknown[] = [];
    acceptor.interceptReplyHeaders((headers, stream) => {
      headers['asked'] = true;
      expect(() => sendInside(stream)).toThrow(TypeError);
      refusals.push(stream.phase);
    });
    acceptor.onStream((_, stream) => stream.reply('outer'));
    const answer = settled(dialer.request('p'));
    await time.advance();
    expect(await answer).toEqual({ value: 'outer' });
    expect(refusals).toEqual(['halfClosedRemote']);
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, headers: { asked: true }, payload: 'outer' }]);
  });

  it('A reply-headers interceptor that throws for its own send fails the call that ran it, and runs again for the next call', async () => {
    const { dialer, acceptor } = createPair();
    let asked = 0;
    acceptor.interceptReplyHeaders((_headers, stream) => {
      if (++asked === 1) void stream.send('inner');
    });
    const errors: unknown[] = [];
    acceptor.onStream((_, stream) => {
      try {
        void stream.send('outer');
      } catch (error) {
        errors.push(error);
      }
      return stream.reply('next');
    });
    const answer = settled(dialer.request('p'));
    await time.advance();
    expect(await answer).toEqual({ value: 'next' });
    expect(errors).toEqual([
      new TypeError('expected a reply-headers interceptor to send nothing on its stream, whose first frame it is asked about, got a send'),
    ]);
    expect(asked).toBe(2);
  });

  it('A reply-headers interceptor does not run again after a call without headers', async () => {
    const { dialer, acceptor } = createPair();
    const seen: unknown[] = [];
    const sent = framesOf(acceptor);
    acceptor.interceptReplyHeaders((headers) => {
      seen.push({ ...headers });
    });
    acceptor.onStream((_, stream) => {
      stream.sendHeaders();
      stream.sendHeaders();
      return stream.reply(1);
    });
    void dialer.request();
    await time.advance();
    expect([seen, sent]).toEqual([[{}], [{ type: 'data', stream: 1, end: true, payload: 1 }]]);
  });

  it('A reply-headers interceptor runs for `end` and the implicit end, and not for a stream of this side', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.interceptReplyHeaders((headers) => {
      headers['b'] = 2;
    });
    acceptor.onStream((payload, stream) => (payload === 'end' ? stream.end() : undefined));
    dialer.open('end', { end: true });
    dialer.open('settle', { end: true });
    await time.advance();
    const push = acceptor.open();
    void push.send(1);
    expect(sent).toEqual([
      { type: 'data', stream: 1, end: true, headers: { b: 2 } },
      { type: 'data', stream: 3, end: true, headers: { b: 2 } },
      { type: 'open', stream: 2 },
      { type: 'data', stream: 2, payload: 1 },
    ]);
  });

  it.each(FIRST)('A reply-headers interceptor that throws fails %s, and the next frame is still the first', async (_call, send) => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    let failing = true;
    acceptor.interceptReplyHeaders((headers) => {
      if (failing) throw new Error('not now');
      headers['b'] = 2;
    });
    acceptor.onStream((_, stream) => {
      expect(() => send(stream)).toThrow('not now');
      expect([sent.length, stream.phase]).toEqual([0, 'open']);
      failing = false;
      return stream.reply('v', { headers: { c: 3 } });
    });
    dialer.open();
    await time.advance();
    expect(sent[0]).toEqual({ type: 'data', stream: 1, end: true, headers: { b: 2, c: 3 }, payload: 'v' });
  });

  it.each(FIRST)('A reply-headers interceptor that returns a promise fails %s with a TypeError', async (_call, send) => {
    const { dialer, acceptor } = createPair();
    const thrown: unknown[] = [];
    acceptor.interceptReplyHeaders(() => promised(new Error('the caller does not see this')));
    acceptor.onStream((_, stream) => {
      try {
        void send(stream);
      } catch (error) {
        thrown.push(error);
      }
      stream.reset();
    });
    dialer.open();
    await time.advance();
    expect(thrown).toEqual([new TypeError('expected a reply-headers interceptor to work synchronously, got a promise')]);
  });

  it.each<[string, ReplyHeadersInterceptor]>([
    [
      'throws',
      () => {
        throw new Error('not now');
      },
    ],
    ['returns a promise', () => promised()],
  ])('A reply-headers interceptor that %s in the implicit end resets the stream with APPLICATION_ERROR', async (_what, interceptor) => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.interceptReplyHeaders(interceptor);
    acceptor.onStream(() => undefined);
    const answer = settled(dialer.request());
    await time.advance();
    expect(sent).toEqual([expect.objectContaining({ type: 'reset', code: 16 })]);
    expect(await answer).toMatchObject({ error: { code: 'REMOTE' } });
  });

  it('A reset does not run a reply-headers interceptor', async () => {
    const { dialer, acceptor } = createPair();
    const interceptor = jest.fn<ReplyHeadersInterceptor>();
    acceptor.interceptReplyHeaders(interceptor);
    acceptor.onStream((_, stream) => {
      stream.reset();
    });
    dialer.open();
    await time.advance();
    expect(interceptor).not.toHaveBeenCalled();
  });

  it.each(FIRST)('Calling %s on a stream that has ended does not run a reply-headers interceptor', async (_call, send) => {
    const { dialer, acceptor } = createPair();
    const interceptor = jest.fn<ReplyHeadersInterceptor>();
    acceptor.interceptReplyHeaders(interceptor);
    acceptor.onStream(async (_, stream) => {
      await stream.closed;
      void Promise.resolve(send(stream)).catch(() => undefined);
    });
    const stream = dialer.open();
    await time.advance();
    stream.reset();
    await time.advance();
    expect([interceptor.mock.calls, logs.warnings, logs.errors]).toEqual([[], [], []]);
  });

  it('A value that cannot be sent does not run a reply-headers interceptor', async () => {
    const { dialer, acceptor } = createPair();
    const interceptor = jest.fn<ReplyHeadersInterceptor>();
    acceptor.interceptReplyHeaders(interceptor);
    acceptor.onStream((_, stream) => {
      expect(() => stream.send(1n)).toThrow(TypeError);
      return stream.reply('v');
    });
    dialer.open();
    await time.advance();
    expect(interceptor).toHaveBeenCalledTimes(1);
  });

  it('Headers after the first frame throw a TypeError', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      void stream.send(1);
      expect(() => stream.send(2, { headers: { a: 1 } })).toThrow(
        new TypeError('expected headers with the first frame only, got some after it'),
      );
      return stream.reply(3, { headers: {} });
    });
    const values: unknown[] = [];
    dialer.open().subscribe((value) => values.push(value));
    await time.advance();
    expect([values, logs.errors]).toEqual([[1, 3], []]);
  });

  it('Headers throw a TypeError when their encoding has sent the first frame', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.onStream((_, stream) => {
      const toJSON = (): string => {
        void stream.send(1);
        return 'late';
      };
      expect(() => stream.send(2, { headers: { a: { toJSON } } })).toThrow(
        new TypeError('expected headers with the first frame only, got some after it'),
      );
      return stream.reply(3);
    });
    dialer.open(null, { end: true });
    await time.advance();
    expect([sent.map(({ payload }) => payload), logs.errors]).toEqual([[1, 3], []]);
  });

  it('Headers on `send` of a stream that this side opened throw a TypeError', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.reply(3));
    const stream = dialer.open();
    const values: unknown[] = [];
    stream.subscribe((value) => values.push(value));
    expect(() => stream.send(1, { headers: { a: 1 } })).toThrow(new TypeError('expected headers with the open only, got some after it'));
    await time.advance();
    expect([values, logs.errors]).toEqual([[3], []]);
  });
});
