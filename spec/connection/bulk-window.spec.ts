import { describe, expect, it, jest } from '@jest/globals';
import {
  BULK_FRAME_BYTES,
  BulkWindow,
  CONTENDED_MS,
  LONE_WINDOW_BYTES,
  MAX_PROBES,
  MAX_WINDOW_BYTES,
  MIN_WINDOW_BYTES,
  CONTENDED_WINDOW_BYTES,
  PATIENCE_MS,
  REST_MS,
  SHORT_RTT_MS,
} from '../../src/connection/bulk-window.js';
import { BYTES_PER_PING } from '../../src/connection/inbound.js';
import { TURN_BYTES } from '../../src/connection/outbound.js';
import { ResetCode } from '../../src/wire/codes.js';
import { Rig } from '../support/session/rig.js';
import type { Holder } from '../support/session/rig.js';
import { answer, countOf, pull, turns } from '../support/session/paced.js';
import { inTime } from '../support/session/time.js';

const MIB = 1024 * 1024;

const BULK = 1;
const OTHER = 2;

/**
 * A window with the callbacks of its pings, and counts of how often it opened and how many pings it cancelled.
 *
 * @param line what is known of the line: that it is fast, as after a transfer on loopback, or nothing
 */
function windowed(line: 'fast' | 'unknown' = 'fast') {
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
    (stream: number) => busy.has(stream),
  );
  let unpinged = 0;
  // The session too sends a ping after each 256 KiB.
  const send = (bytes: number): void => {
    window.sent(BULK, bytes);
    unpinged += bytes;
    if (unpinged < BYTES_PER_PING) return;
    unpinged = 0;
    window.probe();
  };
  /** A small frame of another stream leaves in the middle of the bulk. */
  const contend = (): void => {
    send(0);
    window.passed(OTHER);
  };
  if (line === 'fast') {
    window.sent(0, LONE_WINDOW_BYTES);
    window.release(0);
    window.probe();
    pongs.pop()?.(1);
    Object.assign(seen, { opened: 0, givenUp: 0 });
  }
  return { window, pongs, seen, busy, send, contend };
}

describe('bulk without contention', () => {
  it(
    'BulkWindow closes while 1.5 MiB of bulk are unanswered, and opens with the pong',
    inTime(() => {
      const { window, pongs, seen, send } = windowed();
      for (let sent = 0; sent < LONE_WINDOW_BYTES; sent += BYTES_PER_PING) {
        expect(window.open).toBe(true);
        send(BYTES_PER_PING);
      }
      expect(window.open).toBe(false);
      window.awaitAnswer();
      pongs[0]?.(0);
      expect([window.open, seen.opened]).toEqual([true, 1]);
      pongs.at(-1)?.(0);
      expect(seen.opened).toBe(1);
    }),
  );

  it(
    'BulkWindow widens to 5.5 MiB at most',
    inTime(() => {
      const { window, pongs, send } = windowed('unknown');
      send(MIB);
      pongs.at(-1)?.(SHORT_RTT_MS + 1);
      expect(window.bytes).toBe(2 * MIB);
      send(MAX_WINDOW_BYTES);
      pongs.at(-1)?.(SHORT_RTT_MS + 1);
      expect(window.bytes).toBe(MAX_WINDOW_BYTES);
    }),
  );

  it.each([
    // The line needs one round trip for the first byte, and the window two to open, or three.
    ['an earlier transfer was fast', 'fast', 3],
    ['nothing is known of it', 'unknown', 4],
  ] as const)(
    'BulkWindow keeps a line of 1 Gbit/s and 40 ms full where %s',
    inTime<[string, 'fast' | 'unknown', number]>((time, _what, line, roundTrips) => {
      const { window, pongs, send } = windowed(line);
      time.advance(REST_MS);
      const begun = time.now;
      const [bytesPerMs, rttMs, wholeMs] = [125_000, 40, 1_000];
      /** When the line has carried each ping. */
      const due: { readonly at: number; readonly bytes: number }[] = [];
      let [freeAt, sent, answered] = [0, 0, 0];
      const answer = (): void => {
        for (let next = due[0]; next !== undefined && next.at <= time.now; next = due[0]) {
          due.shift();
          answered = next.bytes;
          pongs.shift()?.(Math.max(rttMs, time.now - next.at + rttMs));
        }
      };
      while (time.now < begun + wholeMs) {
        answer();
        while (window.open && freeAt <= time.now + 1) {
          send(BYTES_PER_PING);
          sent += BYTES_PER_PING;
          freeAt = Math.max(freeAt, time.now) + BYTES_PER_PING / bytesPerMs;
          due.push({ at: freeAt + rttMs, bytes: sent });
        }
        time.advance(1);
      }
      expect(answered).toBeGreaterThan(0.97 * bytesPerMs * (wholeMs - roundTrips * rttMs));
    }),
  );
});

