import { describe, expect, it, jest } from '@jest/globals';
import { GoAway, pacedPing } from '../../src/connection/control.js';
import { ResetCode } from '../../src/wire/codes.js';
import { ConnectionFault } from '../../src/wire/errors.js';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

describe('pings', () => {
  it(
    'Session reports the round trip of a ping in ms',
    inTime((time) => {
      const rig = new Rig();
      const trips: number[] = [];
      const lost: unknown[] = [];
      time.advance(10);
      rig.connection.control.ping(trips.push.bind(trips), lost.push.bind(lost));
      const [ping] = rig.news;
      time.advance(42);
      rig.receive({ type: 'pong', nonce: ping?.nonce });
      rig.transport.end();
      expect([trips, lost]).toEqual([[42], []]);
    }),
  );

  it('Session numbers its pings with their nonces, and uses no random number', () => {
    const random = jest.spyOn(Math, 'random');
    const rig = new Rig();
    for (let n = 0; n < 37; n++) rig.connection.control.ping(() => undefined);
    expect(rig.news.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 37 }, (_, n) => (n + 1).toString(36)));
    expect(random).not.toHaveBeenCalled();
    random.mockRestore();
  });

  it('Session reports the close reason to an unanswered ping, and to a ping after the end', () => {
    const rig = new Rig();
    const lost: unknown[] = [];
    const ping = () => {
      rig.connection.control.ping(
        () => undefined,
        (reason) => lost.push(reason),
      );
    };
    ping();
    rig.transport.end();
    ping();
    expect(lost).toMatchObject([{ code: 1006 }, { code: 1006 }]);
  });

  it('Session answers a ping ahead of data, with its nonce if it has one', () => {
    const rig = new Rig();
    const stream = rig.open();
    rig.transport.bufferedAmount = 1024 * 1024;
    rig.send(stream, { payload: 'data' });
    rig.receive({ type: 'ping', nonce: 'é"\n' }, { type: 'ping' });
    rig.transport.drainTo(0);
    expect(rig.news.slice(1)).toEqual([{ type: 'pong', nonce: 'é"\n' }, { type: 'pong' }, { type: 'data', stream: 2, payload: 'data' }]);
  });

  it.each([
    ['fits', 'n'.repeat(27), true],
    ['is one byte too long', 'n'.repeat(28), false],
    ['is too long because of an escape', '"'.padEnd(27, 'n'), false],
  ])('Session answers a ping only if its pong fits a message: the pong %s', (_what, nonce, answered) => {
    const rig = new Rig({ maxFrameBytes: 53, limits: { junk: { burst: 1, perSecond: 0 } } });
    rig.receive({ type: 'ping', nonce });
    expect(rig.news.filter(({ type }) => type === 'pong')).toEqual(answered ? [{ type: 'pong', nonce }] : []);
    expect(rig.transport.closes).toEqual([]);
    rig.receive({ type: 'pong' });
    expect(rig.transport.closes).toHaveLength(answered ? 0 : 1);
  });
});

const BURST = 500;

/** An application that asks for pings, and a remote that answers each ping at once. */
function asking() {
  const rig = new Rig();
  const told: string[] = [];
  const ask = (): void => {
    pacedPing(
      rig.connection.control,
      () => told.push('answered'),
      ({ code }) => told.push(`lost ${code}`),
    );
  };
  const answer = (): number => {
    const pings = rig.news.filter(({ type }) => type === 'ping');
    for (const { nonce } of pings) rig.receive({ type: 'pong', nonce });
    return pings.length;
  };
  return { rig, told, ask, answer };
}

describe('PacedPings', () => {
  it(
    'PacedPings sends a burst at once, and shares the next ping among the waiting callers',
    inTime((time) => {
      const { told, ask, answer } = asking();
      for (let n = 0; n < BURST + 10; n++) ask();
      expect([answer(), told.length]).toEqual([BURST, BURST]);
      time.advance(1_000);
      expect([answer(), told.length]).toEqual([1, BURST + 10]);
    }),
  );

  it(
    'PacedPings sends at most 16 pings each second to a caller that never stops',
    inTime((time) => {
      const { told, ask, answer } = asking();
      let sent = 0;
      for (let ms = 0; ms < 10_000; ms += 10) {
        ask();
        sent += answer();
        time.advance(10);
      }
      expect(sent).toBeGreaterThan(BURST);
      expect(sent).toBeLessThanOrEqual(BURST + 10 * 16);
      expect(new Set(told)).toEqual(new Set(['answered']));
    }),
  );

  it(
    'PacedPings reports a lost connection to waiting callers at once',
    inTime(() => {
      const { rig, told, ask } = asking();
      for (let n = 0; n < BURST + 2; n++) ask();
      rig.transport.end();
      expect(told).toEqual(Array.from({ length: BURST + 2 }, () => 'lost 1006'));
      ask();
      expect(told).toHaveLength(BURST + 2);
    }),
  );
});

