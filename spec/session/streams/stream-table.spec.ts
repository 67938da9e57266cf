import { describe, expect, it } from '@jest/globals';
import { StreamTable } from '../../../src/connection/connection.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { StreamIdsExhaustedError } from '../../../src/wire/errors.js';
import { Rig } from '../../support/session/rig.js';

const MAX_ID = Number.MAX_SAFE_INTEGER;

describe('stream ids', () => {
  it.each([
    ['dialer', true, [1, 3, 5], [2, 4, 6]],
    ['acceptor', false, [2, 4, 6], [1, 3, 5]],
  ])('StreamTable assigns rising ids of its own parity: %s', (_who, isDialer, own, remote) => {
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

  it('StreamTable never assigns an id again', () => {
    const rig = new Rig();
    rig.open().live.reset('user', null, '');
    rig.local().live.reset('user', null, '');
    expect(rig.local().live.id).toBe(6);
  });

  it.each([
    [true, MAX_ID],
    [false, MAX_ID - 1],
  ])('StreamTable runs out of ids above 2^53 - 1 and does not wrap (dialer: %s)', (isDialer, last) => {
    const rig = new Rig({ isDialer, firstId: last });
    expect([rig.session.streams.exhausted, rig.open().live.id]).toEqual([false, last]);
    expect(rig.session.streams.exhausted).toBe(true);
    expect(() => rig.local()).toThrow(StreamIdsExhaustedError);
    expect(() => rig.local()).toThrow('expected a free stream id, got none: this connection has used all of them');
    expect([rig.session.streams.size, rig.news]).toEqual([1, [{ type: 'open', stream: last }]]);
  });

  it('StreamTable may begin at any id', () => {
    const table = new StreamTable(true, 41);
    expect([table.nextId, table.exhausted, table.size, table.occupied]).toEqual([41, false, 0, 0]);
  });
});

describe('live streams', () => {
  it('StreamTable holds the streams of both sides, and not stream 0 of the connection', () => {
    const rig = new Rig();
    const { streams, admission } = rig.session;
    const [theirs, ours] = [rig.remote(1).live, rig.open().live];
    expect([streams.size, streams.get(1), streams.get(2)]).toEqual([2, theirs, ours]);
    expect(streams.values()).toEqual([theirs, ours]);
    expect([admission.get(1), admission.get(2)]).toEqual([theirs, ours]);
    expect(rig.session.admission.get(0)).toBe(rig.session.control);
    expect([streams.get(0), streams.get(3)]).toEqual([undefined, undefined]);
  });

  it('`values` returns a copy, so that a stream may be deleted during the iteration', () => {
    const rig = new Rig();
    const { streams } = rig.session;
    for (const id of [1, 3, 5]) rig.remote(id);
    for (const stream of streams.values()) streams.delete(Number(stream.id));
    expect([streams.size, streams.values()]).toEqual([0, []]);
    expect(rig.session.admission.get(0)).toBe(rig.session.control);
  });

  it('`hasOpened` is true once the open of a stream has left, and stays true', () => {
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

describe('unwritten resets', () => {
  it('`resetWritten` frees the place of its stream once', () => {
    const rig = new Rig();
    const { streams: table } = rig.session;
    const [one, three] = [rig.remote(1).live, rig.remote(3).live];
    rig.transport.bufferedAmount = 1024 * 1024;
    one.reset('user', ResetCode.CANCEL, '');
    three.reset('user', ResetCode.CANCEL, '');
    expect([table.size, table.occupied]).toEqual([0, 2]);
    table.resetWritten(1);
    table.resetWritten(1);
    expect(table.occupied).toBe(1);
    table.resetWritten(7);
    expect(table.occupied).toBe(1);
    table.resetWritten(3);
    expect(table.occupied).toBe(0);
  });
});
