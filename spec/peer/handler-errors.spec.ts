import { runInNewContext } from 'node:vm';
import { describe, expect, it, jest } from '@jest/globals';
import { concat, of, throwError } from 'rxjs';
import { ConnectionLostError, defaultErrorSerializer, RefusedError, RemoteError, ResetCode, ResetError, respond } from '../../src/index.js';
import type { HandlerFailure, Peer, ReplyHeadersInterceptor, Stream, StreamHandler } from '../../src/index.js';
import { logger } from '../../src/logger.js';
import type { ErrorSerializer } from '../../src/stream/end.js';
import { createPair } from '../../src/testing.js';
import { CODECS } from '../support/codec/shipped.js';
import { bomb, untouchable } from '../support/hostile/values.js';
import { askingIn, throwing } from '../support/peer/answers.js';
import { framesOf } from '../support/peer/frames.js';
import type { Envelope } from '../support/peer/frames.js';
import { collectLogs } from '../support/peer/logs.js';
import { settled } from '../support/peer/outcome.js';
import { read } from '../support/peer/streams.js';
import { virtualPeerTime } from '../support/peer/time.js';

describe('handler errors', () => {
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
      expect(jest.mocked(logger.error).mock.calls).toEqual([
        [expect.stringMatching(/^rxmux: peer \d+, stream 1: a handler failed$/), error],
      ]);
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
});

