import { describe, expect, it, jest } from '@jest/globals';
import type { OpenInterceptor } from '../../../src/peer/hooks.js';
import type { Peer } from '../../../src/peer/peer.js';
import { createPair } from '../../../src/testing.js';
import { CODECS } from '../../support/codec/shipped.js';
import { framesOf } from '../../support/peer/frames.js';
import { promised, settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';
import { collectLogs } from '../../support/peer/logs.js';

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
