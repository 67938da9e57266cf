import type { Figures, Metric } from '../workloads/workload.js';

/** By workload and metric, the ratio to the reference. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface Regression {
  readonly workload: string;
  readonly metric: string;
  readonly recorded: number;
  readonly measured: number;
}

/** How much worse a ratio is than the one recorded: 1 for the same, 1.25 for a quarter worse, whichever way is better. */
export function worsening(better: Metric['better'], recorded: number, measured: number): number {
  return better === 'higher' ? recorded / measured : measured / recorded;
}

/** The ratios that are worse than recorded by more than the allowance; one that was not measured is among them. */
export function regressions(
  workloads: readonly { readonly id: string; readonly metrics: readonly Metric[] }[],
  recorded: Ratios,
  measured: Ratios,
  allowance: number,
): Regression[] {
  return workloads.flatMap(({ id, metrics }) =>
    metrics.flatMap(({ key, better }) => {
      const pair = { recorded: recorded[id]?.[key] ?? NaN, measured: measured[id]?.[key] ?? NaN };
      return worsening(better, pair.recorded, pair.measured) <= 1 + allowance ? [] : [{ workload: id, metric: key, ...pair }];
    }),
  );
}

/** The share of a core that the busier end has to have had. */
const LEAST_SHARE = 0.7;

/**
 * Whether the processes waited for a core most of the time, because others ran on the machine: then what they got done in a
 * second tells nothing, while the CPU time of each operation still does.
 */
export function isStarved({ perSecond = NaN, clientUs = NaN, serverUs = NaN }: Figures): boolean {
  return !(perSecond * Math.max(clientUs, serverUs) >= LEAST_SHARE * 1e6);
}
