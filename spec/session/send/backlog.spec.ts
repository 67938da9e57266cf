import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { Backlog } from '../../../src/connection/outbound.js';
import { roomIn } from '../../../src/stream/sending.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import type { Limits } from '../../../src/wire/limits.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';

const KIB = 1024;
const LANE_ROOM = 256 * KIB;

describe('Backlog', () => {
  it('Backlog counts the queued bytes of all streams, back to 0', () => {
    const backlog = backlogOf();
    add(backlog, 1, 100);
    add(backlog, 3, 200);
    add(backlog, 1, 50);
    expect(backlog.bytes).toBe(100 + 200 + 64);
    take(backlog, 1);
    expect(backlog.bytes).toBe(264);
    backlog.drop(3);
    backlog.drop(3);
    expect(backlog.bytes).toBe(64);
    take(backlog, 1);
    expect([backlog.bytes, backlog.queues.size]).toEqual([0, 0]);
  });

  it('Streams take turns in the order in which they queued their frames', () => {
    const backlog = backlogOf();
    for (const stream of [1, 3, 5, 1, 3, 1]) add(backlog, stream, 100);
    expect(drained(backlog)).toEqual([1, 3, 5, 1, 3, 1]);
  });

  it('Opens have their first turn in the order of their ids, between the turns of older streams', () => {
    const backlog = backlogOf();
    for (let frame = 0; frame < 4; frame++) add(backlog, 1, 100);
    take(backlog, 1);
    add(backlog, 3, 100, 'open');
    take(backlog, 1);
    add(backlog, 5, 100, 'open');
    add(backlog, 7, 100, 'open');
    expect(drained(backlog).filter((stream) => stream !== 1)).toEqual([3, 5, 7]);
  });

  it('`dropUnopened` drops only the streams whose open has not left', () => {
    const backlog = backlogOf();
    add(backlog, 1, 100);
    add(backlog, 3, 100, 'open');
    add(backlog, 3, 100);
    add(backlog, 5, 100, 'open');
    backlog.dropUnopened();
    expect([[...backlog.queues.keys()], backlog.bytes]).toEqual([[1], 100]);
  });

  it('`clear` drops all frames and waiting tasks', () => {
    const ran: string[] = [];
    const backlog = backlogOf();
    add(backlog, 1, LANE_ROOM);
    roomIn(backlog).add(1, () => ran.push('1'));
    backlog.clear();
    backlog.release(1);
    expect([backlog.bytes, backlog.queues.size, ran]).toEqual([0, 0, []]);
  });

  describe('room', () => {
    it.each([
      [LANE_ROOM - 1, true],
      [LANE_ROOM, false],
    ])('`hasRoom` of a stream with %i bytes queued returns %s', (bytes, room) => {
      const backlog = backlogOf();
      add(backlog, 1, bytes);
      expect([roomIn(backlog).hasRoom(1), roomIn(backlog).hasRoom(3)]).toEqual([room, true]);
    });

    it.each([
      [999, true],
      [1000, false],
    ])('`hasRoom` with %i bytes queued on another stream and a sendHighWaterBytes of 1000 returns %s', (bytes, room) => {
      const backlog = backlogOf({ sendHighWaterBytes: 1000 });
      add(backlog, 3, bytes);
      expect(roomIn(backlog).hasRoom(1)).toBe(room);
    });

    it('`wake` runs the waiting tasks of a stream once, in order, when its queue is below 256 KiB', () => {
      const ran: string[] = [];
      const backlog = backlogOf();
      add(backlog, 1, LANE_ROOM);
      add(backlog, 1, 64);
      for (const name of ['a', 'b']) roomIn(backlog).add(1, () => ran.push(name));
      roomIn(backlog).wake(1);
      roomIn(backlog).relieve();
      expect(ran).toEqual([]);
      take(backlog, 1);
      roomIn(backlog).wake(3);
      expect(ran).toEqual([]);
      roomIn(backlog).wake(1);
      roomIn(backlog).wake(1);
      expect(ran).toEqual(['a', 'b']);
    });

    it('`relieve` runs the waiting tasks of all streams once all queues together are below sendHighWaterBytes', () => {
      const ran: number[] = [];
      const backlog = backlogOf({ sendHighWaterBytes: 300 });
      for (const stream of [1, 3]) add(backlog, stream, 200);
      for (const stream of [5, 7, 1]) roomIn(backlog).add(stream, () => ran.push(stream));
      expect(ran).toEqual([]);
      take(backlog, 1);
      roomIn(backlog).relieve();
      roomIn(backlog).relieve();
      expect(ran).toEqual([5, 7, 1]);
    });

    it('`relieve` runs only as many tasks as there is room for', () => {
      const ran: number[] = [];
      const backlog = backlogOf({ sendHighWaterBytes: 300 });
      add(backlog, 1, 300);
      for (const stream of [3, 5])
        roomIn(backlog).add(stream, () => {
          ran.push(stream);
          add(backlog, stream, 300);
        });
      take(backlog, 1);
      roomIn(backlog).relieve();
      expect(ran).toEqual([3]);
      take(backlog, 3);
      roomIn(backlog).relieve();
      expect(ran).toEqual([3, 5]);
    });

    it('`release` runs the waiting tasks of its stream first, then the tasks that its queue held up', () => {
      const ran: string[] = [];
      const backlog = backlogOf({ sendHighWaterBytes: 300 });
      add(backlog, 1, 300);
      roomIn(backlog).add(3, () => ran.push('other'));
      roomIn(backlog).add(1, () => ran.push('own'));
      backlog.drop(1);
      expect(ran).toEqual([]);
      backlog.release(1);
      expect(ran).toEqual(['own', 'other']);
    });
  });

  it('Backlog counts frames, with those that go ahead, until they have left whole or are dropped', () => {
    const backlog = backlogOf();
    const ahead = new OutgoingFrame({ type: 'ping' }, null);
    for (const stream of [1, 1, 3, 5]) add(backlog, stream, 100);
    backlog.addAhead(ahead);
    expect([backlog.frames, backlog.hasAhead]).toEqual([5, true]);
    expect([backlog.takeAhead(), backlog.takeAhead(), backlog.hasAhead]).toEqual([ahead, undefined, false]);
    take(backlog, 1);
    expect(backlog.frames).toBe(3);
    backlog.drop(1);
    backlog.takeUnsent(3);
    expect(backlog.frames).toBe(1);
    backlog.addAhead(ahead);
    backlog.clear();
    expect([backlog.frames, backlog.hasAhead]).toEqual([0, false]);
  });

  describe('withdraw', () => {
    it('`withdraw` returns the unsent frames of a stream and its waiting tasks', () => {
      const ran: string[] = [];
      const backlog = backlogOf();
      const frames = [add(backlog, 1, LANE_ROOM, 'open'), add(backlog, 1, 70)];
      add(backlog, 3, 100);
      const task = (): void => void ran.push('1');
      roomIn(backlog).add(1, task);
      expect(backlog.takeUnsent(1)).toEqual({ frames, waiters: [task] });
      expect([backlog.bytes, [...backlog.queues.keys()], ran]).toEqual([100, [3], []]);
    });

    it('`withdraw` returns nothing for a stream without queued frames', () => {
      expect(backlogOf().takeUnsent(1)).toEqual({ frames: [], waiters: [] });
    });
  });
});

function backlogOf(limits: Partial<Limits> = {}): Backlog {
  return new Backlog(resolveLimits(limits));
}

function add(backlog: Backlog, stream: number, bytes: number, type = 'data'): OutgoingFrame {
  const payload = 'x'.repeat(bytes - 2);
  const frame = new OutgoingFrame({ type, stream, payload }, `"${payload}"`, new JsonCodec());
  backlog.add(stream, frame);
  return frame;
}

function take(backlog: Backlog, stream: number): void {
  const queue = backlog.queues.get(stream);
  if (queue === undefined) throw new Error(`expected something queued on stream ${stream}`);
  backlog.take(stream, queue, () => null);
}

/** Takes everything, and returns the streams in the order of their turns. */
function drained(backlog: Backlog): number[] {
  const turns: number[] = [];
  for (let [stream] = backlog.queues.keys(); stream !== undefined; [stream] = backlog.queues.keys()) {
    turns.push(stream);
    take(backlog, stream);
  }
  return turns;
}
