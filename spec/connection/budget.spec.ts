import { describe, expect, it } from '@jest/globals';
import { AnswerHold, Budget, HOLD_MS, LOOK_MS, MAX_HELD, MEASURED_BYTES, ReadBackpressure } from '../../src/connection/budget.js';
import type { Share } from '../../src/connection/connection.js';
import { ENDED, Tally } from '../../src/stream/end.js';
import { STEADY_CLOCK } from '../../src/util/time.js';
import { ResetCode } from '../../src/wire/codes.js';
import { resolveLimits } from '../../src/wire/limits.js';
import type { Limits } from '../../src/wire/limits.js';
import { Holder, Rig, scriptedOwner, typesOf } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';
import { ScriptedTransport } from '../support/socket/scripted-transport.js';

describe('receive budget', () => {
  const MIB = 1024 * 1024;
  const OWNER = scriptedOwner();
  const OPEN = new Holder(OWNER, true);
  const OTHER = new Holder(OWNER, true);

  const rig = (limits: Partial<Limits> = {}) => {
    const resolved = resolveLimits(limits);
    const transport = new ScriptedTransport();
    const reading = new ReadBackpressure(transport, resolved.pauseMs);
    const pongs: (string | null)[] = [];
    const budget = new Budget(resolved, reading, { pong: (nonce) => pongs.push(nonce), signOfLife: () => undefined });
    let received = 0;
    /** Whether a ping that follows data waits for its answer. */
    const holdsPings = (): boolean => {
      const before = pongs.length;
      budget.pinged('nonce', (received += MEASURED_BYTES));
      return pongs.length === before;
    };
    return { transport, reading, holdsPings, budget };
  };

  describe('unread payloads', () => {
    it(
      'Budget keeps 4 MiB for one stream and refuses one byte more with FLOW_CONTROL',
      inTime(() => {
        const { budget } = rig();
        expect(budget.keep(OPEN, 4 * MIB, 4 * MIB, 4 * MIB)).toBeNull();
        expect(budget.keep(OPEN, 4 * MIB + 1, 1, 1)).toEqual({
          code: ResetCode.FLOW_CONTROL,
          reason: '4194305 unread bytes are over the limit of 4194304 (maxUnreadBytes)',
        });
        expect(budget.held.used).toBe(4 * MIB);
      }),
    );

    it(
      'Budget keeps twice as much for a stream of a remote whose pings wait, and refuses one byte more',
      inTime(() => {
        const { budget, holdsPings } = rig();
        expect(budget.keep(OPEN, MIB, MIB, MIB)).toBeNull();
        expect(holdsPings()).toBe(true);
        expect(budget.keep(OPEN, 8 * MIB, 7 * MIB, 7 * MIB)).toBeNull();
        expect(budget.keep(OPEN, 8 * MIB + 1, 1, 1)).toEqual({
          code: ResetCode.FLOW_CONTROL,
          reason: '8388609 unread bytes are over the limit of 8388608 (maxUnreadBytes)',
        });
      }),
    );

    it(
      'Budget keeps twice as much for a stream that lags, also when the reads of another stream have answered every ping',
      inTime(() => {
        const { budget, holdsPings } = rig();
        for (const stream of [OPEN, OTHER]) budget.keep(stream, 2 * MIB, 2 * MIB, 2 * MIB);
        expect(holdsPings()).toBe(true);
        budget.read(OTHER, 2 * MIB - MEASURED_BYTES, MEASURED_BYTES, MEASURED_BYTES);
        expect(budget.keep(OPEN, 4 * MIB + 1, 1, 1)).toBeNull();
      }),
    );

    it(
      'Budget keeps 4 MiB for a stream whose consumer has read nothing for so long that the pings are answered',
      inTime((time) => {
        const { budget, holdsPings } = rig();
        budget.keep(OPEN, MIB, MIB, MIB);
        expect(holdsPings()).toBe(true);
        time.advance(5_000);
        expect(budget.keep(OPEN, 4 * MIB + 1, 1, 1)).toMatchObject({ code: ResetCode.FLOW_CONTROL });
      }),
    );

    it(
      'Budget keeps 64 MiB for one connection and refuses one byte more with ENHANCE_YOUR_CALM',
      inTime(() => {
        const { budget } = rig();
        for (let n = 0; n < 64; n++) expect(budget.keep(new Holder(OWNER, true), MIB, MIB, MIB)).toBeNull();
        expect(budget.keep(OPEN, 1, 1, 1)).toEqual({
          code: ResetCode.ENHANCE_YOUR_CALM,
          reason: '67108865 bytes held by this connection are over the limit of 67108864 (maxHeldBytes)',
        });
        expect(budget.held.used).toBe(64 * MIB);
      }),
    );

    it('Budget reports FLOW_CONTROL when a payload exceeds both limits', () => {
      const { budget } = rig({ maxUnreadBytes: 10, maxHeldBytes: 10 });
      expect(budget.keep(OPEN, 11, 11, 11)).toMatchObject({ code: ResetCode.FLOW_CONTROL });
    });

    it('Budget counts no payload that was read', () => {
      const { budget } = rig({ maxHeldBytes: 100 });
      expect(budget.keep(OPEN, 100, 100, 100)).toBeNull();
      budget.read(OPEN, 40, 60, 60);
      expect(budget.held.used).toBe(40);
      expect([budget.keep(OPEN, 100, 60, 60), budget.held.used]).toEqual([null, 100]);
    });
  });

  describe('lagging consumers', () => {
    it.each([
      [99, false],
      [100, true],
      [101, true],
    ])(
      'Budget with %i unread bytes and pauseBytes 100 holds back pongs: %s',
      inTime<[number, boolean]>((_time, unread, holds) => {
        const { budget, transport, holdsPings } = rig({ pauseBytes: 100 });
        expect(budget.keep(OPEN, unread, unread, unread)).toBeNull();
        expect([holdsPings(), transport.paused]).toEqual([holds, false]);
      }),
    );

    it.each<[string, Partial<Limits>, number, number, boolean]>([
      ['2 MiB beyond pauseBytes, less one byte', {}, 3 * MIB - 2, 1, false],
      ['2 MiB beyond pauseBytes', {}, 3 * MIB - 1, 1, true],
      ['less, where the next payload may be as large', {}, 1.5 * MIB, 1.5 * MIB, true],
      ['three quarters of maxUnreadBytes, less one byte', { pauseBytes: 10, maxUnreadBytes: 100 }, 73, 1, false],
      ['three quarters of maxUnreadBytes', { pauseBytes: 10, maxUnreadBytes: 100 }, 74, 1, true],
      ['pauseBytes near maxUnreadBytes, less one byte', { pauseBytes: 90, maxUnreadBytes: 100 }, 89, 89, false],
      ['pauseBytes near maxUnreadBytes', { pauseBytes: 90, maxUnreadBytes: 100 }, 90, 1, true],
    ])(
      'Budget pauses the socket as the next step: %s',
      inTime<[string, Partial<Limits>, number, number, boolean]>((_time, _what, limits, unread, bytes, pauses) => {
        const { budget, transport } = rig(limits);
        expect(budget.keep(OPEN, unread, bytes, bytes)).toBeNull();
        expect(transport.paused).toBe(pauses);
      }),
    );

    it.each([
      ['seven eighths of 8 MiB, less one byte', 7 * MIB - 2, false],
      ['seven eighths of 8 MiB', 7 * MIB - 1, true],
    ])(
      'Budget pauses the socket of a remote whose pings wait at %s',
      inTime<[string, number, boolean]>((_time, _what, unread, pauses) => {
        const { budget, transport, holdsPings } = rig();
        budget.keep(OPEN, MIB, MIB, MIB);
        expect(holdsPings()).toBe(true);
        expect(budget.keep(OPEN, unread, 1, 1)).toBeNull();
        expect(transport.paused).toBe(pauses);
      }),
    );

    it(
      'Budget resumes the socket first, and releases the pongs once less than pauseBytes is unread',
      inTime((time) => {
        const { budget, transport, holdsPings } = rig({ pauseBytes: 100, maxUnreadBytes: 200 });
        budget.keep(OPEN, 200, 100, 100);
        budget.read(OPEN, 150, 50, 50);
        expect([transport.paused, holdsPings()]).toEqual([true, true]);
        budget.read(OPEN, 149, 1, 1);
        expect([transport.paused, holdsPings()]).toEqual([false, true]);
        budget.read(OPEN, 99, 50, 50);
        expect([holdsPings(), time.isOver]).toEqual([false, true]);
      }),
    );

    it(
      'Budget does not pause the socket for a consumer that has read nothing for a whole `pauseMs`',
      inTime((time) => {
        const { budget, transport } = rig({ pauseBytes: 100, maxUnreadBytes: 200 });
        budget.keep(OPEN, 100, 1, 1);
        time.advance(5_000);
        budget.keep(OPEN, 200, 100, 100);
        expect([transport.paused, time.isOver]).toEqual([false, true]);
      }),
    );

    it.each<[string, boolean, boolean]>([
      ['an open stream slows it', false, true],
      ['a closed stream does not', true, false],
    ])(
      'Budget slows the remote for a lagging consumer only while its stream is open: %s',
      inTime<[string, boolean, boolean]>((_time, _what, closed, slows) => {
        const { budget, reading, holdsPings } = rig({ pauseBytes: 1, maxUnreadBytes: 1 });
        const stream = new Holder(OWNER, true);
        if (closed) stream.advance('close');
        expect(budget.keep(stream, 1, 1, 1)).toBeNull();
        expect([reading.paused, holdsPings(), budget.held.used]).toEqual([slows, slows, 1]);
      }),
    );

    it('Session resumes the socket when a lagging stream closes, even while its handler still runs', () => {
      const session = new Rig({ limits: { pauseBytes: 10, maxUnreadBytes: 10 } });
      const { live } = session.remote(1);
      live.handlerStarted();
      live.keep(10);
      expect(session.transport.paused).toBe(true);
      session.receive({ type: 'reset', stream: 1, code: ResetCode.CANCEL });
      expect(session.transport.paused).toBe(false);
    });

    it('Budget does not pause the socket for a payload that it refuses', () => {
      const { budget, transport } = rig({ pauseBytes: 1, maxUnreadBytes: 10 });
      expect(budget.keep(OPEN, 11, 11, 11)).not.toBeNull();
      expect([transport.paused, budget.held.used]).toEqual([false, 0]);
    });
  });
});

