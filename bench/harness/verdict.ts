import type { Figures, Metric } from '../workloads/workload.js';

/** By workload and metric, the ratio to the reference. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** What one run found of the library, and of the same wire written by hand. */
export interface Recording {
  readonly library: Ratios;
  readonly byHand: Ratios;
}

export interface Regression {
  readonly workload: string;
  readonly metric: string;
  readonly recorded: number;
  readonly measured: number;
  /** How much worse the same wire by hand is than recorded: at least 1. */
  readonly machine: number;
}

/** The ratio of what is no better than the reference. */
const NO_GAIN = 1;

/** How much worse a ratio is than the one recorded: 1 for the same, 1.25 for a quarter worse, whichever way is better. */
export function worsening(better: Metric['better'], recorded: number, measured: number): number {
  return better === 'higher' ? recorded / measured : measured / recorded;
}

/**
 * The ratios that are worse than recorded by more than the allowance, once what the machine made worse is taken off; one that was not
 * measured is among them. A machine that others share slows whoever computes more than whoever waits for the kernel, as the
 * reference does, and one whose system calls are cheap leaves less to gain over it: what that does to a ratio shows in the same wire
 * by hand, where a defect of the library does not. A machine can take the whole gain of that wire, and is charged with no more.
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
      const leftByHand = better === 'higher' ? Math.max(NO_GAIN, byHand.measured) : Math.min(NO_GAIN, byHand.measured);
      const machine = Math.max(1, worsening(better, byHand.recorded, leftByHand));
      const isHeld = worsening(better, own.recorded, own.measured) <= machine * (1 + allowance);
      return isHeld ? [] : [{ workload: id, metric: key, ...own, machine }];
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
