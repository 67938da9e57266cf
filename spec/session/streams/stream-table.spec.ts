import { describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../../src/wire/codes.js';
import { StreamIdsExhaustedError } from '../../../src/wire/errors.js';
import { Rig } from '../../support/session/rig.js';

const MAX_ID = Number.MAX_SAFE_INTEGER;

describe('stream ids', () => {
  it.each([
    ['dialer', true, [1, 3, 5], [2, 4, 6]],
    ['acceptor', false, [2, 4, 6], [1, 3, 5]],
  ])('A connection assigns rising ids of its own parity: %s', (_who, isDialer, own, remote) => {
    const rig = new Rig({ isDialer });
    const opened = own.map((_, at) => {
      rig.remote(remote[at] ?? 0);
      return rig.open().live.id;
    });
    expect(opened).toEqual(own);
    const { connection } = rig;
    expect(own.map((id) => connection.owns(id))).toEqual([true, true, true]);
    expect(remote.map((id) => connection.owns(id))).toEqual([false, false, false]);
    expect(connection.owns(MAX_ID)).toBe(isDialer);
  });

  it('A connection never assigns an id again', () => {
    const rig = new Rig();
    rig.open().live.reset('user', null, '');
    rig.local().live.reset('user', null, '');
    expect(rig.local().live.id).toBe(6);
  });

  it.each([
    [true, MAX_ID],
    [false, MAX_ID - 1],
  ])('A connection runs out of ids above 2^53 - 1 and does not wrap (dialer: %s)', (isDialer, last) => {
    const rig = new Rig({ isDialer, firstId: last });
    expect([rig.connection.isExhausted, rig.open().live.id]).toEqual([false, last]);
    expect(rig.connection.isExhausted).toBe(true);
    expect(() => rig.local()).toThrow(StreamIdsExhaustedError);
    expect(() => rig.local()).toThrow('expected a free stream id, got none: this connection has used all of them');
    expect([rig.connection.streams.size, rig.news]).toEqual([1, [{ type: 'open', stream: last }]]);
  });

  it('The ids of a connection may begin at any number', () => {
    const { connection } = new Rig({ isDialer: true, firstId: 41 });
    expect([connection.nextId, connection.isExhausted, connection.streams.size, connection.places]).toEqual([41, false, 0, 0]);
  });
});

describe('live streams', () => {
  it('A connection holds the streams of both sides, and not stream 0 of the connection', () => {
    const rig = new Rig();
    const { streams } = rig.connection;
    const [theirs, ours] = [rig.remote(1).live, rig.open().live];
    expect([streams.size, streams.get(1), streams.get(2)]).toEqual([2, theirs, ours]);
    expect(streams.values()).toEqual([theirs, ours]);
    expect([streams.get(0), streams.get(3)]).toEqual([undefined, undefined]);
  });

  it('`values` returns a copy, so that a stream may be deleted during the iteration', () => {
    const rig = new Rig();
    const { streams } = rig.connection;
    for (const id of [1, 3, 5]) rig.remote(id);
    for (const stream of streams.values()) streams.delete(Number(stream.id));
    expect([streams.size, streams.values()]).toEqual([0, []]);
  });

  it('`hasOpened` is true once the open of a stream has left, and stays true', () => {
    const rig = new Rig();
    const { connection } = rig;
    const { live } = rig.local();
    expect(connection.hasOpened(2)).toBe(false);
    connection.opened(2);
    expect([connection.hasOpened(2), connection.hasOpened(4)]).toEqual([true, false]);
    connection.forget(live);
    connection.opened(6);
    connection.opened(4);
    expect([2, 4, 6, 8].map((id) => connection.hasOpened(id))).toEqual([true, true, true, false]);
  });
});

describe('unwritten resets', () => {
  it('A place is freed once, when the reset of its stream is written or the remote wants none', () => {
    const rig = new Rig();
    const { connection } = rig;
    const [one, three] = [rig.remote(1).live, rig.remote(3).live];
    rig.transport.bufferedAmount = 1024 * 1024;
    one.reset('user', ResetCode.CANCEL, '');
    three.reset('user', ResetCode.CANCEL, '');
    expect([connection.streams.size, connection.places]).toEqual([0, 2]);
    for (const stream of [1, 1, 7]) rig.receive({ type: 'reset', stream });
    expect(connection.places).toBe(1);
    rig.transport.drainTo(0);
    expect(connection.places).toBe(0);
  });
});