const [SLOW, OTHER] = [{}, {}];

/** A transport that records each call of `pause` and `resume`. */
class Counted extends ScriptedTransport {
  readonly calls: string[] = [];

  override pause(): void {
    super.pause();
    this.calls.push('pause');
  }

  override resume(): void {
    super.resume();
    this.calls.push('resume');
  }
}

const rig = (pauseMs = 5_000) => {
  const transport = new Counted();
  return { transport, reading: new ReadBackpressure(transport, pauseMs) };
};

describe('ReadBackpressure', () => {
  it(
    'ReadBackpressure pauses the transport for a stream that lags, and resumes it when the stream has caught up',
    inTime((time) => {
      const { transport, reading } = rig();
      expect(reading.paused).toBe(false);
      reading.lag(SLOW);
      reading.lag(SLOW);
      expect([reading.paused, transport.calls]).toEqual([true, ['pause']]);
      reading.caughtUp(SLOW);
      reading.caughtUp(SLOW);
      expect([reading.paused, transport.calls, time.isOver]).toEqual([false, ['pause', 'resume'], true]);
    }),
  );

  it(
    'ReadBackpressure resumes when the last blocking stream has caught up, even beside one that timed out',
    inTime((time) => {
      const { transport, reading } = rig();
      reading.lag(SLOW);
      time.advance(5_000);
      for (let nth = 0; nth < 2; nth++) {
        reading.lag(OTHER);
        reading.lag(SLOW);
        reading.caughtUp(OTHER);
      }
      expect([reading.paused, time.isOver]).toEqual([false, true]);
      reading.caughtUp(SLOW);
      reading.lag(SLOW);
      expect(reading.paused).toBe(true);
      reading.caughtUp(SLOW);
      expect(transport.calls).toEqual(Array.from({ length: 4 }, () => ['pause', 'resume']).flat());
    }),
  );

  it(
    'ReadBackpressure resumes only when the last of several streams has caught up',
    inTime((time) => {
      const { transport, reading } = rig();
      reading.lag(SLOW);
      reading.lag(OTHER);
      reading.caughtUp(SLOW);
      expect(transport.calls).toEqual(['pause']);
      reading.caughtUp(OTHER);
      expect([transport.calls, time.isOver]).toEqual([['pause', 'resume'], true]);
    }),
  );

  it.each([0, 1, 5_000])(
    'ReadBackpressure pauses for at most pauseMs (%i), and again for the same stream only after it has caught up',
    inTime<[number]>((time, pauseMs) => {
      const { transport, reading } = rig(pauseMs);
      reading.lag(SLOW);
      time.advance(pauseMs - 1);
      expect(reading.paused).toBe(true);
      time.advance(1);
      expect([reading.paused, transport.calls]).toEqual([false, ['pause', 'resume']]);
      reading.lag(SLOW);
      expect([reading.paused, time.isOver]).toEqual([false, true]);
      reading.caughtUp(SLOW);
      reading.lag(SLOW);
      expect([reading.paused, transport.calls]).toEqual([true, ['pause', 'resume', 'pause']]);
    }),
  );

  it(
    'ReadBackpressure counts pauseMs from the first blocking stream, not from the last',
    inTime((time) => {
      const { reading } = rig();
      reading.lag(SLOW);
      time.advance(4_000);
      reading.lag(OTHER);
      time.advance(999);
      expect(reading.paused).toBe(true);
      time.advance(1);
      expect(reading.paused).toBe(false);
    }),
  );

  it(
    'ReadBackpressure pauses for a second stream after the first one has timed out',
    inTime((time) => {
      const { reading } = rig();
      reading.lag(SLOW);
      time.advance(5_000);
      reading.lag(OTHER);
      expect(reading.paused).toBe(true);
    }),
  );

  it('ReadBackpressure does not resume a transport that it has not paused', () => {
    const { transport, reading } = rig();
    reading.caughtUp(SLOW);
    reading.resume();
    expect(transport.calls).toEqual([]);
  });

  it(
    '`resume` reads on despite blocking streams, and a later block pauses again',
    inTime((time) => {
      const { transport, reading } = rig();
      reading.lag(SLOW);
      reading.lag(OTHER);
      reading.resume();
      expect([reading.paused, time.isOver]).toEqual([false, true]);
      reading.lag(SLOW);
      expect(transport.calls).toEqual(['pause', 'resume', 'pause']);
    }),
  );

  it(
    'ReadBackpressure never pauses after `stop`, so that the closing handshake is seen',
    inTime((time) => {
      const { transport, reading } = rig();
      reading.lag(SLOW);
      reading.stop();
      reading.lag(SLOW);
      reading.lag(OTHER);
      expect([reading.paused, transport.calls, time.isOver]).toEqual([false, ['pause', 'resume'], true]);
    }),
  );
});

