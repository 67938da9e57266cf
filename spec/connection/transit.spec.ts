import { describe, expect, it } from '@jest/globals';
import { Subscription } from 'rxjs';
import { BYTES_PER_PING } from '../../src/connection/inbound.js';
import {
  EXTRA_PINGS,
  FAST_MS,
  FAST_RTT_MS,
  LENGTH_PER_PING,
  MAX_AHEAD_BYTES,
  MAX_UNANSWERED,
  SLOWEST_BYTES_PER_MS,
  Transit,
} from '../../src/connection/transit.js';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { LONGEST_TIMER_MS, patientTimer, restTimer, steadyNow } from '../../src/util/time.js';
import { ResetCode } from '../../src/wire/codes.js';
import type { Frame } from '../../src/wire/frame.js';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';
import type { SessionTime } from '../support/session/time.js';
import { ScriptedTransport } from '../support/socket/scripted-transport.js';

const KIB = 1_024;
const MIB = 1_024 * KIB;
const msFor = (bytes: number): number => bytes / SLOWEST_BYTES_PER_MS;

/** A Transit that starts at 10 ms, its unanswered pings, and a function that answers the first of them. */
function setUp(time: SessionTime) {
  time.advance(10);
  const transport = new ScriptedTransport();
  const pings: ((ms: number) => void)[] = [];
  const leave: (() => void)[] = [];
  const transit = new Transit(transport, {
    ping: (answered, _lost, left) => {
      pings.push(answered);
      if (left !== undefined) leave.push(left);
      return () => undefined;
    },
  });
  const give = (bytes: number): boolean => {
    transport.sentBytes += bytes;
    return transit.sent(bytes, steadyNow());
  };
  /** Sends bytes and then a ping, which is written at once. */
  const mark = (bytes: number): void => {
    give(bytes);
    transit.ping(() => undefined);
    leave.shift()?.();
  };
  const answer = (): void => {
    pings.shift()?.(0);
  };
  return { transit, transport, pings, leave, give, mark, answer };
}

