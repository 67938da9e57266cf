import { describe, expect, it } from '@jest/globals';
import { AnswerHold } from '../../../src/session/receive/answer-hold.js';
import { ReceiveBudget } from '../../../src/session/receive/receive-budget.js';
import { ReadBackpressure } from '../../../src/session/receive/read-backpressure.js';
import { CountedUnreadBytes, UNCOUNTED } from '../../../src/session/receive/unread-bytes.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import { ScriptedTransport } from '../../support/socket/scripted-transport.js';
import { Rig } from '../../support/session/rig.js';

function counting() {
  const limits = resolveLimits({ maxHeldBytes: 100 });
  const hold = new AnswerHold({ pong: () => undefined, signOfLife: () => undefined }, limits.pauseMs);
  const budget = new ReceiveBudget(limits, new ReadBackpressure(new ScriptedTransport(), limits.pauseMs), hold);
  return { budget, unread: new CountedUnreadBytes({ closed: false }, budget) };
}

describe('CountedUnreadBytes', () => {
  it('CountedUnreadBytes counts a payload until it is read, and does not count a refused one', () => {
    const { budget, unread } = counting();
    expect([unread.keep(60), unread.keep(60)]).toEqual([
      null,
      expect.objectContaining({ reason: expect.stringContaining('maxHeldBytes') }),
    ]);
    expect(budget.held.used).toBe(60);
    unread.read(60);
    expect([unread.keep(60), budget.held.used]).toEqual([null, 60]);
  });

  it('CountedUnreadBytes releases its bytes when they are dropped, and counts no later payload', () => {
    const { budget, unread } = counting();
    unread.keep(60);
    const later = unread.drop();
    expect([budget.held.used, later.keep(1_000), budget.held.used]).toEqual([0, null, 0]);
    later.handOver();
    later.read(1_000);
    expect([budget.held.used, later.drop()]).toEqual([0, UNCOUNTED]);
  });

  it('CountedUnreadBytes keeps counting handed-over payloads until they are read', () => {
    const { budget, unread } = counting();
    unread.keep(60);
    unread.handOver();
    expect([unread.drop(), budget.held.used]).toEqual([unread, 60]);
    unread.read(60);
    expect(budget.held.used).toBe(0);
  });
});

describe('ended streams', () => {
  it('Session ends a stream whose unread payloads were handed over while there were none', () => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    stream.live.handOver();
    rig.send(stream, { end: true });
    expect([stream.ends, rig.session.receiveBudget.held.used]).toEqual([[{ how: 'ended' }], 0]);
  });

  it.each([
    ['a reader remains', true, 100],
    ['no reader remains', false, 0],
  ])('An ended stream keeps its unread bytes counted only if a reader remains: %s', (_what, isRead, held) => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    stream.live.handlerStarted();
    stream.live.keep(100);
    stream.onGone = () => {
      if (isRead) stream.live.handOver();
      stream.live.handlerSettled();
    };
    rig.send(stream, { end: true });
    expect([stream.live.phase, rig.session.receiveBudget.held.used]).toEqual(['closed', held]);
    stream.live.read(100);
    expect(rig.session.receiveBudget.held.used).toBe(0);
  });
});
