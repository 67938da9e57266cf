import { describe, expect, it } from '@jest/globals';
import { steadyNow } from '../../../src/util/time.js';
import { WriteProgress } from '../../../src/connection/watchdog.js';
import { ReadBackpressure } from '../../../src/connection/budget.js';
import { ScriptedTransport } from '../../support/socket/scripted-transport.js';
import { inTime } from '../../support/session/time.js';
import type { SessionTime } from '../../support/session/time.js';

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