describe('Transit', () => {
  it(
    'Transit asks for a ping after each 32 KiB',
    inTime((time) => {
      const { transit, give } = setUp(time);
      expect([give(LENGTH_PER_PING - 1), give(1)]).toEqual([false, true]);
      transit.ping(() => undefined);
      expect([give(LENGTH_PER_PING - 1), give(1)]).toEqual([false, true]);
    }),
  );

  it(
    'Transit asks for a ping only after each 256 KiB once its extra pings are spent, until time has passed',
    inTime((time) => {
      const { mark, give, answer } = setUp(time);
      for (let nth = 0; nth < EXTRA_PINGS.burst; nth++) {
        mark(LENGTH_PER_PING);
        answer();
      }
      expect([give(BYTES_PER_PING - 1), give(1)]).toEqual([false, true]);
      mark(0);
      time.advance(1_000 / EXTRA_PINGS.perSecond);
      expect(give(LENGTH_PER_PING)).toBe(true);
    }),
  );

  it(
    'Transit asks for a ping only after each 256 KiB of small frames while pongs come within 50 ms',
    inTime((time) => {
      const { mark, give, answer } = setUp(time);
      mark(LENGTH_PER_PING);
      expect(give(LENGTH_PER_PING)).toBe(true);
      answer();
      expect([give(BYTES_PER_PING - LENGTH_PER_PING - 1), give(1)]).toEqual([false, true]);
      mark(0);
      answer();
      time.advance(FAST_MS - 1);
      expect(give(LENGTH_PER_PING)).toBe(false);
      time.advance(1);
      expect(give(0)).toBe(true);
    }),
  );

  it(
    'Transit asks for a ping after each 32 KiB of bulk however soon pongs come, and of small frames after a late pong',
    inTime((time) => {
      const { transit, mark, pings, answer } = setUp(time);
      mark(LENGTH_PER_PING);
      answer();
      expect(transit.sent(LENGTH_PER_PING, steadyNow(), true)).toBe(true);
      mark(0);
      pings.shift()?.(FAST_RTT_MS);
      expect(transit.sent(LENGTH_PER_PING, steadyNow())).toBe(true);
    }),
  );

  it(
    'Transit counts the granted part of each extra ping, so that they suffice for more bulk',
    inTime((time) => {
      const { transit, mark } = setUp(time);
      const isAsked = (): boolean => {
        mark(BYTES_PER_PING / 2);
        return transit.sent(0, steadyNow(), true);
      };
      let extras = 0;
      for (let sent = 0; sent < 3 * EXTRA_PINGS.burst; sent++) {
        if (!transit.sent(BYTES_PER_PING / 2, steadyNow(), true)) break;
        transit.ping(() => undefined);
        extras++;
      }
      expect(isAsked()).toBe(false);
      expect(extras).toBe(2 * EXTRA_PINGS.burst - 1);
    }),
  );

  it(
    'Transit asks for no ping while too many are unanswered',
    inTime((time) => {
      const { mark, give, answer } = setUp(time);
      for (let nth = 0; nth < MAX_UNANSWERED; nth++) mark(BYTES_PER_PING);
      expect(give(BYTES_PER_PING)).toBe(false);
      answer();
      expect(give(0)).toBe(true);
    }),
  );

  it(
    'Transit expects no answer before a ping has left',
    inTime((time) => {
      const { transit, transport, give, leave } = setUp(time);
      give(MIB);
      transit.ping(() => undefined);
      expect(transit.dueAt).toBe(-Infinity);
      transport.sentBytes += MIB;
      leave.shift()?.();
      expect(transit.dueAt).toBe(10 + msFor(2 * MIB));
    }),
  );

  it(
    'Transit expects the first answer when the slowest line has carried the bytes before its ping',
    inTime((time) => {
      const { transit, mark, give } = setUp(time);
      mark(60_000);
      give(MIB);
      expect(transit.dueAt).toBe(10 + msFor(60_000));
      time.advance(1_000);
      mark(60_000);
      expect(transit.dueAt).toBe(10 + msFor(60_000));
    }),
  );

  it(
    'Transit expects the next answer after the time that the slowest line takes, from the last answer on',
    inTime((time) => {
      const { transit, mark, answer } = setUp(time);
      mark(60_000);
      mark(30_000);
      time.advance(2_000);
      answer();
      expect([transit.arrivedAt, transit.dueAt]).toEqual([2_010, 2_010 + msFor(30_000)]);
      answer();
      expect(transit.dueAt).toBe(-Infinity);
    }),
  );

  it(
    'Transit counts bytes sent after an answer from their sending, behind the bytes in transit',
    inTime((time) => {
      const { transit, mark, give, answer } = setUp(time);
      mark(60_000);
      give(12_000);
      answer();
      time.advance(1_000);
      mark(60_000);
      expect(transit.dueAt).toBe(10 + msFor(72_000));
      answer();
      time.advance(60_000);
      mark(60_000);
      expect(transit.dueAt).toBe(61_010 + msFor(60_000));
    }),
  );

  it(
    'Transit counts an answer for all earlier pings, and ignores their later answers',
    inTime((time) => {
      const { transit, mark, pings } = setUp(time);
      for (let nth = 0; nth < 3; nth++) mark(60_000);
      pings[1]?.(0);
      expect(transit.dueAt).toBe(10 + msFor(60_000));
      time.advance(1_000);
      pings[0]?.(0);
      expect([transit.arrivedAt, transit.dueAt]).toEqual([10, 10 + msFor(60_000)]);
    }),
  );

  it(
    'Transit ignores an answer to a ping that has not left',
    inTime((time) => {
      const { transit, give, answer } = setUp(time);
      give(60_000);
      transit.ping(() => undefined);
      answer();
      expect(transit.arrivedAt).toBe(0);
    }),
  );

  it(
    'Transit waits longer for an answer behind received bytes, up to 2 MiB of them',
    inTime((time) => {
      const { transit, mark, answer } = setUp(time);
      transit.received(60_000);
      mark(60_000);
      expect(transit.dueAt).toBe(10 + msFor(60_000));
      transit.received(6_000);
      expect(transit.dueAt).toBe(10 + msFor(66_000));
      transit.received(3 * MIB);
      expect(transit.dueAt).toBe(10 + msFor(60_000 + MAX_AHEAD_BYTES));
      mark(60_000);
      answer();
      expect(transit.dueAt).toBe(10 + msFor(60_000));
    }),
  );

  it(
    '`whenArrived` calls back at once if the slowest line needs at most 2 s, and otherwise after an answer',
    inTime((time) => {
      const { transit, give, leave, answer } = setUp(time);
      const told: number[] = [];
      const tell = (): void => {
        told.push(steadyNow());
      };
      give(2_000 * SLOWEST_BYTES_PER_MS);
      transit.whenArrived(tell);
      expect(told).toEqual([10]);
      give(1);
      transit.whenArrived(tell);
      leave.shift()?.();
      time.advance(50);
      expect(told).toEqual([10]);
      answer();
      expect(told).toEqual([10, 60]);
    }),
  );
});

