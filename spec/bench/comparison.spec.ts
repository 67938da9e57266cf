import { describe, expect, it } from '@jest/globals';
import { comparison, comparisonPoints } from '../../bench/report/comparison.js';
import type { Results } from '../../bench/report/results.js';
import { textOf } from '../docs/markdown.js';

const NOTHING: Results = { seed: 1, environment: {}, versions: {}, readings: [], bundles: [], streams: [], connections: [] };

/** Undoes the padding of the page's cells by prettier. */
const unpadded = (text: string): string =>
  text
    .replace(/[- ]+/g, ' ')
    .replace(/ ?\| ?/g, '|')
    .trim();

describe('the comparison of the guide', () => {
  it('The comparison of the guide agrees with the stored run', () => {
    const [, kept = ''] = /<!-- benchmarks -->([^]*)<!-- end of benchmarks -->/.exec(textOf('docs/guide/speed.md')) ?? [];
    const run = JSON.parse(textOf('docs/benchmarks/results.json')) as Results;
    expect(unpadded(kept)).toBe(unpadded(comparison(run)));
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
