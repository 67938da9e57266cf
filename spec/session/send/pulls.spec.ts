import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { Backlog } from '../../../src/connection/outbound.js';
import { Pulls } from '../../../src/stream/sending.js';
import { roomIn } from '../../../src/stream/sending.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';

describe('Pulls', () => {
  it('`one` runs all tasks of the stream that has waited longest', () => {
    const { pulls } = pulling();
    const ran: string[] = [];
    expect([pulls.any, pulls.one()]).toEqual([false, false]);
    for (const [stream, task] of [
      [3, 'a'],
      [1, 'b'],
      [3, 'c'],
    ] as const)
      pulls.whenDemand(stream, () => ran.push(task));
    expect([pulls.any, ran]).toEqual([true, []]);
    expect([pulls.one(), ran, pulls.any]).toEqual([true, ['a', 'c'], true]);
    expect([pulls.one(), ran, pulls.any]).toEqual([true, ['a', 'c', 'b'], false]);
  });

  it('`one` skips streams whose bulk is held, and streams with queued frames', () => {
    const { pulls, backlog, host } = pulling();
    const ran: number[] = [];
    for (const stream of [1, 3, 5]) pulls.whenDemand(stream, () => ran.push(stream));
    backlog.add(3, frame(3));
    host.held = 1;
    expect([pulls.one(), ran]).toEqual([true, [5]]);
    expect([pulls.one(), ran]).toEqual([false, [5]]);
  });

  it('A pulled stream has demand until the scheduler has accepted one frame', () => {
    const { pulls, host } = pulling();
    const demand: boolean[] = [];
    const look = (): void => void demand.push(pulls.hasDemand(1));
    pulls.whenDemand(1, () => {
      look();
      host.accepted++;
      look();
    });
    look();
    pulls.one();
    look();
    expect(demand).toEqual([false, true, false, false]);
  });
});

describe('a backlog with pulls', () => {
  it('`release` runs the demand tasks of its stream, and `clear` drops them', () => {
    const { pulls, backlog } = pulling();
    const ran: number[] = [];
    for (const stream of [1, 3]) pulls.whenDemand(stream, () => ran.push(stream));
    backlog.release(3);
    expect([ran, pulls.any]).toEqual([[3], true]);
    backlog.clear();
    backlog.release(1);
    expect([ran, backlog.pulls]).toEqual([[3], null]);
  });

  it('`hasMore` is true for a stream with queued frames or a demand task', () => {
    const { pulls, backlog } = pulling();
    pulls.whenDemand(1, () => undefined);
    backlog.add(3, frame(3));
    expect([1, 3, 5].map((stream) => backlog.hasMore(stream))).toEqual([true, true, false]);
  });

  it('`takeUnsent` returns the tasks that wait for room, and then the demand tasks', () => {
    const { pulls, backlog } = pulling();
    const tasks = [(): void => undefined, (): void => undefined] as const;
    pulls.whenDemand(1, tasks[1]);
    roomIn(backlog).add(1, tasks[0]);
    expect(backlog.takeUnsent(1)).toEqual({ frames: [], waiters: tasks });
    expect(pulls.any).toBe(false);
  });
});

function frame(stream: number): OutgoingFrame {
  return new OutgoingFrame({ type: 'data', stream, payload: 1 }, '1', new JsonCodec());
}

/** Pulls of a scheduler without a turn, which holds the bulk of one stream. */
function pulling() {
  const backlog = new Backlog(resolveLimits());
  const bulk = { holds: (stream: number): boolean => stream === host.held };
  const host = { backlog, bulk, accepted: 0, hasTurn: false, held: 0, pump: () => undefined };
  const pulls = new Pulls(host);
  backlog.pulls = pulls;
  return { pulls, backlog, host };
}
