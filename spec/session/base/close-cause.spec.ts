import { describe, expect, it } from '@jest/globals';
import { causeError, ENDED, endedHere } from '../../../src/stream/end.js';
import type { CloseCause } from '../../../src/stream/end.js';
import { CancelledError, RefusedError, ResetError } from '../../../src/wire/errors.js';
import { ResetCode } from '../../../src/wire/codes.js';

const reset = (by: 'user' | 'library' | 'remote', code: ResetCode | null): CloseCause => ({
  how: 'reset',
  by,
  code,
  reason: 'why',
  payload: { details: 1 },
});

const OTHERS = Object.values(ResetCode).filter((code) => code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.REFUSED);

describe('unknown reset codes', () => {
  it.each([...OTHERS, 256, 4_000_000_000, -1, null])('A remote reset with another code keeps its code and is not retriable: %p', (code) => {
    const error = causeError(reset('remote', code), 5, true);
    expect(error).toBeInstanceOf(ResetError);
    expect(error).toMatchObject({ resetCode: code, reason: 'why', payload: { details: 1 }, streamId: 5, retriable: false });
  });
});

describe('causeError', () => {
  it('`causeError` uses the reason of a failed remote handler as the message', () => {
    expect(causeError(reset('remote', ResetCode.APPLICATION_ERROR), 5, false)).toMatchObject({
      message: 'why',
      reason: 'why',
      streamId: 5,
    });
  });

  it('`causeError` returns a RefusedError with the reset code when the remote refused', () => {
    const error = causeError(reset('remote', ResetCode.REFUSED), 5, false);
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ resetCode: ResetCode.REFUSED, retriable: true, streamId: 5 });
  });

  it('`causeError` returns a RefusedError without a reset code when this program refused', () => {
    const error = causeError(reset('user', ResetCode.REFUSED), 5, false);
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ resetCode: null, retriable: true, streamId: 5 });
  });

  it.each([
    ['with a reason', 'enough', 'stream 5: enough'],
    ['without a reason', '', 'stream 5: cancelled'],
  ])('`causeError` returns a CancelledError when this side cancelled %s', (_what, reason, message) => {
    const error = causeError({ how: 'reset', by: 'user', code: ResetCode.CANCEL, reason, payload: null }, 5, false);
    expect(error).toBeInstanceOf(CancelledError);
    expect(error).toMatchObject({ message, streamId: 5, retriable: false });
  });

  it.each([300, null, ResetCode.INTERNAL_ERROR])('`causeError` returns a ResetError when this side reset with another code: %p', (code) => {
    const error = causeError(reset('user', code), 5, false);
    expect(error).toBeInstanceOf(ResetError);
    expect(error).toMatchObject({ resetCode: code, reason: 'why', retriable: false });
  });

  it('`causeError` names the lost stream', () => {
    const reason = { code: 1006, reason: '', wasClean: false, willRetry: true };
    expect(causeError({ how: 'lost', reason }, 5, false)).toMatchObject({ streamId: 5, retriable: false });
  });

  it.each<[string, CloseCause, object | null]>([
    ['lost', { how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: true } }, { streamId: null, retriable: true }],
    ['reset', reset('user', ResetCode.CANCEL), { streamId: null, retriable: false }],
    ['ended', ENDED, null],
  ])('Without an id, `causeError` names no stream: %s', (_what, cause, facts) => {
    const error = causeError(cause, null, true);
    if (facts === null) expect(error).toBeNull();
    else expect(error).toMatchObject(facts);
  });
});

describe('endedHere', () => {
  it.each<[boolean, string, CloseCause | null]>([
    [false, 'is open', null],
    [true, 'ended on both sides', ENDED],
    [true, 'ended here and thereby stopped an upload', reset('library', ResetCode.NO_ERROR)],
    [false, 'this library reset with another code', reset('library', ResetCode.CANCEL)],
    [false, 'this program reset', reset('user', ResetCode.NO_ERROR)],
    [false, 'the remote reset', reset('remote', ResetCode.NO_ERROR)],
    [false, 'was lost', { how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: true } }],
  ])('`endedHere` returns %p for a stream that %s', (ended, _what, cause) => {
    expect(endedHere(cause)).toBe(ended);
  });
});
