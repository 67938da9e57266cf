import { median, medianRatio } from '../harness/statistics.js';
import type { Reading } from '../harness/rounds.js';

/** One figure of one adapter over all rounds. */
export interface Summary {
  readonly median: number;
  /** The median of the ratios to the reference of the same round. NaN where the reference was not measured. */
  readonly ratio: number;
}

/** Sums up the rounds of one workload, for one adapter and one metric. */
export function summarize(readings: readonly Reading[], workload: string, adapter: string, metric: string, reference: string): Summary {
  const of = (name: string): Map<number, number> =>
    new Map(
      readings
        .filter((reading) => reading.workload === workload && reading.adapter === name)
        .map(({ round, figures }) => [round, figures[metric] ?? NaN]),
    );
  const own = of(adapter);
  const others = of(reference);
  return {
    median: median([...own.values()]),
    ratio: medianRatio([...own].map(([round, value]) => [value, others.get(round)])),
  };
}
