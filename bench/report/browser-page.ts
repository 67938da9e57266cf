import type { BrowserResults } from '../browser/run.js';
import { REFERENCE } from '../harness/adapter-names.js';
import type { Workload } from '../workloads/workload.js';
import { machineLine } from './results.js';
import { figure, workloadTable } from './table.js';

const METHOD = `Written by \`npm run bench -- --browser\`: the workloads W1 to W6 with a page of headless Chromium as the client, and a process of Node as the server, on the same two cores.
A cell is the median over the rounds, and in brackets the median of the ratios to \`${REFERENCE}\` of the same round, which is written by hand here too. CPU of the client is the time in tasks of
the page's main thread.`;

/** The page of what was measured in a browser. */
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
    `While 64 MiB went up, in ${figure(seconds)} s, ${figure(timers / seconds)} timers a second were set, and \`bufferedAmount\` was read ${figure(looks / seconds)} times a second.`,
  ];
  return `${sections.join('\n\n')}\n`;
}
