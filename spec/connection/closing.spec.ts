import { describe, expect, it } from '@jest/globals';
import { JsonCodec } from '../../src/codec/json.js';
import { fittingReason } from '../../src/connection/replies.js';
import { DEFAULT_KEEPALIVE } from '../../src/connection/watchdog.js';
import { causeError, ENDED, endedHere } from '../../src/stream/end.js';
import type { CloseCause } from '../../src/stream/end.js';
import type { Message } from '../../src/wire/codec.js';
import { ResetCode } from '../../src/wire/codes.js';
import { CancelledError, ConnectionFault, RefusedError, ResetError } from '../../src/wire/errors.js';
import { encodedLength } from '../../src/wire/length.js';
import { CODECS } from '../support/codec/shipped.js';
import { collectLogs } from '../support/peer/logs.js';
import { Rig } from '../support/session/rig.js';
import type { Holder } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

const MIB = 1024 * 1024;
const { NO_ERROR, CANCEL } = ResetCode;
const CLEAN = { code: 1000, reason: '' };

const close = (rig: Rig, drainMs = 0, reason = '') => {
  rig.connection.drain(drainMs, NO_ERROR, reason);
};
const brief = (rig: Rig) => rig.news.map(({ type, stream, code }) => [type, stream ?? code].join(' '));

/** A stream of the remote whose handler is running. */
function working(rig: Rig, id = 1): Holder {
  const holder = rig.remote(id);
  holder.live.handlerStarted();
  return holder;
}

describe('the last open stream', () => {
  it('The owner of an open session learns which stream was the last one', () => {
    const rig = new Rig();
    const [one, two] = [working(rig, 1), working(rig, 3)];
    one.live.reset('user', CANCEL, '');
    expect(rig.idle).toEqual([]);
    two.live.reset('user', CANCEL, '');
    expect(rig.idle).toEqual([3]);
  });

  it.each<[string, (rig: Rig) => void]>([
    ['drains', (rig) => close(rig, 1_000)],
    ['has failed', (rig) => rig.connection.fail(new ConnectionFault('too much'))],
  ])('The owner of a session that %s learns of no last stream', (_, end) => {
    const rig = new Rig();
    const stream = working(rig);
    end(rig);
    stream.live.reset('user', CANCEL, '');
    rig.transport.end({ ...CLEAN, wasClean: true });
    expect([stream.live.sealed, rig.idle]).toEqual([true, []]);
  });
});

