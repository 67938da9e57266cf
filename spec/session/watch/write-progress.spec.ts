import { describe, expect, it } from '@jest/globals';
import { steadyNow } from '../../../src/transport/steady-clock.js';
import { WriteProgress } from '../../../src/session/watch/write-progress.js';
import { ReadBackpressure } from '../../../src/session/receive/read-backpressure.js';
import { ScriptedTransport } from '../../support/scripted-transport.js';
import { inTime } from '../../support/session/time.js';
import type { SessionTime } from '../../support/session/time.js';

describe('WriteProgress', () => {
  it(
    'dates from its beginning while nothing was sent',
    inTime((time) => {
      const { progress } = setUp(time);
      time.advance(100);
      expect(both(progress)).toEqual([10, 10]);
    }),
  );

  it(
    'takes the time of the last send when the socket holds nothing: it was taken as soon as it was given',
    inTime((time) => {
      const { progress, send } = setUp(time);
      time.advance(5);
      send(100);
      time.advance(50);
      expect(both(progress)).toEqual([15, 15]);
    }),
  );

  it(
    'sees no life in bytes that the socket only holds',
    inTime((time) => {
      const { progress, give } = setUp(time);
      time.advance(5);
      give(100);
      time.advance(50);
      expect(both(progress)).toEqual([10, 10]);
    }),
  );

  it(
    'notices bytes taken of a buffer that is not empty yet at the time of the look',
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
    'is not misled by what the socket adds to messages',
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
    'sees no life in a mute message that is taken, header and all',
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
    'sees life in what is taken beyond a mute message',
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
    'hides no later bytes behind a mute message once that is gone',
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
    'counts what the socket adds to a mute message as mute',
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
    'forgives a mute message only what is left of it',
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
    'sees no life in a mute message however often a part of it is taken',
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
    'mutes nothing when the mute message was not given to the socket',
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
    'keeps a second time on the clock that stands still while reading is paused',
    inTime((time) => {
      const { progress, give, reading, transport } = setUp(time);
      const stream = {};
      reading.block(stream);
      time.advance(100);
      give(200);
      transport.bufferedAmount = 0;
      expect(both(progress)).toEqual([110, 10]);
      give(200);
      time.advance(100);
      transport.bufferedAmount = 100;
      expect(both(progress)).toEqual([210, 10]);
      reading.unblock(stream);
      time.advance(5);
      transport.bufferedAmount = 50;
      expect(both(progress)).toEqual([215, 15]);
    }),
  );

  it(
    'knows nothing of the remote by what a socket takes that held nothing back',
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
    'knows nothing of the remote by the first look, whatever was taken before',
    inTime((time) => {
      const { progress, give, transport } = setUp(time);
      give(100_000);
      transport.bufferedAmount -= 1;
      time.advance(50);
      expect(progress.drainedAtReadTime()).toBe(10);
    }),
  );

  it.each<[string, number, number, number]>([
    ['in passing: a little, and only just sent', 16 * 1024, 100, 10],
    ['back: a little, for longer than it takes to pass', 1, 101, 161],
    ['back: more than what passes at once', 16 * 1024 + 1, 0, 60],
  ])(
    'takes what the socket held for held %s',
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
    'dates what a socket held back, and is rid of by now, from the look that found it full, on the clock that stands still',
    inTime((time) => {
      const { progress, give, reading, transport } = setUp(time);
      give(20_000);
      time.advance(50);
      expect(progress.drainedAtReadTime()).toBe(10);
      reading.block({});
      time.advance(50);
      transport.bufferedAmount = 0;
      expect([progress.drainedAtReadTime(), progress.tookAt()]).toEqual([60, 10]);
      give(1);
      transport.bufferedAmount = 0;
      expect(progress.drainedAtReadTime()).toBe(60);
    }),
  );

  it(
    'knows nothing of the remote by a mute message that a full socket takes',
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

/** One that begins at 10. */
function setUp(time: SessionTime) {
  time.advance(10);
  const transport = new ScriptedTransport();
  const reading = new ReadBackpressure(transport, 5_000);
  const progress = new WriteProgress(transport, reading);
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
