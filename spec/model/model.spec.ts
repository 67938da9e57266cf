import { describe, expect, it } from '@jest/globals';
import type { Command, Config } from './commands.js';
import { newTally, run } from './run.js';
import { playSeeds, REPLAYS, SEED } from './seeded.js';

const COMMANDS = Number(process.env['MODEL_COMMANDS'] ?? 7_000);

/** Outcomes that random scripts must reach. Otherwise the runs prove nothing. */
const OUTCOMES = [
  'ended',
  'lost',
  'user reset 8',
  'remote reset 8',
  'remote reset 16',
  'remote reset 7',
  'library reset 0',
  'library reset 7',
  'library reset 3',
  'library reset 6',
  'library reset 11',
  'library reset 17',
  'remote reset 300',
];

describe('two peers under a random script', () => {
  it('Two peers under a random script keep every invariant', async () => {
    const tally = newTally();
    await playSeeds(SEED, COMMANDS, tally);
    if (REPLAYS) return;
    for (const outcome of OUTCOMES) expect([outcome, (tally.outcomes.get(outcome) ?? 0) > 0]).toEqual([outcome, true]);
  });
});

/** A script that once failed, in its shrunk form. */
interface Regression {
  readonly showed: string;
  readonly config: Config;
  readonly commands: readonly Command[];
}

const REGRESSIONS: readonly Regression[] = [
  {
    showed: 'that a loop which begins to read a stream that is over counts its values as held, for as long as the connection lasts',
    config: { codec: 'json', cap: 128, tight: false, keepalive: false, mood: 'calm' },
    commands: [
      { act: 'open', side: 1, pick: 0, n: 0, size: 0 },
      { act: 'sendAll', side: 1, pick: 0, n: 1, size: 0 },
      { act: 'deliver', side: 0, pick: 0, n: 1, size: 0 },
      { act: 'read', side: 0, pick: 0, n: 15, size: 0 },
      { act: 'settle', side: 0, pick: 0, n: 0, size: 0 },
    ],
  },
  {
    showed: 'that a waiting notification takes an id between two attempts of a request',
    config: { codec: 'json', cap: 128, tight: false, keepalive: false, mood: 'calm' },
    commands: [
      { act: 'stall', side: 0, pick: 0, n: 0, size: 0 },
      { act: 'notify', side: 0, pick: 0, n: 0, size: 132 },
      { act: 'notify', side: 0, pick: 0, n: 0, size: 0 },
      { act: 'request', side: 0, pick: 0, n: 0, size: 0 },
      { act: 'advance', side: 0, pick: 0, n: 1, size: 0 },
    ],
  },
];

describe('a script that once showed', () => {
  it.each(REGRESSIONS)('A script that once showed $showed keeps every invariant', async ({ config, commands }) => {
    const tally = newTally();
    await run(config, commands, tally);
    expect(tally.commands).toBe(commands.length);
  });
});
