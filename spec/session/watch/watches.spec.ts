import { describe, expect, it } from '@jest/globals';
import { Rig } from '../../support/session/rig.js';
import type { Holder, RigOptions } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';
import type { SessionTime } from '../../support/session/time.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A rig whose socket takes no more bytes, and a stream that has sent `bytes`. */
function stalled(bytes: number, options: RigOptions = {}): { rig: Rig; stream: Holder } {
  const rig = new Rig(options);
  rig.transport.stuck = true;
  const stream = rig.open();
  rig.send(stream, { payload: 'x'.repeat(bytes) });
  rig.settle();
  return { rig, stream };
}

/** Session terminates the socket once `ms` have passed, and not earlier. */
function terminatesAfter(ms: number, rig: Rig, time: SessionTime): void {
  time.advance(ms - 1);
  expect(rig.transport.terminated).toBeNull();
  time.advance(1);
  expect(rig.transport.terminated).toBe('slow consumer');
}

describe('slow consumers', () => {
  it(
    'Session terminates a socket that takes no byte for 60 s while more than 1 MiB waits',
    inTime((time) => {
      const { rig, stream } = stalled(2 * MIB);
      terminatesAfter(60_000, rig, time);
      expect(stream.ends).toMatchObject([{ how: 'lost', reason: { code: 1006, reason: 'slow consumer' } }]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'Session waits another 60 s after each byte that the socket takes',
    inTime((time) => {
      const { rig } = stalled(3 * MIB);
      time.advance(59_000);
      rig.transport.bufferedAmount -= 1;
      terminatesAfter(61_000, rig, time);
    }),
  );

  it(
    'Session tolerates a stalled socket until more than stallBytes wait',
    inTime((time) => {
      const { rig, stream } = stalled(MIB - 40 * KIB, { limits: { stallBytes: 3 * MIB } });
      time.advance(200_000);
      rig.send(stream, { payload: 'x'.repeat(MIB) });
      rig.settle();
      time.advance(200_000);
      expect(rig.transport.terminated).toBeNull();
      rig.send(stream, { payload: 'x'.repeat(2 * MIB) });
      // The minute began with the last check at which too few bytes waited.
      terminatesAfter(40_000, rig, time);
    }),
  );

  it(
    '`stallBytes` may be less than the bytes at which Scheduler stops',
    inTime((time) => {
      const { rig } = stalled(64 * KIB, { limits: { stallBytes: 64 * KIB, stallMs: 1_000 } });
      time.advance(1_000);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'Session watches no empty socket, and watches it again when it is full',
    inTime((time) => {
      const { rig, stream } = stalled(MIB);
      rig.transport.drainTo(0);
      rig.transport.drainTo(0);
      time.advance(60_000);
      expect(time.isOver).toBe(true);
      for (const { nonce } of rig.sent.filter(({ type }) => type === 'ping')) rig.receive({ type: 'pong', nonce: nonce ?? '' });
      rig.send(stream, { payload: 'x'.repeat(2 * MIB) });
      rig.settle();
      time.advance(60_000);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'Session waits the whole 60 s again after a late timer',
    inTime((time) => {
      const { rig } = stalled(2 * MIB);
      time.sleep(3_600_000);
      terminatesAfter(60_000, rig, time);
    }),
  );

  it(
    'Session terminates a stalled socket even while reading is paused',
    inTime((time) => {
      const { rig } = stalled(2 * MIB, { limits: { pauseBytes: 1, maxUnreadBytes: 1, pauseMs: 50_000 } });
      rig.remote(1).live.keep(1);
      time.advance(60_000);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );
});
