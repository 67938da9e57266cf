import { describe, expect, it } from '@jest/globals';
import { DEFAULT_KEEPALIVE } from '../../../src/session/watch/keepalive.js';
import { Rig } from '../../support/session/rig.js';
import type { RigOptions } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';
import type { SessionTime } from '../../support/session/time.js';

const KIB = 1024;
const DEAD = 'no sign of life';

/** A rig with the default keepalive, 20 s and 10 s. */
const watched = (options: RigOptions = {}) => new Rig({ keepalive: DEFAULT_KEEPALIVE, ...options });

const pings = (rig: Rig) => rig.news.filter(({ type }) => type === 'ping').length;

/** Something happens every so many ms, so often. */
function repeat(time: SessionTime, count: number, everyMs: number, act: () => void): void {
  for (let n = 0; n < count; n++) {
    time.advance(everyMs);
    act();
  }
}

describe('the keepalive', () => {
  it(
    'watches no socket that ended before it was read',
    inTime((time) => {
      const rig = watched({ started: false });
      rig.transport.end();
      rig.session.start();
      expect(rig.reasons).toHaveLength(1);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'pings after 20 s without life, and terminates 10 s later',
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
    'is quiet on a connection that is not, and pings 20 s after the last frame',
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
    ['its pong', (rig) => rig.receive({ type: 'pong', nonce: String(rig.observed.at(-1)?.[1].nonce) })],
    ['any frame', (rig) => rig.receive({ type: 'later' })],
    ['bytes of ours that the socket takes', (rig) => rig.open({ payload: 'taken' })],
    ['a byte of what the socket held', (rig) => (rig.transport.bufferedAmount -= 1)],
  ])(
    'takes for an answer %s',
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
      // That bytes were taken is seen a ms later.
      time.advance(2);
      expect(pings(rig)).toBe(1);
      time.advance(10_000);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'does not take for an answer that the socket has taken the ping',
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
    'condemns no slow upload: any byte taken of a full socket is life, however the socket counts',
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
      // By the first look nobody knows yet whether it is full.
      expect(pings(rig)).toBe(1);
    }),
  );

  it(
    'condemns no slow upload that the socket has taken by the time of the answer',
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
    'gives up a dead connection on which something is sent every %i ms: what an empty socket takes is no life',
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
    'sees no life in bytes that the socket held only in passing when it was looked at',
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
    'keeps one ping under way, whatever else is a sign of life',
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
    'with less time to be idle than to answer asks once, and gives the answer all its time',
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
    'with less time to be idle than to answer asks again that time after an answer',
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
    'forgets a ping that something else answered: its pong is junk once the next is sent',
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
    'does not count the time while reading is paused',
    inTime((time) => {
      const rig = watched({ limits: { pauseBytes: 1, pauseMs: 5_000 } });
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
    'condemns nobody by a timer that comes more than twice too late: it asks once more and gives that 10 s',
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
    'condemns by a timer that comes twice too late, and no more',
    inTime((time) => {
      const rig = watched();
      time.advance(20_000);
      time.sleep(20_000);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'asks at once when the page wakes up, and not again while it waits for the answer',
    inTime((time) => {
      const rig = watched();
      time.advance(1_000);
      rig.session.probe();
      rig.session.probe();
      expect(pings(rig)).toBe(1);
      time.advance(5_000);
      rig.session.probe();
      time.advance(5_000);
      expect(pings(rig)).toBe(0);
      expect(rig.transport.terminated).toBe(DEAD);
      rig.session.probe();
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'asks anew when the page wakes up after an answer, however short the time since the ping',
    inTime((time) => {
      const rig = watched();
      time.advance(20_000);
      const [ping] = rig.news.filter(({ type }) => type === 'ping');
      time.advance(100);
      rig.receive({ type: 'pong', nonce: String(ping?.['nonce']) });
      time.advance(2_000);
      rig.session.probe();
      time.advance(9_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe(DEAD);
    }),
  );

  it(
    'can be switched off',
    inTime((time) => {
      const rig = watched({ keepalive: null });
      rig.session.probe();
      expect([rig.news, time.isOver]).toEqual([[], true]);
      const never = watched({ keepalive: { idleMs: Infinity, timeoutMs: 1 } });
      expect([never.news, time.isOver]).toEqual([[], true]);
    }),
  );

  it(
    'ends with a socket that is lost by the ping itself',
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
