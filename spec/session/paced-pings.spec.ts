import { describe, expect, it } from '@jest/globals';
import { pacedPing } from '../../src/connection/control.js';
import { Rig } from '../support/session/rig.js';
import { inTime } from '../support/session/time.js';

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