const FULL = 1024 * 1024;

/** An acceptor whose messages hold 300 bytes, with a notification of several messages that waits for room. */
function notifying() {
  const rig = new Rig({ maxFrameBytes: 300 });
  rig.transport.bufferedAmount = FULL;
  const notification = rig.open({ payload: 'x'.repeat(400), end: true }, true);
  return { rig, notification };
}

describe('Connection', () => {
  it('`isNotifying` is true until a notification of several messages has left', () => {
    const { rig } = notifying();
    expect([rig.connection.outbound.isNotifying, rig.notified]).toEqual([true, 0]);
    rig.transport.drainTo(0);
    expect([rig.connection.outbound.isNotifying, rig.notified]).toEqual([false, 1]);
  });

  it('`isNotifying` is false for a notification of one message and for a call of several', () => {
    const rig = new Rig({ maxFrameBytes: 300 });
    rig.transport.bufferedAmount = FULL;
    rig.open({ payload: 'small', end: true }, true);
    rig.open({ payload: 'x'.repeat(400), end: true });
    expect(rig.connection.outbound.isNotifying).toBe(false);
  });

  it('`isNotifying` is false once the remote resets the unsent notification', () => {
    const { rig, notification } = notifying();
    rig.transport.onSend = () => (rig.transport.bufferedAmount = FULL);
    rig.transport.drainTo(0);
    expect([rig.sent.length, rig.connection.outbound.isNotifying]).toEqual([1, true]);
    rig.receive({ type: 'reset', stream: notification.live.id, code: ResetCode.CANCEL });
    expect([rig.connection.outbound.isNotifying, rig.notified]).toEqual([false, 1]);
  });

  it('`goawayCode` is null until the remote goes away, and `isOver` is false until the connection fails', () => {
    const [going, failing] = [new Rig(), new Rig()];
    expect([going.connection.goawayCode, failing.connection.isOver]).toEqual([null, false]);
    going.receive({ type: 'goaway', code: ResetCode.NO_ERROR, last_stream: 0 });
    failing.connection.fail(ConnectionFault.tooMuch('enough'));
    expect([going.connection.goawayCode, failing.connection.isOver]).toEqual([ResetCode.NO_ERROR, true]);
  });

  it('A drain of this side ends the new streams alone, and no notification', () => {
    const { rig } = notifying();
    rig.connection.drain(1_000, ResetCode.NO_ERROR, '');
    const { acceptsStreams, goawayCode, isOver } = rig.connection;
    expect([acceptsStreams, goawayCode, isOver]).toEqual([false, null, false]);
  });
});

const { NO_ERROR, INTERNAL_ERROR, REFUSED, CANCEL, ENHANCE_YOUR_CALM } = ResetCode;
const refused = (reason = 'the remote is going away') => ({ how: 'reset', by: 'library', code: REFUSED, reason, payload: null });

