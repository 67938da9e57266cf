import { describe, expect, it } from '@jest/globals';
import type { Unsent } from '../../../src/connection/outbound.js';
import { roomIn } from '../../../src/stream/sending.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder } from '../../support/session/rig.js';

const MIB = 1024 * 1024;
const { NO_ERROR, REFUSED, APPLICATION_ERROR } = ResetCode;
const REFUSAL = { how: 'reset', by: 'library', code: REFUSED, reason: 'the remote is going away', payload: null };

const logs = collectLogs();

/** Makes a stream wait again as `take` says, and returns the frames and tasks that were taken back. */
function takingBack(holder: Holder, take: (unsent: Unsent) => boolean): Unsent[] {
  const taken: Unsent[] = [];
  holder.onRequeue = (unsent) => {
    taken.push(unsent);
    return take(unsent);
  };
  return taken;
}

describe('unsent streams', () => {
  /** A rig whose socket is full, with one stream whose open has left and one whose open waits. */
  function waiting(): { rig: Rig; left: Holder; stream: Holder } {
    const rig = new Rig();
    const left = rig.open();
    rig.transport.bufferedAmount = MIB;
    const stream = rig.open({ payload: 'a', headers: { h: 1 } });
    rig.send(stream, { payload: 'x'.repeat(300_000) });
    rig.send(stream, { end: true });
    rig.forget();
    return { rig, left, stream };
  }

  const goaway = (rig: Rig) => {
    rig.receive({ type: 'goaway', code: NO_ERROR });
  };

  it.each([
    ['a goaway', goaway],
    ['the loss of the socket', (rig: Rig) => rig.transport.end()],
    [
      'a socket that the remote closes and that has room again',
      (rig: Rig) => {
        rig.transport.closing = true;
        rig.transport.drainTo(0);
        rig.transport.end();
      },
    ],
    [
      'a failed connection',
      (rig: Rig) => {
        rig.transport.receive('{');
        rig.transport.end();
      },
    ],
  ])('Session calls `requeue` with all frames and waiting tasks of an unsent stream after %s', (_what, leave) => {
    const { rig, stream } = waiting();
    const woken: string[] = [];
    roomIn(rig.session.scheduler.backlog).add(Number(stream.live.id), () => woken.push('woken'));
    const taken = takingBack(stream, () => true);
    leave(rig);
    expect(taken).toHaveLength(1);
    const [unsent] = taken;
    expect(unsent?.frames.map(({ type, headers, end }) => [type, headers, end])).toEqual([
      ['open', { h: 1 }, false],
      ['data', null, false],
      ['data', null, true],
    ]);
    expect(unsent?.frames.map((frame) => OutgoingFrame.encodedPayload(frame)?.slice(0, 3))).toEqual(['"a"', '"xx', undefined]);
    expect(stream.ends).toEqual([]);
    expect(woken).toEqual([]);
    for (const waiter of unsent?.waiters ?? []) waiter();
    expect(woken).toEqual(['woken']);
    expect(rig.session.scheduler.backlog.bytes).toBe(0);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: id }) => id === stream.live.id)).toEqual([]);
  });

  it('A goaway refuses an unsent stream that does not wait for another socket, and wakes its waiting tasks', () => {
    for (const take of [undefined, () => false]) {
      const { rig, stream } = waiting();
      const told: string[] = [];
      stream.onGone = () => told.push('gone');
      stream.live.whenRoom(() => told.push('woken'));
      if (take !== undefined) takingBack(stream, take);
      goaway(rig);
      expect(stream.ends).toEqual([REFUSAL]);
      expect(told).toEqual(['gone', 'woken']);
      expect(stream.live.unsent).toBe(true);
    }
    expect(logs.errors).toEqual([]);
  });

  it('A goaway refuses an unsent stream whose `requeue` throws', () => {
    const { rig, stream } = waiting();
    takingBack(stream, () => {
      throw new Error('no place');
    });
    goaway(rig);
    expect(stream.ends).toEqual([REFUSAL]);
    expect(logs.errors).toHaveLength(1);
    expect(rig.transport.closes).toEqual([]);
  });

  it('Session calls `requeue` without frames when nothing was sent on the stream', () => {
    const rig = new Rig();
    const taken = takingBack(rig.local(), () => true);
    goaway(rig);
    expect(taken).toEqual([{ frames: [], waiters: [] }]);
  });

  it('A goaway drops an unsent stream that the application has reset', () => {
    const { rig, stream } = waiting();
    stream.live.reset('user', APPLICATION_ERROR, '');
    goaway(rig);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: id }) => id === stream.live.id)).toEqual([]);
  });

  it.each([null, { why: 'left' }])('A reset with payload %j drops an unsent stream, and only the later open leaves', (payload) => {
    const { rig, stream } = waiting();
    const later = rig.open({ payload: 'later' });
    stream.live.reset('user', ResetCode.CANCEL, '', { payload, encodedPayload: payload === null ? null : JSON.stringify(payload) });
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type, stream: id }) => [type, id])).toEqual([['open', later.live.id]]);
  });

  it('Session does not call `requeue` for a stream whose open has left', () => {
    const { rig, left } = waiting();
    const taken = takingBack(left, () => true);
    rig.transport.end();
    expect(taken).toEqual([]);
    expect(left.ends).toMatchObject([{ how: 'lost' }]);
    expect(left.live.unsent).toBe(false);
  });
});
