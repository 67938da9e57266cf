import { describe, expect, it, jest } from '@jest/globals';
import {
  BULK_FRAME_BYTES,
  BulkWindow,
  CONTENDED_MS,
  MIN_WINDOW_BYTES,
  MAX_PROBES,
  SHORT_RTT_MS,
} from '../../../src/session/send/bulk-window.js';
import { BYTES_PER_PING } from '../../../src/session/base/flood-guard.js';
import { TURN_BYTES } from '../../../src/session/send/pace.js';
import { ResetCode } from '../../../src/wire/reset-code.js';
import { Rig } from '../../support/session/rig.js';
import type { Envelope, Holder } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const MIB = 1024 * 1024;

const BULK = 1;
const OTHER = 2;

/** A window with the pings that it has sent, how often it opened, and how many pings it waits for no longer. */
function windowed() {
  const pongs: ((ms: number) => void)[] = [];
  const seen = { opened: 0, givenUp: 0 };
  const busy = new Set([BULK]);
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
    (stream) => busy.has(stream),
  );
  let unpinged = 0;
  // As the session does: a ping follows each 256 KiB.
  const send = (bytes: number): void => {
    window.sent(BULK, bytes);
    if (window.isContended) unpinged += bytes;
    if (unpinged < BYTES_PER_PING) return;
    unpinged = 0;
    window.probe();
  };
  /** A small frame of another stream leaves in the middle of the bulk. */
  const contend = (): void => {
    send(0);
    window.passed(OTHER);
  };
  return { window, pongs, seen, busy, send, contend };
}

describe('bulk that is alone', () => {
  it(
    'is never held up',
    inTime(() => {
      const { window, send } = windowed();
      send(100 * MIB);
      expect(window.open).toBe(true);
    }),
  );
});

describe('pings of bulk', () => {
  it(
    'are waited for until a later one is answered, however long that takes',
    inTime((time) => {
      const { window, pongs, seen, send, contend } = windowed();
      contend();
      for (let n = 0; n < 3; n++) send(BYTES_PER_PING);
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
      const { pongs, seen, send, contend } = windowed();
      contend();
      for (let n = 0; n < MAX_PROBES; n++) send(BYTES_PER_PING);
      expect([pongs.length, seen.givenUp]).toEqual([MAX_PROBES, 0]);
      send(BYTES_PER_PING);
      expect(seen.givenUp).toBe(1);
    }),
  );
});

