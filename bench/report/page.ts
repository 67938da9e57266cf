import type { AdapterName } from '../harness/adapter-names.js';
import { REFERENCE } from '../harness/adapter-names.js';
import { leastSquares } from '../harness/statistics.js';
import type { Workload } from '../workloads/workload.js';
import { goalsTable } from './goals.js';
import { machineLine } from './machine-line.js';
import type { Results } from './results.js';
import { figure, markdown, workloadTable } from './table.js';

const METHOD = `\`npm run bench\` writes this page. Client and server are separate processes on 127.0.0.1, a fresh pair for each adapter and workload. The adapters run in an order of
its own in each round. A cell is the median over the rounds. In brackets is the median of the ratios to \`${REFERENCE}\` of the same round. **Read the ratios**:
the rest depends on the machine. Every answer is checked. An arrow says which way is better. A dash says that there is no figure. CPU is the CPU of the whole process.

| adapter | what it is |
|---|---|
| \`floor-a\` | \`ws\`, \`{id, payload}\` as JSON and a Map, written by hand, without checks, headers, cancellation or back-pressure |
| \`floor-b\` | the same with msgpack |
| \`bare-wire\`, "by hand" | the wire of rxmux in the same manner, with corked sockets: no limits, deadlines or checks, and it cuts nothing |
| \`rxmux-json\`, \`rxmux-msgpack\` | the built package with every check on, and default options but for the limits listed at the end |
| \`http2\`, \`grpc-js\` | there for scale: they do not run over WebSockets, and in a browser not at all |

rxmux joins the messages of a turn in one buffer, which saves more than the corked sockets of \`bare-wire\`. Small payloads are JSON objects of 93 bytes.
W6 sends a small request every 2 ms, counted from when it was due. Beside it runs one request of 64 MiB (up) or a stream of 1 024 items of 65 000 bytes (down).
`;

/** The whole page. */
export function page(results: Results, workloads: readonly Workload[], adapters: readonly AdapterName[], plots: readonly string[]): string {
  const { readings, bundles, streams, connections } = results;
  const sections = [
    '# Benchmarks',
    METHOD.trimEnd(),
    `${machineLine(results.environment)}; ${Object.entries(results.versions)
      .map((entry) => entry.join(' '))
      .join(', ')}; seed ${results.seed}.`,
    '## What is wanted, and what was measured',
    goalsTable(results),
    ...workloads.flatMap((workload) => [`## ${workload.id}: ${workload.title}`, workloadTable(workload, readings, adapters, REFERENCE)]),
    ...(bundles.length === 0 ? [] : ['## W8: bytes of the smallest client for a browser', bundleTable(results)]),
    ...(streams.length === 0 ? [] : ['## CPU per request beside live streams', streamsTable(results)]),
    ...(connections.length === 0 ? [] : ['## Memory of an idle connection', connectionsTable(results)]),
    ...(plots.length === 0 ? [] : ['## Plots', ...plots.map((file) => `![${file}](${file})`)]),
    '## Limits that were raised',
    limitsTable(results),
    ...failures(results),
  ];
  return `${sections.join('\n\n')}\n`;
}

function bundleTable({ bundles }: Results): string {
  return markdown(
    ['W8', 'min', 'min+gzip'],
    bundles.map(({ name, min, gzip }) => [name, figure(min), figure(gzip)]),
  );
}

function streamsTable({ streams }: Results): string {
  return markdown(
    ['adapter', 'live streams', 'client µs/req', 'server µs/req'],
    streams.map(({ adapter, streams: live, clientUs, serverUs }) => [adapter, figure(live), figure(clientUs), figure(serverUs)]),
  );
}

/** Bytes per connection are the slope of the line through the points, which leaves out memory that does not grow. */
function connectionsTable({ connections }: Results): string {
  const names = [...new Set(connections.map(({ adapter }) => adapter))];
  return markdown(
    ['adapter', 'client B/connection', 'server B/connection'],
    names.map((name) => {
      const own = connections.filter(({ adapter }) => adapter === name);
      const per = (key: 'clientBytes' | 'serverBytes'): string =>
        figure(leastSquares(own.map((point) => [point.connections, point[key]])).slope);
      return [name, per('clientBytes'), per('serverBytes')];
    }),
  );
}

function limitsTable({ readings }: Results): string {
  const rows = new Map<string, string[]>();
  for (const { workload, adapter, limits } of readings) {
    const raised = Object.entries(limits).map(([name, value]) => `${name} ${figure(value)}`);
    if (raised.length > 0) rows.set(`${adapter} ${workload}`, [adapter, workload, raised.join(', ')]);
  }
  return rows.size === 0 ? 'None.' : markdown(['adapter', 'workload', 'raised to'], [...rows.values()]);
}

function failures({ readings }: Results): string[] {
  const failed = readings.filter(({ error }) => error !== undefined);
  if (failed.length === 0) return [];
  const lines = failed.map(
    ({ round, workload, adapter, error = '' }) => `- round ${round + 1}, ${workload}, ${adapter}: ${error.split('\n')[0] ?? ''}`,
  );
  return ['## What failed', lines.join('\n')];
}
