import { describe, expect, it, jest } from '@jest/globals';
import type { IncomingHeadersInterceptor, OpenInterceptor, ReplyHeadersInterceptor } from '../../src/peer/hooks.js';
import type { Peer } from '../../src/peer/peer.js';
import type { Stream } from '../../src/stream/stream.js';
import { createPair } from '../../src/testing.js';
import { ProtocolError } from '../../src/wire/errors.js';
import { MAX_FRAME_BYTES } from '../../src/wire/fragment.js';
import type { Metadata } from '../../src/wire/frame.js';
import { CODECS } from '../support/codec/shipped.js';
import { framesOf } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { promised, settled } from '../support/peer/outcome.js';
import { virtualPeerTime } from '../support/peer/time.js';

describe('open interceptor', () => {
  const time = virtualPeerTime();
  collectLogs();

  const OPENING: readonly (readonly [call: string, (peer: Peer, headers?: object) => unknown])[] = [
    ['open', (peer, headers) => peer.open('p', { headers, end: true })],
    ['request', (peer, headers) => peer.request('p', { headers })],
    [
      'notify',
      (peer, headers) => {
        peer.notify('p', { headers });
      },
    ],
  ];

  describe('Open interceptor', () => {
    it.each(OPENING)('Open interceptors run inside %s, in the order of registration, over one copy of the headers', (_call, open) => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      const given = { a: 1 };
      const seen: unknown[] = [];
      dialer.interceptOpen((headers, payload) => {
        seen.push([{ ...headers }, payload, headers === given]);
        headers['b'] = 2;
      });
      dialer.interceptOpen((headers, payload) => {
        seen.push([{ ...headers }, payload]);
      });
      void Promise.resolve(open(dialer, given)).catch(() => undefined);
      expect(seen).toEqual([
        [{ a: 1 }, 'p', false],
        [{ a: 1, b: 2 }, 'p'],
      ]);
      expect(given).toEqual({ a: 1 });
      expect(sent).toEqual([{ type: 'open', stream: 1, end: true, headers: { a: 1, b: 2 }, payload: 'p' }]);
    });

    it.each(OPENING)('An open interceptor that throws fails %s: no later one runs, no frame leaves, no id is used', async (call, open) => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      const error = new Error('not now');
      const second = jest.fn<OpenInterceptor>();
      const remove = dialer.interceptOpen(() => {
        throw error;
      });
      dialer.interceptOpen(second);
      if (call === 'request') expect(await settled(open(dialer) as Promise<unknown>)).toEqual({ error });
      else expect(() => open(dialer)).toThrow(error);
      expect(sent).toEqual([]);
      expect(second).not.toHaveBeenCalled();
      remove();
      expect(dialer.open().id).toBe(1);
    });

    it.each(OPENING)('An open interceptor that returns a rejected promise fails %s with a TypeError', async (call, open) => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      dialer.interceptOpen(() => promised(new Error('the caller does not see this')));
      if (call === 'request') expect(await settled(open(dialer) as Promise<unknown>)).toMatchObject({ error: { name: 'TypeError' } });
      else expect(() => open(dialer)).toThrow(TypeError);
      expect(sent).toEqual([]);
      await time.advance();
    });

    it('An open interceptor that returns another thenable fails the call with a TypeError, and the peer does not wait', () => {
      const { dialer } = createPair();
      const then = (): never => {
        throw new Error('waited for');
      };
      dialer.interceptOpen(() => ({ then }) as unknown as undefined);
      expect(() => dialer.open()).toThrow(new TypeError('expected an open interceptor to work synchronously, got a promise'));
    });

    it('An open interceptor may return any other value', () => {
      const { dialer } = createPair();
      dialer.interceptOpen(() => ({ then: 1 }) as unknown as undefined);
      expect(dialer.open().id).toBe(1);
    });

    it('A payload or headers that cannot be sent use no stream id', () => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      expect(() => dialer.open(1n)).toThrow(TypeError);
      expect(() => dialer.open(1, { headers: { a: 1n } })).toThrow(TypeError);
      expect(() => dialer.open(1, { headers: { a: 'x'.repeat(70_000) } })).toThrow(expect.objectContaining({ code: 'PROTOCOL' }));
      expect(sent).toEqual([]);
      expect(dialer.open().id).toBe(1);
    });

    class Trace {
      readonly id = 'a';
    }

    it.each<[what: string, headers: unknown, got: string]>([
      ['a Map', new Map([['a', 1]]), '[object Map]'],
      ['a Headers', new Headers({ a: '1' }), '[object Headers]'],
      ['an array', ['a'], '[object Array]'],
      ['a promise', Promise.reject(new Error('unread')), '[object Promise]'],
      ['a Date', new Date(0), '[object Date]'],
      ['an error', new Error('a'), '[object Error]'],
      ['a URL', new URL('http://x'), '[object URL]'],
      ['bytes', new ArrayBuffer(1), '[object ArrayBuffer]'],
      ['a text', 'a', 'string'],
      ['a number in an object', Object(1), '[object Number]'],
    ])('A call refuses headers and trailers that are %s, and does not send them as empty', (_what, headers, got) => {
      const { dialer } = createPair();
      const sent = framesOf(dialer);
      const message = `expected headers or trailers to be a plain object, got ${got}`;
      expect(() => dialer.open(1, { headers: headers as object })).toThrow(new TypeError(message));
      expect(sent).toEqual([]);
      const stream = dialer.open(1);
      expect(() => stream.end({ trailers: headers as object })).toThrow(new TypeError(message));
    });

    it('Headers may be an object without a prototype, or an instance of a class: own properties count', async () => {
      const { dialer, acceptor } = createPair();
      const seen: unknown[] = [];
      acceptor.onStream((_, stream) => void seen.push(stream.headers));
      for (const headers of [Object.assign(Object.create(null) as object, { id: 'a' }), new Trace()]) dialer.notify(1, { headers });
      await time.advance();
      expect(seen).toEqual([{ id: 'a' }, { id: 'a' }]);
    });

    it('An open interceptor that changes its copy later does not change the sent headers', async () => {
      const { dialer, acceptor } = createPair();
      let kept: Record<string, unknown> = {};
      dialer.interceptOpen((headers) => {
        headers['list'] = [1];
        kept = headers;
      });
      const seen: unknown[] = [];
      acceptor.onStream((_, stream) => void seen.push(stream.headers));
      const stream = dialer.open();
      (kept['list'] as number[]).push(2);
      kept['more'] = true;
      await time.advance();
      expect(seen).toEqual([{ list: [1] }]);
      expect(stream.headers).toEqual({ list: [1] });
      expect(() => Object.assign(stream.headers, { a: 1 })).toThrow(TypeError);
    });

    it('Headers with a key named `__proto__` keep it as data', async () => {
      const { dialer, acceptor } = createPair();
      const seen: object[] = [];
      acceptor.onStream((_, stream) => void seen.push(stream.headers));
      dialer.interceptOpen(() => undefined);
      dialer.open(null, { headers: JSON.parse('{"__proto__":{"admin":true}}') as object });
      await time.advance();
      expect(Object.entries(seen[0] ?? {})).toEqual([['__proto__', { admin: true }]]);
      expect((seen[0] as { admin?: unknown }).admin).toBeUndefined();
    });
  });

  describe.each(CODECS)('Payload that an open interceptor sees under %s', (_name, codec) => {
    it('An open interceptor can change neither the sent payload nor the payload of the caller', async () => {
      const { dialer, acceptor } = createPair({ codec });
      const received: unknown[] = [];
      acceptor.onStream((payload) => void received.push(payload));
      const errors: unknown[] = [];
      dialer.interceptOpen((_, payload) => {
        const { list } = payload as { list: number[] };
        for (const change of [() => list.push(2), () => Object.assign(payload as object, { admin: true })])
          try {
            change();
          } catch (error) {
            errors.push(error);
          }
      });
      const given = { list: [1] };
      dialer.notify(given);
      await time.advance();
      expect(received).toEqual([{ list: [1] }]);
      expect(given).toEqual({ list: [1] });
      expect(errors).toEqual([expect.any(TypeError), expect.any(TypeError)]);
    });

    it.each([
      ['text', 'p'],
      ['null', null],
      ['none', undefined],
    ])('An open interceptor sees a payload of %s unchanged', (_what, payload) => {
      const { dialer } = createPair({ codec });
      const seen: unknown[] = [];
      dialer.interceptOpen((_, value) => void seen.push(value));
      dialer.notify(payload);
      expect(seen).toEqual([payload]);
    });

    it('A payload that cannot be encoded fails its call before an interceptor runs', () => {
      const { dialer } = createPair({ codec });
      const interceptor = jest.fn<OpenInterceptor>();
      dialer.interceptOpen(interceptor);
      expect(() => dialer.open({ f: () => 0 })).toThrow(TypeError);
      expect(interceptor).not.toHaveBeenCalled();
    });
  });
});

