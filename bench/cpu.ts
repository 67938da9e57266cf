// `npm run bench:cpu` measures where the time of a request and of an item goes, on both sides.
import { join } from 'node:path';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import type { FunctionTime } from './harness/cpu-times.js';
import { withProcesses } from './harness/pair.js';
import type { Sides } from './harness/pair.js';
import { ROOT } from './harness/place.js';
import { cpuParts } from './report/cpu-parts.js';
import { machineLine } from './report/machine-line.js';
import { environment } from './report/results.js';
import { figure, markdown } from './report/table.js';
import { writeText } from './report/write.js';
import { warmUp } from './workloads/requests.js';
import { warmUpStreams } from './workloads/streams.js';

const quick = fromCommandLine(readQuick);
const SCALE = quick ? 0.1 : 1;
const MEASURED_MS = 5_000;
const MEASURED_ITEMS = 2_000_000;
const LARGEST = 12;
const PAGE = join(ROOT, 'docs/benchmarks/cpu.md');

const page = `# Where the time goes

\`npm run bench:cpu\` writes this page, from CPU profiles of both processes. Meanwhile \`rxmux-json\`, with default options, does the work of W2 and W3, after it has warmed up. Times are
for one request or one item. They leave out idle time, and include the cost of the profiler. The engine counts the time of its own functions towards the function that called them.

${machineLine(environment())}.

## A request, 64 in flight

${await ofRequests(64)}

## A request, 1 024 in flight

${await ofRequests(1_024)}

## An item of one stream

${await ofItems()}
`;
console.log(page);
if (!quick) writeText(PAGE, page);

async function ofRequests(inFlight: number): Promise<string> {
  const { requests, times } = await withProcesses('rxmux-json', { streams: inFlight }, async (pair) => {
    await warmUp(pair, inFlight);
    return pair.profiled('closedLoop', { ms: MEASURED_MS * SCALE, atLeast: 1_000, inFlight });
  });
  return tables(requests, times);
}

async function ofItems(): Promise<string> {
  const { items, times } = await withProcesses('rxmux-json', {}, async (pair) => {
    await warmUpStreams(pair, 1);
    return pair.profiled('streams', { streams: 1, items: MEASURED_ITEMS * SCALE });
  });
  return tables(items, times);
}

/** @param count requests or items */
function tables(count: number, times: Sides<readonly FunctionTime[]>): string {
  const { client, server } = times;
  return `${partsTable(count, times)}\n\n### The largest functions of the client\n\n${largest(client)}\n\n### And of the server\n\n${largest(server)}`;
}

function partsTable(count: number, { client, server }: Sides<readonly FunctionTime[]>): string {
  const all = { client: total(client), server: total(server) };
  const onServer = cpuParts(server);
  const rows = cpuParts(client)
    .map(({ title, us }, n) => ({ title, client: us, server: onServer[n]?.us ?? 0 }))
    .filter((row) => row.client + row.server > 0);
  return markdown(
    ['part', 'client µs', 'client %', 'server µs', 'server %'],
    [...rows, { title: 'all', ...all }].map((row) => [
      row.title,
      figure(row.client / count),
      percent(row.client, all.client),
      figure(row.server / count),
      percent(row.server, all.server),
    ]),
  );
}

function largest(times: readonly FunctionTime[]): string {
  const all = total(times);
  return markdown(
    ['function', 'of', '%'],
    times.slice(0, LARGEST).map(({ name, file, us }) => [`\`${name === '' ? '(anonymous)' : name}\``, placeOf(file), percent(us, all)]),
  );
}

/** A path that is the same on every machine. */
function placeOf(file: string): string {
  if (file === '') return 'the engine';
  // A package, or a file of this repository. Each run builds the benchmark into a directory of its own.
  return file
    .replace(/^.*\/node_modules\//, '')
    .replace(`${ROOT}/`, '')
    .replace(/^bench\/dist\/\d+\//, 'bench/');
}

function total(times: readonly FunctionTime[]): number {
  return times.reduce((sum, { us }) => sum + us, 0);
}

function percent(part: number, all: number): string {
  return ((part / all) * 100).toFixed(1);
}
