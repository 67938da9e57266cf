import type { Figures, Metric } from '../workloads/workload.js';

/** The ratio to the reference, by workload and metric. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The findings of one run for the library, and for the same wire written by hand. */
export interface Recording {
  readonly library: Ratios;
  readonly byHand: Ratios;
}

/** A recording, and the processor that it was made on. */
export interface Baseline extends Recording {
  readonly processor: string;
}

export interface Regression {
  readonly workload: string;
  readonly metric: string;
  readonly recorded: number;
  readonly measured: number;
  /** How much worse the same wire by hand is than its recording: at least 1. */
  readonly machine: number;
}

/** The largest part of a loss that the machine may explain, however much worse the wire by hand has become. */
const MOST_BY_MACHINE = 1.5;

/** How much worse a ratio is than its recording: 1 for the same, 1.25 for a quarter worse. `better` says which way is better. */
export function worsening(better: Metric['better'], recorded: number, measured: number): number {
  return better === 'higher' ? recorded / measured : measured / recorded;
}

/**
 * The ratios that are worse than recorded by more than the allowance, after the loss that the machine explains. A ratio that was not
 * measured is among them. A shared machine slows a program that computes more than a program that waits for the kernel, as the
 * reference does. That effect on a ratio shows in the same wire by hand, too. A defect of the library does not.
 */
export function regressions(
  workloads: readonly { readonly id: string; readonly metrics: readonly Metric[] }[],
  recorded: Recording,
  measured: Recording,
  allowance: number,
): Regression[] {
  return workloads.flatMap(({ id, metrics }) =>
    metrics.flatMap(({ key, better }) => {
      const pairOf = (side: keyof Recording) => ({
        recorded: recorded[side][id]?.[key] ?? NaN,
        measured: measured[side][id]?.[key] ?? NaN,
      });
      const [own, byHand] = [pairOf('library'), pairOf('byHand')];
      const machine = Math.min(MOST_BY_MACHINE, Math.max(1, worsening(better, byHand.recorded, byHand.measured)));
      const isHeld = worsening(better, own.recorded, own.measured) <= machine * (1 + allowance);
      return isHeld ? [] : [{ workload: id, metric: key, ...own, machine }];
    }),
  );
}

/**
 * The recording to compare with: its wire by hand is nearest to the measured one. The possible gain over the reference depends on the
 * cost of system calls on a machine. That cost shows in the wire by hand, and not in the library.
 *
 * @throws TypeError where there is no recording
 */
export function nearest(recordings: readonly Baseline[], byHand: Ratios): Baseline {
  const distances = recordings.map((recording) => distance(recording.byHand, byHand));
  const found = recordings[distances.indexOf(Math.min(...distances))];
  if (found === undefined) throw new TypeError('expected a recording to compare with, got none');
  return found;
}

/** The factor by which ratios differ, over all measured ones. A ratio without a recording is infinitely far. */
function distance(recorded: Ratios, measured: Ratios): number {
  return Object.entries(measured)
    .flatMap(([id, ratios]) => Object.entries(ratios).map(([key, ratio]) => ({ ratio, then: recorded[id]?.[key] ?? 0 })))
    .filter(({ ratio }) => ratio > 0)
    .reduce((sum, { ratio, then }) => sum + Math.abs(Math.log(ratio / then)), 0);
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
