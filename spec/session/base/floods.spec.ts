import { describe, expect, it } from '@jest/globals';
import type { Frame } from '../../../src/wire/frame.js';
import { ResetCode } from '../../../src/wire/codes.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';

const { REFUSED, CANCEL, APPLICATION_ERROR, ENHANCE_YOUR_CALM } = ResetCode;
const MIB = 1024 * 1024;

const open = (stream: number): Frame => ({ type: 'open', stream });

describe('rapid resets', () => {
  it('A rapid reset does not free the place of its stream until the handler has settled', () => {
    const rig = new Rig({ limits: { maxStreams: 1 } });
    const { live } = rig.remote(1);
    live.handlerStarted();
    rig.receive({ type: 'reset', stream: 1, code: CANCEL }, open(3));
    expect(rig.news).toMatchObject([{ type: 'reset', stream: 3, code: REFUSED }]);
    live.handlerSettled();
    expect(rig.remote(5).ends).toEqual([]);
  });

  it(
    'Session refuses opens for a while after too many resets of running handlers, and stays open',
    inTime((time) => {
      const rig = new Rig({ limits: { resets: { burst: 2, perSecond: 10 }, junk: { burst: 0, perSecond: 0 } } });
      for (const id of [1, 3, 5]) {
        rig.receive(open(id));
        if (id < 5) rig.held(id).live.handlerStarted();
        rig.receive({ type: 'reset', stream: id, code: CANCEL });
      }
      const reason = 'more than 2 at once and 10 per second resets of running handlers (resets)';
      expect(rig.news).toEqual([{ type: 'reset', stream: 5, code: REFUSED, reason }]);
      time.advance(100);
      expect(rig.remote(7).ends).toEqual([]);
      expect(rig.transport.closes).toEqual([]);
    }),
  );

  it('A reset after the handler has settled is not counted', () => {
    const rig = new Rig({ limits: { resets: { burst: 1, perSecond: 0 } } });
    for (const id of [1, 3, 5]) {
      const { live } = rig.remote(id);
      live.handlerStarted();
      live.handlerSettled();
      rig.receive({ type: 'reset', stream: id, code: CANCEL });
    }
    expect(rig.news).toEqual([]);
  });
});

describe('opens without a handler', () => {
  it('Session refuses an open without a handler, and ends the connection after too many', () => {
    const rig = new Rig({ limits: { junk: { burst: 1, perSecond: 0 } } });
    for (const id of [1, 3]) rig.remote(id).live.refuse('no handler is here');
    const refused = { how: 'reset', by: 'library', code: REFUSED, reason: 'no handler is here', payload: null };
    expect(rig.remotes.map(({ ends }) => ends)).toEqual([[refused], [refused]]);
    expect(rig.news).toMatchObject([
      { type: 'reset', stream: 1, code: REFUSED, reason: 'no handler is here' },
      { type: 'reset', stream: 3, code: REFUSED, reason: 'no handler is here' },
      { type: 'goaway', code: ENHANCE_YOUR_CALM },
    ]);
    expect(rig.transport.closes).toHaveLength(1);
  });
});

describe('remotes that do not read', () => {
  it.each([
    [CANCEL, ''],
    [APPLICATION_ERROR, 'failed'],
  ])('A remote that does not read has no place for a new stream until a reset is written (code %s)', (code, reason) => {
    const rig = new Rig({ limits: { maxStreams: 2 } });
    rig.transport.bufferedAmount = MIB;
    for (const id of [1, 3]) {
      const { live } = rig.remote(id);
      live.handlerStarted();
      live.reset('user', code, reason);
      live.handlerSettled();
    }
    expect([rig.connection.streams.size, rig.connection.places]).toEqual([0, 2]);
    rig.receive(open(5));
    rig.transport.drainTo(0);
    expect(rig.news).toContainEqual(expect.objectContaining({ stream: 5, code: REFUSED }));
    expect(rig.connection.places).toBe(0);
    expect(rig.remote(7).ends).toEqual([]);
  });
});
