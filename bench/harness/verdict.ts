import type { Figures, Metric } from '../workloads/workload.js';

/** The ratio to the reference, by workload and metric. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The ratios of a quiet run, and the processor and the major version of Node that it was made on. */
export interface Recording {
  readonly processor: string;
  readonly node: number;
  readonly ratios: Ratios;
}

export interface Regression {
  readonly workload: string;
  readonly metric: string;
  readonly recorded: number;
  readonly measured: number;
}

/** How much worse a ratio is than its recording: 1 for the same, 1.25 for a quarter worse. */
function worsening({ recorded, measured }: Regression, better: Metric['better']): number {
  return better === 'higher' ? recorded / measured : measured / recorded;
}

/**
 * The ratios that are worse than recorded by more than the allowance, 0.25 for a quarter. A ratio that was not measured is among them,
 * and one that was not recorded.
 */
export function regressions(
  workloads: readonly { readonly id: string; readonly metrics: readonly Metric[] }[],
  recorded: Ratios,
  measured: Ratios,
  allowance: number,
): Regression[] {
  return workloads.flatMap(({ id, metrics }) =>
    metrics.flatMap(({ key, better }) => {
      const pair = { workload: id, metric: key, recorded: recorded[id]?.[key] ?? NaN, measured: measured[id]?.[key] ?? NaN };
      return worsening(pair, better) <= 1 + allowance ? [] : [pair];
    }),
  );
}

/**
 * The recordings to compare a run with: the one of its processor and its Node, or else all of its Node, or else all. The run must hold one
 * of them.
 *
 * @throws TypeError where there is no recording
 */
export function comparable(recordings: readonly Recording[], { processor, node }: Omit<Recording, 'ratios'>): readonly Recording[] {
  if (recordings.length === 0) throw new TypeError('expected a recording to compare with, got none');
  const onNode = recordings.filter((recording) => recording.node === node);
  const own = onNode.filter((recording) => recording.processor === processor);
  return [own, onNode].find(({ length }) => length > 0) ?? recordings;
}

/** The share of a core that the busier end must have had. */
const LEAST_SHARE = 0.7;

/**
 * Whether the processes waited for a core most of the time, because other programs ran on the machine. Then their operations a
 * second mean nothing. The CPU time of each operation still counts.
 */
export function isStarved({ perSecond = NaN, clientUs = NaN, serverUs = NaN }: Figures): boolean {
  return !(perSecond * Math.max(clientUs, serverUs) >= LEAST_SHARE * 1e6);
}
