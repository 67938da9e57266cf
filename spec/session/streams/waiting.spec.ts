import { describe, expect, it } from '@jest/globals';
import type { WaitingFrames } from '../../../src/stream/stream-core.js';
import { completeFrame } from '../../../src/wire/frame.js';
import type { FrameOf } from '../../../src/wire/frame.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Holder, Rig } from '../../support/session/rig.js';

const CANCELLED = { how: 'reset', by: 'user', code: ResetCode.CANCEL, reason: 'enough', payload: null };

/** A stream of this side whose frames wait, with these frames and tasks. */
function waiting() {
  const stream = new Holder(true);
  const frames: OutgoingFrame[] = [];
  const tasks: (() => void)[] = [];
  const queue: WaitingFrames = {
    hasRoom: false,
    overflowsWith: () => false,
    addTask: (task) => tasks.push(task),
    add: (frame) => frames.push(frame),
    leave: () => tasks,
  };
  stream.waiting = queue;
  return { stream, frames };
}

describe('a stream without a socket', () => {
  it('A stream without a socket queues its frames up to its end', () => {
    const { stream, frames } = waiting();
    stream.send(new OutgoingFrame({ type: 'open' }, null));
    stream.send(new OutgoingFrame({ type: 'data', end: true }, null));
    stream.send(new OutgoingFrame({ type: 'data' }, null));
    expect(frames.map(({ type, end }) => [type, end])).toEqual([
      ['open', false],
      ['data', true],
    ]);
    expect(stream).toMatchObject({ id: null, phase: 'idle', sealed: true, unsent: true });
  });

  it('A stream without a socket ends once with a reset, and its waiting tasks run after its user knows', () => {
    const { stream } = waiting();
    const told: string[] = [];
    stream.onGone = () => told.push('gone');
    stream.whenRoom(() => told.push('woken'));
    stream.reset('user', ResetCode.CANCEL, 'enough');
    stream.reset('user', ResetCode.CANCEL, 'once more');
    stream.fail({ how: 'ended' });
    expect([stream.ends, told]).toEqual([[CANCELLED], ['gone', 'woken']]);
    expect(stream).toMatchObject({ phase: 'closed', sealed: true, unsent: true });
  });

  it('A stream ends before it is queued, and drops its frames', () => {
    const stream = new Holder(true);
    stream.send(new OutgoingFrame({ type: 'open' }, null));
    stream.reset('user', ResetCode.CANCEL, 'enough');
    expect(stream.ends).toEqual([CANCELLED]);
  });

  it('A stream without a socket receives no frames', () => {
    const { stream } = waiting();
    const reset = { ...completeFrame({ type: 'reset' }), type: 'reset' } as FrameOf<'reset'>;
    expect(() => stream.next(reset)).toThrow('expected a stream that a socket has accepted, got one that waits');
  });

  it('A session accepts a waiting stream, which takes an id and begins anew', () => {
    const { stream } = waiting();
    stream.send(new OutgoingFrame({ type: 'open', end: true }, null));
    const rig = new Rig();
    rig.session.adopt(stream);
    stream.restart();
    expect(stream).toMatchObject({ id: 2, waiting: null, sealed: false });
    rig.send(stream, { type: 'open', end: true });
    expect(rig.news).toEqual([{ type: 'open', stream: 2, end: true }]);
  });

  it('A handler of a stream of this side takes no place, and its id is not announced', () => {
    const rig = new Rig();
    const stream = rig.open();
    stream.live.handlerStarted();
    stream.live.handlerSettled();
    rig.session.drain(0, ResetCode.NO_ERROR, '');
    expect([rig.session.streams.occupied, rig.news.find(({ type }) => type === 'goaway')]).toMatchObject([0, { last_stream: 0 }]);
  });
});
