import { describe, expect, it } from '@jest/globals';
import { interval } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { ReadBackpressure } from '../../src/connection/budget.js';
import { DEFAULT_KEEPALIVE, WriteProgress } from '../../src/connection/watchdog.js';
import { steadyNow } from '../../src/util/time.js';
import { ResetCode } from '../../src/wire/codes.js';
import type { Limits } from '../../src/wire/limits.js';
import { Rig } from '../support/session/rig.js';
import type { Holder, RigOptions } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';
import type { SessionTime } from '../support/session/time.js';
import { ScriptedTransport } from '../support/socket/scripted-transport.js';

const { NO_ERROR, DEADLINE_EXCEEDED } = ResetCode;
const STUCK = 'closing made no progress';
const KEEPALIVE = { idleMs: 20_000, timeoutMs: 10_000 };

/** A rig that has sent its close frame, on a socket that does not end. */
const closing = (limits: Partial<Limits> = {}): Rig => {
  const rig = new Rig({ limits });
  rig.connection.drain(0, NO_ERROR, '');
  expect(rig.transport.closes).toHaveLength(1);
  return rig;
};

/** One watch: what starts it, its time-out, and the state of the connection before and after. */
interface Watch {
  readonly what: string;
  readonly options: RigOptions;
  readonly begin: (rig: Rig) => void;
  readonly ms: number;
  readonly fate: (rig: Rig) => unknown;
  readonly condemned: unknown;
}

const fill = (rig: Rig, bytes: number): void => {
  rig.transport.stuck = true;
  rig.open({ payload: 'x'.repeat(bytes) });
};

const terminated = (rig: Rig): unknown => rig.transport.terminated;

const WATCHES: readonly Watch[] = [
  {
    what: 'an unanswered ping after a waking',
    options: { keepalive: KEEPALIVE },
    begin: ({ connection }) => {
      connection.watchdog.probeNow();
    },
    ms: 2_500,
    fate: terminated,
    condemned: 'no sign of life',
  },
  {
    what: 'a stalled socket',
    options: { limits: { stallBytes: 1_000 } },
    begin: (rig) => {
      fill(rig, 1_000);
    },
    ms: 60_000,
    fate: terminated,
    condemned: 'slow consumer',
  },
  {
    what: 'a stalled reassembly',
    options: {},
    begin: (rig) => {
      rig.receive({ type: 'open', stream: 1, fragment: '"', more: true });
    },
    ms: 30_000,
    fate: (rig) => rig.sent.at(-1)?.code ?? null,
    condemned: DEADLINE_EXCEEDED,
  },
  {
    what: 'a stalled close',
    options: {},
    begin: ({ connection }) => {
      connection.watchdog.watchClosing();
    },
    ms: 2_000,
    fate: terminated,
    condemned: STUCK,
  },
];

describe('watches', () => {
  it.each(WATCHES)(
    'Watchdog ends $what after $ms ms, and not before',
    inTime<[Watch]>((time, { options, begin, ms, fate, condemned }) => {
      const rig = new Rig(options);
      // Signs of life are counted in ms: one in the same ms would count as an answer.
      time.advance(1);
      begin(rig);
      time.advance(ms - 1);
      expect(fate(rig)).toBeNull();
      time.advance(1);
      expect(fate(rig)).toBe(condemned);
    }),
  );

  it.each(WATCHES)(
    'Watchdog waits another $ms ms for $what when its timer is more than twice too late',
    inTime<[Watch]>((time, { options, begin, ms, fate, condemned }) => {
      const rig = new Rig(options);
      time.advance(1);
      begin(rig);
      time.sleep(2 * ms + 1);
      expect(fate(rig)).toBeNull();
      time.advance(ms - 1);
      expect(fate(rig)).toBeNull();
      time.advance(1);
      expect(fate(rig)).toBe(condemned);
    }),
  );

  it.each(WATCHES)(
    'Watchdog leaves no timer when the socket ends: $what',
    inTime<[Watch]>((time, { options, begin, ms }) => {
      const rig = new Rig(options);
      time.advance(1);
      begin(rig);
      time.advance(ms / 2);
      expect(time.isOver).toBe(false);
      rig.transport.end();
      expect([time.isOver, rig.transport.terminated]).toEqual([true, null]);
    }),
  );
});