describe('bulk while streams contend', () => {
  it(
    'is followed by a ping for each 256 KiB, and held up while 512 KiB are unanswered',
    inTime(() => {
      const { window, pongs, seen, send, contend } = windowed();
      contend();
      send(BYTES_PER_PING - 1);
      expect(pongs.length).toBe(0);
      send(1);
      expect([pongs.length, window.open]).toEqual([1, true]);
      send(BYTES_PER_PING - 1);
      expect([pongs.length, window.open]).toEqual([1, true]);
      send(1);
      expect([pongs.length, window.open, seen.opened]).toEqual([2, false, 0]);
      pongs[0]?.(0);
      expect([window.open, seen.opened]).toEqual([true, 1]);
    }),
  );

  it(
    'pings at once for what has left before, and waits for that answer',
    inTime(() => {
      const { window, pongs, send, contend } = windowed();
      send(10 * MIB);
      contend();
      contend();
      expect([pongs.length, window.open]).toEqual([1, false]);
      pongs[0]?.(30);
      expect(window.open).toBe(true);
      send(MIN_WINDOW_BYTES - 1);
      expect(window.open).toBe(true);
      send(1);
      expect(window.open).toBe(false);
    }),
  );

  it(
    'pings for as much as a ping is granted for, to the byte',
    inTime(() => {
      const { pongs, send, contend } = windowed();
      send(BYTES_PER_PING);
      contend();
      expect(pongs.length).toBe(1);
    }),
  );

  it(
    'does not ping for less than a ping is granted for',
    inTime(() => {
      const { pongs, send, contend } = windowed();
      send(BYTES_PER_PING - 1);
      contend();
      expect(pongs.length).toBe(0);
    }),
  );

  it(
    'goes on freely a second after the last sign of contention',
    inTime((time) => {
      const { window, pongs, send, contend } = windowed();
      send(10 * MIB);
      contend();
      time.advance(CONTENDED_MS - 1);
      contend();
      time.advance(CONTENDED_MS - 1);
      expect(window.open).toBe(false);
      time.advance(1);
      expect(window.open).toBe(true);
      send(MIB);
      expect(pongs.length).toBe(1);
    }),
  );

  it(
    'is not set back by an answer that comes after a later one',
    inTime(() => {
      const { window, pongs, send, contend } = windowed();
      contend();
      send(BYTES_PER_PING);
      send(BYTES_PER_PING);
      pongs[1]?.(0);
      pongs[0]?.(0);
      send(MIN_WINDOW_BYTES - 1);
      expect(window.open).toBe(true);
    }),
  );

  it(
    'gets a wider window on a long line: twice what is answered within its shortest round trip',
    inTime((time) => {
      const { window, pongs, send, contend } = windowed();
      contend();
      const roundTrip = (bytes: number, ms: number): void => {
        send(bytes);
        time.advance(ms);
        pongs.at(-1)?.(ms);
        contend();
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
      const { window, pongs, send, contend } = windowed();
      contend();
      for (let nth = 0; nth < 3; nth++) send(BYTES_PER_PING);
      pongs[0]?.(50);
      send(BYTES_PER_PING);
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
      const { window, pongs, send, contend } = windowed();
      contend();
      send(BYTES_PER_PING);
      pongs[0]?.(ms);
      send(MIN_WINDOW_BYTES);
      pongs[1]?.(ms);
      expect(window.bytes).toBe(bytes);
    })(),
  );

  it(
    'begins anew with the next contention',
    inTime((time) => {
      const { window, pongs, send, contend } = windowed();
      contend();
      for (let nth = 0; nth < 2; nth++) {
        send(MIN_WINDOW_BYTES);
        pongs[nth]?.(30);
      }
      expect(window.bytes).toBe(2 * MIN_WINDOW_BYTES);
      time.advance(CONTENDED_MS);
      contend();
      expect(window.bytes).toBe(MIN_WINDOW_BYTES);
      send(BYTES_PER_PING);
      pongs[2]?.(50);
      expect(window.bytes).toBe(MIN_WINDOW_BYTES);
      send(MIN_WINDOW_BYTES);
      pongs[3]?.(50);
      expect(window.bytes).toBe(2 * MIN_WINDOW_BYTES);
    }),
  );
});

describe('bulk that waits for an answer', () => {
  it(
    'waits a second, with one timer, and then takes all for answered',
    inTime((time) => {
      const { window, seen, send, contend } = windowed();
      contend();
      send(MIN_WINDOW_BYTES);
      window.awaitAnswer();
      time.advance(CONTENDED_MS - 1);
      contend();
      window.awaitAnswer();
      expect([seen.opened, window.open]).toEqual([0, false]);
      time.advance(1);
      expect([seen.opened, window.open, time.isOver]).toEqual([1, true, true]);
    }),
  );

  it(
    'leaves no timer after the answer, nor after the end',
    inTime((time) => {
      const { window, pongs, seen, send, contend } = windowed();
      contend();
      send(MIN_WINDOW_BYTES);
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

describe('a window that is closed', () => {
  it(
    'holds streams whose last frame was bulk, and no others',
    inTime(() => {
      const { window, send, contend } = windowed();
      contend();
      send(MIN_WINDOW_BYTES - 1);
      expect(window.holds(BULK)).toBe(false);
      send(1);
      expect([BULK, OTHER].map((stream) => window.holds(stream))).toEqual([true, false]);
      window.sent(OTHER, 1);
      window.passed(BULK);
      expect([BULK, OTHER].map((stream) => window.holds(stream))).toEqual([false, true]);
      window.forget(OTHER);
      expect(window.holds(OTHER)).toBe(false);
    }),
  );
});

describe('a small frame', () => {
  it.each<readonly [string, (of: ReturnType<typeof windowed>) => void]>([
    ['of the stream itself', ({ window }) => window.passed(BULK)],
    [
      'after bulk that has nothing more to send',
      ({ window, busy }) => {
        busy.clear();
        window.passed(OTHER);
      },
    ],
    [
      'after bulk whose stream has gone over to small frames',
      ({ window }) => {
        window.passed(BULK);
        window.passed(OTHER);
      },
    ],
    [
      'after bulk whose stream is over',
      ({ window }) => {
        window.forget(BULK);
        window.passed(OTHER);
      },
    ],
  ])('%s is in the way of nothing', (_what, passes) => {
    inTime(() => {
      const rows = windowed();
      rows.send(MIN_WINDOW_BYTES);
      passes(rows);
      expect([rows.window.open, rows.pongs.length]).toEqual([true, 0]);
    })();
  });
});

/** Turns pass until nothing more is written. */
function settle(rig: Rig): void {
  while (rig.transport.turnsDue > 0) rig.transport.nextTurn();
}

/** The remote answers the last ping, and so has read everything before it. */
function answer(rig: Rig): void {
  rig.receive({ type: 'pong', nonce: rig.sent.filter(({ type }) => type === 'ping').at(-1)?.nonce ?? '' });
}

describe('a stream of whole frames that are large', () => {
  const LARGE = 'x'.repeat(BULK_FRAME_BYTES);
  const ENOUGH = MIN_WINDOW_BYTES / BULK_FRAME_BYTES;
  /** What one turn writes beside what was counted when the window closed. */
  const MOST = ENOUGH + TURN_BYTES / BULK_FRAME_BYTES;

  /** Asks a stream for frames without end, as long as it has demand. */
  function pull(rig: Rig, stream: Holder, payload: unknown): void {
    const step = (): void => {
      while (!stream.live.closed && stream.live.hasDemand) rig.send(stream, { payload });
      if (!stream.live.closed) stream.live.whenDemand(step);
    };
    stream.live.whenDemand(step);
  }

  const turns = (rig: Rig, count: number): void => {
    for (let turn = 0; turn < count; turn++) rig.transport.nextTurn();
  };
  const countOf = (frames: readonly Envelope[], { live }: Holder): number => frames.filter(({ stream }) => stream === live.id).length;

  it(
    'is asked for no more while others want to send and too much is unanswered, and these pass',
    inTime(() => {
      const rig = new Rig();
      const bulk = rig.open();
      pull(rig, bulk, LARGE);
      turns(rig, 10);
      const small = rig.open({ payload: 'contends' });
      rig.forget();
      settle(rig);
      expect(bulk.live.hasDemand).toBe(false);
      expect(small.live.hasDemand).toBe(true);
      rig.send(small, { payload: 'passes' });
      expect(rig.news.at(-1)).toMatchObject({ payload: 'passes' });
      answer(rig);
      settle(rig);
      const then = rig.news;
      expect(countOf(then, bulk)).toBeGreaterThanOrEqual(ENOUGH - 1);
      expect(countOf(then, bulk)).toBeLessThanOrEqual(MOST);
    }),
  );

  it(
    'goes on after a second without an answer',
    inTime((time) => {
      const rig = new Rig();
      const bulk = rig.open();
      pull(rig, bulk, LARGE);
      turns(rig, 10);
      rig.open({ payload: 'contends' });
      settle(rig);
      rig.forget();
      time.advance(CONTENDED_MS - 1);
      expect([rig.news, rig.transport.turnsDue]).toEqual([[], 0]);
      time.advance(1);
      expect(countOf(rig.news, bulk)).toBeGreaterThan(0);
    }),
  );

  it(
    'waits in its queue where it is sent without being asked, and leaves in order',
    inTime(() => {
      const rig = new Rig();
      const pulled = rig.open();
      const pushed = rig.open();
      pull(rig, pulled, LARGE);
      for (let n = 0; n < ENOUGH; n++) rig.send(pushed, { payload: [n, LARGE] });
      turns(rig, ENOUGH);
      rig.open({ payload: 'contends' });
      settle(rig);
      rig.forget();
      for (const payload of [[ENOUGH, LARGE], 'small']) rig.send(pushed, { payload });
      settle(rig);
      expect(rig.news).toEqual([]);
      answer(rig);
      settle(rig);
      const sent = rig.news.filter(({ stream }) => stream === pushed.live.id).map(({ payload }) => payload);
      expect(sent).toEqual([[ENOUGH, LARGE], 'small']);
    }),
  );

  it(
    'is never held up alone, nor beside others as large',
    inTime(() => {
      const rig = new Rig();
      const streams = [rig.open(), rig.open()];
      for (const stream of streams) pull(rig, stream, LARGE);
      turns(rig, 50);
      for (const stream of streams) expect(countOf(rig.sent, stream)).toBeGreaterThan(4 * ENOUGH);
    }),
  );

  it.each([
    ['a byte less than', -1, 'goes on'],
    ['just', 0, 'is held up'],
  ])('is one whose payload takes 16 KiB: with %s that it %s', (_what, more, outcome) => {
    inTime(() => {
      const rig = new Rig();
      const payload = 'x'.repeat(BULK_FRAME_BYTES - '""'.length + more);
      const [stream, other] = [rig.open(), rig.open()];
      pull(rig, stream, payload);
      pull(rig, other, LARGE);
      turns(rig, 50);
      rig.open({ payload: 'contends' });
      turns(rig, 10);
      rig.forget();
      turns(rig, 4);
      expect(countOf(rig.news, stream) > 0 ? 'goes on' : 'is held up').toBe(outcome);
    })();
  });

  it(
    'does not hold up the first frame of a stream, however large',
    inTime(() => {
      const rig = new Rig();
      const bulk = rig.open();
      pull(rig, bulk, LARGE);
      turns(rig, 10);
      rig.open({ payload: 'contends' });
      settle(rig);
      rig.forget();
      for (let n = 0; n < 3; n++) rig.open({ payload: LARGE, end: true });
      expect(rig.news.map(({ type }) => type).filter((type) => type !== 'ping')).toEqual(['open', 'open', 'open']);
    }),
  );

  it(
    'contends with no pings and pongs, which are of no stream',
    inTime((time) => {
      const rig = new Rig();
      const bulk = rig.open();
      pull(rig, bulk, LARGE);
      turns(rig, 10);
      rig.open({ payload: 'contends' });
      settle(rig);
      time.advance(0.5 * CONTENDED_MS);
      answer(rig);
      settle(rig);
      time.advance(0.4 * CONTENDED_MS);
      rig.receive({ type: 'ping', nonce: 'theirs' });
      expect(rig.sent.at(-1)).toEqual({ type: 'pong', nonce: 'theirs' });
      expect(bulk.live.hasDemand).toBe(false);
      time.advance(0.1 * CONTENDED_MS);
      expect(bulk.live.hasDemand).toBe(true);
    }),
  );

  it(
    'is bulk in slices however small these are, from the first to the last',
    inTime(() => {
      const rig = new Rig({ maxFrameBytes: BULK_FRAME_BYTES / 2 });
      const [cut, other] = [rig.open(), rig.open()];
      // Two slices each.
      pull(rig, cut, 'x'.repeat(0.75 * BULK_FRAME_BYTES));
      turns(rig, 50);
      for (let n = 0; n < 2; n++) {
        rig.send(other, { payload: 'contends' });
        settle(rig);
      }
      expect(cut.live.hasDemand).toBe(false);
    }),
  );

  it.each([
    ['whole', BULK_FRAME_BYTES],
    ['in slices', 2 * MIN_WINDOW_BYTES],
  ])('waits with a reset with a large payload, %s, and is forgotten after it', (_how, bytes) => {
    inTime(() => {
      const rig = new Rig();
      const [bulk, failed] = [rig.open(), rig.open()];
      const hasDemand = (): readonly boolean[] => [bulk, failed].map(({ live }) => rig.session.scheduler.hasDemand(live.id));
      const isReset = (): boolean => rig.sent.some(({ type, more }) => type === 'reset' && more !== true);
      pull(rig, bulk, LARGE);
      rig.send(failed, { payload: LARGE });
      turns(rig, 10);
      rig.open({ payload: 'contends' });
      settle(rig);
      failed.live.reset('user', ResetCode.APPLICATION_ERROR, '', null, JSON.stringify('y'.repeat(bytes)));
      settle(rig);
      expect([isReset(), ...hasDemand()]).toEqual([false, false, false]);
      for (let answers = 0; answers < 4 && !isReset(); answers++) {
        answer(rig);
        settle(rig);
      }
      expect([isReset(), ...hasDemand()]).toEqual([true, false, true]);
    })();
  });
});

describe('a connection with a big transfer', () => {
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
      expect(bytesOf(rig, big.live.id) - before).toBeLessThanOrEqual(TURN_BYTES);
      const held = rig.sent.length;
      for (const payload of ['one', 'two']) rig.open({ payload, end: true });
      settle(rig);
      expect(rig.sent.slice(held).map(({ type, payload }) => [type, payload])).toEqual([
        ['open', 'one'],
        ['open', 'two'],
      ]);
      answer(rig);
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
      expect(rig.session.scheduler.backlog.bytes).toBe(0);
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
      const [first = '', second = '', third = ''] = pings().slice(-3);
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
      expect(rig.session.scheduler.backlog.bytes).toBe(0);
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
