// `npm run bench:nodes` runs the main workloads on several versions of Node by turns, and writes docs/benchmarks/nodes.md.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { REFERENCE } from './harness/adapter-names.js';
import type { AdapterName } from './harness/adapter-names.js';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import { ROOT } from './harness/place.js';
import { Worker } from './harness/process.js';
import { randomFrom } from './harness/random.js';
import { runRounds } from './harness/rounds.js';
import type { Reading } from './harness/rounds.js';
import { machineLine } from './report/machine-line.js';
import { environment } from './report/results.js';
import { summarize } from './report/summary.js';
import { figure, markdown } from './report/table.js';
import { writeText } from './report/write.js';
import { workloads } from './workloads/index.js';

const quick = fromCommandLine(readQuick);
/** The versions whose ways through the engine differ: the oldest that the package supports, the one most people run, the newest. */
const NODES = ['20', '24', '26'];
const OWN: readonly AdapterName[] = ['rxmux-json', 'rxmux-msgpack'];
const MEASURED = quick ? ['W2@64'] : ['W1', 'W2@64', 'W3', 'W5', 'W9'];
/** Metrics that say nothing about the engine. */
const LEFT_OUT = ['clientRss', 'serverRss'];

const ROUNDS = quick ? 1 : 3;
const random = randomFrom(1);
const measured = workloads.filter(({ id }) => MEASURED.includes(id));
const programs = NODES.map((major) => programOf(major));
const readings = new Map<string, Reading[]>(programs.map(({ version }) => [version, []]));

for (let round = 0; round < ROUNDS; round++)
  for (const { version, path } of programs) {
    Worker.program = path;
    for await (const reading of runRounds({
      rounds: 1,
      adapters: [REFERENCE, ...OWN],
      workloads: measured,
      scale: quick ? 0.2 : 1,
      random,
    })) {
      if (reading.error !== undefined) throw new Error(reading.error);
      readings.get(version)?.push({ ...reading, round });
      process.stderr.write(`round ${round + 1} of ${ROUNDS}, Node ${version}, ${reading.workload}, ${reading.adapter}\n`);
    }
  }

const page = `# The same on each Node

\`npm run bench:nodes\` writes this page. It runs the workloads of [the benchmarks](README.md) on each version of Node by turns, ${ROUNDS} times.
A cell of a ratio is the median of the ratios to \`${REFERENCE}\` **on the same Node in the same round**, for \`json\` and \`msgpack\`. An arrow says which way is better.

${machineLine({ ...environment(), node: programs.map(({ version }) => `Node ${version}`).join(', ') })}.

## Ratios to the floor

${table((version, workload, adapter, key) => summarize(rounds(version), workload, adapter, key, REFERENCE).ratio.toFixed(2), OWN)}

## What the floor itself does

${table((version, workload, adapter, key) => figure(summarize(rounds(version), workload, adapter, key, REFERENCE).median), [REFERENCE])}
`;
console.log(page);
if (!quick) writeText(join(ROOT, 'docs/benchmarks/nodes.md'), page);

function rounds(version: string): readonly Reading[] {
  return readings.get(version) ?? [];
}

type Cell = (version: string, workload: string, adapter: string, key: string) => string;

/** A table of metrics by versions of Node. A cell has the figures of all adapters. */
function table(cell: Cell, adapters: readonly string[]): string {
  const rows = measured.flatMap(({ id, metrics }) =>
    metrics
      .filter(({ key }) => !LEFT_OUT.includes(key))
      .map(({ key, title, better }) => [
        `${id} ${title} (${better === 'higher' ? '↑' : '↓'})`,
        ...programs.map(({ version }) => adapters.map((adapter) => cell(version, id, adapter, key)).join(' · ')),
      ]),
  );
  return markdown(['', ...programs.map(({ version }) => `Node ${version}`)], rows);
}

/** Finds a Node of a major version. npm installs it where it is missing. */
function programOf(major: string): { readonly version: string; readonly path: string } {
  const say = 'process.stdout.write(process.versions.node + " " + process.execPath)';
  const { stdout, stderr } = spawnSync('npx', ['--yes', '--package', `node@${major}`, '--', 'node', '-e', say], { encoding: 'utf8' });
  const [version, ...path] = stdout.split(' ');
  if (version?.startsWith(`${major}.`) !== true) throw new Error(`expected npx to run Node ${major}, got '${stdout}'\n${stderr}`);
  return { version, path: path.join(' ') };
}