describe('lines of which little is known', () => {
  const SLICE = 64 * 1024;
  /** How far the last slice exceeds the window on average. */
  const EXCESS = 32 * 1024;

  /** A window of an unknown line, with a function that sends a slice and a ping behind it. */
  const unknown = () => {
    const rows = windowed('unknown');
    const slice = (bytes = SLICE): void => {
      rows.window.sent(BULK, bytes);
      rows.window.probe();
    };
    /** Sends bytes, which the remote answers after `ms`. */
    const roundTrip = (bytes: number, ms: number): void => {
      slice(bytes);
      rows.pongs.at(-1)?.(ms);
    };
    return { ...rows, slice, roundTrip };
  };

  it(
    'BulkWindow closes behind two slices before the first pong, and opens with it',
    inTime(() => {
      const { window, pongs, seen, slice } = unknown();
      slice();
      expect(window.open).toBe(true);
      slice();
      window.awaitAnswer();
      expect([window.open, seen.opened]).toEqual([false, 0]);
      pongs[0]?.(500);
      expect([window.open, seen.opened]).toEqual([true, 1]);
    }),
  );

  it.each([
    ['64 kbit/s', 8, 2 * SLICE, MIN_WINDOW_BYTES],
    ['1 Mbit/s', 125, 2 * SLICE, MIN_WINDOW_BYTES],
    ['8 Mbit/s', 1_000, 4 * SLICE, 200_000 - EXCESS],
    ['20 Mbit/s', 2_500, 8 * SLICE, 500_000 - EXCESS],
    ['2 Gbit/s', 256 * 1024, 16 * SLICE, LONE_WINDOW_BYTES],
  ])('BulkWindow is what a line of %s carries within 200 ms, and at least two slices', (_line, bytesPerMs, bytes, window) =>
    inTime(() => {
      const rows = unknown();
      rows.roundTrip(bytes, bytes / bytesPerMs);
      expect(rows.window.bytes).toBeCloseTo(window, 5);
    })(),
  );

  it(
    'BulkWindow grows fourfold with one pong at most, however fast it came',
    inTime(() => {
      const { window, roundTrip } = unknown();
      roundTrip(SLICE, 1);
      expect(window.bytes).toBe(4 * SLICE - EXCESS);
      roundTrip(4 * SLICE, 1);
      expect(window.bytes).toBe(16 * SLICE - EXCESS);
    }),
  );

  it(
    'BulkWindow grows faster where the second slice takes hardly longer than the first one sent with it',
    inTime(() => {
      const { window, pongs, slice } = unknown();
      slice();
      slice();
      pongs[0]?.(110);
      expect(window.bytes).toBeCloseTo((SLICE * 200) / 110 - EXCESS, 5);
      pongs[1]?.(121);
      expect(window.bytes).toBeCloseTo((2 * SLICE * 400) / 121 - EXCESS, 5);
    }),
  );

  it(
    'BulkWindow grows beyond 200 ms where the path alone takes longer',
    inTime(() => {
      const { window, roundTrip } = unknown();
      roundTrip(SLICE, 600);
      roundTrip(4 * SLICE, 800);
      const bytesPerMs = (4 * SLICE) / 800;
      expect(window.bytes).toBeCloseTo(2 * bytesPerMs * 600 - SLICE - EXCESS, 5);
    }),
  );

  it(
    'BulkWindow narrows within two seconds of pongs of a line that has become slow',
    inTime((time) => {
      const { window, roundTrip } = unknown();
      for (let nth = 0; nth < 3; nth++) roundTrip(LONE_WINDOW_BYTES, 1);
      for (let ms = 0; ms < 2_000; ms += 500) {
        expect(window.bytes).toBe(LONE_WINDOW_BYTES);
        time.advance(500);
        roundTrip(SLICE, 500);
      }
      expect(window.bytes).toBe(MIN_WINDOW_BYTES);
    }),
  );

  it.each([
    ['the same ms', 0, 1],
    ['a later ms', 1, 2],
  ])(
    'BulkWindow counts a slice as answered before the next ping if its pong arrives in %s',
    inTime<[string, number, number]>((time, _when, laterMs, slices) => {
      const { window, pongs, slice } = unknown();
      slice();
      slice();
      time.advance(800);
      pongs[0]?.(800);
      slice();
      time.advance(laterMs);
      pongs[1]?.(1_600);
      pongs[2]?.(100);
      expect(window.bytes).toBeCloseTo(slices * SLICE * 2 - EXCESS, 5);
    }),
  );

  it(
    'BulkWindow stays open for 256 KiB while no ping is under way',
    inTime(() => {
      const { window } = unknown();
      window.sent(BULK, BYTES_PER_PING - 1);
      expect(window.open).toBe(true);
      window.sent(BULK, 1);
      expect(window.open).toBe(false);
    }),
  );
});

