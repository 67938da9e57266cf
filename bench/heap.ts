// `npm run bench:heap` measures the objects of an idle stream and an idle connection, by class, on both sides.
import { join } from 'node:path';
import type { AdapterName } from './harness/adapter-names.js';
import type { Needs } from './harness/adapter.js';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import { grown } from './harness/heap-classes.js';
import type { HeapClass } from './harness/heap-classes.js';
import { withProcesses } from './harness/pair.js';
import type { Pair, Sides } from './harness/pair.js';
import { ROOT } from './harness/place.js';
import { machineLine } from './report/machine-line.js';
import { environment } from './report/results.js';
import { figure, markdown } from './report/table.js';
import { writeText } from './report/write.js';
import { warmUp } from './workloads/requests.js';

const quick = fromCommandLine(readQuick);
const STREAMS = quick ? 1_000 : 100_000;
const TOPICS = quick ? 500 : 5_000;
const CONNECTIONS = quick ? 100 : 2_000;
/** How many to open beforehand: the code that the first ones load and compile stays. */
const FIRST = 100;
const PAGE = join(ROOT, 'docs/benchmarks/heap.md');

const streams = await growth({ streams: STREAMS + FIRST + 1 }, STREAMS, (pair, count) => pair.openIdle(count));
const topics = await growth({ streams: TOPICS + FIRST + 1 }, TOPICS, (pair, count) => pair.openIdle(count, 'topic'));
const connections = await growth({}, CONNECTIONS, openConnections);
const sockets = await growth({}, CONNECTIONS, openConnections, 'floor-a');

const page = `# What lives on the heap

\`npm run bench:heap\` writes this page, from heap snapshots of both processes. The adapter is \`rxmux-json\`, with default options. Between two snapshots it opens ${figure(STREAMS)} idle streams on one
connection, each with a subscriber of its own. Between two others it follows a topic ${figure(TOPICS)} times on one connection. Between two more it opens
${figure(CONNECTIONS)} connections that make one request each. Bytes are the bytes of the objects themselves, without the objects that they point to. The engine's
kinds are in brackets. The sum of a column is the memory of one stream, one followed topic or one connection.

${machineLine(environment())}.

${section('An idle stream', streams)}

${section('A followed topic', topics)}

${section('An idle connection, with its socket', connections)}

## The same beyond its socket

A bare socket is a connection of \`floor-a\`: a \`WebSocket\` of \`ws\`, one listener and an empty Map.

${beyondSocket()}
`;
console.log(page);
if (!quick) writeText(PAGE, page);

function openConnections(pair: Pair, count: number): Promise<unknown> {
  return pair.task('connections', { count });
}

async function growth(
  needs: Needs,
  count: number,
  open: (pair: Pair, count: number) => Promise<unknown>,
  adapter: AdapterName = 'rxmux-json',
): Promise<Sides<HeapClass[]>> {
  return withProcesses(adapter, needs, async (pair) => {
    await warmUp(pair);
    await open(pair, FIRST);
    const before = await pair.classes();
    await open(pair, count);
    const after = await pair.classes();
    return { client: grown(before.client, after.client, count), server: grown(before.server, after.server, count) };
  });
}

function section(title: string, { client, server }: Sides<HeapClass[]>): string {
  return `## ${title}\n\n### Client\n\n${table(client)}\n\n### Server\n\n${table(server)}`;
}

function beyondSocket(): string {
  const rows = (['client', 'server'] as const).map((side) => {
    const [all, bare] = [totalOf(connections[side]), totalOf(sockets[side])];
    return [side, figure(all), figure(bare), figure(all - bare)];
  });
  return markdown(['side', 'a connection', 'a bare socket', 'beyond'], rows);
}

function totalOf(classes: readonly HeapClass[]): number {
  return classes.reduce((sum, { bytes }) => sum + bytes, 0);
}

function table(classes: readonly HeapClass[]): string {
  const total = totalOf(classes);
  const rows = classes.map(({ name, count, bytes }) => [name, figure(count), figure(bytes), `${((bytes / total) * 100).toFixed(1)} %`]);
  return markdown(['class', 'objects', 'bytes', 'share'], [...rows, ['all', '', figure(total), '']]);
}