describe('drain', () => {
  it('Session sends a goaway and closes at once when it has no streams', () => {
    const rig = new Rig();
    close(rig, 5_000, 'bye');
    expect(rig.news).toEqual([{ type: 'goaway', code: NO_ERROR, last_stream: 0, reason: 'bye' }]);
    expect(rig.transport.closes).toEqual([{ code: 1000, reason: 'bye' }]);
  });

  it('Session sends its queued frames, then resets the remaining streams, then closes', () => {
    const rig = new Rig();
    const stream = working(rig);
    rig.transport.bufferedAmount = MIB;
    rig.open({ payload: 'note', end: true }, true);
    rig.send(stream, { payload: 'answer' });
    close(rig);
    expect(stream.live.sealed).toBe(true);
    expect([brief(rig), rig.transport.closes]).toEqual([[], []]);
    rig.transport.drainTo(0);
    expect(brief(rig)).toEqual(['goaway 0', 'open 2', 'data 1', 'reset 1']);
    expect(stream.ends).toMatchObject([{ how: 'reset', by: 'library', code: CANCEL, reason: 'the connection is closing' }]);
    expect(rig.transport.closes).toEqual([CLEAN]);
  });

  it('Session repeats its reason in the close frame, even after waiting for the last stream', () => {
    const rig = new Rig();
    const stream = working(rig);
    close(rig, 1_000, 'maintenance');
    stream.live.reset('user', CANCEL, '');
    expect(rig.transport.closes).toEqual([{ code: 1000, reason: 'maintenance' }]);
  });

  it(
    'Session waits for its live streams and closes after the last one',
    inTime((time) => {
      const rig = new Rig();
      const [one, two] = [working(rig, 1), working(rig, 3)];
      close(rig, 1_000);
      expect(brief(rig)).toEqual(['goaway 0']);
      rig.send(one, { end: true });
      rig.receive({ type: 'data', stream: 1, end: true });
      time.advance(999);
      expect(rig.transport.closes).toEqual([]);
      two.live.reset('user', CANCEL, '');
      expect(brief(rig)).toEqual(['data 1', 'reset 3']);
      expect(rig.transport.closes).toEqual([CLEAN]);
      rig.transport.end({ code: 1000, reason: '', wasClean: true });
      expect(time.isOver).toBe(true);
    }),
  );

  it(
    'Session resets the remaining streams when the drain time is over',
    inTime((time) => {
      const rig = new Rig();
      const stream = working(rig);
      close(rig, 1_000);
      time.advance(999);
      expect(stream.ends).toEqual([]);
      time.advance(1);
      expect(stream.ends).toMatchObject([{ code: CANCEL }]);
      expect(brief(rig)).toEqual(['goaway 0', 'reset 1']);
      expect(rig.transport.closes).toEqual([CLEAN]);
    }),
  );

  it.each([
    ['shortens the time', 1_000, 100, 100],
    ['ends the time at once', 1_000, 0, 0],
    ['does not prolong the time', 100, 1_000, 100],
  ])(
    'A second `drain` sends no second goaway and %s',
    inTime<[string, number, number, number]>((time, _what, first, second, closesAt) => {
      const rig = new Rig();
      working(rig);
      close(rig, first);
      close(rig, second);
      time.advance(Math.max(0, closesAt - 1));
      expect(rig.transport.closes).toHaveLength(closesAt === 0 ? 1 : 0);
      time.advance(1);
      close(rig);
      expect(rig.transport.closes).toEqual([CLEAN]);
      expect(brief(rig)).toEqual(['goaway 0', 'reset 1']);
    }),
  );

  it(
    '`drain` sets no deadline when its time exceeds the range of timers',
    inTime((time) => {
      const rig = new Rig();
      const stream = working(rig);
      close(rig, 2 ** 31);
      expect(time.isOver).toBe(true);
      close(rig, 2 ** 31 - 1);
      expect(time.isOver).toBe(false);
      rig.receive({ type: 'reset', stream: 1, code: CANCEL });
      expect(stream.ends).toHaveLength(1);
      expect(rig.transport.closes).toEqual([CLEAN]);
    }),
  );

  it('An observer of the goaway may call `drain` again', () => {
    const rig = new Rig();
    working(rig);
    rig.onObserved = () => {
      close(rig);
    };
    close(rig, 1_000);
    expect(brief(rig)).toEqual(['goaway 0', 'reset 1']);
    expect(rig.transport.closes).toEqual([CLEAN]);
  });

  it('Session sends the frame whose observer calls `drain`', () => {
    const rig = new Rig();
    rig.onObserved = (direction, { type }) => {
      if (direction === 'tx' && type === 'open') close(rig);
    };
    rig.open({ payload: 'note', end: true }, true);
    expect(brief(rig)).toEqual(['open 2', 'goaway 0']);
    expect(rig.transport.closes).toEqual([CLEAN]);
  });

  it('Session resumes a paused socket when it drains, and never pauses it while it closes', () => {
    const rig = new Rig({ limits: { pauseBytes: 10, maxUnreadBytes: 20 } });
    const stream = working(rig);
    stream.live.keep(10);
    expect(rig.transport.paused).toBe(true);
    close(rig, 1_000);
    expect(rig.transport.paused).toBe(false);
    stream.live.keep(10);
    expect(rig.transport.paused).toBe(true);
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'waits' });
    close(rig, 0);
    expect(rig.transport.paused).toBe(false);
    stream.live.read(20);
    stream.live.keep(10);
    expect(rig.transport.paused).toBe(false);
  });

  it(
    'Session terminates a closing socket after 2 s without progress',
    inTime((time) => {
      const rig = new Rig();
      close(rig);
      time.advance(1_000);
      rig.receive({ type: 'pong' });
      time.advance(1_999);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('closing made no progress');
      expect(rig.reasons).toEqual([{ code: 1006, reason: 'closing made no progress', wasClean: false, willRetry: false }]);
      expect(time.isOver).toBe(true);
    }),
  );

  it('`drain` does nothing while the last frames are being written', () => {
    const rig = new Rig();
    const stream = working(rig);
    close(rig, 1_000);
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'answer', end: true });
    rig.receive({ type: 'data', stream: 1, end: true });
    stream.live.reset('user', ResetCode.APPLICATION_ERROR, '');
    close(rig, 0);
    rig.transport.drainTo(0);
    expect(rig.transport.closes).toEqual([CLEAN]);
  });

  it('`drain` does nothing after the session has failed', () => {
    const rig = new Rig();
    working(rig);
    rig.receive({ type: 'open', stream: 0 });
    const closes = [...rig.transport.closes];
    rig.forget();
    close(rig);
    expect([rig.news, rig.transport.closes]).toEqual([[], closes]);
    expect(closes).toHaveLength(1);
  });

  it('`drain` does nothing after the session has ended', () => {
    const rig = new Rig();
    rig.transport.end();
    close(rig);
    expect([rig.news, rig.transport.closes]).toEqual([[], []]);
  });
});