describe('sent goaways', () => {
  const drain = (rig: Rig) => {
    rig.connection.drain(1_000, NO_ERROR, 'restart');
  };

  it('A sent goaway names the highest remote stream whose handler was invoked', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    rig.remote(3).live.handlerStarted();
    rig.remote(5);
    drain(rig);
    expect(rig.news[0]).toEqual({ type: 'goaway', code: NO_ERROR, last_stream: 3, reason: 'restart' });
  });

  it('A sent goaway names 0 when no handler was invoked', () => {
    const rig = new Rig();
    drain(rig);
    expect(rig.news).toEqual([{ type: 'goaway', code: NO_ERROR, last_stream: 0, reason: 'restart' }]);
  });

  it('A sent goaway keeps an open below its cut that is still being reassembled', () => {
    const rig = new Rig();
    rig.receive({ type: 'open', stream: 1, fragment: '"a', more: true });
    rig.remote(3).live.markTaken();
    drain(rig);
    rig.receive({ type: 'open', stream: 1, fragment: 'b"' });
    expect(rig.held(1).open).toMatchObject({ payload: 'ab' });
    expect(rig.news.filter(({ type }) => type === 'reset')).toEqual([]);
  });

  it('A sent goaway refuses an open above its cut that is still being reassembled', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    rig.receive({ type: 'open', stream: 3, fragment: '"a', more: true });
    drain(rig);
    rig.receive({ type: 'open', stream: 3, fragment: 'b"' });
    expect(rig.remotes).toHaveLength(1);
    expect(rig.news.slice(1)).toEqual([{ type: 'reset', stream: 3, code: REFUSED, reason: 'this side is going away' }]);
  });

  it('A sent goaway refuses an arrived stream above its cut that has no handler yet', () => {
    const rig = new Rig();
    rig.onOpened = () => {
      drain(rig);
    };
    expect(rig.remote(1).ends).toMatchObject([{ by: 'library', code: REFUSED }]);
    expect(rig.news).toMatchObject([{ type: 'goaway' }, { type: 'reset', stream: 1, code: REFUSED }]);
  });

  it('Session refuses opens after a sent goaway and counts them as junk', () => {
    const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
    rig.remote(1).live.handlerStarted();
    drain(rig);
    rig.receive({ type: 'open', stream: 3 });
    expect(rig.news[1]).toEqual({ type: 'reset', stream: 3, code: REFUSED, reason: 'this side is going away' });
    rig.receive({ type: 'open', stream: 5 });
    expect(rig.transport.closes).toMatchObject([{ code: 1008 }]);
  });

  it('Session accepts no new streams of this side after a sent goaway', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    expect(rig.connection.acceptsStreams).toBe(true);
    drain(rig);
    expect(rig.connection.acceptsStreams).toBe(false);
  });
});

describe('received goaways', () => {
  it('A received goaway refuses the streams above its cut, and the others finish', () => {
    const rig = new Rig();
    const streams = [rig.open(), rig.open(), rig.open()];
    const theirs = rig.remote(9);
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 4, reason: 'restart' });
    expect(streams.map(({ ends }) => ends)).toEqual([[], [], [refused('restart')]]);
    expect(theirs.ends).toEqual([]);
    expect(rig.connection.acceptsStreams).toBe(false);
    expect(rig.goaways).toEqual([NO_ERROR]);
    rig.receive({ type: 'data', stream: 2, payload: 'still', end: true });
    expect(streams[0]?.payloads).toEqual(['still']);
  });

  it('A received goaway without last_stream refuses no stream, because the remote may have processed all', () => {
    const rig = new Rig();
    const stream = rig.open();
    rig.receive({ type: 'goaway' });
    expect(stream.ends).toEqual([]);
    expect(rig.connection.acceptsStreams).toBe(false);
  });

  it('A second received goaway lowers the cut and never raises it', () => {
    const rig = new Rig();
    const [two, four, six] = [rig.open(), rig.open(), rig.open()];
    rig.receive({ type: 'goaway', last_stream: 4 });
    rig.receive({ type: 'goaway', last_stream: 6 });
    expect([two, four, six].map(({ ends }) => ends.length)).toEqual([0, 0, 1]);
    rig.receive({ type: 'goaway', last_stream: 2 });
    expect([two, four, six].map(({ ends }) => ends.length)).toEqual([0, 1, 1]);
  });

  it('A received goaway ends each stream once, even when a hook resets another stream meanwhile', () => {
    const rig = new Rig();
    const [two, four] = [rig.open(), rig.open()];
    two.onGone = () => {
      four.live.reset('user', CANCEL, '');
    };
    rig.receive({ type: 'goaway', last_stream: 0 });
    expect([two.ends, four.ends]).toMatchObject([[{ code: REFUSED }], [{ code: CANCEL }]]);
  });

  it(
    'Session waits one second for the close after a goaway with an error code, even a repeated one',
    inTime((time) => {
      const rig = new Rig();
      const stream = rig.open();
      rig.receive({ type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 });
      time.advance(900);
      rig.receive({ type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 });
      time.advance(99);
      expect([rig.transport.closes, stream.ends]).toEqual([[], []]);
      time.advance(1);
      expect(rig.transport.closes).toEqual([{ code: 1000, reason: '' }]);
      rig.transport.end();
      expect(rig.endings).toMatchObject([{ goawayCode: INTERNAL_ERROR }]);
      expect(stream.ends).toMatchObject([{ how: 'lost' }]);
      expect(time.isOver).toBe(true);
    }),
  );

  it.each([
    ['NO_ERROR', { code: NO_ERROR }],
    ['no code', {}],
  ])(
    'Session sets no deadline after a goaway with %s',
    inTime<[string, object]>((time, _what, fields) => {
      const rig = new Rig();
      const stream = rig.open();
      rig.receive({ type: 'goaway', last_stream: 2, ...fields });
      time.advance(60_000);
      expect([rig.transport.closes, stream.ends]).toEqual([[], []]);
    }),
  );

  it.each([
    ['a longer drain', 5_000, 1_000],
    ['a shorter drain', 500, 500],
  ])(
    'Session closes at the earlier deadline of a goaway with an error code and of %s',
    inTime<[string, number, number]>((time, _what, drainMs, closesAt) => {
      const rig = new Rig();
      rig.open();
      rig.connection.drain(drainMs, NO_ERROR, '');
      rig.receive({ type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 });
      time.advance(closesAt - 1);
      expect(rig.transport.closes).toEqual([]);
      time.advance(1);
      expect(rig.transport.closes).toEqual([{ code: 1000, reason: '' }]);
    }),
  );
});

