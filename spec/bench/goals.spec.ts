import { describe, expect, it } from '@jest/globals';
import type { AdapterName } from '../../bench/harness/adapter-names.js';
import { goalsTable } from '../../bench/report/goals.js';
import type { Results } from '../../bench/report/results.js';

const NOTHING: Results = { seed: 1, environment: {}, versions: {}, readings: [], bundles: [], streams: [], connections: [] };

function results(workload: string, metric: string, values: Partial<Record<AdapterName, number>>): Results {
  const readings = Object.entries(values).map(([adapter, value]) => ({
    round: 0,
    workload,
    adapter,
    figures: { [metric]: value },
    limits: {},
  }));
  return { ...NOTHING, readings } as never;
}

/** The cells of the row whose title begins with `title`. */
function row(of: Results, title: string): string[] {
  const line = goalsTable(of)
    .split('\n')
    .find((each) => each.startsWith(`| ${title}`));
  return (line ?? '')
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

describe('the table of goals', () => {
  it('The table says whether a ratio is met, and shows the wire by hand and the best peer', () => {
    const fast = results('W1', 'p50Us', { 'floor-a': 100, 'rxmux-json': 105, 'bare-wire': 90, rsocket: 97, 'socket.io': 133 });
    expect(row(fast, 'W1')).toEqual(['≤ 1.05', '1.05', 'yes', '0.90', '0.97 rsocket']);
    const slow = results('W2@1024', 'perSecond', { 'floor-a': 100, 'rxmux-json': 199, rsocket: 89, http2: 23 });
    expect(row(slow, 'W2@1024')).toEqual(['≥ 2.00', '1.99', 'no', '–', '0.89 rsocket']);
  });

  it('The table compares requests with a header with the same requests without it', () => {
    const traced = results('W2@64-header', 'clientRatio', { 'floor-a': 1.02, 'rxmux-json': 1.29, 'rxmux-msgpack': 1.07 });
    const client = (codec: string): string[] => row(traced, `W2@64-header a header on each request, client CPU${codec} `);
    expect(client('')).toEqual(['≤ 1.10', '1.29', 'no', '–', '–']);
    expect(client(', msgpack')).toEqual(['≤ 1.15', '1.07', 'yes', '–', '–']);
  });

  it('The table shows bytes of streams and kilobytes of bundles without a ratio', () => {
    const idle = results('W7', 'clientBytes', { 'floor-a': 137, 'rxmux-json': 601, capnweb: 9_628 });
    expect(row(idle, 'W7 heap of an idle stream, client')).toEqual(['≤ 600 B', '601 B', 'no', '–', '9 628 B capnweb']);
    const bundles = ['rxmux, without rxjs', 'rxjs alone', 'graphql-ws', 'capnweb'].map((name, nth) => ({
      name,
      min: 0,
      gzip: 27_000 + nth,
    }));
    const client = (title: string): string[] => row({ ...NOTHING, bundles }, `W8 client of ${title}, min+gzip,`);
    expect(client('rxmux')).toEqual(['≤ 28 KB', '27 KB', 'yes', '–', '27 KB graphql-ws']);
  });

  it('The table shows the cost of each further idle connection beyond the bare socket', () => {
    const points = (adapter: AdapterName, each: number) =>
      [10, 20].map((connections) => ({ adapter, connections, clientBytes: 5_000 + each * connections, serverBytes: 0 }));
    const connections = [...points('ws', 8_000), ...points('rxmux-json', 30_000), ...points('socket.io', 18_000)];
    const cells = row({ ...NOTHING, connections }, 'memory of an idle connection beyond the bare socket, client');
    expect(cells).toEqual(['≤ 12 KB', '22 KB', 'no', '–', '10 KB socket.io']);
  });

  it('The table shows a dash for a missing measurement', () => {
    expect(row(NOTHING, 'W9')).toEqual(['≤ 1.15', '–', '–', '–', '–']);
  });
});
