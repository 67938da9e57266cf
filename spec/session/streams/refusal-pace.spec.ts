import { describe, expect, it } from '@jest/globals';
import { REFUSED_OPENS, REST_MS } from '../../../src/connection/inbound.js';
import { Rig } from '../../support/session/rig.js';
import { inTime } from '../../support/session/time.js';
import { collectLogs } from '../../support/peer/logs.js';

collectLogs();

/** A session with no free place, and a remote that opens streams nevertheless. */
function fullRig() {
  const rig = new Rig({ limits: { maxStreams: 0 } });
  let id = -1;
  const open = (count: number): void => {
    for (let n = 0; n < count; n++) {
      rig.receive({ type: 'open', stream: (id += 2), end: true });
      // The refusals leave in several turns.
      if (n % 100 === 0) rig.transport.nextTurn();
    }
  };
  return { rig, open };
}

describe('refused opens', () => {
  it(
    'Session reads without a rest up to the burst of refused opens',
    inTime(() => {
      const { rig, open } = fullRig();
      open(REFUSED_OPENS.burst);
      expect([rig.transport.paused, rig.refused.length]).toEqual([false, REFUSED_OPENS.burst]);
    }),
  );

  it(
    'Session stops reading after a burst of refused opens, refuses opens already read, and resumes after the rest',
    inTime((time) => {
      const { rig, open } = fullRig();
      open(REFUSED_OPENS.burst + 1);
      expect(rig.transport.paused).toBe(true);
      open(1_000);
      time.advance(REST_MS - 1);
      expect(rig.transport.paused).toBe(true);
      time.advance(1);
      expect([rig.transport.paused, rig.transport.closes, rig.refused.length]).toEqual([false, [], REFUSED_OPENS.burst + 1_001]);
      open((REFUSED_OPENS.perSecond * REST_MS) / 1_000);
      expect(rig.transport.paused).toBe(false);
      open(1);
      expect(rig.transport.paused).toBe(true);
    }),
  );

  it(
    'Session leaves no timer behind when it ends during the rest',
    inTime((time) => {
      const { rig, open } = fullRig();
      open(REFUSED_OPENS.burst + 1);
      rig.transport.end();
      expect([rig.transport.paused, time.isOver]).toEqual([false, true]);
    }),
  );

  it(
    'Session counts no open that arrives while it goes away',
    inTime(() => {
      const { rig, open } = fullRig();
      rig.connection.drain(1_000, 0, '');
      open(100);
      expect([rig.transport.paused, rig.refused]).toEqual([false, []]);
    }),
  );
});