describe('clocks', () => {
  it(
    'ReadBackpressure stops its clock while reading is paused',
    inTime((time) => {
      time.advance(1_000);
      const { reading } = rig();
      const looks: number[] = [];
      const look = (ms: number) => {
        time.advance(ms);
        looks.push(reading.now());
      };
      look(0);
      look(100);
      reading.lag(SLOW);
      look(0);
      look(300);
      reading.caughtUp(SLOW);
      look(0);
      look(10);
      reading.lag(SLOW);
      look(6_000);
      expect(looks).toEqual([1_000, 1_100, 1_100, 1_100, 1_100, 1_110, 2_110]);
    }),
  );

  it(
    '`STEADY_CLOCK` is never paused',
    inTime((time) => {
      time.advance(42);
      expect([STEADY_CLOCK.now(), STEADY_CLOCK.paused]).toEqual([42, false]);
    }),
  );
});

const MIB = 1024 * 1024;
const BULK = 'x'.repeat(MEASURED_BYTES);

/** A session whose stream 1 has as many unread bytes as `pauseBytes`. */
function lagging(rig = new Rig()) {
  const slow = rig.remote(1);
  const other = rig.remote(3);
  for (const { live } of [slow, other]) live.markTaken();
  slow.live.keep(MIB);
  /** The remote sends bulk on stream 1, and a ping behind it. */
  const bulk = (nonce: string): void => {
    rig.receive({ type: 'data', stream: 1, payload: BULK }, { type: 'ping', nonce });
  };
  return { rig, slow, other, bulk };
}

