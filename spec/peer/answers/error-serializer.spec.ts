import { runInNewContext } from 'node:vm';
import { describe, expect, it, jest } from '@jest/globals';
import { defaultErrorSerializer, RefusedError, RemoteError, ResetError } from '../../../src/index.js';
import { logger } from '../../../src/logger.js';
import type { ErrorSerializer } from '../../../src/stream/end.js';
import type { Stream } from '../../../src/stream/stream.js';
import { createPair } from '../../../src/testing.js';
import { untouchable } from '../../support/hostile/values.js';
import { askingIn, throwing } from '../../support/peer/answers.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { read } from '../../support/peer/streams.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
collectLogs();
const answered = askingIn(time);

describe('Error serializer', () => {
  it('An error serializer makes the payload of the reset from the thrown error', async () => {
    const thrown = new Error('secret');
    const serializer = jest.fn<ErrorSerializer>(() => ({ status: 500 }));
    const { outcome } = await answered(throwing(thrown), { errorSerializer: serializer });
    expect(serializer.mock.calls).toEqual([[thrown]]);
    expect(outcome).toEqual({ error: expect.objectContaining({ code: 'REMOTE', reason: 'internal error', payload: { status: 500 } }) });
  });

  it.each<[string, Error, object]>([
    ['of a call to another peer', new RemoteError('secret', { of: 'upstream' }), { code: 16 }],
    ['that is a reset of another peer', new ResetError(300, 'secret', { limit: 1 }), { code: 300 }],
    ['that is a reset without a code', new ResetError(null, 'secret'), { code: 16 }],
    ['with a reset code', Object.assign(new Error('secret'), { resetCode: 400 }), { code: 400 }],
    ['that is a refusal of another peer', new RefusedError('secret'), { code: 16 }],
  ])('An error serializer sees an error %s, and the remote receives only the code of it', async (_what, thrown, code) => {
    const serializer = jest.fn<ErrorSerializer>(() => ({ message: 'failed' }));
    const { sent } = await answered(throwing(thrown), { errorSerializer: serializer });
    expect(sent).toEqual([{ type: 'reset', stream: 1, ...code, payload: { message: 'failed' }, reason: 'failed' }]);
    expect(serializer.mock.calls).toEqual([[thrown]]);
  });

  it.each<[string, ResetError | RemoteError]>([
    ['a reset of another peer', new ResetError(300, 'secret', { of: 'upstream' })],
    ['the failure of another peer', new RemoteError('secret', { of: 'upstream' })],
  ])('An error serializer that throws on %s sends neither its reason nor its payload', async (_what, thrown) => {
    const errorSerializer: ErrorSerializer = (error) => {
      throw error;
    };
    const { sent } = await answered(throwing(thrown), { errorSerializer });
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: thrown.resetCode, reason: 'internal error' }]);
  });

  it.each<[string, unknown]>([
    [
      'whose `code` getter throws',
      Object.defineProperty(new Error('secret'), 'code', {
        get: () => {
          throw new Error('secret too');
        },
      }),
    ],
    ['that is a proxy that refuses everything', untouchable],
  ])('An error serializer receives an error %s', async (_what, thrown) => {
    const { sent } = await answered(throwing(thrown), { errorSerializer: () => ({ message: 'failed' }) });
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { message: 'failed' }, reason: 'failed' }]);
  });

  it('An error serializer whose value has a message also replaces the reason', async () => {
    const { sent } = await answered(throwing(new Error('secret')), { errorSerializer: () => ({ message: 'failed' }) });
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { message: 'failed' }, reason: 'failed' }]);
  });

  it.each<[string, ErrorSerializer]>([
    ['returns null', () => null],
    ['returns undefined', () => undefined],
    [
      'throws',
      () => {
        throw new Error('serializer');
      },
    ],
    ['returns bytes, which json cannot carry', () => new Uint8Array(3)],
    ['returns a function', () => () => 1],
    [
      'returns a circle',
      () => {
        const circle: Record<string, unknown> = {};
        return (circle['self'] = circle);
      },
    ],
    ['returns a promise', () => Promise.resolve(1)],
    ['returns a promise that rejects', () => Promise.reject(new Error('serializer'))],
    ['returns a proxy that refuses everything', () => untouchable],
  ])('An error serializer that %s leaves a reset with a reason of the library and no payload', async (_what, errorSerializer) => {
    const { sent, outcome } = await answered(throwing(new Error('why')), { errorSerializer });
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, reason: 'internal error' }]);
    expect(outcome).toEqual({ error: expect.objectContaining({ payload: null, message: 'internal error' }) });
  });

  it.each<[string, ErrorSerializer, Error]>([
    [
      'throws',
      () => {
        throw new Error('serializer');
      },
      new Error('serializer'),
    ],
    ['returns a promise', () => Promise.resolve(1), new TypeError('expected the error serializer to work synchronously, got a promise')],
  ])('An error serializer that %s is logged', async (_what, errorSerializer, told) => {
    await answered(throwing(new Error('why')), { errorSerializer });
    expect(jest.mocked(logger.warn).mock.calls).toContainEqual([
      "rxmux: an error serializer failed, and the remote gets 'internal error'",
      told,
    ]);
  });

  it('An error serializer that ends the stream itself sets its final cause', async () => {
    const { dialer, acceptor } = createPair({ acceptor: { errorSerializer: () => void acceptor.close() } });
    const streams: Stream[] = [];
    acceptor.onStream((_, stream) => {
      streams.push(stream);
      throw new Error('why');
    });
    dialer.open();
    await time.advance();
    expect(streams.flatMap((stream): unknown[] => [...read(stream), stream.signal.reason])).toMatchObject([
      { code: 'CANCELLED' },
      { code: 'CANCELLED' },
    ]);
  });

  it('An error serializer may return a value larger than a frame: the reset goes in fragments', async () => {
    const big = 'x'.repeat(200_000);
    const { sent, outcome } = await answered(throwing(new Error('why')), { errorSerializer: () => ({ big }) });
    expect(sent.length).toBeGreaterThan(3);
    expect(new Set(sent.map((frame) => frame['type']))).toEqual(new Set(['reset', 'ping']));
    expect(outcome).toEqual({ error: expect.objectContaining({ payload: { big }, message: 'internal error' }) });
  });

  it('`defaultErrorSerializer` returns the name and the message of an error', () => {
    expect([new TypeError('t'), runInNewContext(`new TypeError('of another realm')`), 'text', null].map(defaultErrorSerializer)).toEqual([
      { name: 'TypeError', message: 't' },
      { name: 'TypeError', message: 'of another realm' },
      { name: 'Error', message: 'text' },
      { name: 'Error', message: 'null' },
    ]);
  });

  it.each<[string, Error, string, string]>([
    [
      'the code of a system error, and no address that failed',
      Object.assign(new AggregateError([new Error('connect ECONNREFUSED 10.0.0.5:5432')]), { code: 'ECONNREFUSED' }),
      'AggregateError',
      'ECONNREFUSED',
    ],
    ['the name of an error', new RangeError(), 'RangeError', 'RangeError'],
    ['the name of an error whose code is a number', new DOMException('', 'AbortError'), 'AbortError', 'AbortError'],
  ])('Without a message the reset has %s as the reason', async (_what, thrown, name, message) => {
    const { sent } = await answered(throwing(thrown), {});
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { name, message }, reason: message }]);
  });

  it('The reset for an error of another realm has its message as the reason', async () => {
    const { sent } = await answered(throwing(runInNewContext(`new TypeError('why')`)), {});
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { name: 'TypeError', message: 'why' }, reason: 'why' }]);
  });

  it.each<[string, ErrorSerializer, string]>([
    ['cannot be sent', () => ({ message: 'failed', of: () => 1 }), 'failed'],
    ['cannot be sent and has no message', () => new Uint8Array(3), 'internal error'],
  ])('An error serializer whose value %s is logged', async (_what, errorSerializer, reason) => {
    const { sent } = await answered(throwing(new Error('secret')), { errorSerializer });
    expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, reason }]);
    expect(jest.mocked(logger.warn).mock.calls).toContainEqual([
      'rxmux: stream 1: the payload of a reset cannot be sent, and the reset goes without it',
      expect.any(TypeError),
    ]);
  });

  it('An error serializer also serves a failing input of this side', async () => {
    const { dialer } = createPair({ dialer: { errorSerializer: () => 'serialized' } });
    const sent = framesOf(dialer);
    void dialer.open().sendAll(Promise.reject(new Error('input')));
    await time.advance();
    expect(sent.at(-1)).toEqual({ type: 'reset', stream: 1, code: 16, payload: 'serialized', reason: 'internal error' });
  });
});
