import { concat, of, throwError } from 'rxjs';
import { describe, expect, it, jest } from '@jest/globals';
import { ConnectionLostError, RefusedError, RemoteError, ResetCode, ResetError, respond } from '../../../src/index.js';
import type { HandlerFailure, Peer, StreamHandler } from '../../../src/index.js';
import { logger } from '../../../src/logger.js';
import { createPair } from '../../../src/testing.js';
import { untouchable } from '../../support/hostile/values.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

const time = virtualPeerTime();
const logs = collectLogs();

const failing =
  (error: unknown): StreamHandler =>
  () =>
    Promise.reject(error);

/** Notifies a peer that has this handler, and returns that peer. */
async function notified(handler: StreamHandler): Promise<Peer> {
  const { dialer, acceptor } = createPair({ limits: { maxUnsentBytes: 1_000_000 } });
  acceptor.onStream(handler);
  dialer.notify('p');
  await time.advance();
  return acceptor;
}

describe('Errors of a handler', () => {
  it('The error of a handler after a notify is logged at level error, with its stack, the peer and the stream', async () => {
    const error = new RangeError('no such seat');
    await notified(failing(error));
    expect(jest.mocked(logger.error).mock.calls).toEqual([[expect.stringMatching(/^rxmux: peer \d+, stream 1: a handler failed$/), error]]);
  });

  it('The error of a handler is logged once when it fails many streams', async () => {
    const error = new RangeError('no database');
    await notified(failing(error));
    await notified(failing(error));
    expect(logs.errors).toHaveLength(1);
  });

  it('The error of a handler is logged each time when it is no object', async () => {
    await notified(failing('no database'));
    await notified(failing('no database'));
    expect(logs.errors).toHaveLength(2);
  });

  it.each<[string, StreamHandler]>([
    ['an input of sendAll that the handler awaits', (_, stream) => stream.sendAll(throwError(() => new RangeError('input')))],
    [
      'an input that fails after a value',
      (_, stream) =>
        stream.sendAll(
          concat(
            of(1),
            throwError(() => new RangeError('input')),
          ),
        ),
    ],
    ['an input of sendAll that the handler ignores', (_, stream) => void stream.sendAll(throwError(() => new RangeError('input')))],
    ['an input that fails with a text', (_, stream) => stream.sendAll(failing('input')('p', stream) as never)],
    ['an input that fails with undefined', (_, stream) => stream.sendAll(failing(undefined)('p', stream) as never)],
    [
      'an error that the error of the input caused',
      (_, stream) =>
        stream.sendAll(throwError(() => new RangeError('input'))).catch((cause: unknown) => {
          throw new Error('the answer failed', { cause });
        }),
    ],
    ['a value that the codec cannot carry', (_, stream) => stream.reply(() => 1)],
    [
      'trailers that throw',
      (_, stream) => {
        stream.setTrailers(() => {
          throw new Error('trailers');
        });
      },
    ],
    ['a proxy that refuses everything', failing(untouchable)],
    [
      'an error after its own end',
      (_, stream) => {
        void stream.end();
        throw new Error('late');
      },
    ],
    [
      'an error after the end of both sides',
      async (_, stream) => {
        await stream.end();
        await stream.closed;
        throw new Error('late');
      },
    ],
    ['the refusal of another peer', failing(new RefusedError('busy'))],
    ['the loss of another connection', failing(new ConnectionLostError({ code: 1006, reason: '', wasClean: false, willRetry: false }))],
    [
      'a queue that overflows without a waiting send',
      (_, stream) => {
        for (let nth = 0; nth < 40; nth++) void stream.send('x'.repeat(1024 * 1024));
      },
    ],
  ])('The error of a handler is reported once for %s', async (_what, handler) => {
    await notified(handler);
    expect(logs.errors).toEqual([expect.stringContaining('a handler failed')]);
  });

  it.each<[string, Error]>([
    ['a ResetError', new ResetError(300, 'quota')],
    ['a ResetError without a code', new ResetError(null, 'quota')],
    ['a RemoteError', new RemoteError('upstream', null)],
    ['an error marked by a resetCode', Object.assign(new Error('no such seat'), { resetCode: ResetCode.APPLICATION_ERROR })],
  ])('The error of a handler goes to the caller only, when it is %s', async (_what, error) => {
    await notified(failing(error));
    expect(logs.errors).toEqual([]);
  });

  it.each<[string, StreamHandler]>([
    ['a send that the end of the stream rejects', (_, stream) => stream.closed.then(() => stream.send('late'))],
    [
      'the reason of the signal',
      (_, stream) =>
        stream.closed.then(() => {
          stream.signal.throwIfAborted();
        }),
    ],
    [
      'an error that the reason of the signal caused',
      (_, stream) => stream.closed.then(() => Promise.reject(new Error('x', { cause: stream.signal.reason }))),
    ],
    ['an AbortError', (_, stream) => stream.closed.then(() => Promise.reject(new DOMException('aborted', 'AbortError')))],
  ])('The error of a handler is not reported when the opener has left and the error is %s', async (_what, handler) => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream(handler);
    const stream = dialer.open('p');
    await time.advance();
    stream.reset();
    await time.advance();
    expect(logs).toEqual({ errors: [], warnings: [] });
  });

  it('The error of a handler is reported when the opener has left and the error is unrelated', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.onStream((_, stream) => stream.closed.then(() => Promise.reject(new TypeError('mistake'))));
    const stream = dialer.open('p');
    await time.advance();
    stream.reset();
    await time.advance();
    expect(logs.errors).toEqual([expect.stringContaining('a handler failed after its stream had ended')]);
  });

  it('An error of `respond` is reported as the error of a handler', async () => {
    const { dialer, acceptor } = createPair();
    acceptor.streams$.pipe(respond(() => throwError(() => new RangeError('broken')))).subscribe();
    dialer.notify('p');
    await time.advance();
    expect(logs.errors).toEqual([expect.stringContaining('a handler failed')]);
  });

  it('The error of a handler is not written at level silent', async () => {
    jest.mocked(logger.error).mockRestore();
    const console = jest.spyOn(globalThis.console, 'error').mockImplementation(() => undefined);
    logger.level = 'silent';
    await notified(failing(new Error('why')));
    logger.level = 'warn';
    expect(console).not.toHaveBeenCalled();
  });
});