describe('a session with a slow reader', () => {
  it(
    'Session holds back the pong of bulk while a reader lags, and reads on for the other streams',
    inTime(() => {
      const { rig, slow, other, bulk } = lagging();
      bulk('bulk');
      rig.receive({ type: 'data', stream: 3, payload: 'small' }, { type: 'ping', nonce: 'keepalive' });
      expect([rig.transport.paused, other.payloads]).toEqual([false, ['small']]);
      expect(rig.news).toEqual([{ type: 'pong', nonce: 'keepalive' }]);
      slow.live.read(1);
      expect(rig.news).toEqual([{ type: 'pong', nonce: 'bulk' }]);
    }),
  );

  it(
    'Session sends a ping each second while it holds back pongs',
    inTime((time) => {
      const { rig, bulk } = lagging();
      bulk('bulk');
      time.advance(2_000);
      expect(typesOf(rig)).toEqual(['ping', 'ping']);
    }),
  );

  it(
    'Session answers the held pings when the slow stream is reset',
    inTime(() => {
      const { rig, slow, bulk } = lagging();
      bulk('bulk');
      slow.live.reset('user', ResetCode.CANCEL, '');
      expect(typesOf(rig).sort()).toEqual(['pong', 'reset']);
    }),
  );

  it(
    'Session answers the held pings when it drains',
    inTime(() => {
      const { rig, bulk } = lagging();
      bulk('bulk');
      rig.connection.drain(1_000, ResetCode.NO_ERROR, '');
      expect(typesOf(rig)).toEqual(['pong', 'goaway']);
    }),
  );

  it(
    'Session counts no silence of a fragmented payload while it holds back pongs',
    inTime((time) => {
      const { rig, other, bulk } = lagging(new Rig({ limits: { reassemblyTimeoutMs: 1_000 } }));
      rig.receive({ type: 'data', stream: 3, fragment: '"', more: true });
      bulk('bulk');
      time.advance(4_000);
      expect(other.ends).toEqual([]);
      time.advance(2_000);
      expect(other.ends).toMatchObject([{ code: ResetCode.DEADLINE_EXCEEDED }]);
    }),
  );

  it(
    'Session ends the connection, and the read does not throw, when too many held pings get their pongs at once',
    inTime(() => {
      const { rig, slow, bulk } = lagging(new Rig({ limits: { maxControlFrames: 1 } }));
      for (const nonce of ['a', 'b']) bulk(nonce);
      rig.transport.bufferedAmount = MIB;
      slow.live.read(1);
      expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 1 unread answers (maxControlFrames)' }]);
    }),
  );
});

