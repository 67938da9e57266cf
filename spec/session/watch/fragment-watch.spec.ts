import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../../src/wire/frame.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const { CANCEL, DEADLINE_EXCEEDED } = ResetCode;
const MIB = 1024 * 1024;
const REASON = 'no fragment for 30000 ms (reassemblyTimeoutMs)';

const fragmentOf = (stream: number): Frame => ({ type: 'data', stream, fragment: '"', more: true });

/** Receives a fragment of an unfinished payload on each stream. */
const begin = (rig: Rig, ...ids: readonly number[]): void => {
  rig.receive(...ids.map(fragmentOf));
};

/** Receives a message of `bytes` that belongs to no stream: a frame of an unknown type. */
const receiveBytes = (rig: Rig, bytes: number): void => {
  rig.transport.receive(`{"type":"later","x":"${'x'.repeat(bytes - '{"type":"later","x":""}'.length)}"}`);
};

/** The silence of other streams that a fragment of `stream` excuses, in ms. */
const excusedBy = (rig: Rig, stream: number): number =>
  Math.ceil((rig.connection.codec.encode(fragmentOf(stream)) as string).length / 1.024);

describe('FragmentWatch', () => {
  it(
    'FragmentWatch resets each stream 30 s after its own last fragment, with one timer',
    inTime((time) => {
      const rig = new Rig();
      const [one, two, whole] = [rig.remote(1), rig.remote(3), rig.remote(5)];
      begin(rig, 1);
      time.advance(10_000);
      begin(rig, 3);
      const excusedMs = excusedBy(rig, 3);
      time.advance(20_000 + excusedMs - 1);
      expect(rig.news).toEqual([]);
      time.advance(1);
      expect(rig.news).toEqual([{ type: 'reset', stream: 1, code: DEADLINE_EXCEEDED, reason: REASON }]);
      time.advance(10_000 - excusedMs - 1);
      expect(rig.news).toEqual([]);
      time.advance(1);
      expect(rig.news).toEqual([{ type: 'reset', stream: 3, code: DEADLINE_EXCEEDED, reason: REASON }]);
      expect([one.ends, two.ends, whole.ends]).toMatchObject([[{ by: 'library' }], [{ by: 'library' }], []]);
      expect(rig.connection.budget.held.used).toBe(0);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'FragmentWatch resets streams together that have waited equally long',
    inTime((time) => {
      const rig = new Rig();
      rig.remote(1);
      rig.remote(3);
      begin(rig, 1, 3);
      time.advance(30_000);
      expect(rig.news).toMatchObject([{ stream: 1 }, { stream: 3 }]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'FragmentWatch excuses 16 ms of silence for a message of 16 bytes',
    inTime((time) => {
      const rig = new Rig();
      const stream = rig.remote(1);
      begin(rig, 1);
      time.advance(29_000);
      rig.transport.receive('{"type":"later"}');
      time.advance(1_015);
      expect(stream.ends).toEqual([]);
      time.advance(1);
      expect(stream.ends).toMatchObject([{ code: DEADLINE_EXCEEDED }]);
    }),
  );

  it.each([
    [1_024, 1_000],
    [8_000, 1_000],
    [64_000, 8_000],
    [100, 50],
  ])(
    'FragmentWatch resets no stream while messages of %i bytes arrive for others every %i ms',
    inTime<[number, number]>((time, bytes, everyMs) => {
      const rig = new Rig();
      const stream = rig.remote(1);
      begin(rig, 1);
      for (let at = 0; at < 600_000; at += everyMs) {
        time.advance(everyMs);
        receiveBytes(rig, bytes);
      }
      expect(stream.ends).toEqual([]);
      time.advance(29_999);
      expect(stream.ends).toEqual([]);
      time.advance(1);
      expect(stream.ends).toHaveLength(1);
    }),
  );

  it(
    'FragmentWatch excuses no silence after a message, however large the message is',
    inTime((time) => {
      const rig = new Rig();
      const stream = rig.remote(1);
      begin(rig, 1);
      receiveBytes(rig, MIB);
      time.advance(20_000);
      receiveBytes(rig, MIB);
      time.advance(29_999);
      expect(stream.ends).toEqual([]);
      time.advance(1);
      expect(stream.ends).toHaveLength(1);
    }),
  );

  it(
    'FragmentWatch excuses at most 30 s, even after hours of slow fragments',
    inTime((time) => {
      const rig = new Rig();
      const [slow, late] = [rig.remote(1), rig.remote(3)];
      for (let n = 0; n < 500; n++) {
        begin(rig, 1);
        time.advance(29_000);
      }
      expect(slow.ends).toEqual([]);
      begin(rig, 3);
      receiveBytes(rig, MIB);
      time.advance(60_000);
      expect([slow.ends, late.ends]).toMatchObject([[{ code: DEADLINE_EXCEEDED }], [{ code: DEADLINE_EXCEEDED }]]);
    }),
  );

  it(
    'FragmentWatch counts no silence while reading is paused',
    inTime((time) => {
      const rig = new Rig({ limits: { pauseBytes: 1, maxUnreadBytes: 1, pauseMs: 20_000 } });
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
    'FragmentWatch restarts the time of every stream after a late timer',
    inTime((time) => {
      const rig = new Rig();
      const [one, two] = [rig.remote(1), rig.remote(3)];
      begin(rig, 1);
      time.advance(20_000);
      begin(rig, 3);
      time.sleep(3_600_000);
      time.advance(29_999);
      expect([one.ends, two.ends]).toEqual([[], []]);
      time.advance(1);
      expect([one.ends, two.ends]).toMatchObject([[{ code: DEADLINE_EXCEEDED }], [{ code: DEADLINE_EXCEEDED }]]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'FragmentWatch leaves no timer after a complete payload, and watches the next one',
    inTime((time) => {
      const rig = new Rig();
      const stream = rig.remote(1);
      begin(rig, 1);
      rig.receive({ type: 'data', stream: 1, fragment: '"' });
      time.advance(30_000);
      expect([time.isOver, stream.payloads]).toEqual([true, ['']]);
      begin(rig, 1);
      time.advance(29_999);
      expect(stream.ends).toEqual([]);
      time.advance(1);
      expect(stream.ends).toHaveLength(1);
    }),
  );

  it(
    'FragmentWatch does not reset a stream that was closed by the end of another',
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
    'FragmentWatch leaves no timer when the end of a stream ends the connection',
    inTime((time) => {
      const rig = new Rig();
      const [one, two] = [rig.remote(1), rig.remote(3)];
      begin(rig, 1);
      time.advance(1_000);
      begin(rig, 3);
      one.onGone = () => {
        rig.transport.end();
      };
      time.advance(30_000);
      expect([one.ends, two.ends]).toMatchObject([[{ code: DEADLINE_EXCEEDED }], [{ how: 'lost' }]]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'FragmentWatch never resets a stream with a timeout of Infinity',
    inTime((time) => {
      const rig = new Rig({ limits: { reassemblyTimeoutMs: Infinity } });
      const stream = rig.remote(1);
      begin(rig, 1);
      receiveBytes(rig, 1_000);
      expect([time.isOver, stream.ends]).toEqual([true, []]);
    }),
  );
});
