import { describe, expect, it } from '@jest/globals';
import { ResetCode } from '../../src/wire/codes.js';
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