describe('failed connections', () => {
  const MIB = 1024 * 1024;
  const { NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, ENHANCE_YOUR_CALM } = ResetCode;

  const logs = collectLogs();

  const close = (rig: Rig, drainMs = 0) => {
    rig.connection.drain(drainMs, NO_ERROR, '');
  };

  it('A failed Session drops its queued frames, sends a goaway with the reason, and closes', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    stream.live.handlerStarted();
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'never' });
    rig.receive({ type: 'ping', nonce: 'never' });
    rig.transport.receive('{');
    const reason = expect.stringContaining('expected JSON');
    expect(rig.news).toEqual([{ type: 'goaway', code: PROTOCOL_ERROR, last_stream: 1, reason }]);
    expect(rig.transport.closes).toEqual([{ code: 1002, reason }]);
    rig.transport.drainTo(0);
    rig.send(stream, { payload: 'nor this' });
    expect(rig.news).toEqual([]);
    expect(stream.ends).toEqual([]);
    rig.transport.end({ code: 1002, reason: '', wasClean: true });
    expect(stream.ends).toMatchObject([{ how: 'lost', reason: { code: 1002 } }]);
    expect(rig.connection.outbound.bytes).toBe(0);
  });

  it('Session fails only once', () => {
    const rig = new Rig();
    rig.connection.fail(ConnectionFault.tooMuch('one'));
    rig.connection.fail(ConnectionFault.tooMuch('two'));
    expect(rig.news).toEqual([{ type: 'goaway', code: ENHANCE_YOUR_CALM, last_stream: 0, reason: 'one' }]);
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'one' }]);
  });

  it('Session logs a fault of this side and closes with 1011', () => {
    const rig = new Rig();
    const error = new Error('a bug');
    rig.connection.fail(error);
    expect(rig.news).toEqual([{ type: 'goaway', code: INTERNAL_ERROR, last_stream: 0, reason: 'internal error' }]);
    expect(rig.transport.closes).toEqual([{ code: 1011, reason: 'internal error' }]);
    expect(logs.errors).toEqual(['rxmux: internal error, the connection is closed']);
  });

  it.each<[string, (rig: Rig) => void]>([
    ['at once', () => undefined],
    ['in a later turn', (rig) => (rig.transport.bufferedAmount = 1024 * 1024)],
  ])('Session closes with 1011 when a `leaving` callback throws, for a last frame that left %s', (_when, hold) => {
    const rig = new Rig();
    const stream = rig.open();
    hold(rig);
    stream.live.leaving = () => {
      throw new Error('a bug');
    };
    rig.send(stream, { payload: 1, end: true });
    rig.transport.drainTo(0);
    expect(rig.transport.closes).toEqual([{ code: 1011, reason: 'internal error' }]);
    expect(logs.errors).toEqual(['rxmux: internal error, the connection is closed']);
  });

  it('A failed Session ignores frames that still arrive', () => {
    const rig = new Rig();
    rig.connection.fail(ConnectionFault.tooMuch('enough'));
    rig.receive({ type: 'open', stream: 1 });
    expect([rig.remotes, rig.observed]).toMatchObject([[], [['tx', { type: 'goaway' }]]]);
  });

  it('A failure ends a drain in progress', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    close(rig, 1_000);
    rig.transport.receive('{');
    close(rig);
    expect(rig.news.map(({ type, code, last_stream }) => [type, code, last_stream])).toEqual([
      ['goaway', NO_ERROR, 1],
      ['goaway', PROTOCOL_ERROR, 1],
    ]);
    expect(rig.transport.closes).toMatchObject([{ code: 1002 }]);
  });

  it('Session closes when it fails while the drain writes the last frames', () => {
    const rig = new Rig();
    rig.transport.bufferedAmount = MIB;
    rig.open({ payload: 'note', end: true }, true);
    close(rig);
    rig.transport.receive('{');
    rig.transport.drainTo(0);
    expect(rig.news.map(({ type }) => type)).toEqual(['goaway']);
    expect(rig.transport.closes).toMatchObject([{ code: 1002 }]);
  });

  it('Session closes when it fails while the drain resets a stream', () => {
    const rig = new Rig();
    const stream = rig.remote(1);
    stream.live.handlerStarted();
    stream.onGone = () => {
      rig.connection.fail(ConnectionFault.tooMuch('enough'));
    };
    close(rig);
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'enough' }]);
  });

  it(
    'Session terminates a closing socket in time even if it fails meanwhile',
    inTime((time) => {
      const rig = new Rig();
      close(rig);
      time.advance(1_500);
      rig.connection.fail(ConnectionFault.tooMuch('enough'));
      time.advance(499);
      expect(rig.transport.terminated).toBeNull();
      time.advance(1);
      expect(rig.transport.terminated).toBe('closing made no progress');
      expect(time.isOver).toBe(true);
    }),
  );
});

