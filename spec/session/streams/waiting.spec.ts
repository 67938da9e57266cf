import { describe, expect, it } from '@jest/globals';
import { Notifications, Waiting } from '../../../src/peer/waiting.js';
import { completeFrame } from '../../../src/wire/frame.js';
import type { FrameOf } from '../../../src/wire/frame.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Holder, Rig, scriptedOwner } from '../../support/session/rig.js';

const CANCELLED = { how: 'reset', by: 'user', code: ResetCode.CANCEL, reason: 'enough', payload: null };
const OPEN = { type: 'open' };
const END = { type: 'data', end: true };
const send = (stream: Holder, ...frames: readonly { readonly type: string; readonly end?: boolean }[]) => {
  for (const frame of frames) stream.send(new OutgoingFrame(frame, null));
};

/** A stream of this side that waits for a socket, in a queue of `limit` bytes. */
function waiting(limit = Infinity) {
  const queue = new Waiting(limit);
  const stream = new Holder(scriptedOwner(), true);
  queue.enqueue(stream, null);
  return { queue, stream };
}

describe('a stream without a socket', () => {
  it('A stream without a socket queues its frames up to its end', () => {
    const { queue, stream } = waiting();
    send(stream, OPEN, END, { type: 'data' });
    expect([stream.sending?.frames, queue.bytes]).toEqual([2, 128]);
    expect(stream).toMatchObject({ id: null, phase: 'idle', sealed: true, unsent: true });
  });

  it('A stream without a socket ends once with a reset, and its waiting tasks run after its user knows', () => {
    const { queue, stream } = waiting(1);
    send(stream, OPEN);
    const told: string[] = [];
    stream.onGone = () => told.push('gone');
    stream.whenRoom(() => told.push('woken'));
    stream.reset('user', ResetCode.CANCEL, 'enough');
    stream.reset('user', ResetCode.CANCEL, 'once more');
    stream.fail({ how: 'ended' });
    expect([stream.ends, told]).toEqual([[CANCELLED], ['gone', 'woken']]);
    expect(stream).toMatchObject({ phase: 'closed', sealed: true, unsent: true });
    expect([queue.size, queue.bytes]).toEqual([0, 0]);
  });

  it('A stream ends before it is queued, and drops its frames', () => {
    const stream = new Holder(scriptedOwner(), true);
    send(stream, OPEN);
    stream.reset('user', ResetCode.CANCEL, 'enough');
    expect(stream.ends).toEqual([CANCELLED]);
  });

  it('A stream without a socket receives no frames', () => {
    const { stream } = waiting();
    const reset = { ...completeFrame({ type: 'reset' }), type: 'reset' } as FrameOf<'reset'>;
    expect(() => stream.next(reset)).toThrow('expected a stream that a socket has accepted, got one that waits');
  });

  it('A connection accepts a waiting stream, which takes an id and sends what it has queued', () => {
    const { queue, stream } = waiting();
    send(stream, OPEN, END);
    const rig = new Rig();
    queue.flushTo(rig.connection, new Notifications());
    expect([stream.id, stream.sealed, queue.bytes]).toEqual([2, true, 0]);
    expect(rig.news).toEqual([
      { type: 'open', stream: 2 },
      { type: 'data', stream: 2, end: true },
    ]);
  });

  it('A waiting stream without the end goes on at the connection that accepts it', () => {
    const { queue, stream } = waiting();
    send(stream, OPEN);
    const rig = new Rig();
    queue.flushTo(rig.connection, new Notifications());
    rig.send(stream, { payload: 1 });
    expect(rig.news.map(({ type }) => type)).toEqual(['open', 'data']);
  });

  it('A stream that leaves a full queue makes room for the tasks of the others', () => {
    const { queue, stream } = waiting(64);
    send(stream, OPEN);
    const other = new Holder(scriptedOwner(), true);
    queue.requeue(other);
    let isWoken = false;
    other.whenRoom(() => (isWoken = true));
    expect([other.hasRoom, isWoken]).toEqual([false, false]);
    stream.reset('user', ResetCode.CANCEL, '');
    expect([other.hasRoom, isWoken]).toEqual([true, true]);
  });

  it('A handler of a stream of this side takes no place, and its id is not announced', () => {
    const rig = new Rig();
    const stream = rig.open();
    stream.live.handlerStarted();
    stream.live.handlerSettled();
    rig.connection.drain(0, ResetCode.NO_ERROR, '');
    expect([rig.connection.places, rig.news.find(({ type }) => type === 'goaway')]).toMatchObject([0, { last_stream: 0 }]);
  });
});
