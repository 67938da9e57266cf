import { describe, expect, it } from '@jest/globals';
import { newTally } from './run.js';
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
