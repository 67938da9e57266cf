import { describe, expect, it } from '@jest/globals';
import { CloseCode } from '../../src/wire/codes.js';
import { FIRST_APPLICATION_CODE, ResetCode, resetCodeName } from '../../src/wire/codes.js';

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