describe('ends of sockets', () => {
  const MIB = 1024 * 1024;
  const { NO_ERROR, APPLICATION_ERROR, CANCEL, INTERNAL_ERROR } = ResetCode;

  /** Activities during which the socket ends. `rig` has stream 2, open on both sides, and stream 1 of the remote. */
  const MIDDLES: readonly (readonly [what: string, begin: (rig: Rig) => void])[] = [
    ['nothing', () => undefined],
    ['an incoming payload', (rig) => rig.receive({ type: 'data', stream: 1, fragment: '"a', more: true })],
    ['an incoming open', (rig) => rig.receive({ type: 'open', stream: 3, fragment: '"a', more: true })],
    ['an incoming reset', (rig) => rig.receive({ type: 'reset', stream: 1, fragment: '"a', more: true })],
    ['an unread payload', (rig) => rig.held(1).live.keep(MIB)],
    [
      'an outgoing transfer',
      (rig) => {
        rig.transport.stuck = true;
        rig.send(rig.held(1), { payload: 'x'.repeat(3 * MIB) });
      },
    ],
    [
      'an outgoing transfer between two turns',
      (rig) => {
        rig.send(rig.held(1), { payload: 'x'.repeat(MIB) });
        rig.held(1).live.whenRoom(() => undefined);
      },
    ],
    [
      'queued opens, resets, pongs and answers',
      (rig) => {
        rig.transport.bufferedAmount = MIB;
        rig.open({ payload: 'a' });
        rig.open({ payload: 'b', end: true }, true);
        rig.open({ payload: 'c' }).live.reset('user', APPLICATION_ERROR, '');
        rig.held(1).live.reset('user', CANCEL, '');
        rig.receive({ type: 'ping' }, { type: 'data', stream: 99 });
      },
    ],
    [
      'a ping',
      (rig) =>
        rig.connection.control.ping(
          () => undefined,
          () => undefined,
        ),
    ],
    ['the wait after a goaway', (rig) => rig.receive({ type: 'goaway', last_stream: 2 })],
    ['the second after a goaway with an error', (rig) => rig.receive({ type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 })],
    [
      'a drain',
      (rig) => {
        rig.connection.drain(60_000, NO_ERROR, '');
      },
    ],
    [
      'a drain that writes the last frames',
      (rig) => {
        rig.transport.bufferedAmount = MIB;
        rig.send(rig.held(1), { payload: 'a' });
        rig.connection.drain(0, NO_ERROR, '');
      },
    ],
    ['the closing handshake', (rig) => rig.connection.drain(0, NO_ERROR, '')],
    ['a failure', (rig) => rig.transport.receive('{')],
  ];

  it.each(MIDDLES)(
    'Session releases everything and reports the end once when the socket ends during %s',
    inTime<[string, (rig: Rig) => void]>((time, _what, begin) => {
      const rig = new Rig({ keepalive: DEFAULT_KEEPALIVE });
      const holders = [rig.open(), rig.remote(1)];
      begin(rig);
      time.advance(10);
      const unread = rig.held(1).live.phase === 'closed' ? 0 : rig.connection.budget.held.used;
      rig.transport.end({ code: 1001, reason: 'gone', wasClean: true });
      rig.transport.end();
      for (const { ends } of holders) expect(ends).toHaveLength(1);
      expect(rig.endings).toMatchObject([{ close: { code: 1001, reason: 'gone', wasClean: true } }]);
      expect(rig.reasons).toEqual([{ code: 1001, reason: 'gone', wasClean: true, willRetry: false }]);
      if (unread >= MIB) rig.held(1).live.read(unread);
      expect(rig.isEmpty).toBe(true);
      expect(time.isOver).toBe(true);
      const sent = rig.transport.sent.length;
      rig.transport.drainTo(0);
      rig.transport.nextTurn();
      rig.connection.probe();
      rig.connection.fail(ConnectionFault.tooMuch('late'));
      rig.connection.drain(60_000, NO_ERROR, '');
      rig.connection.control.ping(
        () => undefined,
        () => undefined,
      );
      expect(rig.transport.sent).toHaveLength(sent);
      expect(time.isOver).toBe(true);
    }),
  );

  it('Session reports the end to its owner, then fails its streams, then emits the close reason', () => {
    const rig = new Rig();
    const order: string[] = [];
    const stream = rig.open();
    stream.onGone = () => order.push(`gone, ${rig.endings.length} endings, ${rig.reasons.length} reasons`);
    rig.transport.end({ code: 1012, reason: '', wasClean: true });
    expect(order).toEqual(['gone, 1 endings, 0 reasons']);
    expect(stream.ends).toEqual([{ how: 'lost', reason: { code: 1012, reason: '', wasClean: true, willRetry: false } }]);
  });

  it('Session reports a socket that ends without a close code as 1006', () => {
    const rig = new Rig();
    rig.transport.end(null);
    expect(rig.reasons).toEqual([{ code: 1006, reason: '', wasClean: false, willRetry: false }]);
  });

  it('Session reports an end before `start` when it starts', () => {
    const rig = new Rig({ started: false });
    rig.transport.end();
    expect(rig.reasons).toEqual([]);
    rig.connection.start();
    expect(rig.reasons).toEqual([{ code: 1006, reason: '', wasClean: false, willRetry: false }]);
  });

  it('Session wakes tasks that wait for room after it has reported the end of their stream', () => {
    const rig = new Rig();
    const stream = rig.open();
    const told: string[] = [];
    rig.transport.bufferedAmount = MIB;
    rig.send(stream, { payload: 'x'.repeat(MIB) });
    stream.live.whenRoom(() => told.push('woken'));
    stream.onGone = () => told.push('gone');
    rig.connection.fail(ConnectionFault.tooMuch('enough'));
    expect(told).toEqual([]);
    rig.transport.end();
    expect(told).toEqual(['gone', 'woken']);
  });
});