describe('Reply-headers interceptor', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

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

  it('A reply-headers interceptor runs again after headers that did not fit a message', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.interceptReplyHeaders((headers) => {
      headers['b'] = 2;
    });
    acceptor.onStream((_, stream) => {
      expect(() => {
        stream.sendHeaders({ big: 'x'.repeat(MAX_FRAME_BYTES) });
      }).toThrow(ProtocolError);
      return stream.reply(1);
    });
    void dialer.request();
    await time.advance();
    expect(sent).toEqual([{ type: 'data', stream: 1, end: true, headers: { b: 2 }, payload: 1 }]);
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

describe('incoming headers interceptor', () => {
  const time = virtualPeerTime();

  const logs = collectLogs();

  describe('Incoming-headers interceptor', () => {
    it('An incoming-headers interceptor sees the frozen headers of a remote open before the handler runs', async () => {
      const { dialer, acceptor } = createPair();
      const seen: unknown[] = [];
      acceptor.interceptIncomingHeaders((headers, stream) => {
        seen.push([headers, stream.local, headers === stream.headers, Object.isFrozen(headers)]);
      });
      acceptor.onStream(() => void seen.push('handler'));
      dialer.open('p', { headers: { a: 1 }, end: true });
      dialer.open('p', { end: true });
      await time.advance();
      expect(seen).toEqual([[{ a: 1 }, false, true, true], 'handler', [{}, false, true, true], 'handler']);
      expect(logs.warnings).toEqual([]);
    });

    it('An incoming-headers interceptor sees the headers of the first reply frame once, before the value is delivered', async () => {
      const { dialer, acceptor } = createPair();
      const seen: unknown[] = [];
      dialer.interceptIncomingHeaders((headers, stream) => {
        seen.push([headers, stream.local, headers === stream.replyHeaders, stream.id]);
      });
      acceptor.onStream(async (_, stream) => {
        await stream.send(1, { headers: { a: 1 } });
        await stream.send(2);
      });
      dialer.open().subscribe((value) => seen.push(value));
      await time.advance();
      expect(seen).toEqual([[{ a: 1 }, true, true, 1], 1, 2]);
    });

    it('An incoming-headers interceptor sees an empty view for an answer without headers, and does not run for a bare reset', async () => {
      const { dialer, acceptor } = createPair();
      const seen: unknown[] = [];
      dialer.interceptIncomingHeaders((headers) => {
        seen.push(headers);
      });
      acceptor.onStream((payload, stream) => (payload === 'reset' ? stream.reset() : stream.reply()));
      dialer.open('reset').subscribe({ error: () => undefined });
      dialer.open('reply').subscribe();
      await time.advance();
      expect(seen).toEqual([{}]);
    });

    it('An incoming-headers interceptor runs when all fragments of the first frame have arrived', async () => {
      const { dialer, acceptor } = createPair({ maxFrameBytes: 80 });
      const received = framesOf(acceptor, 'rx');
      const seen: unknown[] = [];
      acceptor.interceptIncomingHeaders((headers, stream) => {
        seen.push([headers, received.length, stream.payload]);
      });
      acceptor.onStream(() => undefined);
      dialer.open('x'.repeat(100), { headers: { a: 1 }, end: true });
      await time.advance();
      expect(received.length).toBeGreaterThan(2);
      expect(seen).toEqual([[{ a: 1 }, received.length, 'x'.repeat(100)]]);
    });

    it.each<[string, IncomingHeadersInterceptor]>([
      [
        'throws',
        () => {
          throw new Error('broken');
        },
      ],
      ['returns a promise that rejects', () => promised(new Error('broken'))],
    ])('An incoming-headers interceptor that %s is logged, and its stream is unaffected', async (_what, interceptor) => {
      const { dialer, acceptor } = createPair();
      const second = jest.fn<IncomingHeadersInterceptor>();
      for (const peer of [dialer, acceptor]) {
        peer.interceptIncomingHeaders(interceptor);
        peer.interceptIncomingHeaders(second);
      }
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const answer = dialer.request('p', { headers: { a: 1 } });
      await time.advance();
      expect(await answer).toBe('p');
      expect(second).toHaveBeenCalledTimes(2);
      expect(logs.errors).toEqual(Array(2).fill('rxmux: an incoming-headers interceptor failed'));
    });

    it.each<[string, () => unknown]>([
      ['a promise', () => new Promise(() => undefined)],
      [
        'another thenable',
        () => ({
          then: () => {
            throw new Error('waited for');
          },
        }),
      ],
    ])('An incoming-headers interceptor that returns %s gets a warning, and the peer does not wait', async (_what, result) => {
      const { dialer, acceptor } = createPair();
      acceptor.interceptIncomingHeaders(result as () => undefined);
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const answer = dialer.request('p');
      await time.advance();
      expect(await answer).toBe('p');
      expect(logs.warnings).toEqual(['rxmux: an incoming-headers interceptor returned a promise, which is not awaited']);
      expect(logs.errors).toEqual([]);
    });

    it.each([undefined, null, 'a text', { then: 'no function' }])('An incoming-headers interceptor may return %p', async (result) => {
      const { dialer, acceptor } = createPair();
      acceptor.interceptIncomingHeaders((() => result) as () => undefined);
      acceptor.onStream((payload, stream) => stream.reply(payload));
      const answer = dialer.request('p');
      await time.advance();
      expect([await answer, logs.warnings, logs.errors]).toEqual(['p', [], []]);
    });

    it.each<[string, IncomingHeadersInterceptor]>([
      ['resets', (_, stream) => stream.reset(300, 'not today')],
      ['closes the peer of', (_, stream) => void stream.peer.close()],
    ])('An incoming-headers interceptor that %s a stream keeps it from `streams$` and the handler', async (_what, interceptor) => {
      const { dialer, acceptor } = createPair();
      const reached: unknown[] = [];
      acceptor.interceptIncomingHeaders(interceptor);
      acceptor.streams$.subscribe((stream) => reached.push(stream));
      acceptor.onStream((payload) => void reached.push(payload));
      const answer = settled(dialer.request('p'));
      await time.advance();
      expect(reached).toEqual([]);
      expect(await answer).toHaveProperty('error');
    });
  });

  describe.each(CODECS)('Headers that an incoming-headers interceptor sees under %s', (_name, codec) => {
    it('An incoming-headers interceptor cannot change the headers at any depth', async () => {
      const { dialer, acceptor } = createPair({ codec });
      const errors: unknown[] = [];
      const promote = (headers: Readonly<Metadata>): void => {
        for (const change of [
          () => Object.assign(headers['user'] as object, { role: 'admin' }),
          () => (headers['scopes'] as string[]).push('write'),
        ])
          try {
            change();
          } catch (error) {
            errors.push(error);
          }
      };
      acceptor.interceptIncomingHeaders(promote);
      dialer.interceptIncomingHeaders(promote);
      const headers = { user: { role: 'guest' }, scopes: ['read'], bytes: codec.binary ? new Uint8Array([1]) : [1] };
      const seen: unknown[] = [];
      acceptor.onStream((_, stream) => {
        seen.push(stream.headers);
        return stream.reply('p', { headers });
      });
      const stream = dialer.open('p', { headers });
      await time.advance();
      seen.push(stream.replyHeaders);
      expect(seen).toEqual([headers, headers]);
      expect(errors).toEqual(Array.from({ length: 4 }, () => expect.any(TypeError)));
    });
  });
});
