import { describe, expect, it } from '@jest/globals';
import { ABSENT, completeFrame } from '../../src/wire/frame.js';
import { resolveLimits } from '../../src/wire/limits.js';
import { ResetCode } from '../../src/wire/reset-code.js';
import { Scheduler } from '../../src/session/scheduler.js';
import { ScriptedTransport } from '../support/scripted-transport.js';
import { Rig } from '../support/session-rig.js';
import type { Holder, RigOptions } from '../support/session-rig.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Six slices under JSON. */
const BIG = 'x'.repeat(6 * 65_000);

/** A rig with three open streams, 2, 4 and 6, whose socket is full. */
function full(options: RigOptions = {}): readonly [Rig, Holder, Holder, Holder] {
  const rig = new Rig(options);
  const streams = [rig.open(), rig.open(), rig.open()] as const;
  void rig.news;
  rig.transport.bufferedAmount = MIB;
  return [rig, ...streams];
}

const streamsOf = (rig: Rig) => rig.news.map(({ stream, type }) => stream ?? type);

describe('the scheduler', () => {
  it('sends control before data', () => {
    const [rig, one] = full();
    rig.send(one, { payload: 'data' });
    rig.session.connection.probe();
    rig.receive({ type: 'ping', nonce: 'n' });
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type }) => type)).toEqual(['ping', 'pong', 'data']);
  });

  it('sends control before the slices that are left of a transfer', () => {
    const [rig, one] = full();
    rig.send(one, { payload: BIG });
    rig.transport.onSend = () => {
      rig.transport.onSend = () => undefined;
      rig.receive({ type: 'ping', nonce: 'n' });
    };
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type }) => type).slice(0, 3)).toEqual(['data', 'pong', 'data']);
  });

  it('sends one slice of each stream in turn', () => {
    const [rig, ...streams] = full();
    for (const stream of streams) rig.send(stream, { payload: 'x'.repeat(65_000 * 2) });
    rig.transport.drainTo(0);
    expect(streamsOf(rig)).toEqual([2, 4, 6, 2, 4, 6]);
  });

  it('lets a small request overtake a big transfer', () => {
    const [rig, big] = full();
    rig.send(big, { payload: BIG });
    rig.open({ payload: 'small', end: true });
    rig.transport.drainTo(0);
    expect(streamsOf(rig)).toEqual([2, 8, 2, 2, 2, 2, 2]);
  });

  it('lets opens leave in the order of their ids, big ones too', () => {
    const [rig] = full();
    for (const payload of [BIG, 'small', BIG, 'small']) rig.open({ payload });
    rig.transport.drainTo(0);
    while (rig.transport.turnsDue > 0) rig.transport.nextTurn();
    const firsts = rig.news.filter(({ stream }, at, all) => all.findIndex((other) => other.stream === stream) === at);
    expect(firsts.map(({ stream }) => stream)).toEqual([8, 10, 12, 14]);
  });

  it('sends at once, and queues nothing, while the socket has room', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = MIB - 1;
    const stream = rig.open({ payload: 'a' });
    rig.send(stream, { payload: 'b' });
    expect(streamsOf(rig)).toEqual([2, 2]);
    expect(rig.session.scheduler.backlog.bytes).toBe(0);
  });

  it('stops at 1 MiB in the socket, and goes on at 256 KiB', () => {
    const rig = new Rig();
    rig.transport.stuck = true;
    const stream = rig.open();
    for (let n = 0; n < 3; n++) rig.send(stream, { payload: 'x'.repeat(8 * 65_000) });
    while (rig.transport.turnsDue > 0) rig.transport.nextTurn();
    expect(rig.transport.bufferedAmount).toBeGreaterThanOrEqual(MIB);
    expect(rig.transport.bufferedAmount).toBeLessThan(MIB + 65_536);
    expect(rig.transport.awaitedBytes).toBe(256 * KIB);
    const sent = rig.transport.sent.length;
    rig.receive({ type: 'ping', nonce: 'n' });
    expect(rig.transport.sent).toHaveLength(sent);
    rig.transport.drainTo(256 * KIB + 1);
    expect(rig.transport.sent).toHaveLength(sent);
    rig.transport.stuck = false;
    rig.transport.drainTo(256 * KIB);
    expect(rig.transport.sent.length).toBeGreaterThan(sent);
  });

  it('leaves off after 512 KiB until the next turn, so that reading and timers come in between', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: 'x'.repeat(20 * 65_000) });
    rig.transport.drainTo(0);
    expect(rig.transport.sent).toHaveLength(3 + 9);
    expect(rig.transport.turnsDue).toBe(1);
    rig.transport.nextTurn();
    rig.transport.nextTurn();
    expect(rig.transport.turnsDue).toBe(0);
    expect(rig.session.scheduler.backlog.bytes).toBe(0);
  });

  it('encodes a slice only when its turn comes', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: BIG });
    const cut = () => rig.observed.filter(([, { fragment }]) => fragment !== undefined).length;
    expect(cut()).toBe(0);
    rig.transport.onSend = () => {
      rig.transport.bufferedAmount = MIB;
    };
    rig.transport.drainTo(0);
    expect(cut()).toBe(1);
  });
});

