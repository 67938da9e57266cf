import { describe, expect, it } from '@jest/globals';
import { causeError, ENDED, endedHere } from '../../../src/session/base/close-cause.js';
import type { CloseCause } from '../../../src/session/base/close-cause.js';
import { CancelledError, RefusedError, ResetError } from '../../../src/wire/stream-errors.js';
import { ResetCode } from '../../../src/wire/reset-code.js';

const reset = (by: 'user' | 'library' | 'remote', code: ResetCode | null): CloseCause => ({
  how: 'reset',
  by,
  code,
  reason: 'why',
  payload: { details: 1 },
});

const OTHERS = Object.values(ResetCode).filter((code) => code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.REFUSED);

describe('an open set of reset codes', () => {
  it.each([...OTHERS, 256, 4_000_000_000, -1, null])('is preserved as it came, and never retriable: %p', (code) => {
    const error = causeError(reset('remote', code), 5, true);
    expect(error).toBeInstanceOf(ResetError);
    expect(error).toMatchObject({ resetCode: code, reason: 'why', payload: { details: 1 }, streamId: 5, retriable: false });
  });
});

describe('the error of a stream', () => {
  it('has the reason of a failed handler for its message, as it came', () => {
    expect(causeError(reset('remote', ResetCode.APPLICATION_ERROR), 5, false)).toMatchObject({
      message: 'why',
      reason: 'why',
      streamId: 5,
    });
  });

  it('is a refusal by the remote where the remote refused', () => {
    const error = causeError(reset('remote', ResetCode.REFUSED), 5, false);
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ resetCode: ResetCode.REFUSED, retriable: true, streamId: 5 });
  });

  it('is no refusal by the remote where this program refused', () => {
    const error = causeError(reset('user', ResetCode.REFUSED), 5, false);
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ resetCode: null, retriable: true, streamId: 5 });
  });

  it.each([
    ['with its reason', 'enough', 'stream 5: enough'],
    ['without one', '', 'stream 5: cancelled'],
  ])('is a cancellation where this side has cancelled, %s', (_what, reason, message) => {
    const error = causeError({ how: 'reset', by: 'user', code: ResetCode.CANCEL, reason, payload: null }, 5, false);
    expect(error).toBeInstanceOf(CancelledError);
    expect(error).toMatchObject({ message, streamId: 5, retriable: false });
  });

  it.each([300, null, ResetCode.INTERNAL_ERROR])('is the reset as it was where this side has reset with another code: %p', (code) => {
    const error = causeError(reset('user', code), 5, false);
    expect(error).toBeInstanceOf(ResetError);
    expect(error).toMatchObject({ resetCode: code, reason: 'why', retriable: false });
  });

  it('names the stream that was lost', () => {
    const reason = { code: 1006, reason: '', wasClean: false, willRetry: true };
    expect(causeError({ how: 'lost', reason }, 5, false)).toMatchObject({ streamId: 5, retriable: false });
  });

  it.each<[string, CloseCause, object | null]>([
    [
      'that was lost',
      { how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: true } },
      { streamId: null, retriable: true },
    ],
    ['that was reset', reset('user', ResetCode.CANCEL), { streamId: null, retriable: false }],
    ['that ended', ENDED, null],
  ])('without an id names none, for a stream %s', (_what, cause, facts) => {
    const error = causeError(cause, null, true);
    if (facts === null) expect(error).toBeNull();
    else expect(error).toMatchObject(facts);
  });
});

describe('whether this side had ended', () => {
  it.each<[boolean, string, CloseCause | null]>([
    [false, 'is open', null],
    [true, 'ended on both sides', ENDED],
    [true, 'ended here, which has stopped an upload', reset('library', ResetCode.NO_ERROR)],
    [false, 'this library has reset with another code', reset('library', ResetCode.CANCEL)],
    [false, 'this program has reset', reset('user', ResetCode.NO_ERROR)],
    [false, 'the remote has reset', reset('remote', ResetCode.NO_ERROR)],
    [false, 'was lost', { how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: true } }],
  ])('is %p of a stream that %s', (ended, _what, cause) => {
    expect(endedHere(cause)).toBe(ended);
  });
});
