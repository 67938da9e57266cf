import type { Reading } from '../harness/rounds.js';
import type { Workload } from '../workloads/workload.js';
import { summarize } from './summary.js';

/** A Markdown table of one workload: medians, and in brackets the ratio to the reference. */
export function workloadTable(workload: Workload, readings: readonly Reading[], adapters: readonly string[], reference: string): string {
  const head = workload.metrics.map(({ title, better }) => `${title} (${better === 'higher' ? '↑' : '↓'})`);
  const rows = adapters
    .filter((adapter) => readings.some((reading) => reading.workload === workload.id && reading.adapter === adapter))
    .map((adapter) => [
      adapter,
      ...workload.metrics.map(({ key }) => {
        const { median, ratio } = summarize(readings, workload.id, adapter, key, reference);
        return `${figure(median)} (${Number.isFinite(ratio) ? ratio.toFixed(2) : '–'})`;
      }),
    ]);
  return markdown([workload.id, ...head], rows);
}

/** A table whose columns are padded to one width, the first to the left and the others to the right. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** A number with three significant digits, and its thousands apart. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) < 1_000) return String(Number(value.toPrecision(3)));
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ' ');
}
