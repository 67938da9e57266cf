import { newTally } from '../model/run.js';
import { playSeeds } from '../model/seeded.js';
import type { SoakPart } from './part.js';

const MINUTE_MS = 60_000;
const QUICK_COMMANDS = 20_000;

/** Random scripts between two peers in memory, from a new seed each time unless one is given. Every invariant has to hold. */
export const model: SoakPart = async ({ quick, minutes, commands, seed }) => {
  const began = performance.now();
  const tally = newTally();
  const most = quick ? QUICK_COMMANDS : (commands ?? Infinity);
  const until = commands === null ? began + minutes * MINUTE_MS : Infinity;
  let fault: string | null = null;
  try {
    await playSeeds(seed, most, tally, () => performance.now() < until);
  } catch (error) {
    fault = error instanceof Error ? `${error.message}\n${String(error.cause)}` : String(error);
  }
  const perSecond = Math.round((tally.commands / (performance.now() - began)) * 1_000);
  return { figures: `${tally.commands} commands from seed ${seed}, ${perSecond} a second`, fault };
};
