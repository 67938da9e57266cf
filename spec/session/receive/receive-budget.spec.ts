import { describe, expect, it } from '@jest/globals';
import { AnswerHold, MEASURED_BYTES } from '../../../src/connection/budget.js';
import { Budget } from '../../../src/connection/budget.js';
import { ReadBackpressure } from '../../../src/connection/budget.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import type { Limits } from '../../../src/wire/limits.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { ScriptedTransport } from '../../support/socket/scripted-transport.js';
import { Holder, Rig, scriptedOwner } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const MIB = 1024 * 1024;
const OWNER = scriptedOwner();
const OPEN = new Holder(OWNER, true);
const OTHER = new Holder(OWNER, true);

const rig = (limits: Partial<Limits> = {}) => {
  const resolved = resolveLimits(limits);
  const transport = new ScriptedTransport();
  const reading = new ReadBackpressure(transport, resolved.pauseMs);
  const pongs: (string | null)[] = [];
  const hold = new AnswerHold({ pong: (nonce) => pongs.push(nonce), signOfLife: () => undefined }, resolved.pauseMs);
  let received = 0;
  /** Whether a ping that follows data waits for its answer. */
  const holdsPings = (): boolean => {
    const before = pongs.length;
    hold.pinged('nonce', (received += MEASURED_BYTES));
    return pongs.length === before;
  };
  return { transport, reading, holdsPings, budget: new Budget(resolved, reading, hold) };
};

describe('unread payloads', () => {
  it(
    'Budget keeps 4 MiB for one stream and refuses one byte more with FLOW_CONTROL',
    inTime(() => {
      const { budget } = rig();
      expect(budget.keep(OPEN, 4 * MIB, 4 * MIB, 4 * MIB)).toBeNull();
      expect(budget.keep(OPEN, 4 * MIB + 1, 1, 1)).toEqual({
        code: ResetCode.FLOW_CONTROL,
        reason: '4194305 unread bytes are over the limit of 4194304 (maxUnreadBytes)',
      });
      expect(budget.held.used).toBe(4 * MIB);
    }),
  );

  it(
    'Budget keeps twice as much for a stream of a remote whose pings wait, and refuses one byte more',
    inTime(() => {
      const { budget, holdsPings } = rig();
      expect(budget.keep(OPEN, MIB, MIB, MIB)).toBeNull();
      expect(holdsPings()).toBe(true);
      expect(budget.keep(OPEN, 8 * MIB, 7 * MIB, 7 * MIB)).toBeNull();
      expect(budget.keep(OPEN, 8 * MIB + 1, 1, 1)).toEqual({
        code: ResetCode.FLOW_CONTROL,
        reason: '8388609 unread bytes are over the limit of 8388608 (maxUnreadBytes)',
      });
    }),
  );

  it(
    'Budget keeps twice as much for a stream that lags, also when the reads of another stream have answered every ping',
    inTime(() => {
      const { budget, holdsPings } = rig();
      for (const stream of [OPEN, OTHER]) budget.keep(stream, 2 * MIB, 2 * MIB, 2 * MIB);
      expect(holdsPings()).toBe(true);
      budget.read(OTHER, 2 * MIB - MEASURED_BYTES, MEASURED_BYTES, MEASURED_BYTES);
      expect(budget.keep(OPEN, 4 * MIB + 1, 1, 1)).toBeNull();
    }),
  );

  it(
    'Budget keeps 4 MiB for a stream whose consumer has read nothing for so long that the pings are answered',
    inTime((time) => {
      const { budget, holdsPings } = rig();
      budget.keep(OPEN, MIB, MIB, MIB);
      expect(holdsPings()).toBe(true);
      time.advance(5_000);
      expect(budget.keep(OPEN, 4 * MIB + 1, 1, 1)).toMatchObject({ code: ResetCode.FLOW_CONTROL });
    }),
  );

  it(
    'Budget keeps 64 MiB for one connection and refuses one byte more with ENHANCE_YOUR_CALM',
    inTime(() => {
      const { budget } = rig();
      for (let n = 0; n < 64; n++) expect(budget.keep(new Holder(OWNER, true), MIB, MIB, MIB)).toBeNull();
      expect(budget.keep(OPEN, 1, 1, 1)).toEqual({
        code: ResetCode.ENHANCE_YOUR_CALM,
        reason: '67108865 bytes held by this connection are over the limit of 67108864 (maxHeldBytes)',
      });
      expect(budget.held.used).toBe(64 * MIB);
    }),
  );

  it('Budget reports FLOW_CONTROL when a payload exceeds both limits', () => {
    const { budget } = rig({ maxUnreadBytes: 10, maxHeldBytes: 10 });
    expect(budget.keep(OPEN, 11, 11, 11)).toMatchObject({ code: ResetCode.FLOW_CONTROL });
  });

  it('Budget counts no payload that was read', () => {
    const { budget } = rig({ maxHeldBytes: 100 });
    expect(budget.keep(OPEN, 100, 100, 100)).toBeNull();
    budget.read(OPEN, 40, 60, 60);
    expect(budget.held.used).toBe(40);
    expect([budget.keep(OPEN, 100, 60, 60), budget.held.used]).toEqual([null, 100]);
  });
});

