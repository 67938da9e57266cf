import { describe, expect, it } from '@jest/globals';
import { randomFrom, shuffled } from '../../bench/harness/random.js';
import { comparable, isStarved, regressions } from '../../bench/harness/verdict.js';
import type { Ratios } from '../../bench/harness/verdict.js';
import { summarize } from '../../bench/report/summary.js';
import { figure, markdown } from '../../bench/report/table.js';
import { higher, lower } from '../../bench/workloads/workload.js';

const WORKLOADS = [{ id: 'W', metrics: [higher('rate', 'items/s'), lower('cost', 'µs/item')] }];
const RECORDED: Ratios = { W: { rate: 2, cost: 0.4 } };

describe('a ratio against the recorded one', () => {
  it.each<[string, Ratios, string[]]>([
    ['the same', { W: { rate: 2, cost: 0.4 } }, []],
    ['better in both', { W: { rate: 9, cost: 0.1 } }, []],
    ['worse within the allowance', { W: { rate: 1.61, cost: 0.49 } }, []],
    ['a rate that fell too far', { W: { rate: 1.59, cost: 0.4 } }, ['rate']],
    ['a cost that rose too far', { W: { rate: 2, cost: 0.51 } }, ['cost']],
    ['both', { W: { rate: 1, cost: 0.8 } }, ['rate', 'cost']],
    ['a figure that is missing', { W: { rate: 2 } }, ['cost']],
    ['a workload that is missing', {}, ['rate', 'cost']],
  ])('A ratio is judged against the recorded one: %s', (_title, measured, expected) => {
    expect(regressions(WORKLOADS, RECORDED, measured, 0.25).map(({ metric }) => metric)).toEqual(expected);
  });

  it('A ratio without a recording is a regression; a regression shows both values', () => {
    expect(regressions(WORKLOADS, { W: { rate: 2 } }, { W: { rate: 1, cost: 0.4 } }, 0.25)).toEqual([
      { workload: 'W', metric: 'rate', recorded: 2, measured: 1 },
      { workload: 'W', metric: 'cost', recorded: NaN, measured: 0.4 },
    ]);
  });
});

describe('the recordings to compare with', () => {
  const recordings = ['one processor', 'another'].map((processor) => ({ processor, ratios: {} }));

  it.each([
    ['another', ['another']],
    ['a third', ['one processor', 'another']],
  ])('A run compares with the recording of its processor, or else with all: %s', (processor, expected) => {
    expect(comparable(recordings, processor).map((recording) => recording.processor)).toEqual(expected);
  });

  it('The comparison throws without a recording', () => {
    expect(() => comparable([], 'one processor')).toThrow(new TypeError('expected a recording to compare with, got none'));
  });
});

it.each([
  ['both ends at full speed', { perSecond: 90_000, clientUs: 10.6, serverUs: 10.2 }, false],
  ['one end at full speed', { perSecond: 130_000, clientUs: 3, serverUs: 7.2 }, false],
  ['a core for half of the time', { perSecond: 45_000, clientUs: 10.6, serverUs: 10.2 }, true],
  ['no figures', {}, true],
])('`isStarved` reports whether other work kept the machine busy: %s', (_title, figures, expected) => {
  expect(isStarved(figures)).toBe(expected);
});

it('`summarize` takes the ratios within each round', () => {
  const reading = (round: number, adapter: 'floor-a' | 'rxmux-json', rate: number) => ({
    ...{ round, adapter, workload: 'W', limits: {}, figures: { rate } },
  });
  const readings = [
    [100, 200],
    [10, 30],
    [1_000, 1_000],
  ].flatMap(([reference = 0, own = 0], round) => [reading(round, 'floor-a', reference), reading(round, 'rxmux-json', own)]);
  expect(summarize(readings, 'W', 'rxmux-json', 'rate', 'floor-a')).toEqual({ median: 200, ratio: 2 });
  expect(summarize(readings, 'W', 'floor-b', 'rate', 'floor-a')).toEqual({ median: NaN, ratio: NaN });
});

describe('the order of adapters', () => {
  const names = Array.from({ length: 20 }, (_, n) => n);

  it('The order of adapters is the same for the same seed, and differs for another', () => {
    expect(shuffled(names, randomFrom(7))).toEqual(shuffled(names, randomFrom(7)));
    expect(shuffled(names, randomFrom(7))).not.toEqual(shuffled(names, randomFrom(8)));
  });

  it('The order keeps all adapters, and puts each in every place equally often', () => {
    const random = randomFrom(1);
    const firsts = new Map<number, number>();
    for (let run = 0; run < 2_000; run++) {
      const order = shuffled(names, random);
      expect(new Set(order).size).toBe(names.length);
      firsts.set(order[0] ?? -1, (firsts.get(order[0] ?? -1) ?? 0) + 1);
    }
    expect(Math.min(...names.map((name) => firsts.get(name) ?? 0))).toBeGreaterThan(50);
    expect(Math.max(...firsts.values())).toBeLessThan(200);
  });
});

it.each([
  [0.123456, '0.123'],
  [999.4, '999'],
  [1_234_567.8, '1 234 568'],
  [NaN, '–'],
])('`figure` prints %d as %s', (value, expected) => {
  expect(figure(value)).toBe(expected);
});

it('`markdown` aligns a table', () => {
  expect(
    markdown(
      ['name', 'n'],
      [
        ['a', '1 000'],
        ['long name', '2'],
      ],
    ),
  ).toBe(['| name      |     n |', '|-----------|------:|', '| a         | 1 000 |', '| long name |     2 |'].join('\n'));
});
