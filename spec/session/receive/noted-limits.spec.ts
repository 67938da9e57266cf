import { describe, expect, it, jest } from '@jest/globals';
import { logger } from '../../../src/logger.js';
import type { Frame } from '../../../src/wire/frame.js';
import { ResetCode } from '../../../src/wire/codes.js';
import type { ConnectionLimits } from '../../../src/connection/connection.js';
import { Rig } from '../../support/session/rig.js';

const note = ', on Mondays';
const fragment = (text: string): Frame => ({ type: 'open', stream: 3, fragment: text, more: true });

describe('limits that end each reason with a note', () => {
  it.each<[string, Partial<ConnectionLimits>, Frame, string]>([
    [
      'a payload in fragments',
      { maxPayloadBytes: 10 },
      fragment('x'.repeat(11)),
      'payload of at least 11 bytes is over the limit of 10 (maxPayloadBytes)',
    ],
    [
      'a payload in one piece',
      { maxPayloadBytes: 10 },
      { type: 'open', stream: 3, payload: 'x'.repeat(9) },
      'payload of 11 bytes is over the limit of 10 (maxPayloadBytes)',
    ],
    [
      'an unfinished payload over the held bytes',
      { maxHeldBytes: 60 },
      fragment('x'),
      '64 bytes held by this connection are over the limit of 60 (maxHeldBytes)',
    ],
    [
      'the payload of an open over the held bytes',
      { maxHeldBytes: 60 },
      { type: 'open', stream: 3, payload: 'x' },
      '64 bytes held by this connection are over the limit of 60 (maxHeldBytes)',
    ],
  ])('Session notes why it resets a stream: %s', (_what, limits, frame, reason) => {
    const rig = new Rig({ limits: { ...limits, note } });
    rig.receive(frame);
    expect(rig.news).toEqual([expect.objectContaining({ type: 'reset', stream: 3, reason: reason + note })]);
  });

  it('Session notes why it ends the connection', () => {
    const rig = new Rig({ limits: { maxPayloadItems: 5, note } });
    rig.receive({ type: 'open', stream: 3, payload: [0, 0, 0, 0, 0] });
    const reason = `codec 'json': expected at most 5 items (maxPayloadItems), got more${note}`;
    expect(rig.news).toEqual([{ type: 'goaway', code: ResetCode.PROTOCOL_ERROR, last_stream: 0, reason }]);
    expect(rig.transport.closes).toEqual([{ code: 1002, reason }]);
  });

  it('Session adds no note to an error of its own', () => {
    jest.spyOn(logger, 'error').mockImplementationOnce(() => undefined);
    const rig = new Rig({ limits: { note } });
    rig.onObserved = (direction) => {
      if (direction === 'rx') throw new Error('of the owner');
    };
    rig.receive({ type: 'open', stream: 3 });
    expect(rig.transport.closes).toEqual([{ code: 1011, reason: 'internal error' }]);
  });

  it('Session reads each limit at its use, so that they may widen', () => {
    const rig = new Rig({ limits: { maxPayloadBytes: 20, maxHeldBytes: 100, maxPayloadItems: 10, note } });
    Object.assign(rig.connection.limits, { maxPayloadBytes: 1_000, maxHeldBytes: 5_000, maxPayloadItems: 200, note: undefined });
    rig.receive(
      { type: 'open', stream: 1, payload: 'x'.repeat(900) },
      { type: 'open', stream: 3, payload: Array.from({ length: 100 }, () => 0) },
      { type: 'open', stream: 5, fragment: 'x'.repeat(900), more: true },
    );
    expect([rig.news, rig.remotes.length]).toEqual([[], 2]);
    rig.receive({ type: 'open', stream: 5, fragment: 'x'.repeat(101), more: true });
    const reason = 'payload of at least 1001 bytes is over the limit of 1000 (maxPayloadBytes)';
    expect(rig.news).toEqual([{ type: 'reset', stream: 5, code: ResetCode.PAYLOAD_TOO_LARGE, reason }]);
  });
});
