import type { Figures, Workload } from '../workloads/workload.js';
import type { AdapterName } from './adapter-names.js';
import { withOneProcess, withProcesses } from './pair.js';
import type { WithPair } from './pair.js';
import { shuffled } from './random.js';

/** One run of a workload over a fresh pair. */
export interface Reading {
  readonly round: number;
  readonly workload: string;
  readonly adapter: AdapterName;
  /** The limits raised beyond the adapter's defaults. */
  readonly limits: Readonly<Record<string, number>>;
  readonly figures: Figures;
  /** The reason why there are no figures. */
  readonly error?: string;
}

export interface Plan {
  readonly rounds: number;
  readonly adapters: readonly AdapterName[];
  readonly workloads: readonly Workload[];
  readonly scale: number;
  readonly random: () => number;
  /** Default: two processes of Node. */
  readonly withPair?: WithPair;
}

/** Runs every workload over every adapter in each round. Each round has its own order of adapters. */
export async function* runRounds({ rounds, adapters, workloads, scale, random, withPair = withProcesses }: Plan): AsyncGenerator<Reading> {
  for (let round = 0; round < rounds; round++) {
    for (const workload of workloads) {
      for (const adapter of shuffled(adapters, random)) {
        if (workload.adapters?.includes(adapter) === false) continue;
        const where = { round, workload: workload.id, adapter };
        try {
          yield await (workload.inOneProcess === true ? withOneProcess : withPair)(adapter, workload.needs, async (pair) => {
            const figures = await workload.run(pair, scale);
            return { ...where, limits: pair.limits, figures };
          });
        } catch (error) {
          // The run measures the other adapters all the same. As a whole it has failed.
          yield { ...where, limits: {}, figures: {}, error: error instanceof Error ? error.message : String(error) };
        }
      }
    }
  }
}
