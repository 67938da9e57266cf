import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { errorText } from '../../src/util/check.js';
import { browserCode, CloseCode, FIRST_APPLICATION_CODE, ResetCode, resetCodeName } from '../../src/wire/codes.js';
import {
  CancelledError,
  CodecError,
  CodecMismatch,
  CodecNotRegistered,
  ConnectError,
  ConnectionLostError,
  DeadlineExceededError,
  isMuxError,
  MuxError,
  ProtocolError,
  QueueOverflowError,
  RefusedError,
  refusesOffer,
  RemoteError,
  ResetError,
  StreamError,
  StreamIdsExhaustedError,
} from '../../src/wire/errors.js';

const LOST = { code: 1006, reason: '', wasClean: false, willRetry: true };

const ROWS: readonly (readonly [make: () => MuxError, code: string, message: string, retriable: boolean])[] = [
  [() => new ProtocolError('bad'), 'PROTOCOL', 'bad', false],
  [() => new ConnectError('no answer'), 'CONNECT', 'no answer', true],
  [() => new CodecError('odd'), 'CODEC', 'odd', false],
  [
    () => new CodecNotRegistered('cbor', ['json', 'msgpack']),
    'CODEC_NOT_REGISTERED',
    "no codec is registered under 'cbor' (configured by VITE_MUX_CODEC, settings.codec or the codec option); registered: json, msgpack",
    false,
  ],
  [
    () => new CodecNotRegistered('', []),
    'CODEC_NOT_REGISTERED',
    "no codec is registered under '' (configured by VITE_MUX_CODEC, settings.codec or the codec option); registered: none",
    false,
  ],
  [
    () => new CodecMismatch('mux.v1.json', 'mux.v1.msgpack'),
    'CODEC_MISMATCH',
    "expected the subprotocol 'mux.v1.json', got 'mux.v1.msgpack': both ends must use the same codec",
    false,
  ],
  [
    () => new CodecMismatch('mux.v1.json', ''),
    'CODEC_MISMATCH',
    "expected the subprotocol 'mux.v1.json', got none: both ends must use the same codec",
    false,
  ],
  [() => new ResetError(8), 'RESET', 'reset with CANCEL', false],
  [() => new ResetError(300, 'quota', { limit: 1 }, { streamId: 5 }), 'RESET', 'stream 5: reset with 300: quota', false],
  [() => new ResetError(null), 'RESET', 'reset with no code', false],
  [() => new RemoteError('boom', { name: 'Error' }, { streamId: 3 }), 'REMOTE', 'boom', false],
  [() => new RemoteError('', null), 'REMOTE', '', false],
  [() => new RefusedError(''), 'REFUSED', 'refused', true],
  [() => new RefusedError('draining', null, { streamId: 7 }), 'REFUSED', 'stream 7: refused: draining', true],
  [
    () => new DeadlineExceededError(30_000, { streamId: 1 }),
    'DEADLINE_EXCEEDED',
    'stream 1: expected the stream to end within 30000 ms, got no end',
    false,
  ],
  [() => new CancelledError('cancelled', { streamId: null }), 'CANCELLED', 'cancelled', false],
  [() => new ConnectionLostError(LOST), 'CONNECTION_LOST', 'connection lost (1006)', false],
  [
    () => new ConnectionLostError({ ...LOST, code: 1001, reason: 'bye' }, { retriable: true }),
    'CONNECTION_LOST',
    'connection lost (1001 bye)',
    true,
  ],
  [() => new QueueOverflowError('too much', { retriable: true }), 'QUEUE_OVERFLOW', 'too much', true],
  [() => new StreamIdsExhaustedError('no ids left'), 'IDS_EXHAUSTED', 'no ids left', false],
];

