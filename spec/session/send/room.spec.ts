import { describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder, RigOptions } from '../../support/session/rig.js';

const KIB = 1024;
const MIB = 1024 * KIB;
/** A payload of six slices under JSON. */
const BIG = 'x'.repeat(6 * 65_000);

/** A rig with three open streams, 2, 4 and 6, whose socket is full. */
function full(options: RigOptions = {}): readonly [Rig, Holder, Holder, Holder] {
  const rig = new Rig(options);
  const streams = [rig.open(), rig.open(), rig.open()] as const;
  rig.forget();
  rig.transport.bufferedAmount = MIB;
  return [rig, ...streams];
}

const streamsOf = (rig: Rig) => rig.news.map(({ stream, type }) => stream ?? type);

describe('frames', () => {
  it('A frame leaves at once, without being queued, while the socket has room', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = MIB - 1;
    const stream = rig.open({ payload: 'a' });
    rig.send(stream, { payload: 'b' });
    expect(streamsOf(rig)).toEqual([2, 2]);
    expect(rig.connection.outbound.bytes).toBe(0);
  });

  it('Session cuts and encodes a slice only when its turn comes', () => {
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
  it('`whenRoom` runs a task at once while the stream has less than 256 KiB queued', () => {
    const [rig, stream] = full();
    rig.send(stream, { payload: 'x'.repeat(256 * KIB - 3) });
    expect(stream.live.hasRoom).toBe(true);
    let woken = 0;
    stream.live.whenRoom(() => woken++);
    expect(woken).toBe(1);
  });

  it('`whenRoom` waits while the stream has 256 KiB queued', () => {
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

  it('No stream has room while all streams together have sendHighWaterBytes queued', () => {
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

  it('`whenRoom` runs the next waiting task only if the previous one has left room', () => {
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

  it('`whenRoom` runs its tasks after its stream has ended, and later tasks at once', () => {
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

  it('A closed stream has room however much the other streams have queued', () => {
    const [rig, stream, other] = full({ limits: { sendHighWaterBytes: 100 } });
    rig.send(other, { payload: 'x'.repeat(100) });
    rig.receive({ type: 'reset', stream: 2, code: ResetCode.CANCEL });
    let woken = 0;
    stream.live.whenRoom(() => woken++);
    expect([stream.live.hasRoom, other.live.hasRoom, woken]).toEqual([true, false, 1]);
  });

  it('`overflowsWith` is true while maxUnsentBytes are queued', () => {
    const [rig, stream] = full({ limits: { maxUnsentBytes: 1_000 } });
    rig.send(stream, { payload: 'x'.repeat(1_000 - 64 - 2) });
    expect(stream.live.overflowsWith(1)).toBe(false);
    rig.send(stream, { payload: 1 });
    expect(stream.live.overflowsWith(1)).toBe(true);
    rig.transport.drainTo(0);
    expect(stream.live.overflowsWith(1)).toBe(false);
  });

  it('`overflowsWith` spares small values of a stream with an empty queue, up to sendHighWaterBytes more', () => {
    const [rig, stream, other] = full({ limits: { maxUnsentBytes: 1_000, sendHighWaterBytes: 500 } });
    rig.send(stream, { payload: 'x'.repeat(998) });
    expect([16 * 1024, 16 * 1024 + 1].map((bytes) => other.live.overflowsWith(bytes))).toEqual([false, true]);
    rig.send(stream, { payload: 'x'.repeat(498) });
    expect(other.live.overflowsWith(1)).toBe(true);
  });

  it('`keep` counts no bytes for a stream without a consumer, since no reader would release them', () => {
    const rig = new Rig();
    const stream = rig.remote(1, { end: true });
    rig.send(stream, { end: true });
    expect([stream.cause, stream.live.keep(1_000), rig.connection.budget.held.used]).toEqual([{ how: 'ended' }, true, 0]);
    stream.live.read(1_000);
    expect(rig.connection.budget.held.used).toBe(0);
  });
});
