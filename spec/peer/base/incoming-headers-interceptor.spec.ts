import { describe, expect, it, jest } from '@jest/globals';
import type { IncomingHeadersInterceptor } from '../../../src/peer/hooks.js';
import type { Metadata } from '../../../src/wire/frame.js';
import { createPair } from '../../../src/testing.js';
import { CODECS } from '../../support/codec/shipped.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { promised, settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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
