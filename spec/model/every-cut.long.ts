import { afterEach, describe, expect, it } from '@jest/globals';
import fc from '../support/fast-check.js';
import { ControlStream } from '../../src/connection/control.js';
import { ACTS, command } from './commands.js';
import type { Act, Command, Config } from './commands.js';
import type { End } from './pipe.js';
import { plant, weed } from './plant.js';
import { newTally, run } from './run.js';
import type { Tally } from './run.js';
import { SEED } from './seeded.js';

const EVENTS = 200;

/** Acts that would end or harm the connection before its cut. */
const OTHER_ENDS: ReadonlySet<Act> = new Set<Act>(['close', 'cut', 'raw', 'breakPayload', 'breakEnvelope', 'breakOpen', 'breakReply']);

const script: readonly Command[] = fc.sample(
  command.filter(({ act, n }) => !OTHER_ENDS.has(act) && (act !== 'advance' || n % 5 < 3)),
  { seed: SEED, numRuns: EVENTS },
);

const SLICED: Config = { codec: 'json', cap: 128, tight: false, keepalive: true, mood: 'rough' };
const TIGHT: Config = { codec: 'msgpack', cap: 65_536, tight: true, keepalive: false, mood: 'rough' };

/** Where one line is cut, and its two ends. */
interface Row {
  readonly cut: string;
  readonly side: End;
  readonly n: number;
  readonly setup: Config;
}

const ROWS: readonly Row[] = [
  { cut: 'clean', side: 0, n: 0, setup: SLICED },
  { cut: 'with 1006', side: 1, n: 1, setup: SLICED },
  { cut: 'with 1006', side: 0, n: 1, setup: TIGHT },
  { cut: 'clean', side: 1, n: 0, setup: TIGHT },
];

async function cutEverywhere({ side, n, setup }: Row, tally: Tally): Promise<void> {
  for (let at = 0; at <= EVENTS; at++) {
    const cut: Command = { act: 'cut', side, pick: 0, n, size: 0 };
    await run(setup, [...script.slice(0, at), cut], tally);
  }
}

describe('a script of 200 events', () => {
  it('A script of 200 events contains every act', () => {
    const done = new Set(script.map(({ act }) => act));
    expect([...done, ...OTHER_ENDS].sort()).toEqual([...ACTS].sort());
  });

  it.each(ROWS)(
    'A script over $setup.codec, cut $cut by side $side at each event, leaves nothing behind',
    async (row) => {
      const uncut = newTally();
      await run(row.setup, script, uncut);
      expect(uncut.outcomes.get('lost')).toBeUndefined();
      const tally = newTally();
      await cutEverywhere(row, tally);
      expect(tally.outcomes.get('lost')).toBeGreaterThan(EVENTS);
    },
    120_000,
  );

  describe('over a library with a fault', () => {
    afterEach(weed);

    it.each(ROWS)(
      'A faulty library leaves a ping without an answer: $setup.codec, cut $cut by side $side',
      async (row) => {
        plant(ControlStream.prototype, 'connectionLost', () => undefined);
        await expect(cutEverywhere(row, newTally())).rejects.toThrow('promises settle');
      },
      120_000,
    );
  });
});