describe('answer hold', () => {
  const PAUSE_MS = 20_000;
  const [SLOW, OTHER] = [{}, {}];

  /** A hold, with the nonces of its pongs in order, and `life` for each sign of life. */
  function holding(pauseMs = PAUSE_MS) {
    const answers: (string | null)[] = [];
    const hold = new AnswerHold(
      {
        pong: (nonce) => answers.push(nonce),
        signOfLife: () => answers.push('life'),
      },
      pauseMs,
    );
    let received = 0;
    /** The remote pings after a number of bytes. */
    const ping = (nonce: string | null, bytes = MEASURED_BYTES): void => {
      hold.pinged(nonce, (received += bytes));
    };
    return { hold, answers, ping };
  }

  describe('pings beside a lagging stream', () => {
    it(
      'AnswerHold answers each ping at once while no stream lags',
      inTime((time) => {
        const { hold, answers, ping } = holding();
        ping('a');
        hold.read(SLOW, MEASURED_BYTES);
        ping('b');
        expect([answers, hold.heldMs, time.isOver]).toEqual([['a', 'b'], 0, true]);
      }),
    );

    it(
      'AnswerHold holds the pings that measure data while a stream lags, and answers them in order when the stream has caught up',
      inTime((time) => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        hold.lag(SLOW);
        for (const nonce of ['a', 'b', null]) ping(nonce);
        expect(answers).toEqual([]);
        hold.caughtUp(SLOW);
        expect([answers, time.isOver]).toEqual([['a', 'b', null], true]);
        ping('c');
        expect(answers.at(-1)).toBe('c');
      }),
    );

    it.each([
      ['one byte less than 32 KiB came since the last ping that measured data', 'keepalive', MEASURED_BYTES - 1],
      ['the nonce has more than 64 characters', 'x'.repeat(65), MEASURED_BYTES],
    ])(
      'AnswerHold answers a ping at once while a stream lags: %s',
      inTime<[string, string, number]>((_time, _what, nonce, bytes) => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        ping('held');
        ping(nonce, bytes);
        expect(answers).toEqual([nonce]);
      }),
    );

    it(
      'AnswerHold counts data across pings that measure none',
      inTime(() => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        ping('keepalive', MEASURED_BYTES - 1);
        ping('held', 1);
        ping('y'.repeat(64));
        expect(answers).toEqual(['keepalive']);
      }),
    );

    it(
      'AnswerHold answers the pings when the last lagging stream has caught up',
      inTime(() => {
        const { hold, answers, ping } = holding();
        for (const stream of [SLOW, OTHER]) hold.lag(stream);
        ping('a');
        hold.caughtUp(SLOW);
        expect(answers).toEqual([]);
        hold.caughtUp(OTHER);
        expect(answers).toEqual(['a']);
      }),
    );

    it(
      'AnswerHold holds at most 256 pings, and answers the oldest one beyond',
      inTime(() => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        for (let nth = 0; nth < MAX_HELD; nth++) ping(`${nth}`);
        expect(answers).toEqual([]);
        ping('more');
        expect(answers).toEqual(['0']);
      }),
    );
  });

  describe('reads of a lagging stream', () => {
    it(
      'AnswerHold answers a ping for as many read bytes as came before that ping',
      inTime(() => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        ping('a', 2 * MEASURED_BYTES);
        ping('b');
        hold.read(SLOW, 2 * MEASURED_BYTES - 1);
        expect(answers).toEqual([]);
        hold.read(SLOW, 1);
        expect(answers).toEqual(['a']);
        hold.read(SLOW, MEASURED_BYTES);
        expect(answers).toEqual(['a', 'b']);
      }),
    );

    it(
      'AnswerHold counts only the reads of lagging streams, and none while no ping waits',
      inTime(() => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        hold.read(SLOW, MEASURED_BYTES);
        ping('a');
        hold.read(OTHER, MEASURED_BYTES);
        hold.read(SLOW, MEASURED_BYTES - 1);
        hold.caughtUp(SLOW);
        hold.lag(SLOW);
        ping('b');
        hold.read(SLOW, MEASURED_BYTES - 1);
        expect(answers).toEqual(['a']);
      }),
    );
  });

  describe('patience', () => {
    it(
      'AnswerHold answers the oldest ping after five seconds, and sends a sign of life each second meanwhile',
      inTime((time) => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        time.advance(LOOK_MS);
        expect(answers).toEqual([]);
        for (const nonce of ['a', 'b', 'c']) ping(nonce);
        const lives = ['life', 'life', 'life', 'life', 'life'];
        time.advance(HOLD_MS - 1);
        expect(answers).toEqual(lives.slice(1));
        time.advance(1);
        expect(answers).toEqual([...lives, 'a']);
        time.advance(HOLD_MS);
        expect(answers).toEqual([...lives, 'a', ...lives, 'b']);
        hold.read(SLOW, MEASURED_BYTES);
        time.advance(2 * LOOK_MS);
        expect(answers).toEqual([...lives, 'a', ...lives, 'b', 'c']);
      }),
    );

    it(
      'AnswerHold abandons a stream that reads nothing for `pauseMs`, until the stream has caught up',
      inTime((time) => {
        const { hold, answers, ping } = holding(3_000);
        hold.lag(SLOW);
        time.advance(2_000);
        hold.read(SLOW, 1);
        time.advance(2_000);
        ping('a');
        expect(hold.ignores(SLOW)).toBe(false);
        time.advance(1_000);
        expect([answers, hold.ignores(SLOW), time.isOver]).toEqual([['a'], true, true]);
        hold.lag(SLOW);
        ping('b');
        expect(answers).toEqual(['a', 'b']);
        hold.caughtUp(SLOW);
        hold.lag(SLOW);
        ping('c');
        expect([answers, hold.ignores(SLOW)]).toEqual([['a', 'b'], false]);
      }),
    );

    it(
      'AnswerHold goes on for a stream that reads, after it abandoned another one',
      inTime((time) => {
        const { hold, answers, ping } = holding(LOOK_MS);
        for (const stream of [SLOW, OTHER]) hold.lag(stream);
        time.advance(LOOK_MS - 1);
        hold.read(OTHER, 1);
        ping('a');
        time.advance(1);
        expect([hold.ignores(SLOW), hold.ignores(OTHER), answers]).toEqual([true, false, ['life']]);
      }),
    );

    it(
      'AnswerHold abandons no stream by a late timer',
      inTime((time) => {
        const { hold } = holding(LOOK_MS);
        hold.lag(SLOW);
        time.sleep(3_600_000);
        expect(hold.ignores(SLOW)).toBe(false);
        time.advance(LOOK_MS);
        expect(hold.ignores(SLOW)).toBe(true);
      }),
    );

    it(
      '`heldMs` counts the time in which pings wait',
      inTime((time) => {
        const { hold, ping } = holding();
        hold.lag(SLOW);
        time.advance(100);
        ping('a');
        time.advance(20);
        ping('b');
        time.advance(3);
        expect(hold.heldMs).toBe(23);
        hold.resume();
        time.advance(100);
        expect(hold.heldMs).toBe(23);
        hold.lag(SLOW);
        ping('c');
        time.advance(4);
        expect(hold.heldMs).toBe(27);
      }),
    );
  });

  describe('the end', () => {
    it(
      '`resume` answers every ping, and a later lag holds again',
      inTime((time) => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        ping('a');
        hold.resume();
        expect([answers, time.isOver]).toEqual([['a'], true]);
        hold.lag(SLOW);
        ping('b');
        expect(answers).toEqual(['a']);
      }),
    );

    it(
      '`stop` answers every ping, now and later',
      inTime((time) => {
        const { hold, answers, ping } = holding();
        hold.lag(SLOW);
        ping('a');
        hold.stop();
        hold.lag(SLOW);
        ping('b');
        expect([answers, time.isOver]).toEqual([['a', 'b'], true]);
      }),
    );
  });
});

