import { ADAPTER_NAMES, OWN_ADAPTERS, REFERENCE } from '../harness/adapter-names.js';
import type { AdapterName } from '../harness/adapter-names.js';
import { leastSquares } from '../harness/statistics.js';
import type { Results } from './results.js';
import { summarize } from './summary.js';
import { figure, markdown } from './table.js';

type Better = 'higher' | 'lower';

/** The bound of one figure: at most, or at least where `better` is `'higher'`. */
interface Goal {
  readonly title: string;
  readonly goal: number;
  readonly better: Better;
  /** Stands after the figures. */
  readonly unit: string;
  own(results: Results): number;
  /** The same figure for the wire by hand, where that shows the cost of the library itself. */
  byHand?(results: Results): number;
  /** The best of the others, and the library that it belongs to. */
  others(results: Results): readonly (readonly [value: number, name: string])[];
}

const PEERS = ADAPTER_NAMES.filter((name) => !OWN_ADAPTERS.includes(name) && name !== 'ws');
const KB = 1_000;

const GOALS: readonly Goal[] = [
  ratio('one request at a time, p50', 'W1', 'p50Us', 'lower', 1.05),
  ratio('one request at a time, p99', 'W1', 'p99Us', 'lower', 1.3),
  ratio('64 in flight, requests/s', 'W2@64', 'perSecond', 'higher', 1.15),
  ratio('64 in flight, client CPU', 'W2@64', 'clientUs', 'lower', 0.6),
  ratio('64 in flight, server CPU', 'W2@64', 'serverUs', 'lower', 0.55),
  ratio('1 024 in flight, requests/s', 'W2@1024', 'perSecond', 'higher', 2),
  withHeader('client CPU', 'clientRatio', 'lower', 1.1),
  withHeader('client CPU, msgpack', 'clientRatio', 'lower', 1.15, 'rxmux-msgpack'),
  withHeader('requests/s', 'perSecondRatio', 'higher', 0.92),
  withHeader('requests/s, msgpack', 'perSecondRatio', 'higher', 0.92, 'rxmux-msgpack'),
  ratio('a stream of 200 000 items, items/s', 'W3', 'perSecond', 'higher', 3.5),
  ratio('1 000 streams of 100 items, items/s', 'W4', 'perSecond', 'higher', 1.8),
  ratio('1 000 streams answered by async generators, items/s', 'W4@generator', 'perSecond', 'higher', 1.5),
  ratio('16 MiB up, MB/s', 'W5', 'up', 'higher', 1),
  ratio('16 MiB down, MB/s', 'W5', 'down', 'higher', 0.85),
  ratio('16 MiB up, MB/s, msgpack', 'W5', 'up', 'higher', 1.1, 'rxmux-msgpack'),
  ratio('16 MiB down, MB/s, msgpack', 'W5', 'down', 'higher', 1.05, 'rxmux-msgpack'),
  ratio('a small request during an upload of 64 MiB, p50', 'W6', 'upP50', 'lower', 0.02),
  ratio('a small request during an upload of 64 MiB, p99', 'W6', 'upP99', 'lower', 0.31),
  ratio('a small request during a download, p99', 'W6', 'downP99', 'lower', 1.2),
  bytesPerStream('heap of an idle stream, client', 'clientBytes'),
  bytesPerStream('heap of an idle stream, server', 'serverBytes'),
  bundle('client of rxmux, min+gzip, without rxjs', 'rxmux, without rxjs', 28),
  bundle('client of rxmux, min+gzip, with rxjs', 'rxmux', 34),
  ratio('from dialing to the first reply', 'W9', 'medianMs', 'lower', 1.15),
  ratio('1 KB to 300 subscribers, server CPU', 'W10@1KB', 'serverUs', 'lower', 1.3),
  ratio('10 KB to 300 subscribers, server CPU', 'W10@10KB', 'serverUs', 'lower', 1.3),
  ratio('1 KB to 300 subscribers, server CPU, msgpack', 'W10@1KB', 'serverUs', 'lower', 1.3, 'rxmux-msgpack'),
  ratio('10 KB to 300 subscribers, server CPU, msgpack', 'W10@10KB', 'serverUs', 'lower', 1.3, 'rxmux-msgpack'),
  idleConnection('memory of an idle connection beyond the bare socket, client', 'clientBytes'),
  idleConnection('memory of an idle connection beyond the bare socket, server', 'serverBytes'),
];

const MAIN = /^(W1 .*p50|W2@64 .*requests|W3 |W6 .*upload.*p50|W7 |W8 .*with rxjs|W9 |memory )/;

/** How many goals were measured, and how many of them are met. */
export function goalsMet(results: Results): { readonly met: number; readonly all: number } {
  const measured = measuredGoals(results);
  return { met: measured.filter((goal) => isMet(goal, goal.own(results))).length, all: measured.length };
}