describe('stalled sockets', () => {
  it.each([
    ['fewer than stallBytes wait', 2_000_000, 1_100_000, null],
    ['stallBytes wait', 1_100_000, 1_100_000, 'slow consumer'],
  ])(
    'Watchdog watches a stalled socket until it ends it: %s',
    inTime<[string, number, number, string | null]>((time, _what, stallBytes, waiting, fate) => {
      const rig = new Rig({ limits: { stallBytes } });
      rig.transport.sentBytes = rig.transport.bufferedAmount = waiting;
      rig.connection.watchdog.sent('');
      time.advance(300_000);
      expect(rig.transport.terminated).toBe(fate);
      expect(time.isOver).toBe(fate !== null);
    }),
  );

  it(
    'Watchdog counts queued bytes towards stallBytes',
    inTime((time) => {
      const rig = new Rig({ limits: { stallBytes: 2_000_000 } });
      rig.transport.sentBytes = rig.transport.bufferedAmount = 1_100_000;
      rig.connection.watchdog.sent('');
      const stream = rig.open();
      rig.send(stream, { payload: 'x'.repeat(1_000_000) });
      expect(rig.connection.outbound.bytes).toBeGreaterThan(900_000);
      time.advance(60_000);
      expect(rig.transport.terminated).toBe('slow consumer');
    }),
  );

  it(
    'Watchdog stops watching an empty socket',
    inTime((time) => {
      const rig = new Rig({ limits: { stallBytes: 1_000 } });
      fill(rig, 1_000);
      rig.transport.bufferedAmount = 0;
      time.advance(60_000);
      expect([rig.transport.terminated, time.isOver]).toEqual([null, true]);
    }),
  );
});

