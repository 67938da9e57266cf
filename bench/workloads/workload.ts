import type { AdapterName } from '../harness/adapter-names.js';
import type { Needs } from '../harness/adapter.js';
import type { Pair } from '../harness/pair.js';

/** One figure of a workload. */
export interface Metric {
  readonly key: string;
  readonly title: string;
  readonly better: 'higher' | 'lower';
}

/** Figures by the keys of their metrics. */
export type Figures = Readonly<Record<string, number>>;

export interface Workload {
  /** Such as `W2@64`. On the command line `W2` means all ids that begin so. */
  readonly id: string;
  readonly title: string;
  readonly needs: Needs;
  readonly metrics: readonly Metric[];
  /** The adapters that can do it. Default all. */
  readonly adapters?: readonly AdapterName[];
  /** Whether both ends are in one process. Default: each has its own. */
  readonly inOneProcess?: boolean;
  /** Runs once over a fresh pair. `scale` is 1 for a full run and less for a quick one. */
  run(pair: Pair, scale: number): Promise<Figures>;
}

export function higher(key: string, title: string): Metric {
  return { key, title, better: 'higher' };
}

export function lower(key: string, title: string): Metric {
  return { key, title, better: 'lower' };
}
