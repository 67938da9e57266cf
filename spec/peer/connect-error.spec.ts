import { describe, expect, it } from '@jest/globals';
import { connectError } from '../../src/peer/connect-error.js';

const close = { code: 1006, reason: '', wasClean: false };

describe('the error of a dial that failed', () => {
  it.each([
    ['the close code', connectError(close), 'the connection could not be opened (1006)'],
    [
      'the reason, where there is one',
      connectError({ ...close, reason: 'ECONNREFUSED' }),
      'the connection could not be opened (1006 ECONNREFUSED)',
    ],
    ['the status, and that alone', connectError(close, 503, true), 'expected the handshake to be accepted, got HTTP 503'],
  ])('tells %s', (_what, { message }, expected) => {
    expect(message).toBe(expected);
  });

  it('names the suspects only where the platform does not say why', () => {
    expect(connectError(close, null, true).message).toMatch(
      /^the connection could not be opened \(1006\); this platform does not say why: /,
    );
  });

  it.each([null, 503])('has the reason of the close, and will not be followed by a dial of its own: status %p', (status) => {
    expect(connectError(close, status)).toMatchObject({ status, reason: { ...close, willRetry: false } });
  });
});