describe('Failing input of the opener', () => {
  it('A failing input of the opener fails the call, and is not reported as an error of a handler', async () => {
    const { dialer } = createPair();
    const error = new Error('input');
    const sent = dialer.open().sendAll(throwError(() => error));
    await time.advance();
    await expect(sent).rejects.toBe(error);
    expect(logs.errors).toEqual([]);
  });
});

describe('Error observer', () => {
  const observers: readonly (readonly [string, (seen: HandlerFailure[]) => Promise<unknown>])[] = [
    [
      'given as the option onError',
      async (seen) => {
        const { dialer, acceptor } = createPair({ acceptor: { onError: (error, stream) => seen.push({ error, stream }) } });
        acceptor.onStream(failing('why'));
        dialer.notify('p');
        await time.advance();
      },
    ],
    [
      'added by onError()',
      async (seen) => {
        const { dialer, acceptor } = createPair();
        acceptor.onError((error, stream) => seen.push({ error, stream }));
        acceptor.onStream(failing('why'));
        dialer.notify('p');
        await time.advance();
      },
    ],
    [
      'that subscribes to errors$',
      async (seen) => {
        const { dialer, acceptor } = createPair();
        acceptor.errors$.subscribe((failure) => seen.push(failure));
        acceptor.onStream(failing('why'));
        dialer.notify('p');
        await time.advance();
      },
    ],
    [
      'of a dialer that answers pushes',
      async (seen) => {
        const { dialer, acceptor } = createPair({ dialer: { onError: (error, stream) => seen.push({ error, stream }) } });
        dialer.onStream(failing('why'));
        acceptor.notify('p');
        await time.advance();
      },
    ],
  ];

  it.each(observers)('An error observer %s receives the error and the stream, and the log stays empty', async (_how, run) => {
    const seen: HandlerFailure[] = [];
    await run(seen);
    expect(seen.map(({ error, stream }) => [error, stream.payload, stream.local])).toEqual([['why', 'p', false]]);
    expect(logs.errors).toEqual([]);
  });

  it('An error observer that is removed is not called, and the error is logged', async () => {
    const { dialer, acceptor } = createPair();
    const observer = jest.fn();
    acceptor.onError(observer)();
    acceptor.onStream(failing(new Error('why')));
    dialer.notify('p');
    await time.advance();
    expect([observer.mock.calls, logs.errors]).toEqual([[], [expect.stringContaining('a handler failed')]]);
  });

  it('An error observer that throws is logged, and the other observers run', async () => {
    const { dialer, acceptor } = createPair();
    const observer = jest.fn();
    acceptor.onError(() => {
      throw new Error('observer');
    });
    acceptor.onError(observer);
    acceptor.onStream(failing('why'));
    dialer.notify('p');
    await time.advance();
    expect([observer.mock.calls.length, logs.errors]).toEqual([1, ['rxmux: onError failed']]);
  });

  it('`errors$` completes with its peer', async () => {
    const { acceptor } = createPair();
    const complete = jest.fn();
    acceptor.errors$.subscribe({ complete });
    void acceptor.close();
    await time.advance();
    expect(complete).toHaveBeenCalledTimes(1);
  });

  it('An error observer that is no function is refused', () => {
    expect(() => createPair().acceptor.onError(1 as never)).toThrow(new TypeError('onError: expected a function, got 1'));
    expect(() => createPair({ acceptor: { onError: 1 as never } })).toThrow('onError: expected a function, got 1');
  });
});