const reset = (by: 'user' | 'library' | 'remote', code: ResetCode | null): CloseCause => ({
  how: 'reset',
  by,
  code,
  reason: 'why',
  payload: { details: 1 },
});

const OTHERS = Object.values(ResetCode).filter((code) => code !== ResetCode.APPLICATION_ERROR && code !== ResetCode.REFUSED);

describe('unknown reset codes', () => {
  it.each([...OTHERS, 256, 4_000_000_000, -1, null])('A remote reset with another code keeps its code and is not retriable: %p', (code) => {
    const error = causeError(reset('remote', code), 5, true);
    expect(error).toBeInstanceOf(ResetError);
    expect(error).toMatchObject({ resetCode: code, reason: 'why', payload: { details: 1 }, streamId: 5, retriable: false });
  });
});

describe('causeError', () => {
  it('`causeError` uses the reason of a failed remote handler as the message', () => {
    expect(causeError(reset('remote', ResetCode.APPLICATION_ERROR), 5, false)).toMatchObject({
      message: 'why',
      reason: 'why',
      streamId: 5,
    });
  });

  it('`causeError` returns a RefusedError with the reset code when the remote refused', () => {
    const error = causeError(reset('remote', ResetCode.REFUSED), 5, false);
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ resetCode: ResetCode.REFUSED, retriable: true, streamId: 5 });
  });

  it('`causeError` returns a RefusedError without a reset code when this program refused', () => {
    const error = causeError(reset('user', ResetCode.REFUSED), 5, false);
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ resetCode: null, retriable: true, streamId: 5 });
  });

  it.each([
    ['with a reason', 'enough', 'stream 5: enough'],
    ['without a reason', '', 'stream 5: cancelled'],
  ])('`causeError` returns a CancelledError when this side cancelled %s', (_what, reason, message) => {
    const error = causeError({ how: 'reset', by: 'user', code: ResetCode.CANCEL, reason, payload: null }, 5, false);
    expect(error).toBeInstanceOf(CancelledError);
    expect(error).toMatchObject({ message, streamId: 5, retriable: false });
  });

  it.each([300, null, ResetCode.INTERNAL_ERROR])('`causeError` returns a ResetError when this side reset with another code: %p', (code) => {
    const error = causeError(reset('user', code), 5, false);
    expect(error).toBeInstanceOf(ResetError);
    expect(error).toMatchObject({ resetCode: code, reason: 'why', retriable: false });
  });

  it('`causeError` names the lost stream', () => {
    const reason = { code: 1006, reason: '', wasClean: false, willRetry: true };
    expect(causeError({ how: 'lost', reason }, 5, false)).toMatchObject({ streamId: 5, retriable: false });
  });

  it.each<[string, CloseCause, object | null]>([
    ['lost', { how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: true } }, { streamId: null, retriable: true }],
    ['reset', reset('user', ResetCode.CANCEL), { streamId: null, retriable: false }],
    ['ended', ENDED, null],
  ])('Without an id, `causeError` names no stream: %s', (_what, cause, facts) => {
    const error = causeError(cause, null, true);
    if (facts === null) expect(error).toBeNull();
    else expect(error).toMatchObject(facts);
  });
});

