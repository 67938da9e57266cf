// `npm run bench:timeline` measures where a lone request and a dial lose time, on both sides of the wire.
import { join } from 'node:path';
import type { AdapterName } from './harness/adapter-names.js';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import { withProcesses } from './harness/pair.js';
import { ROOT } from './harness/place.js';
import { median } from './harness/statistics.js';
import { DIAL, REQUEST, timesOf } from './report/phases.js';
import type { Way } from './report/phases.js';
import { machineLine } from './report/machine-line.js';
import { environment } from './report/results.js';
import { figure, markdown } from './report/table.js';
import { writeText } from './report/write.js';
import { FIRST_DIALS, MEASURED_DIALS } from './workloads/connects.js';
import { warmUp } from './workloads/requests.js';

const quick = fromCommandLine(readQuick);
const ROUNDS = quick ? 1 : 12;
const REQUESTS_MS = quick ? 100 : 600;
const COMPARED = ['floor-a', 'bare-wire', 'rxmux-json'] as const satisfies readonly AdapterName[];
const PAGE = join(ROOT, 'docs/benchmarks/timeline.md');

type Compared = (typeof COMPARED)[number];

/** The times of each phase, one for each pass, in µs. */
type Times = Record<Compared, number[][]>;

const page = `# Where time passes between the call and its answer

\`npm run bench:timeline\` writes this page. Both processes mark when something happens, on the clock that they share. The figures are medians in µs, of ${ROUNDS} pairs of processes each, by turns.
The medians of parts need not add up to the median of the whole. Marking takes time too, the same for every adapter.

${machineLine(environment())}.

## A request that is alone, as in W1

${table(REQUEST, await taken(REQUEST, timesOfRequests))}

## From dialing to the first answer, as in W9

${table(DIAL, await taken(DIAL, timesOfDials))}
`;
console.log(page);
if (!quick) writeText(PAGE, page);

async function taken({ phases }: Way, measure: (adapter: Compared) => Promise<number[][]>): Promise<Times> {
  const none = (): number[][] => phases.map(() => []);
  const times: Times = { 'floor-a': none(), 'bare-wire': none(), 'rxmux-json': none() };
  for (let round = 0; round < ROUNDS; round++) {
    for (const adapter of COMPARED) {
      for (const way of await measure(adapter)) way.forEach((us, phase) => times[adapter][phase]?.push(us));
    }
  }
  return times;
}

async function timesOfRequests(adapter: Compared): Promise<number[][]> {
  return withProcesses(adapter, {}, async (pair) => {
    await warmUp(pair);
    const { marks } = await pair.marked('sequential', { ms: REQUESTS_MS, atLeast: 100 });
    const times = timesOf(REQUEST, marks);
    // The marking makes the engine drop its compiled code once.
    return times.slice(times.length / 2);
  });
}

async function timesOfDials(adapter: Compared): Promise<number[][]> {
  return withProcesses(adapter, {}, async (pair) => {
    const { marks } = await pair.marked('connects', { times: FIRST_DIALS + MEASURED_DIALS });
    return timesOf(DIAL, marks).slice(FIRST_DIALS);
  });
}

function table({ phases }: Way, times: Times): string {
  const row = (title: string, took: (adapter: Compared) => number): string[] => [
    title,
    ...COMPARED.map((adapter) => figure(took(adapter))),
    figure(took('rxmux-json') - took('floor-a')),
  ];
  return markdown(
    ['', ...COMPARED, 'more than floor-a'],
    [
      ...phases.map(({ title }, phase) => row(title, (adapter) => median(times[adapter][phase] ?? []))),
      row('all', (adapter) => median(wholes(times[adapter]))),
    ],
  );
}

/** The whole time of each pass. */
function wholes(phases: readonly (readonly number[])[]): number[] {
  return (phases[0] ?? []).map((_us, n) => phases.reduce((sum, times) => sum + (times[n] ?? 0), 0));
}
