import { REFERENCE } from '../harness/adapter-names.js';
import type { AdapterName } from '../harness/adapter-names.js';
import { goalsMet, measuredGoalsTable } from './goals.js';
import { machineLine } from './machine-line.js';
import type { Point } from './point.js';
import type { Results } from './results.js';
import { summarize } from './summary.js';
import { figure, markdown } from './table.js';

/** The libraries of the first page: the name there, the adapter, and the smallest client among the bundles. */
const COMPARED: readonly (readonly [title: string, adapter: AdapterName, bundle: string])[] = [
  ['rxmux', 'rxmux-json', 'rxmux'],
  ['socket.io', 'socket.io', 'socket.io-client'],
  ['graphql-ws', 'graphql-ws', 'graphql-ws'],
  ['tRPC', 'trpc', 'tRPC wsLink'],
  ['rxjs webSocket', 'rxjs-websocket', 'rxjs webSocket().multiplex'],
];

type Better = '↑' | '↓';

const RATIOS: readonly (readonly [title: string, better: Better, workload: string, metric: string])[] = [
  ['requests/s, 64 in flight', '↑', 'W2@64', 'perSecond'],
  ['items/s of one stream', '↑', 'W3', 'perSecond'],
  ['a small request beside an upload, p50', '↓', 'W6', 'upP50'],
  ['from dialing to the first reply', '↓', 'W9', 'medianMs'],
  ['1 KB to 300 subscribers, server CPU', '↓', 'W10@1KB', 'serverUs'],
];

const KB = 1_000;

/** The comparison of the first page: a few ratios beside other libraries, the sizes, and, folded, the goals. */
export function comparison(results: Results): string {
  const ratios = RATIOS.map(([title, better, workload, metric]) => [
    `${title} (${better})`,
    ...COMPARED.map(([, adapter]) => written(summarize(results.readings, workload, adapter, metric, REFERENCE).ratio)),
  ]);
  const sizes = COMPARED.map(([, , bundle]) => figure(sizeOf(results, bundle) / KB));
  const { met, all } = goalsMet(results);
  return [
    markdown(
      ['', ...COMPARED.map(([title]) => title)],
      [...ratios, ['client for a browser, with rxjs if it needs that, KB min+gzip (↓)', ...sizes]],
    ),
    `${standing(results)} The figures are from Node ${machineLine(results.environment)}.`,
    `Of the project's own ${all} goals, ${met} are met. Every workload with every library, and what a browser measures, is in \`docs/benchmarks/\`.`,
    '<details>\n<summary>The goals, and what was measured</summary>',
    '"By hand" is the wire of rxmux over `ws` with corked sockets, and nothing else.',
    measuredGoalsTable(results),
    '</details>',
  ].join('\n\n');
}

/** In which rows of the plot rxmux is ahead of all others and of the reference, and in which it is not. */
export function standing(results: Results): string {
  const points = comparisonPoints(results);
  const rows = [...new Set(points.map(({ series }) => series))];
  const ahead = rows.filter((row) => {
    const best = Math.max(1, ...points.filter(({ series }) => series === row).map(({ y }) => y));
    return points.some(({ series, x, y }) => series === row && x === COMPARED[0]?.[0] && y === best);
  });
  const behind = rows.filter((row) => !ahead.includes(row));
  return `rxmux is ahead in ${ahead.length} of ${rows.length} rows.${behind.length === 0 ? '' : ` It is behind in these: ${behind.join('; ')}.`}`;
}

/** The same figures for one plot. Each is how many times as good as the reference, and for sizes as the smallest client. */
export function comparisonPoints(results: Results): Point[] {
  const ratios = RATIOS.flatMap(([series, better, workload, metric]) =>
    COMPARED.map(([x, adapter]) => {
      const { ratio } = summarize(results.readings, workload, adapter, metric, REFERENCE);
      return { series, x, y: better === '↑' ? ratio : 1 / ratio };
    }),
  );
  const smallest = Math.min(...COMPARED.map(([, , bundle]) => sizeOf(results, bundle)).filter(Number.isFinite));
  const sizes = COMPARED.map(([x, , bundle]) => ({
    series: 'size of a client',
    x,
    y: smallest / sizeOf(results, bundle),
  }));
  return [...ratios, ...sizes].filter(({ y }) => Number.isFinite(y));
}

function sizeOf({ bundles }: Results, bundle: string): number {
  return bundles.find(({ name }) => name === bundle)?.gzip ?? NaN;
}

function written(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : '–';
}
