import { describe, expect, it } from '@jest/globals';
import { GoAway } from '../../../src/session/base/goaway.js';
import { ResetCode } from '../../../src/wire/reset-code.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const { NO_ERROR, INTERNAL_ERROR, REFUSED, CANCEL, ENHANCE_YOUR_CALM } = ResetCode;
const refused = (reason = 'the remote is going away') => ({ how: 'reset', by: 'library', code: REFUSED, reason, payload: null });

describe('a goaway of this side', () => {
  const drain = (rig: Rig) => {
    rig.session.drain(1_000, NO_ERROR, 'restart');
  };

  it('names the highest stream of the remote whose handler was invoked', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    rig.remote(3).live.handlerStarted();
    rig.remote(5);
    drain(rig);
    expect(rig.news[0]).toEqual({ type: 'goaway', code: NO_ERROR, last_stream: 3, reason: 'restart' });
  });

  it('names 0 where there is none', () => {
    const rig = new Rig();
    drain(rig);
    expect(rig.news).toEqual([{ type: 'goaway', code: NO_ERROR, last_stream: 0, reason: 'restart' }]);
  });

  it('lets an open below it that is still being reassembled go on', () => {
    const rig = new Rig();
    rig.receive({ type: 'open', stream: 1, fragment: '"a', more: true });
    rig.remote(3).live.taken();
    drain(rig);
    rig.receive({ type: 'open', stream: 1, fragment: 'b"' });
    expect(rig.held(1).open).toMatchObject({ payload: 'ab' });
    expect(rig.news.filter(({ type }) => type === 'reset')).toEqual([]);
  });

  it('refuses an open above it that is still being reassembled, and never hands it over', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    rig.receive({ type: 'open', stream: 3, fragment: '"a', more: true });
    drain(rig);
    rig.receive({ type: 'open', stream: 3, fragment: 'b"' });
    expect(rig.remotes).toHaveLength(1);
    expect(rig.news.slice(1)).toEqual([{ type: 'reset', stream: 3, code: REFUSED, reason: 'this side is going away' }]);
  });

  it('refuses a stream above it that has arrived and that nobody works on', () => {
    const rig = new Rig();
    rig.onOpened = () => {
      drain(rig);
    };
    expect(rig.remote(1).ends).toMatchObject([{ by: 'library', code: REFUSED }]);
    expect(rig.news).toMatchObject([{ type: 'goaway' }, { type: 'reset', stream: 1, code: REFUSED }]);
  });

  it('refuses what is opened after it, as junk', () => {
    const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
    rig.remote(1).live.handlerStarted();
    drain(rig);
    rig.receive({ type: 'open', stream: 3 });
    expect(rig.news[1]).toEqual({ type: 'reset', stream: 3, code: REFUSED, reason: 'this side is going away' });
    rig.receive({ type: 'open', stream: 5 });
    expect(rig.transport.closes).toMatchObject([{ code: 1008 }]);
  });

  it('closes the session to new streams of this side', () => {
    const rig = new Rig();
    rig.remote(1).live.handlerStarted();
    expect(rig.session.acceptsStreams).toBe(true);
    drain(rig);
    expect(rig.session.acceptsStreams).toBe(false);
  });
});

