import { describe, expect, it } from '@jest/globals';
import { ReceiveBudget } from '../../../src/session/receive/receive-budget.js';
import { ReadBackpressure } from '../../../src/session/receive/read-backpressure.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import type { Limits } from '../../../src/wire/limits.js';
import { ResetCode } from '../../../src/wire/reset-code.js';
import { ScriptedTransport } from '../../support/scripted-transport.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const MIB = 1024 * 1024;
const OPEN = { closed: false } as const;

const rig = (limits: Partial<Limits> = {}) => {
  const resolved = resolveLimits(limits);
  const transport = new ScriptedTransport();
  const reading = new ReadBackpressure(transport, resolved.pauseMs);
  return { transport, reading, budget: new ReceiveBudget(resolved, reading) };
};

describe('unread payloads', () => {
  it(
    'of one stream are 4 MiB at most: a byte more is FLOW_CONTROL and names limit and size',
    inTime(() => {
      const { budget } = rig();
      expect(budget.keep(OPEN, 4 * MIB, 4 * MIB)).toBeNull();
      expect(budget.keep(OPEN, 4 * MIB + 1, 1)).toEqual({
        code: ResetCode.FLOW_CONTROL,
        reason: '4194305 unread bytes are over the limit of 4194304 (maxUnreadBytes)',
      });
      expect(budget.held.used).toBe(4 * MIB);
    }),
  );

  it(
    'of one connection are 64 MiB at most: the stream that asks for more is told to be calm',
    inTime(() => {
      const { budget } = rig();
      for (let n = 0; n < 64; n++) expect(budget.keep({ ...OPEN }, MIB, MIB)).toBeNull();
      expect(budget.keep(OPEN, 1, 1)).toEqual({
        code: ResetCode.ENHANCE_YOUR_CALM,
        reason: '67108865 bytes held by this connection are over the limit of 67108864 (maxHeldBytes)',
      });
      expect(budget.held.used).toBe(64 * MIB);
    }),
  );

  it('are first a matter of their own stream', () => {
    const { budget } = rig({ maxUnreadBytes: 10, maxHeldBytes: 10 });
    expect(budget.keep(OPEN, 11, 11)).toMatchObject({ code: ResetCode.FLOW_CONTROL });
  });

  it('are not counted any more once they are read', () => {
    const { budget } = rig({ maxHeldBytes: 100 });
    expect(budget.keep(OPEN, 100, 100)).toBeNull();
    budget.read(OPEN, 40, 60);
    expect(budget.held.used).toBe(40);
    expect([budget.keep(OPEN, 100, 60), budget.held.used]).toEqual([null, 100]);
  });
});

describe('a consumer that lags', () => {
  it.each([
    [99, false],
    [100, true],
    [101, true],
  ])(
    'with %i of pauseBytes 100 unread stops the socket: %s',
    inTime<[number, boolean]>((_time, unread, pauses) => {
      const { budget, transport } = rig({ pauseBytes: 100 });
      expect(budget.keep(OPEN, unread, unread)).toBeNull();
      expect(transport.paused).toBe(pauses);
    }),
  );

  it(
    'lets it be read on once less than pauseBytes is unread',
    inTime((time) => {
      const { budget, transport } = rig({ pauseBytes: 100 });
      budget.keep(OPEN, 150, 150);
      budget.read(OPEN, 100, 50);
      expect(transport.paused).toBe(true);
      budget.read(OPEN, 99, 1);
      expect([transport.paused, time.isOver]).toEqual([false, true]);
    }),
  );

  it.each<[string, boolean, boolean]>([
    ['that more may come on stops the socket', false, true],
    ['that is closed does not stop the socket', true, false],
  ])(
    'of a stream %s',
    inTime<[string, boolean, boolean]>((_time, _what, closed, pauses) => {
      const { budget, reading } = rig({ pauseBytes: 1 });
      expect(budget.keep({ closed }, 1, 1)).toBeNull();
      expect([reading.paused, budget.held.used]).toEqual([pauses, 1]);
    }),
  );

  it('holds nobody up any more once its stream is closed, though a handler is still at work', () => {
    const session = new Rig({ limits: { pauseBytes: 10 } });
    const { live } = session.remote(1);
    live.handlerStarted();
    live.keep(10);
    expect(session.transport.paused).toBe(true);
    session.receive({ type: 'reset', stream: 1, code: ResetCode.CANCEL });
    expect(session.transport.paused).toBe(false);
  });

  it('does not stop the socket with what is not kept', () => {
    const { budget, transport } = rig({ pauseBytes: 1, maxUnreadBytes: 10 });
    expect(budget.keep(OPEN, 11, 11)).not.toBeNull();
    expect([transport.paused, budget.held.used]).toEqual([false, 0]);
  });
});