describe('pings of bulk', () => {
  it(
    'BulkWindow waits for a ping until it or a later one is answered, however long that takes',
    inTime((time) => {
      const { window, pongs, seen, send } = windowed();
      for (let n = 0; n < 3; n++) send(BYTES_PER_PING);
      window.awaitAnswer();
      time.advance(PATIENCE_MS);
      expect([pongs.length, seen.givenUp, seen.opened]).toEqual([3, 0, 1]);
      pongs[1]?.(2 * PATIENCE_MS);
      // The cancel function of the answered ping was called too, without effect.
      expect([seen.givenUp, seen.opened]).toEqual([2, 1]);
    }),
  );

  it(
    'BulkWindow cancels the oldest ping when more than MAX_PROBES are unanswered',
    inTime(() => {
      const { pongs, seen, send } = windowed();
      for (let n = 0; n < MAX_PROBES; n++) send(BYTES_PER_PING);
      expect([pongs.length, seen.givenUp]).toEqual([MAX_PROBES, 0]);
      send(BYTES_PER_PING);
      expect(seen.givenUp).toBe(1);
    }),
  );

  it(
    'BulkWindow sends a ping of its own when bulk waits and no ping is under way',
    inTime(() => {
      const { window, pongs } = windowed();
      window.sent(BULK, LONE_WINDOW_BYTES);
      window.awaitAnswer();
      window.awaitAnswer();
      expect([pongs.length, window.open]).toEqual([1, false]);
      pongs[0]?.(0);
      expect(window.open).toBe(true);
    }),
  );
});

