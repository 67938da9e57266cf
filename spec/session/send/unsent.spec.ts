import { describe, expect, it } from '@jest/globals';
import { Notifications } from '../../../src/peer/waiting.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { collectLogs } from '../../support/peer/logs.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder } from '../../support/session/rig.js';

const MIB = 1024 * 1024;
const { NO_ERROR, REFUSED, APPLICATION_ERROR } = ResetCode;
const REFUSAL = { how: 'reset', by: 'library', code: REFUSED, reason: 'the remote is going away', payload: null };

const logs = collectLogs();

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
  ])('An unsent stream waits for the next socket with all its frames and tasks after %s', (_what, leave) => {
    const { rig, stream } = waiting();
    const woken: string[] = [];
    const { id } = stream.live;
    stream.live.whenDemand(() => woken.push('woken'));
    stream.mayWait = () => true;
    leave(rig);
    expect([rig.waiting.size, stream.id, stream.ends, woken]).toEqual([1, null, [], []]);
    expect(rig.connection.outbound.bytes).toBe(0);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: sent }) => sent === id)).toEqual([]);
    const next = new Rig();
    rig.waiting.flushTo(next.connection, new Notifications());
    next.settle();
    const sent = next.news.filter(({ type }) => type !== 'ping');
    expect(sent.map(({ type, stream: own, headers, end }) => [type, own, headers, end])).toEqual([
      ['open', 2, { h: 1 }, undefined],
      ...sent.slice(1, -1).map(() => ['data', 2, undefined, undefined]),
      ['data', 2, undefined, true],
    ]);
    expect([
      sent[0]?.payload,
      sent
        .slice(1, -1)
        .map(({ fragment }) => String(fragment))
        .join('').length,
    ]).toEqual(['a', 300_002]);
    expect(woken).toEqual(['woken']);
  });

  it('A goaway refuses an unsent stream that does not wait for another socket, and wakes its waiting tasks', () => {
    for (const take of [undefined, () => false]) {
      const { rig, stream } = waiting();
      const told: string[] = [];
      stream.onGone = () => told.push('gone');
      stream.live.whenRoom(() => told.push('woken'));
      if (take !== undefined) stream.mayWait = take;
      goaway(rig);
      expect(stream.ends).toEqual([REFUSAL]);
      expect(told).toEqual(['gone', 'woken']);
      expect(stream.live.unsent).toBe(true);
    }
    expect(logs.errors).toEqual([]);
  });

  it('A goaway refuses an unsent stream that cannot wait for another socket', () => {
    const { rig, stream } = waiting();
    stream.mayWait = () => {
      throw new Error('no place');
    };
    goaway(rig);
    expect(stream.ends).toEqual([REFUSAL]);
    expect(logs.errors).toHaveLength(1);
    expect(rig.transport.closes).toEqual([]);
  });

  it('A stream on which nothing was sent waits without frames', () => {
    const rig = new Rig();
    const stream = rig.local();
    stream.mayWait = () => true;
    goaway(rig);
    expect([rig.waiting.size, rig.waiting.bytes, stream.sending]).toEqual([1, 0, null]);
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

  it('A stream whose open has left waits for no other socket', () => {
    const { rig, left } = waiting();
    left.mayWait = () => true;
    rig.transport.end();
    expect([rig.waiting.size, left.ends]).toMatchObject([0, [{ how: 'lost' }]]);
    expect(left.live.unsent).toBe(false);
  });
});
