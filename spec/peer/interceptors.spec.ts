import { describe, expect, it, jest } from '@jest/globals';
import type { IncomingHeadersInterceptor, OpenInterceptor, ReplyHeadersInterceptor, StreamHandler } from '../../src/peer/hooks.js';
import type { Peer } from '../../src/peer/peer.js';
import type { Stream } from '../../src/peer/stream.js';
import { createPair } from '../../src/testing.js';
import { framesOf } from '../support/peer-frames.js';
import { collectLogs } from '../support/peer-logs.js';
import { settled } from '../support/peer-outcome.js';
import { virtualPeerTime } from '../support/peer-time.js';

const time = virtualPeerTime();
const logs = collectLogs();

/** A promise, as an interceptor that ignores its type returns one. */
const later = (error?: Error): undefined => (error === undefined ? Promise.resolve() : Promise.reject(error)) as unknown as undefined;

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

describe('an open interceptor', () => {
  it.each(OPENING)('runs synchronously inside %s, in the order of registration, over one fresh copy of the headers', (_call, open) => {
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

  it.each(OPENING)('that throws fails %s with what it threw: no later one runs, nothing is sent and no id is burnt', async (call, open) => {
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

  it.each(OPENING)('that returns a promise fails %s with TypeError, and the promise may reject', async (call, open) => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    dialer.interceptOpen(() => later(new Error('nobody sees this')));
    if (call === 'request') expect(await settled(open(dialer) as Promise<unknown>)).toMatchObject({ error: { name: 'TypeError' } });
    else expect(() => open(dialer)).toThrow(TypeError);
    expect(sent).toEqual([]);
    await time.advance();
  });

  it('that returns anything else is no failure', () => {
    const { dialer } = createPair();
    dialer.interceptOpen(() => ({ then: 1 }) as unknown as undefined);
    expect(dialer.open().id).toBe(1);
  });

  it('sees undefined for a call without a payload, and runs before the payload is encoded', () => {
    const { dialer } = createPair();
    const seen: unknown[] = [];
    dialer.interceptOpen((_headers, payload) => {
      seen.push(payload);
    });
    dialer.open();
    expect(() => dialer.open(() => 1)).toThrow(TypeError);
    expect(seen).toEqual([undefined, expect.any(Function)]);
  });

  it('makes a payload that cannot be sent, or headers that cannot, burn no id', () => {
    const { dialer } = createPair();
    const sent = framesOf(dialer);
    expect(() => dialer.open(1n)).toThrow(TypeError);
    expect(() => dialer.open(1, { headers: { a: 1n } })).toThrow(TypeError);
    expect(() => dialer.open(1, { headers: { a: 'x'.repeat(70_000) } })).toThrow(expect.objectContaining({ code: 'PROTOCOL' }));
    expect(() => dialer.open(1, { headers: new Map([['a', 1]]) })).toThrow(TypeError);
    expect(() => dialer.open(1, { headers: ['a'] })).toThrow(TypeError);
    expect(() => dialer.open(1, { headers: 'a' as unknown as object })).toThrow(TypeError);
    expect(sent).toEqual([]);
    expect(dialer.open().id).toBe(1);
  });

  it('does not change the headers that were sent when it changes its copy later', async () => {
    const { dialer, acceptor } = createPair();
    let kept: Record<string, unknown> = {};
    dialer.interceptOpen((headers) => {
      headers['list'] = [1];
      kept = headers;
    });
    const seen: unknown[] = [];
    acceptor.onStream((_, stream) => seen.push(stream.headers));
    const stream = dialer.open();
    (kept['list'] as number[]).push(2);
    kept['more'] = true;
    await time.advance();
    expect(seen).toEqual([{ list: [1] }]);
    expect(stream.headers).toEqual({ list: [1] });
    expect(() => Object.assign(stream.headers, { a: 1 })).toThrow(TypeError);
  });

  it('keeps a key named __proto__ as data', async () => {
    const { dialer, acceptor } = createPair();
    const seen: object[] = [];
    acceptor.onStream((_, stream) => seen.push(stream.headers));
    dialer.interceptOpen(() => undefined);
    dialer.open(null, { headers: JSON.parse('{"__proto__":{"admin":true}}') as object });
    await time.advance();
    expect(Object.entries(seen[0] ?? {})).toEqual([['__proto__', { admin: true }]]);
    expect((seen[0] as { admin?: unknown }).admin).toBeUndefined();
  });
});

describe('a reply-headers interceptor', () => {
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

  it.each(FIRST)('shapes the headers of the first frame, synchronously inside %s, once a stream', async (_call, send) => {
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

  it('runs for end(), for the implicit end, and not for a stream of this side', async () => {
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

  it.each(FIRST)('that throws fails %s: nothing is sent and the first frame stays unspent', async (_call, send) => {
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

  it.each(FIRST)('that returns a promise fails %s with TypeError', async (_call, send) => {
    const { dialer, acceptor } = createPair();
    const thrown: unknown[] = [];
    acceptor.interceptReplyHeaders(() => later(new Error('nobody sees this')));
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
    expect(thrown).toEqual([expect.any(TypeError)]);
  });

  it.each<[string, ReplyHeadersInterceptor]>([
    [
      'throws',
      () => {
        throw new Error('not now');
      },
    ],
    ['returns a promise', () => later()],
  ])('that %s in the implicit end resets the stream with APPLICATION_ERROR', async (_what, interceptor) => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.interceptReplyHeaders(interceptor);
    acceptor.onStream(() => undefined);
    const answer = settled(dialer.request());
    await time.advance();
    expect(sent).toEqual([expect.objectContaining({ type: 'reset', code: 16 })]);
    expect(await answer).toMatchObject({ error: { code: 'REMOTE' } });
  });

  it('is not run by a reset', async () => {
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

  it('is not run for a value that cannot be sent', async () => {
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

  it.each<[string, (peer: Peer) => Stream]>([
    ['behind the first frame', (peer) => peer.open()],
    ['on a stream that this side opened', (peer) => peer.open()],
  ])('leaves headers %s to a TypeError', async (where, open) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => {
      if (where === 'behind the first frame') {
        void stream.send(1);
        expect(() => stream.send(2, { headers: { a: 1 } })).toThrow(TypeError);
      }
      return stream.reply(3, { headers: {} });
    });
    const stream = open(dialer);
    const values: unknown[] = [];
    stream.subscribe((value) => values.push(value));
    if (where !== 'behind the first frame') expect(() => stream.send(1, { headers: { a: 1 } })).toThrow(TypeError);
    await time.advance();
    expect(values.at(-1)).toBe(3);
    expect(logs.errors).toEqual([]);
  });
});

describe('an incoming-headers interceptor', () => {
  it('sees the headers of the open of a stream that the remote opened, frozen, before the handler', async () => {
    const { dialer, acceptor } = createPair();
    const seen: unknown[] = [];
    acceptor.interceptIncomingHeaders((headers, stream) => {
      seen.push([headers, stream.local, headers === stream.headers, Object.isFrozen(headers)]);
    });
    acceptor.onStream(() => seen.push('handler'));
    dialer.open('p', { headers: { a: 1 }, end: true });
    dialer.open('p', { end: true });
    await time.advance();
    expect(seen).toEqual([[{ a: 1 }, false, true, true], 'handler', [{}, false, true, true], 'handler']);
  });

  it('sees those of the first data of a stream that this side opened, once, before the value is delivered', async () => {
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

  it('sees an empty view for an answer without headers, and nothing for one that was only reset', async () => {
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

  it('runs once the remote’s first frame is complete, whatever it was cut into', async () => {
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
    ['returns a promise that rejects', () => later(new Error('broken'))],
  ])('that %s is logged, and frame, stream and connection are unaffected', async (_what, interceptor) => {
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

  it('that returns a promise is not waited for', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.interceptIncomingHeaders(() => new Promise(() => undefined) as unknown as undefined);
    acceptor.onStream((payload, stream) => stream.reply(payload));
    const answer = dialer.request('p');
    await time.advance();
    expect(await answer).toBe('p');
  });
});

describe('every hook', () => {
  const KINDS: readonly (readonly [kind: string, (peer: Peer, hook: () => undefined) => () => void])[] = [
    ['interceptOpen', (peer, hook) => peer.interceptOpen(hook)],
    ['interceptReplyHeaders', (peer, hook) => peer.interceptReplyHeaders(hook)],
    ['interceptIncomingHeaders', (peer, hook) => peer.interceptIncomingHeaders(hook)],
    ['onFrame', (peer, hook) => peer.onFrame(hook)],
    ['onClose', (peer, hook) => peer.onClose(hook)],
  ];

  async function exchange(register: (peer: Peer) => void): Promise<void> {
    const { dialer, acceptor } = createPair();
    register(dialer);
    register(acceptor);
    acceptor.onStream((_, stream) => stream.reply('r'));
    void dialer.request('p');
    await time.advance();
    void dialer.close();
    await time.advance();
  }

  it.each(KINDS)('of %s runs in the order of registration, and twice when it is registered twice', async (_kind, add) => {
    const seen: number[] = [];
    const first = (): undefined => void seen.push(1);
    const second = (): undefined => void seen.push(2);
    await exchange((peer) => {
      add(peer, first);
      add(peer, second);
      add(peer, first);
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual(Array.from({ length: seen.length / 3 }, () => [1, 2, 1]).flat());
  });

  it.each(KINDS)('of %s is taken out by the function that its registration returned, which may be called twice', async (_kind, add) => {
    const seen: string[] = [];
    const hook = (): undefined => void seen.push('once');
    await exchange((peer) => {
      const remove = add(peer, hook);
      add(peer, hook);
      remove();
      remove();
    });
    const kept: string[] = [];
    await exchange((peer) => {
      add(peer, () => void kept.push('once'));
    });
    expect(seen).toEqual(kept);
  });
});

describe('onStream', () => {
  it('replaces the handler with a warning when there is one', async () => {
    const { dialer, acceptor } = createPair();
    const first = jest.fn<StreamHandler>();
    acceptor.onStream(first);
    expect(logs.warnings).toEqual([]);
    acceptor.onStream((_, stream) => stream.reply('second'));
    expect(logs.warnings).toEqual([expect.stringContaining('second onStream handler')]);
    const answer = dialer.request();
    await time.advance();
    expect(await answer).toBe('second');
    expect(first).not.toHaveBeenCalled();
  });

  it('gives a function that removes its own handler, and no other', async () => {
    const { dialer, acceptor } = createPair();
    const removeFirst = acceptor.onStream((_, stream) => stream.reply('first'));
    const removeSecond = acceptor.onStream((_, stream) => stream.reply('second'));
    removeFirst();
    const answer = dialer.request();
    await time.advance();
    expect(await answer).toBe('second');
    removeSecond();
    const refused = settled(dialer.request());
    await time.advance();
    expect(await refused).toMatchObject({ error: { code: 'REFUSED', retriable: true } });
    acceptor.onStream((_, stream) => stream.reply('third'));
    expect(logs.warnings).toHaveLength(1);
  });
});
