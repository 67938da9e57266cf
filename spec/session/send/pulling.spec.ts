import { describe, expect, it } from '@jest/globals';
import { TURN_BYTES } from '../../../src/connection/outbound.js';
import { MIN_CHARGE_BYTES } from '../../../src/wire/reassembly.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder } from '../../support/session/rig.js';

const KIB = 1024;
const FULL = 1024 * KIB;
const ROOM = 256 * KIB;
/** A payload that fills the share of one turn of the event loop, in a single message. */
const SHARE = 'x'.repeat(TURN_BYTES);
const WIDE = { maxFrameBytes: 256 * KIB };

/** A rig with `count` open streams, and a list for the names of the tasks that ran. */
function pulled(count: number, options = WIDE): readonly [rig: Rig, streams: readonly Holder[], ran: string[]] {
  const rig = new Rig({ ...options, measured: false });
  const streams = Array.from({ length: count }, () => rig.open());
  rig.forget();
  return [rig, streams, []];
}

describe('pulling streams', () => {
  it('`whenDemand` runs its task at once while the socket and the turn have room', () => {
    const [rig, [stream], ran] = pulled(1);
    expect(stream?.live.hasDemand).toBe(true);
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue, rig.transport.awaitedBytes]).toEqual([['task'], 0, null]);
  });

  it('`whenDemand` waits for the next turn once the share of this turn is used up', () => {
    const [rig, [stream, other], ran] = pulled(2);
    if (other !== undefined) rig.send(other, { payload: SHARE });
    expect(stream?.live.hasDemand).toBe(false);
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue]).toEqual([[], 1]);
    rig.transport.nextTurn();
    expect([ran, stream?.live.hasDemand, rig.transport.turnsDue]).toEqual([['task'], true, 0]);
  });

  it.each([
    ['one byte less than a share', -1, true],
    ['exactly a share', 0, false],
  ])('`hasDemand` counts the charges of the open and of the message besides the payload: %s', (_what, more, idle) => {
    const [rig, [stream]] = pulled(1);
    if (stream !== undefined) rig.send(stream, { payload: 'x'.repeat(TURN_BYTES - 2 * MIN_CHARGE_BYTES - '""'.length + more) });
    expect(stream?.live.hasDemand).toBe(idle);
  });

  it('`whenDemand` waits until the socket has room again', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.transport.bufferedAmount = FULL;
    expect(stream?.live.hasDemand).toBe(false);
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue, rig.transport.awaitedBytes]).toEqual([[], 0, ROOM]);
    rig.transport.drainTo(ROOM);
    expect(ran).toEqual(['task']);
  });

  it('`whenDemand` never runs its task on a socket that the remote has begun to close', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.transport.closing = true;
    expect(stream?.live.hasDemand).toBe(false);
    stream?.live.whenDemand(() => ran.push('task'));
    for (let turn = 0; turn < 3; turn++) rig.transport.nextTurn();
    expect([ran, rig.transport.turnsDue, rig.news]).toEqual([[], 0, []]);
  });

  it('`whenDemand` waits behind the queued frames', () => {
    const [rig, [stream, other], ran] = pulled(2);
    rig.transport.bufferedAmount = FULL;
    if (other !== undefined) rig.send(other, { payload: 'before' });
    stream?.live.whenDemand(() => ran.push(`behind ${rig.news.length}`));
    rig.transport.drainTo(0);
    expect(ran).toEqual(['behind 1']);
  });

  it('`whenDemand` waits until the frame that is leaving has left', () => {
    const [rig, [stream, other], ran] = pulled(2);
    rig.onObserved = () => {
      rig.onObserved = () => undefined;
      ran.push(`idle: ${String(stream?.live.hasDemand)}`);
      stream?.live.whenDemand(() => ran.push(`behind ${rig.news.length}`));
    };
    if (other !== undefined) rig.send(other, { payload: 'leaving' });
    expect(ran).toEqual(['idle: false', 'behind 1']);
  });

  it('Pulling streams take turns, one share of a turn each', () => {
    const [rig, streams, ran] = pulled(3);
    rig.transport.bufferedAmount = FULL;
    for (const stream of streams) {
      const step = (): void => {
        ran.push(String(stream.live.id));
        rig.send(stream, { payload: SHARE });
        if (ran.length < 5) stream.live.whenDemand(step);
      };
      stream.live.whenDemand(step);
    }
    rig.transport.drainTo(0);
    const after = [ran.length];
    while (rig.transport.turnsDue > 0) {
      rig.transport.nextTurn();
      after.push(ran.length);
    }
    expect(ran).toEqual(['2', '4', '6', '2', '4', '6', '2']);
    expect(after).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('The scheduler asks at most 16 streams in a row that do not answer at once, and the others in later turns', () => {
    const [rig, streams, ran] = pulled(40);
    rig.transport.bufferedAmount = FULL;
    for (const stream of streams) stream.live.whenDemand(() => ran.push('asked'));
    rig.transport.drainTo(0);
    const after = [ran.length];
    while (rig.transport.turnsDue > 0) {
      rig.transport.nextTurn();
      after.push(ran.length);
    }
    expect(after).toEqual([16, 32, 40]);
  });

  it('A stream that answers within the turn has demand again, while others wait to be asked', () => {
    const [rig, streams] = pulled(17);
    const [stream] = streams;
    rig.transport.bufferedAmount = FULL;
    for (const { live } of streams) live.whenDemand(() => undefined);
    rig.transport.drainTo(0);
    expect(rig.transport.turnsDue).toBe(1);
    expect(stream?.live.hasDemand).toBe(true);
    if (stream !== undefined) rig.send(stream, { payload: 'answer' });
    expect(rig.news).toHaveLength(1);
    expect(stream?.live.hasDemand).toBe(true);
  });

  it('An answer leaves at once where only pulled streams wait for the next turn', () => {
    const [rig, [stream, other, third], ran] = pulled(3);
    if (other !== undefined) rig.send(other, { payload: SHARE });
    stream?.live.whenDemand(() => ran.push('next turn'));
    rig.forget();
    if (third !== undefined) rig.send(third, { payload: 'answer' });
    expect([rig.news.length, ran, rig.transport.turnsDue]).toEqual([1, [], 1]);
    rig.transport.nextTurn();
    expect([ran, rig.transport.turnsDue]).toEqual([['next turn'], 0]);
  });

  it('A pulling stream sends one value after each slice of a transfer', () => {
    const [rig, [stream, other]] = pulled(2, { maxFrameBytes: 256 });
    rig.transport.bufferedAmount = FULL;
    if (other !== undefined) rig.send(other, { payload: 'x'.repeat(1_200) });
    let asked = 0;
    const step = (): void => {
      expect(stream?.live.hasDemand).toBe(true);
      if (stream !== undefined) rig.send(stream, { payload: asked++ });
      expect(stream?.live.hasDemand).toBe(false);
      if (asked < 4) stream?.live.whenDemand(step);
    };
    stream?.live.whenDemand(step);
    expect(asked).toBe(0);
    rig.transport.drainTo(0);
    const order = rig.news.map((frame) => frame['stream']);
    expect(order).toEqual([4, 4, 2, 4, 2, 4, 2, 4, 2, 4]);
  });

  it.each([
    ['alone', 1],
    ['beside others', 3],
  ])('A pulling stream has no demand while its previous frame is still being sliced: %s', (_, count) => {
    const [rig, streams] = pulled(count, { maxFrameBytes: 256 });
    rig.transport.bufferedAmount = FULL;
    let queuedAtMost = 0;
    const asked = streams.map((stream) => {
      let times = 0;
      const step = (): void => {
        rig.send(stream, { payload: 'x'.repeat(600) });
        queuedAtMost = Math.max(queuedAtMost, stream.live.sending?.bytes ?? 0);
        if (++times < 4) stream.live.whenDemand(step);
      };
      stream.live.whenDemand(step);
      return () => times;
    });
    rig.transport.drainTo(0);
    rig.settle();
    expect(asked.map((times) => times())).toEqual(Array.from({ length: count }, () => 4));
    expect(queuedAtMost).toBeLessThanOrEqual(602);
  });

  it('A pulling stream that sends nothing in its turn has no demand afterwards', () => {
    const [rig, [stream, other]] = pulled(2, { maxFrameBytes: 256 });
    rig.transport.bufferedAmount = FULL;
    if (other !== undefined) rig.send(other, { payload: 'x'.repeat(1_200) });
    const idle: unknown[] = [];
    stream?.live.whenDemand(() => idle.push(stream.live.hasDemand));
    rig.onObserved = () => idle.push(stream?.live.hasDemand);
    rig.transport.drainTo(0);
    expect(idle).toEqual([false, true, ...rig.news.slice(1).map(() => false)]);
  });

  it('`whenDemand` does not run a task within another task of its stream', () => {
    const [, [stream], ran] = pulled(1);
    stream?.live.whenDemand(() => {
      stream.live.whenDemand(() => ran.push('second'));
      ran.push('first');
    });
    expect(ran).toEqual(['first', 'second']);
  });

  it('`whenDemand` runs its task when the stream has ended, and later tasks at once', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.transport.bufferedAmount = FULL;
    stream?.live.whenDemand(() => ran.push('waited'));
    stream?.live.reset('user', ResetCode.CANCEL, '');
    stream?.live.whenDemand(() => ran.push('closed'));
    expect([ran, stream?.live.hasDemand]).toEqual([['waited', 'closed'], true]);
  });

  it('`whenDemand` never runs its task on a failed connection, and waits for no turn', () => {
    const [rig, [stream], ran] = pulled(1);
    rig.receive({ type: 'open', stream: 0 });
    stream?.live.whenDemand(() => ran.push('task'));
    expect([ran, rig.transport.turnsDue, rig.transport.awaitedBytes]).toEqual([[], 0, null]);
  });
});