/** The figures beside all goals, in one table. Figures without a unit are ratios to the reference. */
export function goalsTable(results: Results): string {
  return tableOf(GOALS, results);
}

/** {@link goalsTable} of the goals that were measured. */
export function measuredGoalsTable(results: Results): string {
  return tableOf(measuredGoals(results), results);
}

/** A few goals of each kind, for a page that begins with them. */
export function mainGoalsTable(results: Results): string {
  return tableOf(
    measuredGoals(results).filter(({ title }) => MAIN.test(title)),
    results,
  );
}

function measuredGoals(results: Results): readonly Goal[] {
  return GOALS.filter((goal) => Number.isFinite(goal.own(results)));
}

function tableOf(goals: readonly Goal[], results: Results): string {
  const rows = goals.map((goal) => {
    const own = goal.own(results);
    const best = bestOf(goal.others(results), goal.better);
    return [
      goal.title,
      `${goal.better === 'higher' ? '≥' : '≤'} ${written(goal.goal, goal)}`,
      written(own, goal),
      Number.isFinite(own) ? (isMet(goal, own) ? 'yes' : 'no') : '–',
      written(goal.byHand?.(results) ?? NaN, goal),
      best === undefined ? '–' : `${written(best[0], goal)} ${best[1]}`,
    ];
  });
  return markdown(['', 'goal', 'rxmux', 'met', 'by hand', 'best of the others'], rows);
}

function isMet({ better, goal }: Goal, own: number): boolean {
  return better === 'higher' ? own >= goal : own <= goal;
}

function written(value: number, { unit }: Goal): string {
  if (!Number.isFinite(value)) return '–';
  return unit === '' ? value.toFixed(2) : `${figure(value)} ${unit}`;
}

function bestOf<T extends readonly [number, string]>(figures: readonly T[], better: Better): T | undefined {
  const sorted = figures.filter(([value]) => Number.isFinite(value)).sort(([one], [other]) => one - other);
  return better === 'higher' ? sorted.at(-1) : sorted[0];
}

function ratio(title: string, workload: string, metric: string, better: Better, goal: number, adapter: AdapterName = 'rxmux-json'): Goal {
  const of = ({ readings }: Results, name: AdapterName): number => summarize(readings, workload, name, metric, REFERENCE).ratio;
  return {
    title: `${workload} ${title}`,
    goal,
    better,
    unit: '',
    own: (results) => of(results, adapter),
    ...(adapter === 'rxmux-json' && { byHand: (results) => of(results, 'bare-wire') }),
    others: (results) => PEERS.map((name) => [of(results, name), name] as const),
  };
}

/** The ratio to the same requests without a header. No other library has such a row. */
function withHeader(title: string, metric: string, better: Better, goal: number, adapter: AdapterName = 'rxmux-json'): Goal {
  return {
    title: `W2@64-header a header on each request, ${title}`,
    goal,
    better,
    unit: '',
    own: ({ readings }) => summarize(readings, 'W2@64-header', adapter, metric, REFERENCE).median,
    others: () => [],
  };
}

function bytesPerStream(title: string, metric: string): Goal {
  const of = ({ readings }: Results, name: AdapterName): number => summarize(readings, 'W7', name, metric, REFERENCE).median;
  return {
    title: `W7 ${title}`,
    goal: 600,
    better: 'lower',
    unit: 'B',
    own: (results) => of(results, 'rxmux-json'),
    others: (results) => PEERS.map((name) => [of(results, name), name] as const),
  };
}

function bundle(title: string, name: string, goal: number): Goal {
  const size = ({ bundles }: Results, named: string): number => (bundles.find((each) => each.name === named)?.gzip ?? NaN) / KB;
  return {
    title: `W8 ${title}`,
    goal,
    better: 'lower',
    unit: 'KB',
    own: (results) => size(results, name),
    others: (results) =>
      results.bundles.filter((each) => !/rxmux|rxjs/.test(each.name)).map((each) => [size(results, each.name), each.name] as const),
  };
}

/** The slope over connections, less the slope of the socket alone. */
function idleConnection(title: string, key: 'clientBytes' | 'serverBytes'): Goal {
  const of = ({ connections }: Results, name: AdapterName): number => {
    const own = connections.filter(({ adapter }) => adapter === name);
    return own.length < 2 ? NaN : leastSquares(own.map((point) => [point.connections, point[key]])).slope / KB;
  };
  const beyond = (results: Results, name: AdapterName): number => of(results, name) - of(results, 'ws');
  return {
    title,
    goal: 12,
    better: 'lower',
    unit: 'KB',
    own: (results) => beyond(results, 'rxmux-json'),
    others: (results) => PEERS.map((name) => [beyond(results, name), name] as const),
  };
}
