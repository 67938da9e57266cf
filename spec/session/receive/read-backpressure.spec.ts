import { describe, expect, it } from '@jest/globals';
import { STEADY_CLOCK } from '../../../src/util/time.js';
import { ReadBackpressure } from '../../../src/connection/budget.js';
import { ScriptedTransport } from '../../support/socket/scripted-transport.js';
import { inTime } from '../../support/session/time.js';

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