describe('closing sockets', () => {
  it.each<[string, (rig: Rig) => void]>([
    ['a frame that arrives', (rig) => rig.receive({ type: 'later' })],
    ['a byte that the socket takes', (rig) => (rig.transport.bufferedAmount -= 1)],
  ])(
    'Watchdog waits 2 s more for a closing socket after %s',
    inTime<[string, (rig: Rig) => void]>((time, _what, move) => {
      const rig = new Rig();
      rig.transport.bufferedAmount = 100_000;
      rig.connection.watchdog.lastSignOfLifeAt();
      rig.connection.drain(0, NO_ERROR, '');
      for (let n = 0; n < 3; n++) {
        time.advance(1_900);
        move(rig);
      }
      time.advance(1_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(2_001);
      expect(rig.transport.terminated).toBe(STUCK);
      expect(time.isOver).toBe(true);
    }),
  );

  it.each<[string, number, number]>([
    ['for 10 s if it takes no waiting bytes', 100_000, 10_000],
    ['without limit if it has taken all bytes', 0, 60_000],
  ])(
    'Watchdog waits for a closing socket on which frames arrive, %s',
    inTime<[string, number, number]>((time, _what, held, ms) => {
      const rig = new Rig();
      rig.transport.bufferedAmount = held;
      rig.connection.watchdog.lastSignOfLifeAt();
      rig.connection.drain(0, NO_ERROR, '');
      for (let at = 1_000; at < ms; at += 1_000) {
        time.advance(1_000);
        rig.receive({ type: 'later' });
      }
      time.advance(999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe(held > 0 ? STUCK : null);
    }),
  );

  it(
    'Watchdog leaves no timer when a closing socket ends by itself',
    inTime((time) => {
      const rig = closing();
      time.advance(1_000);
      rig.transport.end({ code: 1000, reason: '', wasClean: true });
      expect([time.isOver, rig.transport.terminated]).toEqual([true, null]);
    }),
  );

  it(
    'Session reads a closing socket despite lagging consumers, so Watchdog counts the time',
    inTime((time) => {
      const rig = new Rig({ limits: { pauseBytes: 1, maxUnreadBytes: 1 } });
      rig.remote(1).live.keep(1);
      expect(rig.transport.paused).toBe(true);
      rig.connection.drain(0, NO_ERROR, '');
      expect(rig.transport.paused).toBe(false);
      time.advance(2_000);
      expect(rig.transport.terminated).toBe(STUCK);
    }),
  );
});

describe('lastSignOfLifeAt', () => {
  it(
    '`lastSignOfLifeAt` is the later time of the last frame and of the last drained bytes',
    inTime((time) => {
      const rig = new Rig();
      const { watchdog } = rig.connection;
      const looks: number[] = [watchdog.lastSignOfLifeAt()];
      const at = (ms: number, act: () => void) => {
        time.advance(ms - time.now);
        act();
        looks.push(watchdog.lastSignOfLifeAt());
      };
      at(100, () => undefined);
      at(200, () => {
        rig.receive({ type: 'later' });
      });
      at(300, () => rig.open({ payload: 'taken' }));
      at(400, () => {
        rig.transport.stuck = true;
        rig.open({ payload: 'held' });
      });
      at(500, () => {
        rig.receive({ type: 'later' });
      });
      at(501, () => undefined);
      at(600, () => (rig.transport.bufferedAmount -= 1));
      expect(looks).toEqual([0, 0, 200, 200, 200, 500, 500, 600]);
    }),
  );

  it(
    '`lastSignOfLifeAt` does not change when the socket takes a probe',
    inTime((time) => {
      const rig = new Rig();
      time.advance(100);
      rig.connection.watchdog.probe();
      expect(rig.news).toMatchObject([{ type: 'ping' }]);
      expect(rig.connection.watchdog.lastSignOfLifeAt()).toBe(0);
    }),
  );

  it(
    '`lastSignOfLifeAt` uses a clock that stops while reading is paused',
    inTime((time) => {
      const rig = new Rig({ limits: { pauseBytes: 1, maxUnreadBytes: 1 } });
      const { live } = rig.remote(1);
      const { watchdog } = rig.connection;
      time.advance(100);
      live.keep(1);
      time.advance(1_000);
      expect([watchdog.clock.paused, watchdog.clock.now()]).toEqual([true, 100]);
      live.read(1);
      time.advance(50);
      rig.receive({ type: 'later' });
      expect([watchdog.clock.paused, watchdog.clock.now(), watchdog.lastSignOfLifeAt()]).toEqual([false, 150, 150]);
    }),
  );
});

describe('timers', () => {
  /** The highest number of timers at once over ten minutes, and the number left after the socket's end. */
  const timersOf = (act: (rig: Rig) => void, options: RigOptions = {}): readonly [number, number] => {
    const scheduler = new TestScheduler((actual, expected) => {
      expect(actual).toEqual(expected);
    });
    return scheduler.run(() => {
      const rig = new Rig(options);
      let most = 0;
      // The sampling itself is a timer too.
      const looking = interval(500).subscribe(() => (most = Math.max(most, scheduler.actions.length - 1)));
      act(rig);
      scheduler.maxFrames = 600_000;
      scheduler.flush();
      looking.unsubscribe();
      rig.transport.end();
      const left = scheduler.actions.length;
      scheduler.actions.length = 0;
      return [most, left] as const;
    });
  };
  const chatter = (rig: Rig) => {
    interval(700).subscribe(() => {
      rig.receive({ type: 'later' });
    });
  };
  const reassemble = (rig: Rig) => {
    for (const id of [1, 3, 5]) rig.receive({ type: 'open', stream: id, fragment: '"', more: true });
  };

  it.each<[string, number, (rig: Rig) => void, RigOptions]>([
    ['none without a keepalive', 0, () => undefined, {}],
    ['one for the keepalive', 1, () => undefined, { keepalive: KEEPALIVE }],
    [
      'one for a closing socket, however often it begins to close',
      1,
      ({ connection }) => {
        connection.watchdog.watchClosing();
        connection.watchdog.watchClosing();
      },
      {},
    ],
    ['one for all reassemblies', 1, reassemble, { limits: { reassemblyTimeoutMs: 10_000 } }],
    [
      'one for a full socket, however much is sent',
      1,
      (rig) => {
        rig.transport.stuck = true;
        const stream = rig.open();
        for (let n = 0; n < 10; n++) rig.send(stream, { payload: 'x'.repeat(30_000) });
      },
      { limits: { stallBytes: 10_000 } },
    ],
  ])('Watchdog runs only as many timers as it needs: %s', (_what, count, act, options) => {
    expect(timersOf(act, options)).toEqual([count, 0]);
  });

  it('Watchdog runs one timer for a keepalive, however often it is asked to probe', () => {
    const nag = (rig: Rig) => {
      interval(1_100).subscribe(() => {
        rig.connection.probe();
      });
    };
    // The caller that nags has a timer too.
    expect(timersOf(nag, { keepalive: KEEPALIVE })).toEqual([2, 1]);
  });

  it('Watchdog runs one timer for each watch, and leaves none after the end', () => {
    const everything = (rig: Rig) => {
      chatter(rig);
      reassemble(rig);
      rig.transport.stuck = true;
      rig.open({ payload: 'x'.repeat(30_000) });
    };
    // The remote that chatters has a timer too.
    expect(timersOf(everything, { keepalive: KEEPALIVE, limits: { stallBytes: 10_000, stallMs: 700_000 } })).toEqual([4, 1]);
  });

  it(
    'Watchdog starts no timer after the end of the socket',
    inTime((time) => {
      const rig = new Rig({ keepalive: KEEPALIVE, limits: { stallBytes: 1 } });
      const { watchdog } = rig.connection;
      rig.transport.end();
      rig.transport.sentBytes = rig.transport.bufferedAmount = 10;
      watchdog.sent('');
      watchdog.watchClosing();
      watchdog.watchFragments();
      watchdog.probeNow();
      expect([time.isOver, rig.sent]).toEqual([true, []]);
    }),
  );
});

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
      time.advance(2_499);
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

describe('WriteProgress', () => {
  it(
    'WriteProgress reports its start while nothing was sent',
    inTime((time) => {
      const { progress } = setUp(time);
      time.advance(100);
      expect(both(progress)).toEqual([10, 10]);
    }),
  );

  it(
    'WriteProgress reports the time of the last send when the socket holds no bytes',
    inTime((time) => {
      const { progress, send } = setUp(time);
      time.advance(5);
      send(100);
      time.advance(50);
      expect(both(progress)).toEqual([15, 15]);
    }),
  );

  it(
    'WriteProgress ignores bytes that the socket still holds',
    inTime((time) => {
      const { progress, give } = setUp(time);
      time.advance(5);
      give(100);
      time.advance(50);
      expect(both(progress)).toEqual([10, 10]);
    }),
  );

  it(
    'WriteProgress reports the time of the sample when the socket has taken only a part of its bytes',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      give(100);
      time.advance(50);
      expect(progress.tookAt()).toBe(10);
      transport.bufferedAmount = 99;
      time.advance(50);
      expect(both(progress)).toEqual([110, 110]);
      time.advance(50);
      expect(both(progress)).toEqual([110, 110]);
    }),
  );

  it(
    'WriteProgress allows for the headers that the socket adds to messages',
    inTime((time) => {
      const { progress, transport, send } = setUp(time);
      send(100);
      transport.bufferedAmount = 114;
      time.advance(50);
      expect(progress.tookAt()).toBe(10);
      transport.bufferedAmount = 113;
      time.advance(1);
      expect(progress.tookAt()).toBe(61);
    }),
  );

  it(
    'WriteProgress ignores a probe that the socket takes',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      time.advance(5);
      progress.sendProbe(() => {
        give(30);
      });
      transport.bufferedAmount = 0;
      time.advance(50);
      expect(both(progress)).toEqual([10, 10]);
    }),
  );

  it(
    'WriteProgress reports bytes that the socket takes beyond a probe',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      give(500);
      progress.sendProbe(() => {
        give(30);
      });
      transport.bufferedAmount = 10;
      time.advance(50);
      expect(progress.tookAt()).toBe(60);
    }),
  );

  it(
    'WriteProgress reports later bytes once the socket has taken the probe',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      progress.sendProbe(() => {
        give(30);
      });
      transport.bufferedAmount = 20;
      time.advance(10);
      expect(progress.tookAt()).toBe(10);
      transport.bufferedAmount = 0;
      expect(progress.tookAt()).toBe(10);
      time.advance(10);
      give(1);
      transport.bufferedAmount = 0;
      time.advance(10);
      expect(progress.tookAt()).toBe(30);
    }),
  );

  it(
    'WriteProgress ignores the header of a probe too',
    inTime((time) => {
      const { progress, transport, send } = setUp(time);
      time.advance(5);
      progress.sendProbe(() => {
        send(30);
        transport.bufferedAmount = 44;
      });
      expect(progress.tookAt()).toBe(10);
      transport.bufferedAmount = 0;
      time.advance(50);
      expect(progress.tookAt()).toBe(10);
    }),
  );

  it(
    'WriteProgress ignores only the bytes of a probe that are left',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      progress.sendProbe(() => {
        give(30);
      });
      transport.bufferedAmount = 20;
      expect(progress.tookAt()).toBe(10);
      give(100);
      transport.bufferedAmount = 80;
      time.advance(50);
      expect(progress.tookAt()).toBe(60);
    }),
  );

  it(
    'WriteProgress ignores a probe that the socket takes in parts',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      progress.sendProbe(() => {
        give(30);
      });
      for (const left of [20, 10, 0]) {
        transport.bufferedAmount = left;
        time.advance(10);
        expect(progress.tookAt()).toBe(10);
      }
    }),
  );

  it(
    'WriteProgress ignores no bytes when the probe was not sent',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      progress.sendProbe(() => undefined);
      time.advance(10);
      give(1);
      transport.bufferedAmount = 0;
      expect(progress.tookAt()).toBe(20);
    }),
  );

  it(
    'WriteProgress reports a second time on a clock that stops while reading is paused',
    inTime((time) => {
      const { progress, give, reading, transport } = setUp(time);
      const stream = {};
      reading.lag(stream);
      time.advance(100);
      give(200);
      transport.bufferedAmount = 0;
      expect(both(progress)).toEqual([110, 10]);
      give(200);
      time.advance(100);
      transport.bufferedAmount = 100;
      expect(both(progress)).toEqual([210, 10]);
      reading.caughtUp(stream);
      time.advance(5);
      transport.bufferedAmount = 50;
      expect(both(progress)).toEqual([215, 15]);
    }),
  );

  it(
    'WriteProgress infers nothing about the remote from a socket that held back no bytes',
    inTime((time) => {
      const { progress, send } = setUp(time);
      for (let n = 0; n < 3; n++) {
        time.advance(50);
        send(1_000_000);
        expect(progress.drainedAtReadTime()).toBe(10);
      }
    }),
  );

  it(
    'WriteProgress infers nothing about the remote at its first sample',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      give(100_000);
      transport.bufferedAmount -= 1;
      time.advance(50);
      expect(progress.drainedAtReadTime()).toBe(10);
    }),
  );

  it.each<[string, number, number, number]>([
    ['not for 16 KiB sent 100 ms ago', 16 * 1024, 100, 10],
    ['for one byte sent 101 ms ago', 1, 101, 161],
    ['for more than 16 KiB', 16 * 1024 + 1, 0, 60],
  ])(
    'WriteProgress assumes that a socket holds bytes back: %s',
    inTime<[string, number, number, number]>((time, _what, bytes, ms, drainedAt) => {
      const { progress, give, transport } = setUp(time);
      give(bytes);
      time.advance(ms);
      expect(progress.drainedAtReadTime()).toBe(10);
      time.advance(50);
      transport.bufferedAmount -= 1;
      give(1);
      transport.bufferedAmount -= 1;
      give(1);
      expect(progress.drainedAtReadTime()).toBe(drainedAt);
    }),
  );

  it(
    'WriteProgress dates drained bytes from the last sample that saw the socket full',
    inTime((time) => {
      const { progress, give, reading, transport } = setUp(time);
      give(20_000);
      time.advance(50);
      expect(progress.drainedAtReadTime()).toBe(10);
      reading.lag({});
      time.advance(50);
      transport.bufferedAmount = 0;
      expect([progress.drainedAtReadTime(), progress.tookAt()]).toEqual([60, 10]);
      give(1);
      transport.bufferedAmount = 0;
      expect(progress.drainedAtReadTime()).toBe(60);
    }),
  );

  it(
    'WriteProgress infers nothing about the remote from a probe that a full socket takes',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      give(20_000);
      time.advance(10);
      progress.sendProbe(() => {
        give(30);
      });
      transport.bufferedAmount -= 30;
      time.advance(10);
      expect(progress.drainedAtReadTime()).toBe(10);
      transport.bufferedAmount -= 1;
      expect(progress.drainedAtReadTime()).toBe(30);
    }),
  );
});

function both(progress: WriteProgress): [number, number] {
  return [progress.tookAt(), progress.tookAtReadTime()];
}

/** A WriteProgress that starts at 10 ms. */
function setUp(time: SessionTime) {
  time.advance(10);
  const transport = new ScriptedTransport();
  const reading = new ReadBackpressure(transport, 5_000);
  const progress = new WriteProgress(transport, reading);
  progress.begin();
  const send = (bytes: number): void => {
    transport.sentBytes += bytes;
    progress.sent(steadyNow());
  };
  const give = (bytes: number): void => {
    transport.bufferedAmount += bytes;
    send(bytes);
  };
  return { transport, reading, progress, send, give };
}

describe('slow consumers', () => {
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
