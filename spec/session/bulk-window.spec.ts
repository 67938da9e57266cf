import { describe, expect, it, jest } from '@jest/globals';
import { BulkWindow, CONTENDED_MS, MIN_WINDOW_BYTES, MAX_PROBES, SHORT_RTT_MS } from '../../src/session/bulk-window.js';
import { BYTES_PER_PING } from '../../src/session/flood-guard.js';
import { TURN_BYTES } from '../../src/session/pace.js';
import { Rig } from '../support/session-rig.js';
import { inTime } from '../support/session-time.js';

const MIB = 1024 * 1024;

/** A window with the pings that it has sent, how often it opened, and how many pings it waits for no longer. */
function windowed() {
  const pongs: ((ms: number) => void)[] = [];
  const seen = { opened: 0, givenUp: 0 };
  const window = new BulkWindow(
    (answered) => {
      pongs.push(answered);
      return () => {
        seen.givenUp++;
      };
    },
    () => {
      seen.opened++;
    },
  );
  return { window, pongs, seen };
}

describe('bulk that is alone', () => {
  it(
    'is never held up, and sends no pings',
    inTime(() => {
      const { window, pongs } = windowed();
      window.sent(100 * MIB);
      expect([window.open, pongs.length]).toEqual([true, 0]);
    }),
  );
});

describe('pings of bulk', () => {
  it(
    'are waited for until a later one is answered, however long that takes',
    inTime((time) => {
      const { window, pongs, seen } = windowed();
      window.contend();
      for (let n = 0; n < 3; n++) window.sent(BYTES_PER_PING);
      window.awaitAnswer();
      time.advance(CONTENDED_MS);
      expect([pongs.length, seen.givenUp, seen.opened]).toEqual([3, 0, 1]);
      pongs[1]?.(2 * CONTENDED_MS);
      // With the one that was answered, which is told for nothing.
      expect([seen.givenUp, seen.opened]).toEqual([2, 2]);
    }),
  );

  it(
    'are given up where too many are not answered, the oldest first',
    inTime(() => {
      const { window, pongs, seen } = windowed();
      window.contend();
      for (let n = 0; n < MAX_PROBES; n++) window.sent(BYTES_PER_PING);
      expect([pongs.length, seen.givenUp]).toEqual([MAX_PROBES, 0]);
      window.sent(BYTES_PER_PING);
      expect(seen.givenUp).toBe(1);
    }),
  );
});

