import { describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../../src/wire/reset-code.js';
import { Rig } from '../../support/session/rig.js';
import type { Holder, RigOptions } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const { CANCEL, DEADLINE_EXCEEDED } = ResetCode;

/** A rig whose socket takes nothing any more, and a stream that has sent `bytes`. */
function stalled(bytes: number, options: RigOptions = {}): { rig: Rig; stream: Holder } {
  const rig = new Rig(options);
  rig.transport.stuck = true;
  const stream = rig.open();
  rig.send(stream, { payload: 'x'.repeat(bytes) });
  while (rig.transport.turnsDue > 0) rig.transport.nextTurn();
  return { rig, stream };
}

describe('a socket that takes no byte while over 1 MiB waits', () => {
  it(
    'is terminated after 60 s, as a slow consumer',
    inTime((time) => {
      const { rig, stream } = stalled(2 * MIB);
      time.advance(59_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('slow consumer');
      expect(stream.ends).toMatchObject([{ how: 'lost', reason: { code: 1006, reason: 'slow consumer' } }]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'has 60 s more with each byte taken',
    inTime((time) => {
      const { rig } = stalled(3 * MIB);
      time.advance(59_000);
      rig.transport.bufferedAmount -= 1;
      time.advance(60_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'is left alone while less waits, until more does',
    inTime((time) => {
      const { rig, stream } = stalled(MIB - 40 * KIB, { limits: { stallBytes: 3 * MIB } });
      time.advance(200_000);
      rig.send(stream, { payload: 'x'.repeat(MIB) });
      while (rig.transport.turnsDue > 0) rig.transport.nextTurn();
      time.advance(200_000);
      expect(rig.transport.terminated).toBeNull();
      rig.send(stream, { payload: 'x'.repeat(2 * MIB) });
      // Its minute began the last time that too little waited.
      time.advance(39_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'may have another threshold, also a smaller one than what makes the pump stop',
    inTime((time) => {
      const { rig } = stalled(64 * KIB, { limits: { stallBytes: 64 * KIB, stallMs: 1_000 } });
      time.advance(1_000);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'is not watched once it is empty, and is again when it is full',
    inTime((time) => {
      const { rig, stream } = stalled(MIB);
      rig.transport.drainTo(0);
      rig.transport.drainTo(0);
      time.advance(60_000);
      expect(time.isOver).toBe(true);
      rig.send(stream, { payload: 'x'.repeat(2 * MIB) });
      while (rig.transport.turnsDue > 0) rig.transport.nextTurn();
      time.advance(60_000);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'is not condemned by a late timer',
    inTime((time) => {
      const { rig } = stalled(2 * MIB);
      time.sleep(3_600_000);
      time.advance(59_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'is not excused by a pause of its reading',
    inTime((time) => {
      const { rig } = stalled(2 * MIB, { limits: { pauseBytes: 1, pauseMs: 50_000 } });
      rig.remote(1).live.keep(1);
      time.advance(60_000);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );
});

describe('a reassembly', () => {
  const begin = (rig: Rig, ...ids: readonly number[]) => {
    for (const id of ids) rig.receive({ type: 'data', stream: id, fragment: '"', more: true });
  };
  const reason = 'no fragment for 30000 ms (reassemblyTimeoutMs)';

  it(
    'that makes no progress for 30 s is given up, on every stream by one timer',
    inTime((time) => {
      const rig = new Rig();
      const [one, two, whole] = [rig.remote(1), rig.remote(3), rig.remote(5)];
      begin(rig, 1);
      time.advance(10_000);
      begin(rig, 3);
      time.advance(29_999);
      expect(rig.news).toEqual([]);
      time.advance(1);
      expect(rig.news).toEqual([
        { type: 'reset', stream: 1, code: DEADLINE_EXCEEDED, reason },
        { type: 'reset', stream: 3, code: DEADLINE_EXCEEDED, reason },
      ]);
      expect([one.ends, two.ends, whole.ends]).toMatchObject([[{ by: 'library' }], [{ by: 'library' }], []]);
      expect(rig.session.receiveBudget.held.used).toBe(0);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'has time while anything at all arrives',
    inTime((time) => {
      const rig = new Rig();
      const stream = rig.remote(1);
      begin(rig, 1);
      for (let n = 0; n < 10; n++) {
        time.advance(29_000);
        rig.receive({ type: 'later' });
      }
      expect(stream.ends).toEqual([]);
      time.advance(30_000);
      expect(stream.ends).toMatchObject([{ code: DEADLINE_EXCEEDED }]);
    }),
  );

  it(
    'has time while reading is paused',
    inTime((time) => {
      const rig = new Rig({ limits: { pauseBytes: 1, pauseMs: 20_000 } });
      const [stream, slow] = [rig.remote(1), rig.remote(3)];
      begin(rig, 1);
      time.advance(20_000);
      slow.live.keep(1);
      time.advance(29_999);
      expect(stream.ends).toEqual([]);
      time.advance(1);
      expect(stream.ends).toMatchObject([{ code: DEADLINE_EXCEEDED }]);
    }),
  );

  it(
    'is not given up by a late timer',
    inTime((time) => {
      const rig = new Rig();
      const stream = rig.remote(1);
      begin(rig, 1);
      time.sleep(3_600_000);
      time.advance(29_999);
      expect(stream.ends).toEqual([]);
      time.advance(1);
      expect(stream.ends).toHaveLength(1);
    }),
  );

  it(
    'that is completed leaves no timer behind, and the next is watched anew',
    inTime((time) => {
      const rig = new Rig();
      const stream = rig.remote(1);
      begin(rig, 1);
      rig.receive({ type: 'data', stream: 1, fragment: '"' });
      time.advance(30_000);
      expect([time.isOver, stream.payloads]).toEqual([true, ['']]);
      begin(rig, 1);
      time.advance(30_000);
      expect(stream.ends).toHaveLength(1);
    }),
  );

  it(
    'is given up once where the end of another has ended it',
    inTime((time) => {
      const rig = new Rig();
      const [one, two] = [rig.remote(1), rig.remote(3)];
      begin(rig, 1, 3);
      one.onGone = () => {
        two.live.reset('user', CANCEL, '');
      };
      time.advance(30_000);
      expect([one.ends, two.ends]).toMatchObject([[{ code: DEADLINE_EXCEEDED }], [{ code: CANCEL }]]);
    }),
  );

  it(
    'may be given all the time',
    inTime((time) => {
      const rig = new Rig({ limits: { reassemblyTimeoutMs: Infinity } });
      rig.remote(1);
      begin(rig, 1);
      expect(time.isOver).toBe(true);
    }),
  );
});