describe('Errors', () => {
  it.each(ROWS.map(([make, code, message, retriable]) => ({ make, code, message, retriable })))(
    'An error $code says: $message',
    ({ make, ...facts }) => {
      const error = make();
      expect(error).toMatchObject({ ...facts, name: error.constructor.name });
      expect([error instanceof Error, error instanceof MuxError, isMuxError(error)]).toEqual([true, true, true]);
    },
  );

  it('CodecNotRegistered and CodecMismatch are codec errors; reset errors are siblings', () => {
    expect(new CodecNotRegistered('a', [])).toBeInstanceOf(CodecError);
    expect(new CodecMismatch('a', 'b')).toBeInstanceOf(CodecError);
    expect(new RemoteError('', null)).not.toBeInstanceOf(ResetError);
    expect(new RefusedError('')).not.toBeInstanceOf(ResetError);
  });

  it('Errors carry their facts as fields', () => {
    expect(new CodecNotRegistered('cbor', ['json'])).toMatchObject({ configured: 'cbor', available: ['json'] });
    expect(new CodecMismatch('a', 'b')).toMatchObject({ offered: 'a', selected: 'b' });
    expect(new ConnectError('x', { status: 403 })).toMatchObject({ status: 403, reason: null });
    expect(new ConnectError('x', { reason: LOST })).toMatchObject({ status: null, reason: LOST });
    expect(new ResetError(300, 'why', [1])).toMatchObject({ resetCode: 300, reason: 'why', payload: [1], streamId: null });
    expect(new ResetError(8)).toMatchObject({ resetCode: 8, reason: '', payload: null });
    expect(new RemoteError('boom', 1, { streamId: 3 })).toMatchObject({ resetCode: 16, reason: 'boom', payload: 1, streamId: 3 });
    expect(new RefusedError('no')).toMatchObject({ resetCode: 7, reason: 'no' });
    expect(new DeadlineExceededError(5)).toMatchObject({ timeoutMs: 5, streamId: null, retriable: false });
    expect(new DeadlineExceededError(5, { unsent: 'no connection' })).toMatchObject({
      message: 'expected the stream to end within 5 ms, but it was never sent: no connection',
      retriable: true,
    });
    expect(new ConnectionLostError(LOST)).toMatchObject({ reason: LOST });
  });

  it('Errors carry a cause only when the constructor received one', () => {
    const cause = new Error('inner');
    expect(new ProtocolError('outer', { cause }).cause).toBe(cause);
    expect('cause' in new ProtocolError('outer')).toBe(false);
    expect(new ConnectError('outer', { cause }).cause).toBe(cause);
    expect(new CancelledError('outer', { cause: undefined })).toHaveProperty('cause', undefined);
  });

  it('Errors that end one stream extend StreamError', () => {
    const ending = ROWS.map(([make]) => make()).filter((error) => error instanceof StreamError);
    expect([...new Set(ending.map(({ code }) => code))].sort()).toEqual([
      'CANCELLED',
      'CONNECTION_LOST',
      'DEADLINE_EXCEEDED',
      'IDS_EXHAUSTED',
      'QUEUE_OVERFLOW',
      'REFUSED',
      'REMOTE',
      'RESET',
    ]);
  });
});

describe('The text of a refused offer', () => {
  it.each([
    ["expected the subprotocol 'mux.v1.json', got 'mux.v1.msgpack'", true],
    ["expected the subprotocol 'graphql', got none", false],
    ['Bad Request', false],
  ])('Only the text of an acceptor counts as its refusal: %s', (text, isRefusal) => {
    expect(refusesOffer(text)).toBe(isRefusal);
  });
});