describe('GoAway', () => {
  it('GoAway reports the code of the received goaway', () => {
    const goaway = new GoAway();
    expect(goaway.receivedCode).toBeNull();
    goaway.receive(0, INTERNAL_ERROR);
    expect(goaway.receivedCode).toBe(INTERNAL_ERROR);
  });

  it('GoAway announces the same stream again, even after later dispatches', () => {
    const goaway = new GoAway();
    goaway.dispatched(5);
    goaway.dispatched(3);
    expect([goaway.isAbsent, goaway.refuses(7), goaway.announce()]).toEqual([true, false, 5]);
    goaway.dispatched(9);
    expect([goaway.isAbsent, goaway.announce(), goaway.refuses(5), goaway.refuses(7)]).toEqual([false, 5, false, true]);
  });

  it('GoAway keeps the lowest stream that the remote announced', () => {
    const goaway = new GoAway();
    expect([null, 8, 4, null, 6].map((last) => goaway.receive(last, NO_ERROR))).toEqual([Infinity, 8, 4, null, null]);
    expect(goaway.receive(6, INTERNAL_ERROR)).toBe(4);
  });
});

describe('repeated goaways', () => {
  it('Session ends the connection at the 101st goaway, even when each one lowers the cut', () => {
    const rig = new Rig();
    for (let nth = 0; nth < 100; nth++) rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 10_000 - 2 * nth });
    expect([rig.news, rig.transport.closes]).toEqual([[], []]);
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 0 });
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 100 goaways' }]);
  });
});

describe('redundant goaways', () => {
  it.each([
    ['the same cut', { code: NO_ERROR, last_stream: 2 }],
    ['a higher cut', { code: NO_ERROR, last_stream: 4 }],
    ['no code, which means NO_ERROR', { last_stream: 2 }],
  ])('Session counts a redundant goaway as junk: %s', (_what, again) => {
    const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 2 });
    for (let nth = 0; nth < 2; nth++) rig.receive({ type: 'goaway', ...again });
    expect(rig.goaways).toEqual([NO_ERROR]);
    expect(rig.news.at(-1)).toMatchObject({ type: 'goaway', code: ENHANCE_YOUR_CALM, reason: expect.stringContaining('junk') });
  });

  it.each([
    ['a lower cut', { code: NO_ERROR, last_stream: 0 }],
    ['another code', { code: INTERNAL_ERROR, last_stream: 2 }],
  ])('Session reports a second goaway with %s', (_what, again) => {
    const rig = new Rig({ limits: { junk: { burst: 0, perSecond: 0 } } });
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 2 }, { type: 'goaway', ...again });
    expect(rig.goaways).toEqual([NO_ERROR, again.code]);
  });
});
