import { describe, expect, it } from '@jest/globals';
import { GoAway } from '../../../src/connection/control.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

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
