import { describe, expect, it } from '@jest/globals';
import { interval } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { ResetCode } from '../../../src/wire/codes.js';
import type { Limits } from '../../../src/wire/limits.js';
import { Rig } from '../../support/session/rig.js';
import type { RigOptions } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

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
    what: 'an unanswered ping',
    options: { keepalive: KEEPALIVE },
    begin: ({ connection }) => {
      connection.watchdog.probeNow();
    },
    ms: 10_000,
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
