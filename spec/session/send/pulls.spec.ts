import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../../src/codec/json.js';
import { Backlog } from '../../../src/session/send/backlog.js';
import { Pulls } from '../../../src/session/send/pulls.js';
import { resolveLimits } from '../../../src/wire/limits.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';

describe('Pulls', () => {
  it('`one` runs all tasks of the stream that has waited longest', () => {
    const { pulls, backlog } = pulling();
    const ran: string[] = [];
    expect([backlog.pulled, pulls.one()]).toEqual([false, false]);
    for (const [stream, task] of [
      [3, 'a'],
      [1, 'b'],
      [3, 'c'],
    ] as const)
      pulls.whenDemand(stream, () => ran.push(task));
    expect([backlog.pulled, ran]).toEqual([true, []]);
    expect([pulls.one(), ran, backlog.pulled]).toEqual([true, ['a', 'c'], true]);
    expect([pulls.one(), ran, backlog.pulled]).toEqual([true, ['a', 'c', 'b'], false]);
  });

  it('`one` skips streams whose bulk is held, and streams with queued frames', () => {
    const { pulls, backlog, host } = pulling();
    const ran: number[] = [];
    for (const stream of [1, 3, 5]) pulls.whenDemand(stream, () => ran.push(stream));
    backlog.add(3, new OutgoingFrame({ type: 'data', stream: 3, payload: 1 }, '1', new JsonCodec()));
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

/** Pulls of a scheduler without a turn, which holds the bulk of one stream. */
function pulling() {
  const backlog = new Backlog(resolveLimits());
  const host = { backlog, accepted: 0, hasTurn: false, held: 0, holds: (stream: number) => stream === host.held, pump: () => undefined };
  return { pulls: new Pulls(host), backlog, host };
}