describe('endedHere', () => {
  it.each<[boolean, string, CloseCause | null]>([
    [false, 'is open', null],
    [true, 'ended on both sides', ENDED],
    [true, 'ended here and thereby stopped an upload', reset('library', ResetCode.NO_ERROR)],
    [false, 'this library reset with another code', reset('library', ResetCode.CANCEL)],
    [false, 'this program reset', reset('user', ResetCode.NO_ERROR)],
    [false, 'the remote reset', reset('remote', ResetCode.NO_ERROR)],
    [false, 'was lost', { how: 'lost', reason: { code: 1006, reason: '', wasClean: false, willRetry: true } }],
  ])('`endedHere` returns %p for a stream that %s', (ended, _what, cause) => {
    expect(endedHere(cause)).toBe(ended);
  });
});

const RESET = { type: 'reset', stream: 1, code: 8 };
const TEXTS = [
  ['plain', 'x'],
  ['of two bytes each', 'é'],
  ['of four bytes each', '😀'],
  ['escaped', '\u0001'],
] as const;
const ALL = CODECS.flatMap(([name, codec]) => TEXTS.map(([kind, character]) => [name, kind, codec, character] as const));

describe('fittingReason', () => {
  it.each([
    ['short text', 'gone', 'gone'],
    ['exactly 1024 bytes', 'x'.repeat(1024), 'x'.repeat(1024)],
    ['one byte too long', 'x'.repeat(1025), 'x'.repeat(1024)],
    ['a code point across the edge', `${'x'.repeat(1023)}é`, 'x'.repeat(1023)],
    ['a surrogate pair across the edge', `${'x'.repeat(1022)}😀`, 'x'.repeat(1022)],
  ])('`fittingReason` cuts a reason to 1 024 bytes at a code point: %s', (_, reason, fitting) => {
    expect(fittingReason(reason, RESET, null, 65_536, new JsonCodec())).toBe(fitting);
  });

  it.each([65_536, 100])('`fittingReason` returns null for an empty reason, under a cap of %i', (cap) => {
    expect(fittingReason('', RESET, null, cap, new JsonCodec())).toBeNull();
  });

  it.each(ALL)('`fittingReason` fills a small cap as far as possible: %s, text %s', (_, __, codec, character) => {
    for (const cap of [60, 61, 62, 63, 64, 200, 1100]) {
      const text = character.repeat(2000);
      const fitting = fittingReason(text, RESET, null, cap, codec) ?? '';
      const bytes = (reason: string): number => encodedLength(codec.encode({ ...RESET, reason }));
      expect(text.startsWith(fitting)).toBe(true);
      expect(fitting.replaceAll(character, '') === '').toBe(true);
      expect(bytes(fitting)).toBeLessThanOrEqual(cap);
      expect(encodedLength(fitting)).toBeLessThanOrEqual(1024);
      const more = fitting + character;
      expect(bytes(more) > cap || encodedLength(more) > 1024).toBe(true);
    }
  });

  it('`fittingReason` keeps a short reason that fits a small cap', () => {
    expect(fittingReason('gone', RESET, null, 100, new JsonCodec())).toBe('gone');
  });

  it('`fittingReason` returns null when the cap holds the frame but no character of the reason', () => {
    const codec = new JsonCodec();
    const cap = encodedLength(codec.encode({ ...RESET, reason: '' }));
    expect(fittingReason('x', RESET, null, cap, codec)).toBeNull();
    expect(fittingReason('x', RESET, null, cap + 1, codec)).toBe('x');
  });

  it.each(CODECS)('`fittingReason` leaves half of the room for the slices of a payload: %s', (_, codec) => {
    const cap = 200;
    const payload = codec.encodePayload('p'.repeat(1000));
    const fitting = fittingReason('x'.repeat(1000), RESET, payload, cap, codec) ?? '';
    const slice = { ...RESET, fragment: emptyOf(payload), more: true };
    const bare = encodedLength(codec.encode(slice));
    const used = encodedLength(codec.encode({ ...slice, reason: fitting })) - bare;
    expect(used).toBeLessThanOrEqual((cap - bare) / 2);
    expect(used).toBeGreaterThan((cap - bare) / 2 - 2);
    expect(fitting).not.toBe('');
  });
});

function emptyOf(message: Message): Message {
  return typeof message === 'string' ? '' : new ArrayBuffer(0);
}
