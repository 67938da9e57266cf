import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { RefusedError, RemoteError, ResetCode, ResetError } from '../../../src/index.js';
import type { StreamHandler } from '../../../src/peer/hooks.js';
import { createPair } from '../../../src/testing.js';
import { bomb, untouchable } from '../../support/hostile/values.js';
import { askingIn, throwing } from '../../support/peer/answers.js';
import { CODECS } from '../../support/codec/shipped.js';
import { framesOf } from '../../support/peer/frames.js';
import { collectLogs } from '../../support/peer/logs.js';
import { virtualPeerTime } from '../../support/peer/time.js';

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
  ['undefined', undefined, 'unknown error', { name: 'Error', message: 'unknown error' }],
  ['null', null, 'null', { name: 'Error', message: 'null' }],
  ['a text', 'nope', 'nope', { name: 'Error', message: 'nope' }],
  ['an empty text', '', 'unknown error', { name: 'Error', message: 'unknown error' }],
  ['an empty list', [], 'unknown error', { name: 'Error', message: 'unknown error' }],
  ['a number', 42, '42', { name: 'Error', message: '42' }],
  ['a bigint', 1n, '1', { name: 'Error', message: '1' }],
  ['a symbol', Symbol('s'), 'Symbol(s)', { name: 'Error', message: 'Symbol(s)' }],
  ['a frozen Error', Object.freeze(new Error('cold')), 'cold', { name: 'Error', message: 'cold' }],
  ['an object without a prototype', Object.create(null), 'unknown error', { name: 'Error', message: 'unknown error' }],
  ['an Error whose message getter throws', new Unprintable(), 'unknown error', { name: 'Error', message: 'unknown error' }],
  ['a proxy that refuses everything', untouchable, 'unknown error', undefined],
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
    it.each(THROWN)('A handler that fails with %s resets only its stream, as APPLICATION_ERROR', async (_what, thrown, reason, payload) => {
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
    });
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
    expect(outcome).toEqual({ error: expect.objectContaining({ code: 'RESET', resetCode: 300, reason: 'quota', payload: { limit: 1 } }) });
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