describe('isMuxError', () => {
  const foreign = (facts: object): Error => Object.assign(new Error('x'), facts);

  it.each<[string, unknown, boolean]>([
    ['an error of a second copy of the package', foreign({ code: 'RESET', retriable: false }), true],
    ['an error of another realm', runInNewContext(`Object.assign(new Error('x'), { code: 'RESET', retriable: false })`), true],
    ['a plain error', new Error('x'), false],
    ['an error of Node', foreign({ code: 'ECONNRESET' }), false],
    ['an error with a numeric code', foreign({ code: 1, retriable: true }), false],
    ['an error with a list of codes', foreign({ code: ['RESET'], retriable: true }), false],
    ['an error that does not say whether it is retriable', foreign({ code: 'RESET' }), false],
    ['an error with another kind of retriable', foreign({ code: 'RESET', retriable: 1 }), false],
    ['an error of another client that connects', foreign({ code: 'ECONNREFUSED', retriable: true }), false],
    ['an error whose code is the name of an inherited property', foreign({ code: 'toString', retriable: true }), false],
    ['an object that looks like an error', { code: 'RESET', retriable: false }, false],
    ['nothing', undefined, false],
  ])('`isMuxError` judges %s', (_what, error, verdict) => {
    expect(isMuxError(error)).toBe(verdict);
  });
});

const refused = (address: string): Error => new Error(`connect ECONNREFUSED ${address}`);

describe('errorText', () => {
  it.each<[string, unknown, string]>([
    ['the message of an error', new Error('connection lost'), 'connection lost'],
    ['a message of OpenSSL without its line break', new Error('wrong version number:355:\n'), 'wrong version number:355:'],
    [
      'the errors inside an error without a message',
      new AggregateError([refused('::1'), refused('127.0.0.1')]),
      'connect ECONNREFUSED ::1, connect ECONNREFUSED 127.0.0.1',
    ],
    ['the code where no error is inside', Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['the code of an error inside', new AggregateError([Object.assign(new Error(), { code: 'ETIMEDOUT' })]), 'ETIMEDOUT'],
    ['the name of an error that says nothing else', new RangeError(), 'RangeError'],
    ['any other value as a text', 'lost', 'lost'],
  ])('`errorText` returns %s', (_, error, text) => {
    expect(errorText(error)).toBe(text);
  });
});

describe('ResetCode', () => {
  it('ResetCode has these numbers, which are part of the wire', () => {
    expect(ResetCode).toEqual({
      NO_ERROR: 0,
      PROTOCOL_ERROR: 1,
      INTERNAL_ERROR: 2,
      FLOW_CONTROL: 3,
      STREAM_CLOSED: 5,
      PAYLOAD_TOO_LARGE: 6,
      REFUSED: 7,
      CANCEL: 8,
      ENHANCE_YOUR_CALM: 11,
      APPLICATION_ERROR: 16,
      DEADLINE_EXCEEDED: 17,
    });
  });

  it('ResetCode leaves 256 and above to applications', () => {
    expect(FIRST_APPLICATION_CODE).toBe(256);
    expect(Math.max(...Object.values(ResetCode))).toBeLessThan(FIRST_APPLICATION_CODE);
  });

  it.each([
    [8, 'CANCEL'],
    [0, 'NO_ERROR'],
    [300, '300'],
    [-1, '-1'],
    [null, 'no code'],
  ])('`resetCodeName` names %p %s', (code, name) => {
    expect(resetCodeName(code)).toBe(name);
  });
});

describe('CloseCode', () => {
  it('CloseCode has these WebSocket close codes', () => {
    expect(CloseCode).toEqual({
      CLEAN: 1000,
      GOING_AWAY: 1001,
      PROTOCOL_ERROR: 1002,
      WRONG_MESSAGE_KIND: 1003,
      ABNORMAL: 1006,
      POLICY: 1008,
      TOO_BIG: 1009,
      INTERNAL: 1011,
      RESTART: 1012,
    });
  });
});

describe('the close code of a browser (C9)', () => {
  it.each([
    [CloseCode.CLEAN, 1000],
    [1001, 4001],
    [CloseCode.PROTOCOL_ERROR, 4002],
    [CloseCode.TOO_BIG, 4009],
    [2999, 5999],
    [3000, 3000],
    [4321, 4321],
  ])('A browser sends the close code %i as %i', (code, sent) => {
    expect(browserCode(code)).toBe(sent);
  });
});