describe('lagging consumers', () => {
  it.each([
    [99, false],
    [100, true],
    [101, true],
  ])(
    'Budget with %i unread bytes and pauseBytes 100 holds back pongs: %s',
    inTime<[number, boolean]>((_time, unread, holds) => {
      const { budget, transport, holdsPings } = rig({ pauseBytes: 100 });
      expect(budget.keep(OPEN, unread, unread, unread)).toBeNull();
      expect([holdsPings(), transport.paused]).toEqual([holds, false]);
    }),
  );

  it.each<[string, Partial<Limits>, number, number, boolean]>([
    ['2 MiB beyond pauseBytes, less one byte', {}, 3 * MIB - 2, 1, false],
    ['2 MiB beyond pauseBytes', {}, 3 * MIB - 1, 1, true],
    ['less, where the next payload may be as large', {}, 1.5 * MIB, 1.5 * MIB, true],
    ['three quarters of maxUnreadBytes, less one byte', { pauseBytes: 10, maxUnreadBytes: 100 }, 73, 1, false],
    ['three quarters of maxUnreadBytes', { pauseBytes: 10, maxUnreadBytes: 100 }, 74, 1, true],
    ['pauseBytes near maxUnreadBytes, less one byte', { pauseBytes: 90, maxUnreadBytes: 100 }, 89, 89, false],
    ['pauseBytes near maxUnreadBytes', { pauseBytes: 90, maxUnreadBytes: 100 }, 90, 1, true],
  ])(
    'Budget pauses the socket as the next step: %s',
    inTime<[string, Partial<Limits>, number, number, boolean]>((_time, _what, limits, unread, bytes, pauses) => {
      const { budget, transport } = rig(limits);
      expect(budget.keep(OPEN, unread, bytes, bytes)).toBeNull();
      expect(transport.paused).toBe(pauses);
    }),
  );

  it.each([
    ['seven eighths of 8 MiB, less one byte', 7 * MIB - 2, false],
    ['seven eighths of 8 MiB', 7 * MIB - 1, true],
  ])(
    'Budget pauses the socket of a remote whose pings wait at %s',
    inTime<[string, number, boolean]>((_time, _what, unread, pauses) => {
      const { budget, transport, holdsPings } = rig();
      budget.keep(OPEN, MIB, MIB, MIB);
      expect(holdsPings()).toBe(true);
      expect(budget.keep(OPEN, unread, 1, 1)).toBeNull();
      expect(transport.paused).toBe(pauses);
    }),
  );

  it(
    'Budget resumes the socket first, and releases the pongs once less than pauseBytes is unread',
    inTime((time) => {
      const { budget, transport, holdsPings } = rig({ pauseBytes: 100, maxUnreadBytes: 200 });
      budget.keep(OPEN, 200, 100, 100);
      budget.read(OPEN, 150, 50, 50);
      expect([transport.paused, holdsPings()]).toEqual([true, true]);
      budget.read(OPEN, 149, 1, 1);
      expect([transport.paused, holdsPings()]).toEqual([false, true]);
      budget.read(OPEN, 99, 50, 50);
      expect([holdsPings(), time.isOver]).toEqual([false, true]);
    }),
  );

  it(
    'Budget does not pause the socket for a consumer that has read nothing for a whole `pauseMs`',
    inTime((time) => {
      const { budget, transport } = rig({ pauseBytes: 100, maxUnreadBytes: 200 });
      budget.keep(OPEN, 100, 1, 1);
      time.advance(5_000);
      budget.keep(OPEN, 200, 100, 100);
      expect([transport.paused, time.isOver]).toEqual([false, true]);
    }),
  );

  it.each<[string, boolean, boolean]>([
    ['an open stream slows it', false, true],
    ['a closed stream does not', true, false],
  ])(
    'Budget slows the remote for a lagging consumer only while its stream is open: %s',
    inTime<[string, boolean, boolean]>((_time, _what, closed, slows) => {
      const { budget, reading, holdsPings } = rig({ pauseBytes: 1, maxUnreadBytes: 1 });
      const stream = new Holder(OWNER, true);
      if (closed) stream.advance('close');
      expect(budget.keep(stream, 1, 1, 1)).toBeNull();
      expect([reading.paused, holdsPings(), budget.held.used]).toEqual([slows, slows, 1]);
    }),
  );

  it('Session resumes the socket when a lagging stream closes, even while its handler still runs', () => {
    const session = new Rig({ limits: { pauseBytes: 10, maxUnreadBytes: 10 } });
    const { live } = session.remote(1);
    live.handlerStarted();
    live.keep(10);
    expect(session.transport.paused).toBe(true);
    session.receive({ type: 'reset', stream: 1, code: ResetCode.CANCEL });
    expect(session.transport.paused).toBe(false);
  });

  it('Budget does not pause the socket for a payload that it refuses', () => {
    const { budget, transport } = rig({ pauseBytes: 1, maxUnreadBytes: 10 });
    expect(budget.keep(OPEN, 11, 11, 11)).not.toBeNull();
    expect([transport.paused, budget.held.used]).toEqual([false, 0]);
  });
});