describe('contended bulk', () => {
  it(
    'BulkWindow closes while 512 KiB of bulk are unanswered, and opens with the pong',
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
      window.awaitAnswer();
      expect([pongs.length, window.open, seen.opened]).toEqual([2, false, 0]);
      pongs[0]?.(0);
      expect([window.open, seen.opened]).toEqual([true, 1]);
    }),
  );

  it(
    'BulkWindow counts the bulk sent before the contention',
    inTime(() => {
      const { window, pongs, send, contend } = windowed();
      send(MIB);
      expect(window.open).toBe(true);
      contend();
      expect([pongs.length, window.open]).toEqual([1, false]);
      pongs[0]?.(0);
      expect(window.open).toBe(true);
    }),
  );

  it(
    'BulkWindow widens one second after the last sign of contention',
    inTime((time) => {
      const { window, send, contend } = windowed();
      send(MIB);
      contend();
      time.advance(CONTENDED_MS - 1);
      contend();
      time.advance(CONTENDED_MS - 1);
      expect(window.open).toBe(false);
      time.advance(1);
      expect([window.open, window.bytes]).toEqual([true, LONE_WINDOW_BYTES]);
    }),
  );

  it(
    'BulkWindow ignores a pong that arrives after a later one',
    inTime(() => {
      const { window, pongs, send, contend } = windowed();
      contend();
      send(BYTES_PER_PING);
      send(BYTES_PER_PING);
      pongs[1]?.(0);
      pongs[0]?.(0);
      send(CONTENDED_WINDOW_BYTES - 1);
      expect(window.open).toBe(true);
    }),
  );

  it(
    'BulkWindow widens to twice the bytes that are answered within the shortest round trip',
    inTime((time) => {
      const { window, pongs, send, contend } = windowed('unknown');
      contend();
      const roundTrip = (bytes: number, ms: number): void => {
        send(bytes);
        time.advance(ms);
        pongs.at(-1)?.(ms);
        contend();
      };
      roundTrip(BYTES_PER_PING, 50);
      expect(window.bytes).toBe(CONTENDED_WINDOW_BYTES);
      roundTrip(CONTENDED_WINDOW_BYTES, 50);
      expect(window.bytes).toBe(2 * CONTENDED_WINDOW_BYTES);
      // A round trip that is longer because of full buffers must not widen the window.
      roundTrip(CONTENDED_WINDOW_BYTES, 100);
      expect(window.bytes).toBe(2 * CONTENDED_WINDOW_BYTES);
      roundTrip(2 * CONTENDED_WINDOW_BYTES, 50);
      expect(window.bytes).toBe(4 * CONTENDED_WINDOW_BYTES);
    }),
  );

  it(
    'BulkWindow measures the rate over a whole round trip, not over pongs that arrive together',
    inTime(() => {
      const { window, pongs, send, contend } = windowed('unknown');
      contend();
      for (let nth = 0; nth < 3; nth++) send(BYTES_PER_PING);
      for (const answered of pongs.slice()) answered(50);
      expect(window.bytes).toBe(6 * BYTES_PER_PING);
      send(BYTES_PER_PING);
      pongs[3]?.(50);
      expect(window.bytes).toBe(6 * BYTES_PER_PING);
    }),
  );

  it.each([
    { ms: 0, bytes: CONTENDED_WINDOW_BYTES },
    { ms: SHORT_RTT_MS, bytes: CONTENDED_WINDOW_BYTES },
    { ms: SHORT_RTT_MS + 1, bytes: 2 * CONTENDED_WINDOW_BYTES },
  ])('BulkWindow has $bytes bytes at a round trip of $ms ms, since a short one is spent in both ends', ({ ms, bytes }) =>
    inTime(() => {
      const { window, pongs, send, contend } = windowed('unknown');
      contend();
      send(BYTES_PER_PING);
      pongs[0]?.(ms);
      send(CONTENDED_WINDOW_BYTES);
      pongs[1]?.(ms);
      expect(window.bytes).toBe(bytes);
    })(),
  );

  it.each([
    ['goes on', -1, 2 * CONTENDED_WINDOW_BYTES],
    ['begins', 0, CONTENDED_WINDOW_BYTES],
  ])(
    'BulkWindow forgets the measured path after a second without bulk: a transfer that %s',
    inTime<[string, number, number]>((time, _what, more, bytes) => {
      const { window, pongs, send, contend } = windowed('unknown');
      send(CONTENDED_WINDOW_BYTES);
      pongs[0]?.(30);
      time.advance(REST_MS + more);
      contend();
      expect(window.bytes).toBe(bytes);
    }),
  );

  it(
    'BulkWindow measures a new path by its own pongs, not by late ones',
    inTime((time) => {
      const { window, pongs, send, contend } = windowed('unknown');
      send(CONTENDED_WINDOW_BYTES);
      time.advance(REST_MS + 1);
      contend();
      pongs[0]?.(5);
      expect(window.bytes).toBe(CONTENDED_WINDOW_BYTES);
    }),
  );
});