/** A share that the test controls. */
class ScriptedShare implements Share {
  held = 0;
  maxHeld = Infinity;
  streams = 0;
  bytes = 0;
  holdsMuch = false;
  waits = false;
  overflows = false;
  refusal: string | null = null;
  room: () => void = () => undefined;

  hold(bytes: number): boolean {
    if (this.held + bytes > this.maxHeld) return false;
    this.held += bytes;
    return true;
  }

  holdRefusal(bytes: number): string {
    return `${bytes} bytes are too many together`;
  }

  unhold(bytes: number): void {
    this.held -= bytes;
  }

  streamRefusal(): string | null {
    return this.refusal;
  }

  streamTaken(): void {
    this.streams++;
  }

  streamReleased(): void {
    this.streams--;
  }

  queued(bytes: number): void {
    this.bytes += bytes;
  }

  mustWait(): boolean {
    return this.waits;
  }

  overflowsWith(): boolean {
    return this.overflows;
  }

  onRoom(task: () => void): void {
    this.room = task;
  }

  /** Other connections have made room. */
  makeRoom(): void {
    this.waits = false;
    this.room();
  }
}

function shared(): readonly [Rig, ScriptedShare] {
  const share = new ScriptedShare();
  return [new Rig({ share }), share];
}

describe('a session that shares limits', () => {
  it('Session counts the streams of the remote, and refuses one that the share refuses', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1);
    expect(share.streams).toBe(1);
    share.refusal = 'enough together';
    rig.receive({ type: 'open', stream: 3 });
    expect(rig.news).toEqual([{ type: 'reset', stream: 3, code: ResetCode.REFUSED, reason: 'enough together' }]);
    stream.live.reset('user', ResetCode.CANCEL, '');
    expect(share.streams).toBe(0);
  });

  it('Session counts attached, unread and unfinished payloads, and releases them', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1, { payload: 'x'.repeat(100) });
    expect(share.held).toBeGreaterThanOrEqual(100);
    const attached = share.held;
    expect(stream.live.keep(200)).toBe(true);
    rig.receive({ type: 'data', stream: 1, fragment: `"${'y'.repeat(300)}`, more: true });
    expect(share.held).toBe(attached + 200 + 301);
    rig.transport.end();
    expect(share.held).toBe(0);
  });

  it('Session resets a stream whose payload is too much together, with the reason of the share', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1);
    share.maxHeld = 500;
    rig.receive({ type: 'data', stream: 1, fragment: `"${'y'.repeat(700)}`, more: true });
    expect(stream.cause).toMatchObject({ code: ResetCode.ENHANCE_YOUR_CALM, reason: '701 bytes are too many together' });
    const unread = rig.remote(3);
    expect(unread.live.keep(600)).toBe(false);
    expect(unread.cause).toMatchObject({ code: ResetCode.ENHANCE_YOUR_CALM, reason: '600 bytes are too many together' });
    expect(share.held).toBe(0);
  });

  it("A session's own limit comes first, and counts nothing together", () => {
    const share = new ScriptedShare();
    const rig = new Rig({ share, limits: { maxHeldBytes: 100 } });
    const stream = rig.remote(1);
    expect(stream.live.keep(200)).toBe(false);
    expect(stream.cause).toMatchObject({ reason: '200 bytes held by this connection are over the limit of 100 (maxHeldBytes)' });
    expect(share.held).toBe(0);
  });

  it('Session pauses its socket at an unread payload while the share holds much', () => {
    const [rig, share] = shared();
    const stream = rig.remote(1);
    stream.live.keep(10);
    expect(rig.transport.paused).toBe(false);
    share.holdsMuch = true;
    stream.live.keep(10);
    expect(rig.transport.paused).toBe(true);
    stream.live.read(20);
    expect(rig.transport.paused).toBe(false);
  });
});

