import { of, throwError } from 'rxjs';
import { describe, expect, it, jest } from '@jest/globals';
import { ResetError, respond } from '../../../src/index.js';
import type { ReplyHeadersInterceptor, Stream, StreamHandler } from '../../../src/index.js';
import { createPair } from '../../../src/testing.js';
import { framesOf } from '../../support/peer/frames.js';
import type { Envelope } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { settled } from '../../support/peer/outcome.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const traced: ReplyHeadersInterceptor = (headers, stream) => {
  headers['trace'] = stream.headers['trace'] ?? null;
};
const RESET = { type: 'reset', stream: 1, code: 16, reason: 'why', payload: { name: 'Error', message: 'why' } };
const HEADERS = { type: 'data', stream: 1, headers: { trace: 'a7' } };

/** Makes one request. Returns the frames of the acceptor, and the facts that the caller knew when the request failed. */
async function failed(handler: StreamHandler, ...interceptors: ReplyHeadersInterceptor[]) {
  const { dialer, acceptor } = createPair();
  const sent: readonly Envelope[] = framesOf(acceptor);
  for (const interceptor of interceptors) acceptor.interceptReplyHeaders(interceptor);
  acceptor.onStream(handler);
  const streams: Stream[] = [];
  const early: unknown[] = [];
  const outcome = settled(
    dialer.request('p', {
      headers: { trace: 'a7' },
      onOpen: (stream) => {
        streams.push(stream);
        stream.replyHeaders$.subscribe((headers) => early.push([headers, stream.cause]));
      },
    }),
  );
  await time.advance();
  return { sent, early, outcome: await outcome, replyHeaders: streams[0]?.replyHeaders };
}

describe('Handler that fails before its first frame', () => {
  it.each<[string, StreamHandler]>([
    [
      'throws',
      () => {
        throw new Error('why');
      },
    ],
    ['rejects', () => Promise.reject(new Error('why'))],
    ['sends an input that fails at once', (_, stream) => stream.sendAll(throwError(() => new Error('why')))],
  ])('A handler that %s sends the headers of the interceptors before the reset', async (_how, handler) => {
    const { sent, early, outcome, replyHeaders } = await failed(handler, traced);
    expect(sent).toEqual([HEADERS, RESET]);
    expect([early, replyHeaders]).toEqual([[[{ trace: 'a7' }, null]], { trace: 'a7' }]);
    expect(outcome).toEqual({ error: expect.objectContaining({ code: 'REMOTE', reason: 'why' }) });
  });

  it('A failing answer of `respond` sends the headers of the interceptors before the reset', async () => {
    const { dialer, acceptor } = createPair();
    const sent = framesOf(acceptor);
    acceptor.interceptReplyHeaders(traced);
    acceptor.streams$.pipe(respond(() => throwError(() => new Error('why')))).subscribe();
    dialer.open('p', { headers: { trace: 'a7' } });
    await time.advance();
    expect(sent).toEqual([HEADERS, RESET]);
  });

  it('A handler sends headers before a reset with a code of the application', async () => {
    const { sent } = await failed(() => Promise.reject(new ResetError(300, 'quota')), traced);
    expect(sent).toEqual([HEADERS, { type: 'reset', stream: 1, code: 300, reason: 'quota' }]);
  });

  it('A failing handler sends no headers when no interceptor sets any', async () => {
    const handler: StreamHandler = () => Promise.reject(new Error('why'));
    expect([(await failed(handler)).sent, (await failed(handler, () => undefined)).sent]).toEqual([[RESET], [RESET]]);
  });

  it('A failing handler sends the reset alone when an interceptor throws, and logs its error', async () => {
    const { sent } = await failed(
      () => Promise.reject(new Error('why')),
      () => {
        throw new Error('interceptor');
      },
    );
    expect(sent).toEqual([RESET]);
    expect(logs.errors).toContain('rxmux: a reply-headers interceptor failed');
  });

  it('A handler that fails with the error of an interceptor does not run it again', async () => {
    const interceptor = jest.fn<ReplyHeadersInterceptor>(() => {
      throw new Error('why');
    });
    const { sent } = await failed((_, stream) => stream.reply('r'), interceptor);
    expect([sent, interceptor.mock.calls.length]).toEqual([[RESET], 1]);
  });

  it('A failing handler sends no reset when an interceptor ends the stream', async () => {
    const { sent } = await failed(
      () => Promise.reject(new Error('why')),
      (_, stream) => {
        stream.reset(300, 'mine');
      },
    );
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 300, reason: 'mine' }]);
  });
});

describe('Handler that fails after its first frame', () => {
  it('A handler that fails after its first frame sends no headers again', async () => {
    const { sent } = await failed(async (_, stream) => {
      await stream.sendAll(of(1), { end: false });
      throw new Error('why');
    }, traced);
    expect(sent).toEqual([{ ...HEADERS, payload: 1 }, RESET]);
  });
});