describe('awaitAnswer', () => {
  it(
    'BulkWindow stops pacing after six seconds without a pong, until the next pong',
    inTime((time) => {
      const { window, pongs, seen, send } = windowed();
      send(LONE_WINDOW_BYTES);
      window.awaitAnswer();
      time.advance(PATIENCE_MS - 1);
      window.awaitAnswer();
      expect([seen.opened, window.open]).toEqual([0, false]);
      time.advance(1);
      expect([seen.opened, window.open, time.isOver]).toEqual([1, true, true]);
      send(2 * LONE_WINDOW_BYTES);
      expect(window.open).toBe(true);
      pongs[0]?.(PATIENCE_MS);
      expect(window.open).toBe(false);
    }),
  );

  it(
    'BulkWindow leaves no timer after the pong, nor after `stop`',
    inTime((time) => {
      const { window, pongs, seen, send, contend } = windowed();
      contend();
      send(CONTENDED_WINDOW_BYTES);
      window.awaitAnswer();
      window.awaitAnswer();
      pongs[0]?.(1);
      expect(time.isOver).toBe(true);
      time.advance(PATIENCE_MS);
      expect(seen.opened).toBe(1);
      window.awaitAnswer();
      window.stop();
      time.advance(PATIENCE_MS);
      expect([seen.opened, time.isOver]).toEqual([1, true]);
    }),
  );
});

describe('closed windows', () => {
  it(
    'A closed BulkWindow holds only the streams whose last frame was bulk',
    inTime(() => {
      const { window, send, contend } = windowed();
      contend();
      send(CONTENDED_WINDOW_BYTES - 1);
      expect(window.holds(BULK)).toBe(false);
      send(1);
      expect([BULK, OTHER].map((stream) => window.holds(stream))).toEqual([true, false]);
      window.sent(OTHER, 1);
      window.passed(BULK);
      expect([BULK, OTHER].map((stream) => window.holds(stream))).toEqual([false, true]);
      window.release(OTHER);
      expect(window.holds(OTHER)).toBe(false);
    }),
  );
});

describe('small frames', () => {
  it.each<readonly [string, (of: ReturnType<typeof windowed>) => void]>([
    ['the bulk is on the same stream', ({ window }) => window.passed(BULK)],
    [
      'the bulk stream has nothing more to send',
      ({ window, busy }) => {
        busy.clear();
        window.passed(OTHER);
      },
    ],
    [
      'the bulk stream now sends small frames',
      ({ window }) => {
        window.passed(BULK);
        window.passed(OTHER);
      },
    ],
    [
      'the bulk stream has ended',
      ({ window }) => {
        window.release(BULK);
        window.passed(OTHER);
      },
    ],
  ])('A small frame does not contend when %s', (_what, passes) => {
    inTime(() => {
      const rows = windowed();
      rows.send(CONTENDED_WINDOW_BYTES);
      passes(rows);
      expect(rows.window.open).toBe(true);
    })();
  });
});

