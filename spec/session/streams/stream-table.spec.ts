import { describe, expect, it } from '@jest/globals';
import { StreamTable } from '../../../src/session/streams/stream-table.js';
import { StreamIdsExhaustedError } from '../../../src/wire/stream-errors.js';
import { Rig } from '../../support/session/rig.js';

const MAX_ID = Number.MAX_SAFE_INTEGER;

describe('ids of streams', () => {
  it.each([
    ['the dialer', true, [1, 3, 5], [2, 4, 6]],
    ['the acceptor', false, [2, 4, 6], [1, 3, 5]],
  ])('are rising and of its own parity for %s, beside what the remote opens', (_who, isDialer, own, remote) => {
    const rig = new Rig({ isDialer });
    const opened = own.map((_, at) => {
      rig.remote(remote[at] ?? 0);
      return rig.open().live.id;
    });
    expect(opened).toEqual(own);
    const { streams } = rig.session;
    expect(own.map((id) => streams.owns(id))).toEqual([true, true, true]);
    expect(remote.map((id) => streams.owns(id))).toEqual([false, false, false]);
    expect(streams.owns(MAX_ID)).toBe(isDialer);
  });

  it('are never used again', () => {
    const rig = new Rig();
    rig.open().live.reset('user', null, '');
    rig.local().live.reset('user', null, '');
    expect(rig.local().live.id).toBe(6);
  });

  it.each([
    [true, MAX_ID],
    [false, MAX_ID - 1],
  ])('run out above 2^53 - 1 and are not wrapped (dialer: %s)', (isDialer, last) => {
    const rig = new Rig({ isDialer, firstId: last });
    expect([rig.session.streams.exhausted, rig.open().live.id]).toEqual([false, last]);
    expect(rig.session.streams.exhausted).toBe(true);
    expect(() => rig.session.open()).toThrow(StreamIdsExhaustedError);
    expect(() => rig.session.open()).toThrow('expected a free stream id, got none: this connection has used all of them');
    expect([rig.session.streams.size, rig.news]).toEqual([1, [{ type: 'open', stream: last }]]);
  });

  it('may begin anywhere', () => {
    const table = new StreamTable(true, 41);
    expect([table.nextId, table.exhausted, table.size, table.occupied]).toEqual([41, false, 0, 0]);
  });
});

describe('the live streams of a connection', () => {
  it('are those of both sides; the connection itself is stream 0 and none of them', () => {
    const rig = new Rig();
    const { streams, admission } = rig.session;
    const [theirs, ours] = [rig.remote(1).live, rig.open().live];
    expect([streams.size, streams.get(1), streams.get(2)]).toEqual([2, theirs, ours]);
    expect(streams.values()).toEqual([theirs, ours]);
    expect([admission.get(1), admission.get(2)]).toEqual([theirs, ours]);
    expect(rig.session.admission.get(0)).toBe(rig.session.control);
    expect([streams.get(0), streams.get(3)]).toEqual([undefined, undefined]);
  });

  it('are a copy to whoever goes through them, so that each may leave meanwhile', () => {
    const rig = new Rig();
    const { streams } = rig.session;
    for (const id of [1, 3, 5]) rig.remote(id);
    for (const stream of streams.values()) streams.delete(stream.id);
    expect([streams.size, streams.values()]).toEqual([0, []]);
    expect(rig.session.admission.get(0)).toBe(rig.session.control);
  });

  it('are known to the remote once their open has left, and are so for ever', () => {
    const rig = new Rig();
    const { streams } = rig.session;
    const { live } = rig.local();
    expect(streams.hasOpened(2)).toBe(false);
    streams.opened(2);
    expect([streams.hasOpened(2), streams.hasOpened(4)]).toEqual([true, false]);
    streams.delete(live.id);
    streams.opened(6);
    streams.opened(4);
    expect([2, 4, 6, 8].map((id) => streams.hasOpened(id))).toEqual([true, true, true, false]);
  });
});

describe('a place that waits for a reset to be written', () => {
  it('is found by its stream, and told once', () => {
    const table = new StreamTable(true, 1);
    const [two, four] = [table.takeSlot(), table.takeSlot()];
    table.awaitReset(2, two);
    table.awaitReset(4, four);
    two.close();
    four.close();
    expect(table.occupied).toBe(2);
    table.resetWritten(2);
    table.resetWritten(2);
    expect(table.occupied).toBe(1);
    table.resetWritten(8);
    expect(table.occupied).toBe(1);
    table.resetWritten(4);
    expect(table.occupied).toBe(0);
  });
});