describe('bulk while streams contend', () => {
  it(
    'is followed by a ping for each 256 KiB, and held up while 512 KiB are unanswered',
    inTime(() => {
      const { window, pongs, seen } = windowed();
      window.contend();
      window.sent(BYTES_PER_PING - 1);
      expect(pongs.length).toBe(0);
      window.sent(1);
      expect([pongs.length, window.open]).toEqual([1, true]);
      window.sent(BYTES_PER_PING - 1);
      expect([pongs.length, window.open]).toEqual([1, true]);
      window.sent(1);
      expect([pongs.length, window.open, seen.opened]).toEqual([2, false, 0]);
      pongs[0]?.(0);
      expect([window.open, seen.opened]).toEqual([true, 1]);
    }),
  );

  it(
    'pings at once for what has left before, and waits for that answer',
    inTime(() => {
      const { window, pongs } = windowed();
      window.sent(10 * MIB);
      window.contend();
      window.contend();
      expect([pongs.length, window.open]).toEqual([1, false]);
      pongs[0]?.(30);
      expect(window.open).toBe(true);
      window.sent(MIN_WINDOW_BYTES - 1);
      expect(window.open).toBe(true);
      window.sent(1);
      expect(window.open).toBe(false);
    }),
  );

  it(
    'pings for as much as a ping is granted for, to the byte',
    inTime(() => {
      const { window, pongs } = windowed();
      window.sent(BYTES_PER_PING);
      window.contend();
      expect(pongs.length).toBe(1);
    }),
  );

  it(
    'does not ping for less than a ping is granted for',
    inTime(() => {
      const { window, pongs } = windowed();
      window.sent(BYTES_PER_PING - 1);
      window.contend();
      expect(pongs.length).toBe(0);
    }),
  );

  it(
    'goes on freely a second after the last sign of contention',
    inTime((time) => {
      const { window, pongs } = windowed();
      window.sent(10 * MIB);
      window.contend();
      time.advance(CONTENDED_MS - 1);
      window.contend();
      time.advance(CONTENDED_MS - 1);
      expect(window.open).toBe(false);
      time.advance(1);
      expect(window.open).toBe(true);
      window.sent(MIB);
      expect(pongs.length).toBe(1);
    }),
  );

  it(
    'is not set back by an answer that comes after a later one',
    inTime(() => {
      const { window, pongs } = windowed();
      window.contend();
      window.sent(BYTES_PER_PING);
      window.sent(BYTES_PER_PING);
      pongs[1]?.(0);
      pongs[0]?.(0);
      window.sent(MIN_WINDOW_BYTES - 1);
      expect(window.open).toBe(true);
    }),
  );

  it(
    'gets a wider window on a long line: twice what is answered within its shortest round trip',
    inTime((time) => {
      const { window, pongs } = windowed();
      window.contend();
      const roundTrip = (bytes: number, ms: number): void => {
        window.sent(bytes);
        time.advance(ms);
        pongs.at(-1)?.(ms);
        window.contend();
      };
      roundTrip(BYTES_PER_PING, 50);
      expect(window.bytes).toBe(MIN_WINDOW_BYTES);
      roundTrip(MIN_WINDOW_BYTES, 50);
      expect(window.bytes).toBe(2 * MIN_WINDOW_BYTES);
      // Fuller buffers make the way longer, which is no reason for more.
      roundTrip(MIN_WINDOW_BYTES, 100);
      expect(window.bytes).toBe(2 * MIN_WINDOW_BYTES);
      roundTrip(2 * MIN_WINDOW_BYTES, 50);
      expect(window.bytes).toBe(4 * MIN_WINDOW_BYTES);
    }),
  );

  it(
    'counts what a whole round trip brings, not what answers that come together seem to',
    inTime(() => {
      const { window, pongs } = windowed();
      window.contend();
      for (let nth = 0; nth < 3; nth++) window.sent(BYTES_PER_PING);
      pongs[0]?.(50);
      window.sent(BYTES_PER_PING);
      pongs[1]?.(50);
      pongs[2]?.(50);
      expect(window.bytes).toBe(MIN_WINDOW_BYTES);
      pongs[3]?.(50);
      expect(window.bytes).toBe(6 * BYTES_PER_PING);
    }),
  );

  it.each([
    { ms: 0, bytes: MIN_WINDOW_BYTES },
    { ms: SHORT_RTT_MS, bytes: MIN_WINDOW_BYTES },
    { ms: SHORT_RTT_MS + 1, bytes: 2 * MIN_WINDOW_BYTES },
  ])('has $bytes bytes on a line of $ms ms: what both ends need for one window is not the line', ({ ms, bytes }) =>
    inTime(() => {
      const { window, pongs } = windowed();
      window.contend();
      window.sent(BYTES_PER_PING);
      pongs[0]?.(ms);
      window.sent(MIN_WINDOW_BYTES);
      pongs[1]?.(ms);
      expect(window.bytes).toBe(bytes);
    })(),
  );

  it(
    'begins anew with the next contention',
    inTime((time) => {
      const { window, pongs } = windowed();
      window.contend();
      for (let nth = 0; nth < 2; nth++) {
        window.sent(MIN_WINDOW_BYTES);
        pongs[nth]?.(30);
      }
      expect(window.bytes).toBe(2 * MIN_WINDOW_BYTES);
      time.advance(CONTENDED_MS);
      window.contend();
      expect(window.bytes).toBe(MIN_WINDOW_BYTES);
      window.sent(BYTES_PER_PING);
      pongs[2]?.(50);
      expect(window.bytes).toBe(MIN_WINDOW_BYTES);
      window.sent(MIN_WINDOW_BYTES);
      pongs[3]?.(50);
      expect(window.bytes).toBe(2 * MIN_WINDOW_BYTES);
    }),
  );
});

describe('bulk that waits for an answer', () => {
  it(
    'waits a second, with one timer, and then takes all for answered',
    inTime((time) => {
      const { window, seen } = windowed();
      window.contend();
      window.sent(MIN_WINDOW_BYTES);
      window.awaitAnswer();
      time.advance(CONTENDED_MS - 1);
      window.contend();
      window.awaitAnswer();
      expect([seen.opened, window.open]).toEqual([0, false]);
      time.advance(1);
      expect([seen.opened, window.open, time.isOver]).toEqual([1, true, true]);
    }),
  );

  it(
    'leaves no timer after the answer, nor after the end',
    inTime((time) => {
      const { window, pongs, seen } = windowed();
      window.contend();
      window.sent(MIN_WINDOW_BYTES);
      window.awaitAnswer();
      window.awaitAnswer();
      pongs[0]?.(1);
      expect(time.isOver).toBe(true);
      time.advance(CONTENDED_MS);
      expect(seen.opened).toBe(1);
      window.awaitAnswer();
      window.stop();
      time.advance(CONTENDED_MS);
      expect([seen.opened, time.isOver]).toEqual([1, true]);
    }),
  );
});

