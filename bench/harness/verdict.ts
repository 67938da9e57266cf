import type { Figures, Metric } from '../workloads/workload.js';

/** By workload and metric, the ratio to the reference. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** What one run found of the library, and of the same wire written by hand. */
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
  /** How much worse the same wire by hand is than recorded: at least 1. */
  readonly machine: number;
}

/** What the machine may be charged with, however much worse the wire by hand has become. */
const MOST_BY_MACHINE = 1.5;

/** How much worse a ratio is than the one recorded: 1 for the same, 1.25 for a quarter worse, whichever way is better. */
export function worsening(better: Metric['better'], recorded: number, measured: number): number {
  return better === 'higher' ? recorded / measured : measured / recorded;
}

/**
 * The ratios that are worse than recorded by more than the allowance, once what the machine made worse is taken off; one that was not
 * measured is among them. A machine that others share slows whoever computes more than whoever waits for the kernel, as the
 * reference does: what that does to a ratio shows in the same wire by hand, where a defect of the library does not.
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
 * The recording to compare with: the one whose wire by hand is nearest to the measured one. How much there is to gain over the reference
 * depends on what system calls cost on a machine, which shows in that wire and not in the library.
 *
 * @throws TypeError where there is no recording
 */
export function nearest(recordings: readonly Baseline[], byHand: Ratios): Baseline {
  const distances = recordings.map((recording) => distance(recording.byHand, byHand));
  const found = recordings[distances.indexOf(Math.min(...distances))];
  if (found === undefined) throw new TypeError('expected a recording to compare with, got none');
  return found;
}

/** By how many times ratios differ, over all that was measured; one that was not recorded is as far as can be. */
function distance(recorded: Ratios, measured: Ratios): number {
  return Object.entries(measured)
    .flatMap(([id, ratios]) => Object.entries(ratios).map(([key, ratio]) => ({ ratio, then: recorded[id]?.[key] ?? 0 })))
    .filter(({ ratio }) => ratio > 0)
    .reduce((sum, { ratio, then }) => sum + Math.abs(Math.log(ratio / then)), 0);
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