describe('sending with a share', () => {
  it('Session reports each payload that it queues or writes', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    const before = share.bytes;
    rig.send(stream, { payload: 'x'.repeat(98) });
    expect(share.bytes).toBe(before + 100);
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.send(stream, { payload: 'x'.repeat(98) });
    rig.send(stream, { payload: 'x'.repeat(98) });
    expect(share.bytes).toBe(before + 300);
  });

  it('A stream has no room while its connection has to wait, and has room again when others make some', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    share.waits = true;
    expect(stream.live.hasRoom).toBe(false);
    let woken = 0;
    stream.live.whenRoom(() => woken++);
    expect(woken).toBe(0);
    share.makeRoom();
    expect(woken).toBe(1);
  });

  it('A stream is not asked for its next frame while its connection has to wait', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    expect(stream.live.hasDemand).toBe(true);
    share.waits = true;
    expect(stream.live.hasDemand).toBe(false);
    let asked = 0;
    stream.live.whenDemand(() => asked++);
    expect(asked).toBe(0);
    share.makeRoom();
    expect(asked).toBe(1);
  });

  it('A stream whose turn comes is not asked while its connection has to wait', () => {
    const [rig, share] = shared();
    const [stream, other] = [rig.open(), rig.open()];
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.send(other, { payload: 'x' });
    let asked = 0;
    stream.live.whenDemand(() => asked++);
    share.waits = true;
    rig.transport.drainTo(0);
    expect(asked).toBe(0);
    share.makeRoom();
    expect(asked).toBe(1);
  });

  it('A value overflows where the share says so', () => {
    const [rig, share] = shared();
    const stream = rig.open();
    expect(stream.live.overflowsWith(1)).toBe(false);
    share.overflows = true;
    expect(stream.live.overflowsWith(1)).toBe(true);
  });
});