describe('a connection with a big transfer', () => {
  /** Turns pass until nothing more is written. */
  function settle(rig: Rig): void {
    while (rig.transport.turnsDue > 0) rig.transport.nextTurn();
  }

  it(
    'holds it up while others want to send, and lets these pass',
    inTime((time) => {
      const rig = new Rig();
      const big = rig.open({ payload: 'x'.repeat(8 * MIB) });
      for (let turn = 0; turn < 16; turn++) rig.transport.nextTurn();
      const before = bytesOf(rig, big.live.id);
      expect(before).toBeGreaterThan(MIN_WINDOW_BYTES + BYTES_PER_PING);
      rig.open({ payload: 'small', end: true });
      settle(rig);
      const pings = rig.sent.filter(({ type }) => type === 'ping');
      expect(pings.length).toBe(1);
      expect(bytesOf(rig, big.live.id) - before).toBeLessThanOrEqual(TURN_BYTES);
      const held = rig.sent.length;
      for (const payload of ['one', 'two']) rig.open({ payload, end: true });
      settle(rig);
      expect(rig.sent.slice(held).map(({ type, payload }) => [type, payload])).toEqual([
        ['open', 'one'],
        ['open', 'two'],
      ]);
      rig.receive({ type: 'pong', nonce: pings[0]?.nonce ?? '' });
      settle(rig);
      expect(bytesOf(rig, big.live.id) - before).toBeGreaterThanOrEqual(MIN_WINDOW_BYTES);
      time.advance(10 * CONTENDED_MS);
      settle(rig);
      expect(bytesOf(rig, big.live.id)).toBe(8 * MIB + 2);
    }),
  );

  it(
    'holds none up that is alone, whatever small frames have waited before it',
    inTime(() => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(100_000), end: true });
      settle(rig);
      rig.transport.bufferedAmount = 2 * MIB;
      rig.open({ payload: 'small', end: true });
      rig.transport.drainTo(0);
      settle(rig);
      rig.open({ payload: 'x'.repeat(8 * MIB), end: true });
      settle(rig);
      expect(rig.sent.map(({ type }) => type)).toContain('open');
      expect(rig.sent.filter(({ type }) => type === 'ping')).toEqual([]);
    }),
  );

  it(
    'holds up no open that is large itself, so that opens leave in the order of their ids',
    inTime(() => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(MIN_WINDOW_BYTES) });
      rig.open({ payload: 'small', end: true });
      settle(rig);
      const held = rig.sent.length;
      for (const payload of ['y'.repeat(200_000), 'small']) rig.open({ payload, end: true });
      settle(rig);
      const opens = rig.sent.slice(held).filter(({ type }) => type === 'open');
      expect(opens.map(({ stream, more }) => [stream, more])).toEqual([
        [6, true],
        [8, undefined],
      ]);
    }),
  );

  it(
    'lets streams that are pulled go on while it is held up',
    inTime(() => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(8 * MIB) });
      const pulled = rig.open({});
      for (let turn = 0; turn < 16; turn++) rig.transport.nextTurn();
      rig.send(pulled, { payload: 'contends' });
      settle(rig);
      const held = rig.sent.length;
      let asked = 0;
      const step = (): void => {
        rig.send(pulled, { payload: asked++ });
        if (asked < 3) pulled.live.whenDemand(step);
      };
      pulled.live.whenDemand(step);
      settle(rig);
      expect(rig.sent.slice(held).map(({ payload }) => payload)).toEqual([0, 1, 2]);
    }),
  );

  it(
    'takes a pong that comes late for an answer, and one after a later one for junk',
    inTime((time) => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(8 * MIB) });
      const pings = () => rig.sent.filter(({ type }) => type === 'ping').map(({ nonce }) => nonce ?? '');
      for (let turn = 0; turn < 16; turn++) rig.transport.nextTurn();
      for (let n = 0; n < 8; n++) {
        rig.open({ payload: n, end: true });
        settle(rig);
        time.advance(0.4 * CONTENDED_MS);
        settle(rig);
      }
      const [first = '', second = '', third = ''] = pings();
      const junk = jest.spyOn(rig.session.flood, 'countJunk');
      rig.receive({ type: 'pong', nonce: second });
      rig.receive({ type: 'pong', nonce: third });
      expect(junk).not.toHaveBeenCalled();
      rig.receive({ type: 'pong', nonce: first });
      expect(junk).toHaveBeenCalledTimes(1);
    }),
  );

  it(
    'does not take small frames for contention that leave before it',
    inTime(() => {
      const rig = new Rig();
      rig.transport.bufferedAmount = MIB;
      for (const payload of ['one', 'two']) rig.open({ payload, end: true });
      rig.transport.drainTo(0);
      expect(rig.sent.length).toBe(2);
      rig.open({ payload: 'x'.repeat(8 * MIB) });
      settle(rig);
      expect(rig.sent.filter(({ type }) => type === 'ping')).toEqual([]);
    }),
  );

  it(
    'keeps no timer of it when it ends',
    inTime((time) => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(8 * MIB) });
      for (let turn = 0; turn < 16; turn++) rig.transport.nextTurn();
      rig.open({ payload: 'small', end: true });
      settle(rig);
      rig.transport.end();
      expect(time.isOver).toBe(true);
    }),
  );

  function bytesOf(rig: Rig, stream: number): number {
    return rig.sent.filter((frame) => frame.stream === stream).reduce((sum, { fragment }) => sum + String(fragment ?? '').length, 0);
  }
});