describe('room', () => {
  it('is there at once while the stream has less than 256 KiB queued', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: 'x'.repeat(256 * KIB - 3) });
    expect(stream.live.hasRoom).toBe(true);
    let woken = 0;
    stream.live.whenRoom(() => woken++);
    expect(woken).toBe(1);
  });

  it('is waited for with 256 KiB, and there when less is left', () => {
    const [rig, stream, other] = full();
    rig.send(stream, { payload: 'x'.repeat(256 * KIB - 2) });
    expect([stream.live.hasRoom, other.live.hasRoom]).toEqual([false, true]);
    const woken: string[] = [];
    stream.live.whenRoom(() => woken.push(`first at ${rig.transport.sent.length}`));
    stream.live.whenRoom(() => woken.push(`second at ${rig.transport.sent.length}`));
    expect(woken).toEqual([]);
    rig.transport.drainTo(0);
    expect(woken).toEqual(['first at 4', 'second at 4']);
  });

  it('is nowhere while all streams together have sendHighWaterBytes queued', () => {
    const [rig, one, two, three] = full({ limits: { sendHighWaterBytes: 1_000 } });
    rig.send(one, { payload: 'x'.repeat(497) });
    rig.send(two, { payload: 'x'.repeat(498) });
    expect(three.live.hasRoom).toBe(true);
    rig.send(two, { payload: 1 });
    expect(three.live.hasRoom).toBe(false);
    const woken: string[] = [];
    three.live.whenRoom(() => woken.push('three'));
    two.live.whenRoom(() => woken.push('two'));
    one.live.reset('user', ResetCode.CANCEL, '');
    expect(woken).toEqual(['three', 'two']);
  });

  it('is given to the next who waits only if those before have left some', () => {
    const [rig, one, two, three] = full({ limits: { sendHighWaterBytes: 1_000 } });
    rig.send(one, { payload: 'x'.repeat(998) });
    const woken: string[] = [];
    two.live.whenRoom(() => {
      woken.push('two');
      rig.send(two, { payload: 'x'.repeat(998) });
    });
    three.live.whenRoom(() => woken.push('three'));
    one.live.reset('user', ResetCode.CANCEL, '');
    expect(woken).toEqual(['two']);
    rig.transport.drainTo(0);
    expect(woken).toEqual(['two', 'three']);
  });

  it('is not waited for any more on a stream that has ended, whose end is told before', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: BIG });
    const told: string[] = [];
    stream.live.whenRoom(() => told.push('woken'));
    stream.onGone = () => told.push('gone');
    rig.receive({ type: 'reset', stream: 2, code: ResetCode.CANCEL });
    expect(told).toEqual(['gone', 'woken']);
    expect(stream.live.hasRoom).toBe(true);
    stream.live.whenRoom(() => told.push('at once'));
    expect(told).toEqual(['gone', 'woken', 'at once']);
  });

  it('is over where maxUnsentBytes are queued', () => {
    const [rig, stream] = full({ limits: { maxUnsentBytes: 1_000 } });
    rig.send(stream, { payload: 'x'.repeat(997) });
    expect(stream.live.overflows).toBe(false);
    rig.send(stream, { payload: 1 });
    expect(stream.live.overflows).toBe(true);
    rig.transport.drainTo(0);
    expect(stream.live.overflows).toBe(false);
  });
});

describe('a scheduler that has no output yet', () => {
  const failures: unknown[] = [];
  const scheduler = new Scheduler(new ScriptedTransport(), resolveLimits(), {
    sent: () => undefined,
    unsendable: (_frame, error) => failures.push(error),
  });

  it('sends nothing', () => {
    expect(() => scheduler.add(completeFrame({ type: 'ping' }))).toThrow('the scheduler has no output yet');
    scheduler.add(completeFrame({ type: 'open', stream: 1, payload: ABSENT }));
    expect(failures).toEqual([new Error('the scheduler has no output yet')]);
  });
});