describe('a goaway of the remote', () => {
  it('refuses the streams above it, and lets the others finish', () => {
    const rig = new Rig();
    const streams = [rig.open(), rig.open(), rig.open()];
    const theirs = rig.remote(9);
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 4, reason: 'restart' });
    expect(streams.map(({ ends }) => ends)).toEqual([[], [], [refused('restart')]]);
    expect(theirs.ends).toEqual([]);
    expect(rig.session.acceptsStreams).toBe(false);
    expect(rig.goaways).toEqual([NO_ERROR]);
    rig.receive({ type: 'data', stream: 2, payload: 'still', end: true });
    expect(streams[0]?.payloads).toEqual(['still']);
  });

  it('says that everything may have been processed where it has no last_stream', () => {
    const rig = new Rig();
    const stream = rig.open();
    rig.receive({ type: 'goaway' });
    expect(stream.ends).toEqual([]);
    expect(rig.session.acceptsStreams).toBe(false);
  });

  it('may come twice: it lowers the cut and never raises it', () => {
    const rig = new Rig();
    const [two, four, six] = [rig.open(), rig.open(), rig.open()];
    rig.receive({ type: 'goaway', last_stream: 4 });
    rig.receive({ type: 'goaway', last_stream: 6 });
    expect([two, four, six].map(({ ends }) => ends.length)).toEqual([0, 0, 1]);
    rig.receive({ type: 'goaway', last_stream: 2 });
    expect([two, four, six].map(({ ends }) => ends.length)).toEqual([0, 1, 1]);
  });

  it('tells each stream once, also where hooks end others meanwhile', () => {
    const rig = new Rig();
    const [two, four] = [rig.open(), rig.open()];
    two.onGone = () => {
      four.live.reset('user', CANCEL, '');
    };
    rig.receive({ type: 'goaway', last_stream: 0 });
    expect([two.ends, four.ends]).toMatchObject([[{ code: REFUSED }], [{ code: CANCEL }]]);
  });

  it(
    'with an error code leaves the remote a second to close, and no more when it is repeated',
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
    'with %s leaves this side all the time it wants',
    inTime<[string, object]>((time, _what, fields) => {
      const rig = new Rig();
      const stream = rig.open();
      rig.receive({ type: 'goaway', last_stream: 2, ...fields });
      time.advance(60_000);
      expect([rig.transport.closes, stream.ends]).toEqual([[], []]);
    }),
  );

  it.each([
    ['a drain that would take longer', 5_000, 1_000],
    ['a drain that ends before', 500, 500],
  ])(
    'with an error code counts beside the time of %s',
    inTime<[string, number, number]>((time, _what, drainMs, closesAt) => {
      const rig = new Rig();
      rig.open();
      rig.session.drain(drainMs, NO_ERROR, '');
      rig.receive({ type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 });
      time.advance(closesAt - 1);
      expect(rig.transport.closes).toEqual([]);
      time.advance(1);
      expect(rig.transport.closes).toEqual([{ code: 1000, reason: '' }]);
    }),
  );
});

describe('GoAway', () => {
  it('tells the code of the remote’s, once there is one', () => {
    const goaway = new GoAway();
    expect(goaway.receivedCode).toBeNull();
    goaway.receive(0, INTERNAL_ERROR);
    expect(goaway.receivedCode).toBe(INTERNAL_ERROR);
  });

  it('announces the same again, whatever is dispatched meanwhile', () => {
    const goaway = new GoAway();
    goaway.dispatched(5);
    goaway.dispatched(3);
    expect([goaway.sent, goaway.refuses(7), goaway.announce()]).toEqual([false, false, 5]);
    goaway.dispatched(9);
    expect([goaway.sent, goaway.announce(), goaway.refuses(5), goaway.refuses(7)]).toEqual([true, 5, false, true]);
  });

  it('takes the lowest that the remote has announced', () => {
    const goaway = new GoAway();
    expect(goaway.received).toBe(false);
    expect([null, 8, 4, null, 6].map((last) => goaway.receive(last, NO_ERROR))).toEqual([Infinity, 8, 4, null, null]);
    expect(goaway.receive(6, INTERNAL_ERROR)).toBe(4);
    expect(goaway.received).toBe(true);
  });
});

describe('a remote that goes away again and again', () => {
  it('ends its connection with the 101st goaway, also where each says something new', () => {
    const rig = new Rig();
    for (let nth = 0; nth < 100; nth++) rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 10_000 - 2 * nth });
    expect([rig.news, rig.transport.closes]).toEqual([[], []]);
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 0 });
    expect(rig.transport.closes).toEqual([{ code: 1008, reason: 'more than 100 goaways' }]);
  });
});

describe('a goaway that says nothing new', () => {
  it.each([
    ['the same cut', { code: NO_ERROR, last_stream: 2 }],
    ['a higher cut', { code: NO_ERROR, last_stream: 4 }],
    ['no code, which is no error', { last_stream: 2 }],
  ])('is junk: %s', (_what, again) => {
    const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 2 });
    for (let nth = 0; nth < 2; nth++) rig.receive({ type: 'goaway', ...again });
    expect(rig.goaways).toEqual([NO_ERROR]);
    expect(rig.news.at(-1)).toMatchObject({ type: 'goaway', code: ENHANCE_YOUR_CALM, reason: expect.stringContaining('junk') });
  });

  it.each([
    ['a lower cut', { code: NO_ERROR, last_stream: 0 }],
    ['another code', { code: INTERNAL_ERROR, last_stream: 2 }],
  ])('but %s is heard', (_what, again) => {
    const rig = new Rig({ limits: { junk: { burst: 0, perSecond: 0 } } });
    rig.receive({ type: 'goaway', code: NO_ERROR, last_stream: 2 }, { type: 'goaway', ...again });
    expect(rig.goaways).toEqual([NO_ERROR, again.code]);
  });
});
