import type { BrowserResults } from '../browser/run.js';
import { REFERENCE } from '../harness/adapter-names.js';
import type { Workload } from '../workloads/workload.js';
import { machineLine } from './machine-line.js';
import { figure, workloadTable } from './table.js';

const METHOD = `\`npm run bench -- --browser\` writes this page. It runs the workloads W1 to W6. The client is a page of headless Chromium, and the server is a process of Node on the same two cores.
A cell is the median over the rounds. In brackets is the median of the ratios to \`${REFERENCE}\` of the same round, which is written by hand here too. CPU of the client is the time in tasks of
the page's main thread.`;

/** The page of the measurements in a browser. */
export function browserPage({ readings, environment, chromium, polling }: BrowserResults, workloads: readonly Workload[]): string {
  const adapters = [...new Set(readings.map(({ adapter }) => adapter))].sort();
  const measured = workloads.filter(({ id }) => readings.some(({ workload }) => workload === id));
  const { seconds, looks, timers } = polling;
  const sections = [
    '# In a browser',
    METHOD,
    `${machineLine(environment)}; Chromium ${chromium}.`,
    ...measured.flatMap((workload) => [`## ${workload.id}: ${workload.title}`, workloadTable(workload, readings, adapters, REFERENCE)]),
    '## Looking at `bufferedAmount`',
    `While 64 MiB went up, in ${figure(seconds)} s, ${figure(timers / seconds)} timers a second were set, and the page read \`bufferedAmount\` ${figure(looks / seconds)} times a second.`,
  ];
  return `${sections.join('\n\n')}\n`;
}
