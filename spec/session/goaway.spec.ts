import { describe, expect, it } from '@jest/globals';
import type { Unsent } from '../../src/session/backlog.js';
import { GoAway } from '../../src/session/goaway.js';
import type { StreamSink } from '../../src/session/stream-line.js';
import { OutgoingFrame } from '../../src/wire/outgoing.js';
import { ResetCode } from '../../src/wire/reset-code.js';
import { collectLogs } from '../support/peer-logs.js';
import { Rig } from '../support/session-rig.js';
import type { Holder } from '../support/session-rig.js';
import { inTime } from '../support/session-time.js';

const MIB = 1024 * 1024;
const { NO_ERROR, INTERNAL_ERROR, REFUSED, CANCEL, APPLICATION_ERROR } = ResetCode;
const refused = (reason = 'the remote is going away') => ({ how: 'reset', by: 'library', code: REFUSED, reason, payload: null });

const logs = collectLogs();

/** Gives a holder a way to take its stream back. */
function takingBack(holder: Holder, take: (unsent: Unsent) => boolean): Unsent[] {
  const taken: Unsent[] = [];
  const sink: StreamSink = holder;
  sink.takeBack = (unsent) => {
    taken.push(unsent);
    return take(unsent);
  };
  return taken;
}

describe('a goaway of this side', () => {
  const drain = (rig: Rig) => {
    rig.session.closing.drain(1_000, NO_ERROR, 'restart');
  };

  it('names the highest stream of the remote whose handler was invoked', () => {
    const rig = new Rig();
    rig.remote(1).live.run();
    rig.remote(3).live.run();
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
    rig.remote(1).live.run();
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

  it('refuses what is opened behind it, as junk', () => {
    const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
    rig.remote(1).live.run();
    drain(rig);
    rig.receive({ type: 'open', stream: 3 });
    expect(rig.news[1]).toEqual({ type: 'reset', stream: 3, code: REFUSED, reason: 'this side is going away' });
    rig.receive({ type: 'open', stream: 5 });
    expect(rig.transport.closes).toMatchObject([{ code: 1008 }]);
  });

  it('closes the session to new streams of this side', () => {
    const rig = new Rig();
    rig.remote(1).live.run();
    expect(rig.session.closedToNew).toBe(false);
    drain(rig);
    expect(rig.session.closedToNew).toBe(true);
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
    expect(rig.session.closedToNew).toBe(true);
    expect(rig.goaways).toEqual([NO_ERROR]);
    rig.receive({ type: 'data', stream: 2, payload: 'still', end: true });
    expect(streams[0]?.payloads).toEqual(['still']);
  });

  it('says that everything may have been processed where it has no last_stream', () => {
    const rig = new Rig();
    const stream = rig.open();
    rig.receive({ type: 'goaway' });
    expect(stream.ends).toEqual([]);
    expect(rig.session.closedToNew).toBe(true);
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
      expect(rig.endings).toMatchObject([{ announced: INTERNAL_ERROR }]);
      expect(stream.ends).toMatchObject([{ how: 'lost' }]);
      expect(time.isOver).toBe(true);
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
      rig.session.closing.drain(drainMs, NO_ERROR, '');
      rig.receive({ type: 'goaway', code: INTERNAL_ERROR, last_stream: 2 });
      time.advance(closesAt - 1);
      expect(rig.transport.closes).toEqual([]);
      time.advance(1);
      expect(rig.transport.closes).toEqual([{ code: 1000, reason: '' }]);
    }),
  );
});

describe('a stream whose open has not left', () => {
  /** A rig whose socket is full, with one stream that waits and one that has left. */
  function waiting(): { rig: Rig; left: Holder; stream: Holder } {
    const rig = new Rig();
    const left = rig.open();
    rig.transport.bufferedAmount = MIB;
    const stream = rig.open({ payload: 'a', headers: { h: 1 } });
    rig.send(stream, { payload: 'x'.repeat(300_000) });
    rig.send(stream, { end: true });
    void rig.news;
    return { rig, left, stream };
  }

  const goaway = (rig: Rig) => {
    rig.receive({ type: 'goaway', code: NO_ERROR });
  };

  it.each([
    ['a goaway', goaway],
    ['the loss of the socket', (rig: Rig) => rig.transport.end()],
    ['a failed connection whose socket then ends', (rig: Rig) => (rig.transport.receive('{'), rig.transport.end())],
  ])('is given back whole behind %s, with those who wait on it', (_what, leave) => {
    const { rig, stream } = waiting();
    const woken: string[] = [];
    stream.live.whenRoom(() => woken.push('woken'));
    const taken = takingBack(stream, () => true);
    leave(rig);
    expect(taken).toHaveLength(1);
    const [unsent] = taken;
    expect(unsent?.frames.map(({ type, headers, end }) => [type, headers, end])).toEqual([
      ['open', { h: 1 }, false],
      ['data', null, false],
      ['data', null, true],
    ]);
    expect(unsent?.frames.map((frame) => OutgoingFrame.encodedPayload(frame)?.slice(0, 3))).toEqual(['"a"', '"xx', undefined]);
    expect(stream.ends).toEqual([]);
    expect(woken).toEqual([]);
    for (const waiter of unsent?.waiters ?? []) waiter();
    expect(woken).toEqual(['woken']);
    expect(rig.session.scheduler.backlog.bytes).toBe(0);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: id }) => id === stream.live.id)).toEqual([]);
  });

  it('is refused behind a goaway, and those who wait on it go on, where nobody takes it back', () => {
    for (const take of [undefined, () => false]) {
      const { rig, stream } = waiting();
      const told: string[] = [];
      stream.onGone = () => told.push('gone');
      stream.live.whenRoom(() => told.push('woken'));
      if (take !== undefined) takingBack(stream, take);
      goaway(rig);
      expect(stream.ends).toEqual([refused()]);
      expect(told).toEqual(['gone', 'woken']);
      expect(stream.live.unsent).toBe(true);
    }
  });

  it('is refused where taking it back fails', () => {
    const { rig, stream } = waiting();
    takingBack(stream, () => {
      throw new Error('no place');
    });
    goaway(rig);
    expect(stream.ends).toEqual([refused()]);
    expect(logs.errors).toHaveLength(1);
    expect(rig.transport.closes).toEqual([]);
  });

  it('is given back with nothing where nothing was accepted yet', () => {
    const rig = new Rig();
    const taken = takingBack(rig.local(), () => true);
    goaway(rig);
    expect(taken).toEqual([{ frames: [], waiters: [] }]);
  });

  it('stays away where the application has reset it meanwhile', () => {
    const { rig, stream } = waiting();
    stream.live.reset('user', APPLICATION_ERROR, '');
    goaway(rig);
    rig.transport.drainTo(0);
    expect(rig.news.filter(({ stream: id }) => id === stream.live.id)).toEqual([]);
  });

  it('is not given back once a slice of it has left', () => {
    const { rig, left } = waiting();
    const taken = takingBack(left, () => true);
    rig.transport.end();
    expect(taken).toEqual([]);
    expect(left.ends).toMatchObject([{ how: 'lost' }]);
    expect(left.live.unsent).toBe(false);
  });
});

describe('GoAway', () => {
  it('announces the same again, whatever is dispatched meanwhile', () => {
    const goaway = new GoAway();
    goaway.dispatched(5);
    goaway.dispatched(3);
    expect([goaway.leaving, goaway.refuses(7), goaway.announce()]).toEqual([false, false, 5]);
    goaway.dispatched(9);
    expect([goaway.leaving, goaway.announce(), goaway.refuses(5), goaway.refuses(7)]).toEqual([true, 5, false, true]);
  });

  it('takes the lowest that the remote has announced', () => {
    const goaway = new GoAway();
    expect(goaway.left).toBe(false);
    expect([null, 8, 4, null, 6].map((last) => goaway.receive(last))).toEqual([Infinity, 8, 4, 4, 4]);
    expect(goaway.left).toBe(true);
  });
});