describe('handler failures', () => {
  const time = virtualPeerTime();
  const logs = collectLogs();
  const answered = askingIn(time);

  class Unprintable extends Error {
    override get message(): string {
      throw new Error('no message');
    }
  }

  const THROWN: readonly (readonly [what: string, thrown: unknown, reason: string, payload: unknown])[] = [
    ['an Error', new RangeError('too big'), 'too big', { name: 'RangeError', message: 'too big' }],
    ['an Error without a message', new Error(''), 'Error', { name: 'Error', message: 'Error' }],
    ['undefined', undefined, 'unknown error: throw an Error', { name: 'Error', message: 'unknown error: throw an Error' }],
    ['null', null, 'null', { name: 'Error', message: 'null' }],
    ['a text', 'nope', 'nope', { name: 'Error', message: 'nope' }],
    ['an empty text', '', 'unknown error: throw an Error', { name: 'Error', message: 'unknown error: throw an Error' }],
    ['an empty list', [], 'unknown error: throw an Error', { name: 'Error', message: 'unknown error: throw an Error' }],
    ['a number', 42, '42', { name: 'Error', message: '42' }],
    ['a bigint', 1n, '1', { name: 'Error', message: '1' }],
    ['a symbol', Symbol('s'), 'Symbol(s)', { name: 'Error', message: 'Symbol(s)' }],
    ['a frozen Error', Object.freeze(new Error('cold')), 'cold', { name: 'Error', message: 'cold' }],
    [
      'an object without a prototype',
      Object.create(null),
      'unknown error: throw an Error',
      { name: 'Error', message: 'unknown error: throw an Error' },
    ],
    [
      'an Error whose message getter throws',
      new Unprintable(),
      'unknown error: throw an Error',
      { name: 'Error', message: 'unknown error: throw an Error' },
    ],
    ['a proxy that refuses everything', untouchable, 'unknown error: throw an Error', undefined],
    [
      'an Error with a code that is no reset code',
      Object.assign(new Error('io'), { code: 'EIO', retriable: true, resetCode: 'x' }),
      'io',
      {
        name: 'Error',
        message: 'io',
      },
    ],
    [
      'an Error whose `resetCode` getter throws',
      Object.defineProperty(new Error('shy'), 'resetCode', { get: bomb }),
      'shy',
      { name: 'Error', message: 'shy' },
    ],
    ['an object with a reset code, but no Error', { resetCode: 400, toString: () => 'odd' }, 'odd', { name: 'Error', message: 'odd' }],
    [
      'an Error with a fraction for a reset code',
      Object.assign(new Error('half'), { code: 'X', retriable: false, resetCode: 1.5, reason: 'r' }),
      'half',
      {
        name: 'Error',
        message: 'half',
      },
    ],
  ];

  describe.each(CODECS)('Failing handler with %s', (_name, codec) => {
    describe.each([
      ['throws', throwing],
      [
        'rejects with',
        (thrown: unknown): StreamHandler =>
          () =>
            Promise.reject(thrown),
      ],
    ])('A handler that %s', (_how, failing) => {
      it.each(THROWN)(
        'A handler that fails with %s resets only its stream, as APPLICATION_ERROR',
        async (_what, thrown, reason, payload) => {
          const { sent, outcome } = await answered(failing(thrown), { codec });
          expect(sent).toEqual([
            {
              type: 'reset',
              stream: 1,
              code: 16,
              ...(reason === '' ? {} : { reason }),
              ...(payload === undefined ? {} : { payload }),
            },
          ]);
          expect(outcome).toEqual({
            error: expect.objectContaining({ code: 'REMOTE', message: reason, payload: payload ?? null, streamId: 1, retriable: false }),
          });
        },
      );
    });
  });

  describe('Handler that throws null or undefined', () => {
    it.each([undefined, null])('A handler that throws %p ends its own stream with an error that names the stream', async (nothing) => {
      const { dialer, acceptor } = createPair();
      const seen: unknown[] = [];
      acceptor.onStream((payload, stream) => {
        stream.subscribe({ error: (error: unknown) => seen.push(error) });
        return throwing(nothing)(payload, stream);
      });
      dialer.open('p').subscribe({ error: () => undefined });
      await time.advance();
      expect(seen).toEqual([expect.objectContaining({ name: 'ResetError', resetCode: ResetCode.APPLICATION_ERROR, streamId: 1 })]);
    });
  });

  describe('Handler that throws an error with a reset code', () => {
    it.each<[string, unknown, object]>([
      ['ResetError', new ResetError(300, 'quota', { limit: 1 }), { code: 300, reason: 'quota', payload: { limit: 1 } }],
      ['ResetError of a code of the library', new ResetError(11, 'slow down'), { code: 11, reason: 'slow down' }],
      ['ResetError without a code', new ResetError(null, 'why'), { reason: 'why' }],
      ['RemoteError', new RemoteError('inner', { deep: true }), { code: 16, reason: 'inner', payload: { deep: true } }],
      [
        'ResetError of another copy of the package',
        Object.assign(new Error('x'), { code: 'RESET', retriable: false, resetCode: 300, reason: 'quota', payload: 1 }),
        { code: 300, reason: 'quota', payload: 1 },
      ],
      [
        'plain Error with a code',
        Object.assign(new RangeError('much'), { resetCode: 400 }),
        { code: 400, payload: { name: 'RangeError', message: 'much' }, reason: 'much' },
      ],
      [
        'plain Error with a code and a reason',
        Object.assign(new RangeError('much'), { resetCode: 400, reason: 'not for the remote' }),
        { code: 400, payload: { name: 'RangeError', message: 'much' }, reason: 'much' },
      ],
      [
        'plain Error of another realm with a code',
        runInNewContext(`Object.assign(new RangeError('much'), { resetCode: 400 })`),
        { code: 400, payload: { name: 'RangeError', message: 'much' }, reason: 'much' },
      ],
      [
        'look-alike of a ResetError without a text for its reason',
        Object.assign(new Error('x'), { code: 'RESET', retriable: false, resetCode: 300, reason: 1, payload: 'p' }),
        { code: 300, payload: { name: 'Error', message: 'x' }, reason: 'x' },
      ],
      [
        'look-alike of a ResetError whose code is no integer',
        Object.assign(new Error('x'), { code: 'RESET', retriable: false, resetCode: 1.5, reason: 'r', payload: 'p' }),
        { code: 16, payload: { name: 'Error', message: 'x' }, reason: 'x' },
      ],
      ['ResetError whose payload cannot be sent', new ResetError(300, 'quota', () => 1), { code: 300, reason: 'quota' }],
    ])('A handler that throws a %s sends its reset', async (_what, thrown, reset) => {
      const { sent } = await answered(throwing(thrown));
      expect(sent).toEqual([{ type: 'reset', stream: 1, ...reset }]);
    });

    it.each<[string, Error]>([
      ['RefusedError', new RefusedError('not here')],
      ['RefusedError of a goaway', new RefusedError('not here', null)],
      ['ResetError of that code', new ResetError(7, 'not here')],
      ['plain Error of that code', Object.assign(new Error('not here'), { resetCode: 7 })],
    ])('A handler never sends REFUSED for a thrown %s, because it has run', async (_what, thrown) => {
      const { sent, outcome } = await answered(throwing(thrown));
      const { name, message } = thrown;
      expect(sent).toEqual([{ type: 'reset', stream: 1, code: 16, payload: { name, message }, reason: message }]);
      expect(outcome).toEqual({ error: expect.objectContaining({ code: 'REMOTE', retriable: false }) });
    });

    it('A handler may reset its stream with REFUSED, to state that no work was done', async () => {
      const { outcome } = await answered((_, stream) => {
        stream.reset(7, 'busy');
      });
      expect(outcome).toEqual({ error: expect.objectContaining({ code: 'REFUSED', retriable: true }) });
    });

    it('A handler passes on the reset of a stream that it proxies', async () => {
      const inner = createPair();
      inner.acceptor.onStream(throwing(new ResetError(300, 'quota', { limit: 1 })));
      const { outcome } = await answered((payload, stream) => inner.dialer.request(payload).then((value) => stream.reply(value)));
      expect(outcome).toEqual({
        error: expect.objectContaining({ code: 'RESET', resetCode: 300, reason: 'quota', payload: { limit: 1 } }),
      });
    });
  });

  describe('Handler that fails after the end of its stream', () => {
    it.each<[string, StreamHandler]>([
      [
        'throws',
        (_, stream) => {
          void stream.reply('r');
          throw new Error('late');
        },
      ],
      [
        'rejects',
        async (_, stream) => {
          await stream.reply('r');
          throw new Error('late');
        },
      ],
    ])('A handler that %s after its answer is only logged: the answer stands', async (_how, handler) => {
      const { sent, outcome } = await answered(handler);
      expect(sent).toEqual([{ type: 'data', stream: 1, end: true, payload: 'r' }]);
      expect(outcome).toEqual({ value: 'r' });
      expect(logs.errors).toEqual([expect.stringContaining('failed after its stream had ended')]);
    });

    it('A handler that fails after its answer is logged while the opener still sends, and the upload is stopped', async () => {
      const { dialer, acceptor } = createPair();
      const sent = framesOf(acceptor);
      acceptor.onStream((_, stream) => {
        void stream.reply('r');
        throw new Error('late');
      });
      dialer.open('p');
      await time.advance();
      expect(sent).toEqual([
        { type: 'data', stream: 1, end: true, payload: 'r' },
        { type: 'reset', stream: 1, code: 0 },
      ]);
      expect(logs.errors).toEqual([expect.stringContaining('failed after its stream had ended')]);
    });

    it('A handler that fails after a reset of its stream is only logged: the reset stands', async () => {
      const { sent } = await answered((_, stream) => {
        stream.reset(300, 'why');
        throw new Error('late');
      });
      expect(sent).toEqual([{ type: 'reset', stream: 1, code: 300, reason: 'why' }]);
      expect(logs.errors).toEqual([expect.stringContaining('failed after its stream had ended')]);
    });
  });
});

describe('headers of failures', () => {
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
});

describe('Error serializer', () => {
  const time = virtualPeerTime();
  collectLogs();
  const answered = askingIn(time);

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
