import { describe, expect, it } from '@jest/globals';
import { causeError, ENDED } from '../../src/session/close-cause.js';
import type { CloseCause } from '../../src/session/close-cause.js';
import { ConnectionLostError, RefusedError, RemoteError, ResetError } from '../../src/wire/errors.js';
import type { StreamError } from '../../src/wire/errors.js';
import { ResetCode } from '../../src/wire/reset-code.js';

const LOST = { code: 1006, reason: '', wasClean: false, willRetry: false };
const reset = (by: 'user' | 'library' | 'remote', code: number | null): CloseCause => ({
  how: 'reset',
  by,
  code,
  reason: 'why',
  payload: 'what',
});

type Kind = abstract new (...parts: never[]) => StreamError;

describe('the error that a consumer sees', () => {
  it('is none where the stream simply ended', () => {
    expect(causeError(ENDED, 1, false)).toBeNull();
  });

  it.each<[string, CloseCause, boolean, Kind, object]>([
    ['a lost connection', { how: 'lost', reason: LOST }, false, ConnectionLostError, { reason: LOST, retriable: false }],
    ['a lost connection before the open left', { how: 'lost', reason: LOST }, true, ConnectionLostError, { reason: LOST, retriable: true }],
    ['a failed handler', reset('remote', ResetCode.APPLICATION_ERROR), false, RemoteError, { payload: 'what', retriable: false }],
    ['a refusal by the remote', reset('remote', ResetCode.REFUSED), false, RefusedError, { resetCode: 7, reason: 'why', retriable: true }],
    [
      'a goaway of the remote',
      reset('library', ResetCode.REFUSED),
      false,
      RefusedError,
      { resetCode: null, reason: 'why', retriable: true },
    ],
    ['any other reset', reset('remote', 300), false, ResetError, { resetCode: 300, payload: 'what', retriable: false }],
    ['a reset without a code', reset('remote', null), false, ResetError, { resetCode: null, retriable: false }],
  ])('says what it is for %s', (_what, cause, unsent, kind, facts) => {
    const error = causeError(cause, 5, unsent);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ streamId: 5, ...facts });
  });
});