describe('large whole frames', () => {
  const LARGE = 'x'.repeat(BULK_FRAME_BYTES);
  const ENOUGH = CONTENDED_WINDOW_BYTES / BULK_FRAME_BYTES;
  /** The most large frames that leave once the window opens: a whole window, and one turn on top. */
  const MOST = ENOUGH + TURN_BYTES / BULK_FRAME_BYTES;

  /** A stream of large frames that is held up, since a small frame contends. */
  const contended = (): { readonly rig: Rig; readonly bulk: Holder } => {
    const rig = new Rig();
    const bulk = rig.open();
    pull(rig, bulk, LARGE);
    turns(rig, 10);
    rig.open({ payload: 'contends' });
    rig.settle();
    return { rig, bulk };
  };
  it(
    'A stream of large frames has no demand while small frames contend and too much is unanswered',
    inTime(() => {
      const rig = new Rig();
      const bulk = rig.open();
      pull(rig, bulk, LARGE);
      turns(rig, 10);
      const small = rig.open({ payload: 'contends' });
      rig.forget();
      rig.settle();
      expect(bulk.live.hasDemand).toBe(false);
      expect(small.live.hasDemand).toBe(true);
      rig.send(small, { payload: 'passes' });
      expect(rig.news.at(-1)).toMatchObject({ payload: 'passes' });
      answer(rig);
      rig.settle();
      const then = rig.news;
      expect(countOf(then, bulk)).toBeGreaterThanOrEqual(ENOUGH - 1);
      expect(countOf(then, bulk)).toBeLessThanOrEqual(MOST);
    }),
  );

  it(
    'A held stream of large frames continues after six seconds without a pong',
    inTime((time) => {
      const { rig, bulk } = contended();
      rig.forget();
      time.advance(PATIENCE_MS - 1);
      expect([rig.news, rig.transport.turnsDue]).toEqual([[], 0]);
      time.advance(1);
      expect(countOf(rig.news, bulk)).toBeGreaterThan(0);
    }),
  );

  it(
    'Large frames that a caller pushes wait in the queue while bulk is held, and leave in order',
    inTime(() => {
      const rig = new Rig();
      const pulled = rig.open();
      const pushed = rig.open();
      pull(rig, pulled, LARGE);
      for (let n = 0; n < ENOUGH; n++) rig.send(pushed, { payload: [n, LARGE] });
      turns(rig, ENOUGH);
      rig.open({ payload: 'contends' });
      rig.settle();
      rig.forget();
      for (const payload of [[ENOUGH, LARGE], 'small']) rig.send(pushed, { payload });
      rig.settle();
      expect(rig.news).toEqual([]);
      answer(rig);
      rig.settle();
      const sent = rig.news.filter(({ stream }) => stream === pushed.live.id).map(({ payload }) => payload);
      expect(sent).toEqual([[ENOUGH, LARGE], 'small']);
    }),
  );

  it(
    'Streams of large frames share the window of 1.5 MiB without small frames beside them',
    inTime(() => {
      const rig = new Rig();
      const streams = [rig.open(), rig.open()];
      for (const stream of streams) pull(rig, stream, LARGE);
      turns(rig, 50);
      const bytes = streams.map((stream) => countOf(rig.sent, stream) * BULK_FRAME_BYTES);
      for (const each of bytes) expect(each).toBeGreaterThan(LONE_WINDOW_BYTES / 2 - TURN_BYTES);
      expect(bytes.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(LONE_WINDOW_BYTES + 2 * BULK_FRAME_BYTES);
    }),
  );

  it.each([
    ['one byte less than', -1, 'leaves'],
    ['exactly', 0, 'waits'],
  ])('Frames are bulk from 16 KiB of payload on: behind a frame of %s that much, the next frame %s', (_what, more, outcome) => {
    inTime(() => {
      const { rig } = contended();
      const stream = rig.open();
      rig.send(stream, { payload: 'x'.repeat(BULK_FRAME_BYTES - '""'.length + more) });
      rig.forget();
      rig.send(stream, { payload: 'next' });
      expect(countOf(rig.news, stream) > 0 ? 'leaves' : 'waits').toBe(outcome);
    })();
  });

  it(
    'A closed window does not hold up the first frame of a stream, however large',
    inTime(() => {
      const { rig } = contended();
      rig.forget();
      for (let n = 0; n < 3; n++) rig.open({ payload: LARGE, end: true });
      expect(rig.news.map(({ type }) => type).filter((type) => type !== 'ping')).toEqual(['open', 'open', 'open']);
    }),
  );

  it(
    'Pings and pongs do not contend with bulk, since they belong to no stream',
    inTime((time) => {
      const { rig, bulk } = contended();
      answer(rig);
      rig.settle();
      time.advance(0.9 * CONTENDED_MS);
      rig.receive({ type: 'ping', nonce: 'theirs' });
      rig.settle();
      expect(rig.sent).toContainEqual({ type: 'pong', nonce: 'theirs' });
      expect(bulk.live.hasDemand).toBe(false);
      time.advance(0.1 * CONTENDED_MS);
      expect(bulk.live.hasDemand).toBe(true);
    }),
  );

  it(
    'All slices of a frame are bulk, however small they are',
    inTime(() => {
      const rig = new Rig({ maxFrameBytes: BULK_FRAME_BYTES / 2 });
      const [cut, other] = [rig.open(), rig.open()];
      // Two slices each.
      pull(rig, cut, 'x'.repeat(0.75 * BULK_FRAME_BYTES));
      turns(rig, 50);
      for (let n = 0; n < 2; n++) {
        rig.send(other, { payload: 'contends' });
        rig.settle();
      }
      expect(cut.live.hasDemand).toBe(false);
    }),
  );

  it.each([
    ['a whole one', BULK_FRAME_BYTES],
    ['one in slices', 2 * CONTENDED_WINDOW_BYTES],
  ])('A reset with a large payload waits for the window, which releases its stream afterwards: %s', (_how, bytes) => {
    inTime(() => {
      const rig = new Rig();
      const [bulk, failed] = [rig.open(), rig.open()];
      const isHeld = (): readonly unknown[] => [bulk, failed].map((stream) => rig.connection.outbound.window?.holds(stream));
      const isReset = (): boolean => rig.sent.some(({ type, more }) => type === 'reset' && more !== true);
      pull(rig, bulk, LARGE);
      rig.send(failed, { payload: LARGE });
      turns(rig, 10);
      rig.open({ payload: 'contends' });
      rig.settle();
      failed.live.reset('user', ResetCode.APPLICATION_ERROR, '', { encodedPayload: JSON.stringify('y'.repeat(bytes)) });
      rig.settle();
      expect([isReset(), ...isHeld()]).toEqual([false, true, false]);
      for (let answers = 0; answers < 4 && !isReset(); answers++) {
        answer(rig);
        rig.settle();
      }
      expect([isReset(), ...isHeld()]).toEqual([true, true, false]);
    })();
  });
});

describe('connections with a big transfer', () => {
  const transferring = (): { readonly rig: Rig; readonly big: Holder } => {
    const rig = new Rig();
    const big = rig.open({ payload: 'x'.repeat(8 * MIB) });
    for (let turn = 0; turn < 16; turn++) rig.transport.nextTurn();
    return { rig, big };
  };

  it(
    'Session holds up a big transfer while small frames contend, and sends the small frames',
    inTime((time) => {
      const { rig, big } = transferring();
      const before = bytesOf(rig, big.live.id);
      expect(before).toBeGreaterThan(CONTENDED_WINDOW_BYTES + BYTES_PER_PING);
      rig.open({ payload: 'small', end: true });
      rig.settle();
      expect(bytesOf(rig, big.live.id) - before).toBeLessThanOrEqual(TURN_BYTES);
      const held = rig.sent.length;
      for (const payload of ['one', 'two']) rig.open({ payload, end: true });
      rig.settle();
      expect(rig.sent.slice(held).map(({ type, payload }) => [type, payload])).toEqual([
        ['open', 'one'],
        ['open', 'two'],
      ]);
      answer(rig);
      rig.settle();
      expect(bytesOf(rig, big.live.id) - before).toBeGreaterThanOrEqual(CONTENDED_WINDOW_BYTES);
      time.advance(10 * CONTENDED_MS);
      rig.settle();
      expect(bytesOf(rig, big.live.id)).toBe(8 * MIB + 2);
    }),
  );

  it(
    'Session sends a lone transfer as pongs answer, even after small frames have waited',
    inTime(() => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(100_000), end: true });
      rig.settle();
      rig.transport.bufferedAmount = 2 * MIB;
      rig.open({ payload: 'small', end: true });
      rig.transport.drainTo(0);
      rig.settle();
      rig.open({ payload: 'x'.repeat(8 * MIB), end: true });
      const left = [];
      for (let nth = 0; nth < 6; nth++) {
        rig.settle();
        left.push(Math.ceil(rig.connection.outbound.bytes / LONE_WINDOW_BYTES));
        answer(rig);
      }
      expect(left).toEqual([5, 4, 3, 2, 1, 0]);
    }),
  );

  it(
    'Session does not hold up a large open, so that opens leave in the order of their ids',
    inTime(() => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(CONTENDED_WINDOW_BYTES) });
      rig.open({ payload: 'small', end: true });
      rig.settle();
      const held = rig.sent.length;
      for (const payload of ['y'.repeat(200_000), 'small']) rig.open({ payload, end: true });
      rig.settle();
      const opens = rig.sent.slice(held).filter(({ type }) => type === 'open');
      expect(opens.map(({ stream, more }) => [stream, more])).toEqual([
        [6, true],
        [8, undefined],
      ]);
    }),
  );

  it(
    'Pulled streams of small frames continue while a big transfer is held up',
    inTime(() => {
      const rig = new Rig();
      rig.open({ payload: 'x'.repeat(8 * MIB) });
      const pulled = rig.open({});
      for (let turn = 0; turn < 16; turn++) rig.transport.nextTurn();
      rig.send(pulled, { payload: 'contends' });
      rig.settle();
      const held = rig.sent.length;
      let asked = 0;
      const step = (): void => {
        rig.send(pulled, { payload: asked++ });
        if (asked < 3) pulled.live.whenDemand(step);
      };
      pulled.live.whenDemand(step);
      rig.settle();
      expect(rig.sent.slice(held).map(({ payload }) => payload)).toEqual([0, 1, 2]);
    }),
  );

  it(
    'Session accepts a late pong as an answer, and counts a pong behind a later one as junk',
    inTime((time) => {
      const { rig } = transferring();
      const pings = () => rig.sent.filter(({ type }) => type === 'ping').map(({ nonce }) => nonce ?? '');
      for (let n = 0; n < 8; n++) {
        rig.open({ payload: n, end: true });
        rig.settle();
        time.advance(0.4 * CONTENDED_MS);
        rig.settle();
      }
      const [first = '', second = '', third = ''] = pings().slice(-3);
      const junk = jest.spyOn(rig.connection.flood, 'countJunk');
      rig.receive({ type: 'pong', nonce: second });
      rig.receive({ type: 'pong', nonce: third });
      expect(junk).not.toHaveBeenCalled();
      rig.receive({ type: 'pong', nonce: first });
      expect(junk).toHaveBeenCalledTimes(1);
    }),
  );

  it(
    'Small frames that leave before a transfer do not contend with it',
    inTime(() => {
      const rig = new Rig();
      rig.transport.bufferedAmount = MIB;
      for (const payload of ['one', 'two']) rig.open({ payload, end: true });
      rig.transport.drainTo(0);
      expect(rig.sent.length).toBe(2);
      rig.open({ payload: 'x'.repeat(8 * MIB) });
      rig.settle();
      expect(8 * MIB - rig.connection.outbound.bytes).toBeGreaterThanOrEqual(LONE_WINDOW_BYTES);
    }),
  );

  it(
    'Session leaves no timer of a held transfer when the connection ends',
    inTime((time) => {
      const { rig } = transferring();
      rig.open({ payload: 'small', end: true });
      rig.settle();
      rig.transport.end();
      expect(time.isOver).toBe(true);
    }),
  );

  function bytesOf(rig: Rig, stream: number): number {
    return rig.sent.filter((frame) => frame.stream === stream).reduce((sum, { fragment }) => sum + String(fragment ?? '').length, 0);
  }
});
