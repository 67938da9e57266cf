import fc from '../support/fast-check.js';
import { config, script } from './commands.js';
import { run } from './run.js';
import type { Tally } from './run.js';
import { Violation } from './violation.js';

/** The maximum number of commands in one script. */
const SCRIPT_LENGTH = 160;
/** The number of scripts from one seed. */
const BATCH = 50;

/** The seed of every run: always the same, unless the environment names another. */
export const SEED = Number(process.env['MODEL_SEED'] ?? 1);

/** Where to begin in the runs of a seed, as a failure prints it. Default: the first. */
const PATH = process.env['MODEL_PATH'];

/** Whether the run repeats one failure, and nothing else. */
export const REPLAYS = PATH !== undefined;

const setups = fc.tuple(config, script(SCRIPT_LENGTH));

/**
 * Plays scripts with seeds from `seed` on, until `tally` counts `most` commands or `going` no longer holds.
 * A failure is shrunk and printed with its seed, its path and its commands.
 */
export async function playSeeds(seed: number, most: number, tally: Tally, going: () => boolean = () => true): Promise<void> {
  for (let next = seed; tally.commands < most && going(); next++) {
    const played = await fc.check(
      fc.asyncProperty(setups, ([setup, commands]) => run(setup, commands, tally)),
      { seed: next, numRuns: BATCH, ...(PATH === undefined ? {} : { path: PATH }) },
    );
    if (played.failed) {
      const replay = `MODEL_SEED=${played.seed} MODEL_PATH=${played.counterexamplePath ?? ''} npx jest spec/model/model.spec.ts`;
      throw new Error(`${fc.defaultReportMessage(played) ?? ''}\nTo play it again: ${replay}`, { cause: played.errorInstance });
    }
    if (REPLAYS) return;
  }
}

/** The violation of the first failing script; `null` when none of them fails. */
export async function firstViolation(scripts: number): Promise<Violation | null> {
  for (const [setup, commands] of fc.sample(setups, { seed: SEED, numRuns: scripts })) {
    try {
      await run(setup, commands);
    } catch (error) {
      if (error instanceof Violation) return error;
      throw error;
    }
  }
  return null;
}
