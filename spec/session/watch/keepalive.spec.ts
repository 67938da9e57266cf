import { describe, expect, it } from '@jest/globals';
import { DEFAULT_KEEPALIVE } from '../../../src/connection/watchdog.js';
import { Rig } from '../../support/session/rig.js';
import type { RigOptions } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';
import type { SessionTime } from '../../support/session/time.js';

const KIB = 1024;
const DEAD = 'no sign of life';

/** A rig with the default keepalive, 20 s and 10 s. */
const watched = (options: RigOptions = {}) => new Rig({ keepalive: DEFAULT_KEEPALIVE, ...options });

const pings = (rig: Rig) => rig.news.filter(({ type }) => type === 'ping').length;

/** Calls `act` every `everyMs`, `count` times. */
function repeat(time: SessionTime, count: number, everyMs: number, act: () => void): void {
  for (let n = 0; n < count; n++) {
    time.advance(everyMs);
    act();
  }
}

describe('keepalive', () => {
  it(
    'Keepalive starts no timer for a socket that has already ended',
    inTime((time) => {
      const rig = watched({ started: false });
      rig.transport.end();
      rig.connection.start();
      expect(rig.reasons).toHaveLength(1);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'Keepalive pings after 20 s without a sign of life, and terminates the socket 10 s later',
    inTime((time) => {
      const rig = watched();
      time.advance(19_999);
      expect(pings(rig)).toBe(0);
      time.advance(1);
      expect(rig.news).toEqual([{ type: 'ping', nonce: expect.any(String) }]);
      time.advance(9_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe(DEAD);
      expect(rig.reasons).toEqual([{ code: 1006, reason: DEAD, wasClean: false, willRetry: false }]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'Keepalive pings 20 s after the last frame, and not before',
    inTime((time) => {
      const rig = watched();
      repeat(time, 10, 15_000, () => {
        rig.receive({ type: 'open', stream: 1 + 2 * (time.now / 15_000) });
      });
      time.advance(19_999);
      expect(pings(rig)).toBe(0);
      time.advance(1);
      expect(pings(rig)).toBe(1);
    }),
  );

  it.each<[string, (rig: Rig) => void]>([
    ['the pong', (rig) => rig.receive({ type: 'pong', nonce: String(rig.observed.at(-1)?.[1].nonce) })],
    ['any frame', (rig) => rig.receive({ type: 'later' })],
    ['new bytes that the socket takes', (rig) => rig.open({ payload: 'taken' })],
    ['a held byte that the socket takes', (rig) => (rig.transport.bufferedAmount -= 1)],
  ])(
    'Keepalive accepts as an answer %s',
    inTime<[string, (rig: Rig) => void]>((time, _what, live) => {
      const rig = watched();
      rig.transport.stuck = true;
      rig.open({ payload: 'x'.repeat(1_000) });
      rig.transport.stuck = false;
      time.advance(20_000);
      expect(pings(rig)).toBe(1);
      time.advance(9_999);
      live(rig);
      time.advance(19_999);
      expect(rig.transport.terminated).toBeNull();
      expect(pings(rig)).toBe(0);
      // The taken bytes are noticed one ms later.
      time.advance(2);
      expect(pings(rig)).toBe(1);
      time.advance(10_000);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive does not accept as an answer that the socket has taken the ping',
    inTime((time) => {
      const rig = watched();
      time.advance(19_000);
      rig.transport.stuck = true;
      time.advance(1_000);
      rig.transport.bufferedAmount += 6;
      time.advance(5_000);
      rig.transport.bufferedAmount = 0;
      time.advance(5_000);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive keeps a slow upload: any byte that a full socket takes is a sign of life',
    inTime((time) => {
      const rig = watched({ measured: false });
      rig.transport.stuck = true;
      const stream = rig.open();
      for (let n = 0; n < 10; n++) rig.send(stream, { payload: 'é'.repeat(10 * KIB) });
      rig.transport.bufferedAmount += 140;
      repeat(time, 20, 9_000, () => {
        rig.transport.bufferedAmount -= 10 * KIB;
      });
      expect(rig.transport.terminated).toBeNull();
      // The first sample cannot show yet whether the socket is full.
      expect(pings(rig)).toBe(1);
    }),
  );

  it(
    'Keepalive keeps a slow upload that the socket has taken before the answer is due',
    inTime((time) => {
      const rig = watched();
      rig.transport.stuck = true;
      rig.open({ payload: 'x'.repeat(20 * KIB) });
      time.advance(20_000);
      rig.transport.bufferedAmount = 0;
      time.advance(10_000);
      expect(rig.transport.terminated).toBeNull();
    }),
  );

  it.each([100, 700, 5_000])(
    'Keepalive terminates a dead connection despite a frame sent every %i ms on an empty socket',
    inTime<[number]>((time, everyMs) => {
      const rig = watched();
      repeat(time, Math.floor(29_999 / everyMs), everyMs, () => {
        rig.open({ payload: 'taken' });
      });
      time.advance(29_999 - time.now);
      expect([pings(rig), rig.transport.terminated]).toEqual([1, null]);
      time.advance(1);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive ignores bytes that the socket held only for a moment',
    inTime((time) => {
      const rig = watched();
      rig.transport.stuck = true;
      time.advance(19_999);
      rig.open({ payload: 'on its way' });
      time.advance(1);
      rig.transport.bufferedAmount = 0;
      time.advance(10_000);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive has at most one outstanding ping, despite other signs of life',
    inTime((time) => {
      const rig = watched();
      repeat(time, 3, 25_000, () => {
        rig.receive({ type: 'later' });
      });
      expect(pings(rig)).toBe(3);
      const nonces = rig.observed.filter(([, { type }]) => type === 'ping').map(([, { nonce }]) => nonce);
      expect(new Set(nonces).size).toBe(3);
    }),
  );

  it(
    'Keepalive with an idleMs below its timeoutMs pings once and waits the whole timeoutMs',
    inTime((time) => {
      const rig = watched({ keepalive: { idleMs: 1_000, timeoutMs: 10_000 } });
      time.advance(10_999);
      expect([pings(rig), rig.transport.terminated]).toEqual([1, null]);
      time.advance(1);
      expect([pings(rig), rig.transport.terminated]).toEqual([0, DEAD]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'Keepalive with an idleMs below its timeoutMs pings again idleMs after an answer',
    inTime((time) => {
      const rig = watched({ keepalive: { idleMs: 1_000, timeoutMs: 10_000 } });
      time.advance(8_500);
      rig.receive({ type: 'later' });
      expect(pings(rig)).toBe(1);
      time.advance(999);
      expect(pings(rig)).toBe(0);
      time.advance(1);
      expect(pings(rig)).toBe(1);
      time.advance(10_000);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive cancels a ping after another sign of life, so its late pong is junk',
    inTime((time) => {
      const rig = watched({ limits: { junk: { burst: 0, perSecond: 0 } } });
      time.advance(20_000);
      const [first] = rig.news;
      rig.receive({ type: 'later' });
      time.advance(20_000);
      rig.receive({ type: 'pong', nonce: rig.news[0]?.nonce });
      expect(rig.transport.closes).toEqual([]);
      rig.receive({ type: 'pong', nonce: first?.nonce });
      expect(rig.transport.closes).toHaveLength(1);
    }),
  );

  it(
    'Keepalive does not count the time while reading is paused',
    inTime((time) => {
      const rig = watched({ limits: { pauseBytes: 1, maxUnreadBytes: 1, pauseMs: 5_000 } });
      const stream = rig.remote(1);
      time.advance(18_000);
      stream.live.keep(1);
      time.advance(6_999);
      expect(pings(rig)).toBe(0);
      time.advance(1);
      expect(pings(rig)).toBe(1);
      stream.live.read(1);
      time.advance(8_000);
      stream.live.keep(1);
      time.advance(6_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive pings again and waits 10 s when its timer is more than twice too late',
    inTime((time) => {
      const rig = watched();
      time.sleep(3_600_000);
      expect(pings(rig)).toBe(1);
      expect(rig.transport.terminated).toBeNull();
      time.sleep(3_600_000);
      expect(pings(rig)).toBe(1);
      time.advance(9_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive terminates the socket when its timer is exactly twice too late',
    inTime((time) => {
      const rig = watched();
      time.advance(20_000);
      time.sleep(20_000);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    '`probe` pings at once, and not again while its answer is outstanding',
    inTime((time) => {
      const rig = watched();
      time.advance(1_000);
      rig.connection.probe();
      rig.connection.probe();
      expect(pings(rig)).toBe(1);
      time.advance(5_000);
      rig.connection.probe();
      time.advance(5_000);
      expect(pings(rig)).toBe(0);
      expect(rig.transport.terminated).toBe(DEAD);
      rig.connection.probe();
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    '`probe` pings anew once the last ping is answered, however recent that ping is',
    inTime((time) => {
      const rig = watched();
      time.advance(20_000);
      const [ping] = rig.news.filter(({ type }) => type === 'ping');
      time.advance(100);
      rig.receive({ type: 'pong', nonce: String(ping?.['nonce']) });
      time.advance(2_000);
      rig.connection.probe();
      time.advance(9_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'Keepalive can be switched off',
    inTime((time) => {
      const rig = watched({ keepalive: null });
      rig.connection.probe();
      expect([rig.news, time.isOver]).toEqual([[], true]);
      const never = watched({ keepalive: { idleMs: Infinity, timeoutMs: 1 } });
      expect([never.news, time.isOver]).toEqual([[], true]);
    }),
  );

  it(
    'Keepalive leaves no timer when the socket ends while its ping is sent',
    inTime((time) => {
      const rig = watched();
      rig.transport.onSend = () => {
        rig.transport.end();
      };
      time.advance(20_000);
      expect(rig.reasons).toHaveLength(1);
      expect(time.isOver).toBe(true);
    }),
  );
});
