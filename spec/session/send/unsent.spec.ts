import { describe, expect, it } from '@jest/globals';
import type { Unsent } from '../../../src/session/send/backlog.js';
import type { StreamSink } from '../../../src/session/streams/stream-line.js';
import { OutgoingFrame } from '../../../src/wire/outgoing.js';
import { ResetCode } from '../../../src/wire/reset-code.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder } from '../../support/session/rig.js';

const MIB = 1024 * 1024;
const { NO_ERROR, REFUSED, APPLICATION_ERROR } = ResetCode;
const REFUSAL = { how: 'reset', by: 'library', code: REFUSED, reason: 'the remote is going away', payload: null };

const logs = collectLogs();

/** Gives a holder a way to take its stream back. */
function takingBack(holder: Holder, take: (unsent: Unsent) => boolean): Unsent[] {
  const taken: Unsent[] = [];
  const sink: StreamSink = holder;
  sink.takeBack = (unsent) => {
    taken.push(unsent);
    return take(unsent);
  };
  return taken;
}

describe('a stream whose open has not left', () => {
  /** A rig whose socket is full, with one stream that waits and one that has left. */
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
      'a socket that the remote has begun to close, and that has room again',
      (rig: Rig) => {
        rig.transport.closing = true;
        rig.transport.drainTo(0);
        rig.transport.end();
      },
    ],
    [
      'a failed connection whose socket then ends',
      (rig: Rig) => {
        rig.transport.receive('{');
        rig.transport.end();
      },
    ],
  ])('is given back whole after %s, with those who wait on it', (_what, leave) => {
    const { rig, stream } = waiting();
    const woken: string[] = [];
    stream.live.whenRoom(() => woken.push('woken'));
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

  it('is refused after a goaway, and those who wait on it go on, where nobody takes it back', () => {
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

  it('is refused where taking it back fails', () => {
    const { rig, stream } = waiting();
    takingBack(stream, () => {
      throw new Error('no place');
    });
    goaway(rig);
    expect(stream.ends).toEqual([REFUSAL]);
    expect(logs.errors).toHaveLength(1);
    expect(rig.transport.closes).toEqual([]);
  });

  it('is given back with nothing where nothing was accepted yet', () => {
    const rig = new Rig();
    const taken = takingBack(rig.local(), () => true);
    goaway(rig);
    expect(taken).toEqual([{ frames: [], waiters: [] }]);
  });

  it('stays away where the application has reset it meanwhile', () => {
    const { rig, stream } = waiting();
    stream.live.reset('user', APPLICATION_ERROR, '');
    goaway(rig);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: id }) => id === stream.live.id)).toEqual([]);
  });

  it.each([null, { why: 'left' }])('is not mentioned to the remote where it is reset with %j and another open leaves first', (payload) => {
    const { rig, stream } = waiting();
    const later = rig.open({ payload: 'later' });
    stream.live.reset('user', ResetCode.CANCEL, '', payload, payload === null ? null : JSON.stringify(payload));
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type, stream: id }) => [type, id])).toEqual([['open', later.live.id]]);
  });

  it('is not given back once a slice of it has left', () => {
    const { rig, left } = waiting();
    const taken = takingBack(left, () => true);
    rig.transport.end();
    expect(taken).toEqual([]);
    expect(left.ends).toMatchObject([{ how: 'lost' }]);
    expect(left.live.unsent).toBe(false);
  });
});