describe('sessions with a fast socket and a slow line', () => {
  const SIZE = 600 * KIB;
  const pingsOf = (rig: Rig) => rig.sent.filter(({ type }) => type === 'ping').map(({ nonce }) => nonce ?? '');

  /** Sends a large payload, as fast as the socket takes it. */
  function sendLarge(rig: Rig): void {
    rig.open({ payload: 'x'.repeat(SIZE), end: true }, true);
    rig.settle();
  }

  /** Sends a large payload; the remote reads `bytesPerMs` and answers each ping that it has read. */
  function slow(time: SessionTime, bytesPerMs: number, rig: Rig): { readonly read: (ms: number) => void } {
    sendLarge(rig);
    let read = 0;
    let answered = 0;
    const step = (ms: number): void => {
      time.advance(ms);
      read += ms * bytesPerMs;
      let sum = 0;
      for (const message of [...rig.transport.sent]) {
        sum += String(message).length;
        const { type, nonce = null } = rig.connection.codec.decode(message);
        if (sum > read || type !== 'ping' || sum <= answered) continue;
        answered = sum;
        rig.receive({ type: 'pong', nonce });
      }
    };
    return {
      read(ms) {
        for (let passed = 0; passed < ms; passed += 1_000) step(1_000);
      },
    };
  }

  it(
    'Session sends a ping after each slice of a large payload',
    inTime(() => {
      const rig = new Rig();
      sendLarge(rig);
      expect(pingsOf(rig)).toHaveLength(rig.sent.filter(({ type, more }) => type === 'open' && more === true).length);
    }),
  );

  it(
    'Session waits for a remote that reads 8 kB/s, and closes once it has read everything',
    inTime((time) => {
      const rig = new Rig({ keepalive: DEFAULT_KEEPALIVE });
      const remote = slow(time, 8, rig);
      rig.connection.drain(0, ResetCode.NO_ERROR, '');
      remote.read((SIZE / 8) * 0.98);
      expect([rig.transport.terminated, rig.transport.closes]).toEqual([null, []]);
      remote.read((SIZE / 8) * 0.1);
      expect(rig.transport.closes).toEqual([{ code: 1000, reason: '' }]);
    }),
  );

  it(
    'Session begins the closing handshake when an answer is overdue, and terminates the socket 2 s later',
    inTime((time) => {
      const rig = new Rig();
      slow(time, 0, rig);
      rig.connection.drain(0, ResetCode.NO_ERROR, '');
      const due = Math.ceil(rig.connection.transit.dueAt);
      expect(due).toBeLessThanOrEqual(msFor(64 * KIB + 100));
      time.advance(due + 1_999);
      expect(rig.transport.closes).toEqual([]);
      time.advance(1);
      expect([rig.transport.closes.length, rig.transport.terminated]).toEqual([1, null]);
      time.advance(2_000);
      expect(rig.transport.terminated).toBe('closing made no progress');
      rig.connection.closing.arrivalMissed();
      expect(rig.transport.closes).toHaveLength(1);
    }),
  );

  it(
    'Session begins no second closing handshake after the connection has failed',
    inTime((time) => {
      const rig = new Rig();
      slow(time, 0, rig);
      rig.connection.drain(0, ResetCode.NO_ERROR, '');
      rig.receive({ type: 'open', stream: 0 });
      expect(rig.transport.closes.map(({ code }) => code)).toEqual([1002]);
      rig.receive({ type: 'pong', nonce: pingsOf(rig).at(-1) ?? '' });
      expect(rig.transport.closes).toHaveLength(1);
    }),
  );

  it(
    'Session waits for a line that turns slow behind 200 KiB of small frames without a ping',
    inTime((time) => {
      const rig = new Rig({ keepalive: DEFAULT_KEEPALIVE });
      const holder = rig.open({ payload: 'x'.repeat(LENGTH_PER_PING / 2) });
      const send = (kib: number): void => {
        for (let sent = 0; sent < kib; sent += 10) rig.send(holder, { payload: 'x'.repeat(10 * KIB) });
        rig.settle();
      };
      send(20);
      rig.receive({ type: 'pong', nonce: pingsOf(rig)[0] ?? '' });
      send(200);
      expect(pingsOf(rig)).toHaveLength(1);
      time.advance(30_001);
      expect([rig.transport.terminated, pingsOf(rig).length]).toEqual([null, 2]);
      rig.receive({ type: 'pong', nonce: pingsOf(rig)[1] ?? '' });
      time.advance(29_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('no sign of life');
    }),
  );

  it(
    'Session terminates the socket of a silent remote after 30 s, even during a large transfer',
    inTime((time) => {
      const rig = new Rig({ keepalive: DEFAULT_KEEPALIVE });
      slow(time, 0, rig);
      time.advance(29_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('no sign of life');
    }),
  );

  it(
    'Session waits 60 s from each answer for a full socket to take bytes',
    inTime((time) => {
      const rig = new Rig();
      rig.transport.stuck = true;
      rig.open({ payload: 'x'.repeat(2 * MIB) });
      rig.settle();
      time.advance(59_000);
      rig.receive({ type: 'pong', nonce: pingsOf(rig)[0] ?? '' });
      time.advance(59_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );
});

describe('FragmentWatch', () => {
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

/** Records the emissions of a timer and their times. */
const watch = (time: SessionTime, start: (due: (onTime: boolean) => void) => unknown): unknown[] => {
  const seen: unknown[] = [];
  start((onTime) => seen.push([time.now, onTime]));
  return seen;
};

describe('patientTimer', () => {
  it.each([
    ['on time', 1_000, true],
    ['late', 1_500, true],
    ['twice too late', 2_000, true],
    ['more than twice too late', 2_001, false],
    ['a night too late', 30_000_000, false],
  ])(
    '`patientTimer` reports whether it was on time when it comes %s',
    inTime<[string, number, boolean]>((time, _what, at, onTime) => {
      const seen = watch(time, (due) => patientTimer(1_000, due));
      time.sleep(at);
      expect(seen).toEqual([[at, onTime]]);
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    '`patientTimer` emits exactly once, at its time',
    inTime((time) => {
      const seen = watch(time, (due) => patientTimer(1_000, due));
      time.advance(999);
      expect(seen).toEqual([]);
      time.advance(10_000);
      expect(seen).toEqual([[1_000, true]]);
    }),
  );

  it(
    '`patientTimer` cancels its timer on unsubscribe',
    inTime((time) => {
      let timer = Subscription.EMPTY;
      const seen = watch(time, (due) => (timer = patientTimer(1_000, due)));
      expect(time.isOver).toBe(false);
      timer.unsubscribe();
      expect(time.isOver).toBe(true);
      time.advance(10_000);
      expect(seen).toEqual([]);
    }),
  );

  it.each([
    [LONGEST_TIMER_MS, false],
    [LONGEST_TIMER_MS + 1, true],
    [Infinity, true],
  ])(
    '`patientTimer` of %d ms never emits: %s',
    inTime<[number, boolean]>((time, ms, never) => {
      const seen = watch(time, (due) => patientTimer(ms, due));
      expect(time.isOver).toBe(never);
      time.advance(LONGEST_TIMER_MS);
      expect(seen).toEqual(never ? [] : [[LONGEST_TIMER_MS, true]]);
    }),
  );
});

describe('restTimer', () => {
  it.each([
    ['the rest', false, 30, 100, 30],
    ['at least 1 ms', false, 0, 100, 1],
    ['at least 1 ms when the period is already over', false, -500, 100, 1],
    ['the rest while the clock is paused', true, 30, 100, 30],
    ['at least a tenth of the period while the clock is paused', true, 3, 100, 10],
    ['a tenth of the period when it is over and the clock is paused', true, -5, 100, 10],
  ])(
    '`restTimer` waits for %s',
    inTime<[string, boolean, number, number, number]>((time, _what, paused, rest, period, at) => {
      const seen = watch(time, (due) => restTimer({ now: () => 0, paused }, rest, period, due));
      time.advance(1_000);
      expect(seen).toEqual([[at, true]]);
    }),
  );

  it.each([
    ['a short rest that is late by a tenth of the period', 1, 11, true],
    ['a short rest that is late by more than a tenth of the period', 1, 12, false],
    ['a long rest that is late by as much again', 60, 120, true],
    ['a long rest that is later', 60, 121, false],
  ])(
    '`restTimer` reports whether it was on time after %s',
    inTime<[string, number, number, boolean]>((time, _what, rest, at, onTime) => {
      const seen = watch(time, (due) => restTimer({ now: () => 0, paused: false }, rest, 100, due));
      time.sleep(at);
      expect(seen).toEqual([[at, onTime]]);
    }),
  );
});
