import { describe, expect, it } from '@jest/globals';
import { comparison, comparisonPoints, standing } from '../../bench/report/comparison.js';
import { goalsTable, mainGoalsTable } from '../../bench/report/goals.js';
import type { Results } from '../../bench/report/results.js';
import { textOf } from '../docs/markdown.js';

const NOTHING: Results = { seed: 1, environment: {}, versions: {}, readings: [], bundles: [], streams: [], connections: [] };

/** Undoes the padding of the page's cells by prettier. */
const unpadded = (text: string): string =>
  text
    .replace(/[- ]+/g, ' ')
    .replace(/ ?\| ?/g, '|')
    .trim();

describe('what pages quote of a run', () => {
  it.each([
    ['docs/guide/speed.md', 'benchmarks', comparison],
    ['docs/PERFORMANCE.md', 'main goals', mainGoalsTable],
    ['README.md', 'standing', standing],
  ])('The page %s agrees with the stored run', (file, name, drawn) => {
    const [, kept = ''] = new RegExp(`<!-- ${name} -->([^]*)<!-- end of ${name} -->`).exec(textOf(file)) ?? [];
    const run = JSON.parse(textOf('docs/benchmarks/results.json')) as Results;
    expect(unpadded(kept)).toBe(unpadded(drawn(run)));
  });

  it('The page of the benchmarks has the goals of the stored run', () => {
    const run = JSON.parse(textOf('docs/benchmarks/results.json')) as Results;
    expect(textOf('docs/benchmarks/README.md')).toContain(goalsTable(run));
  });

  it('A row has rxmux ahead only if it is the best of all, and no worse than the reference', () => {
    const figures = (requests: number, size: number): Results =>
      ({
        ...NOTHING,
        readings: [
          { round: 0, workload: 'W2@64', adapter: 'floor-a', figures: { perSecond: 100 }, limits: {} },
          { round: 0, workload: 'W2@64', adapter: 'rxmux-json', figures: { perSecond: requests }, limits: {} },
        ],
        bundles: [
          { name: 'rxmux', min: 0, gzip: size },
          { name: 'graphql-ws', min: 0, gzip: 10 },
        ],
      }) as never;
    expect(standing(figures(101, 9))).toBe('rxmux is ahead in 2 of 2 rows.');
    expect(standing(figures(99, 11))).toBe(
      'rxmux is ahead in 0 of 2 rows. It is behind in these: requests/s, 64 in flight; size of a client.',
    );
  });

  it('The plot of the guide shows each figure as times as good as the reference', () => {
    const run = JSON.parse(textOf('docs/benchmarks/results.json')) as Results;
    const points = comparisonPoints(run);
    const own = (x: string): number[] => points.filter((point) => point.x === x).map(({ y }) => y);
    const [requests = 0, , beside = 0, dial = 0] = own('rxmux');
    expect([requests > 1, beside > 1, dial < 1]).toEqual([true, true, true]);
    expect(points.filter(({ series, y }) => series.startsWith('size') && y === 1)).toHaveLength(1);
    expect(comparisonPoints(NOTHING)).toEqual([]);
  });

  it('The comparison shows a dash for a missing measurement', () => {
    const cells = comparison(NOTHING).split('\n')[2]?.split('|').slice(2, -1);
    expect(cells?.map((cell) => cell.trim())).toEqual(['–', '–', '–', '–', '–']);
    expect(comparison(NOTHING)).toContain(', 0 are met');
  });
});