const reset = { how: 'reset', reason: '', payload: null } as const;

describe('the tally', () => {
  it('A tally counts ends by cause, and a reset by its code and by who sent it', () => {
    const tally = new Tally();
    tally.ended(ENDED);
    tally.ended({ how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: false } });
    for (const by of ['user', 'library', 'remote'] as const) tally.ended({ ...reset, by, code: ResetCode.CANCEL });
    tally.ended({ ...reset, by: 'remote', code: ResetCode.CANCEL });
    expect(tally.causes).toEqual({
      ended: 1,
      lost: 1,
      'user reset CANCEL': 1,
      'library reset CANCEL': 1,
      'remote reset CANCEL': 2,
    });
  });

  it.each([
    [null, 'remote reset NO_ERROR'],
    [0, 'remote reset NO_ERROR'],
    [255, 'remote reset 255'],
    [-1, 'remote reset other'],
    [256, 'remote reset other'],
    [2 ** 40, 'remote reset other'],
  ])('The code %s of a reset has the name %s', (code, name) => {
    const tally = new Tally();
    tally.ended({ ...reset, by: 'remote', code });
    expect(tally.causes).toEqual({ [name]: 1 });
  });

  it('A session counts its frames in both directions, and its streams', () => {
    const rig = new Rig({ limits: { maxStreams: 1 } });
    rig.receive({ type: 'open', stream: 1 }, { type: 'open', stream: 3 }, { type: 'ping', nonce: 'n' });
    expect(typesOf(rig)).toEqual(['reset', 'pong']);
    expect(rig.tally).toMatchObject({ opened: 2, sentFrames: 2, receivedFrames: 3 });
    expect(rig.tally.receivedBytes).toBe('{"type":"open","stream":1}{"type":"open","stream":3}{"type":"ping","nonce":"n"}'.length);
    expect(rig.tally.causes).toEqual({ 'library reset REFUSED': 1 });
  });

  it('A session counts the bytes of its messages, without the framing of its socket', () => {
    const rig = new Rig();
    rig.receive({ type: 'ping', nonce: 'n' });
    const { sentBytes } = rig.transport;
    expect(rig.connection.sentBytes).toBe(sentBytes);
    Object.assign(rig.transport, { framingBytes: 6 });
    expect(rig.connection.sentBytes).toBe(sentBytes - 6);
  });

  it('A connection counts the frames that wait, control frames included', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.connection.control.probe();
    for (const payload of ['one', 'two']) void rig.open({ payload });
    expect(rig.connection.outbound.frames).toBe(3);
    rig.transport.drainTo(0);
    expect(rig.connection.outbound.frames).toBe(0);
  });
});
