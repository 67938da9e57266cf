import { describe, expect, it } from '@jest/globals';
import { randomFrom, shuffled } from '../../bench/harness/random.js';
import { isStarved, nearest, regressions } from '../../bench/harness/verdict.js';
import type { Ratios, Recording } from '../../bench/harness/verdict.js';
import { summarize } from '../../bench/report/summary.js';
import { figure, markdown } from '../../bench/report/table.js';
import { higher, lower } from '../../bench/workloads/workload.js';

const WORKLOADS = [{ id: 'W', metrics: [higher('rate', 'items/s'), lower('cost', 'µs/item')] }];
const BY_HAND: Ratios = { W: { rate: 3, cost: 0.3 } };
const RECORDED: Recording = { library: { W: { rate: 2, cost: 0.4 } }, byHand: BY_HAND };

function worse(library: Ratios, byHand: Ratios = BY_HAND, recorded = RECORDED): string[] {
  return regressions(WORKLOADS, recorded, { library, byHand }, 0.25).map(({ metric }) => metric);
}

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
    expect(worse(measured)).toEqual(expected);
  });

  it.each<[string, Ratios, Ratios, string[]]>([
    ['as much worse as the wire by hand', { W: { rate: 1.4, cost: 0.56 } }, { W: { rate: 2.1, cost: 0.42 } }, []],
    ['worse beyond both', { W: { rate: 1.1, cost: 0.8 } }, { W: { rate: 2.1, cost: 0.42 } }, ['rate', 'cost']],
    [
      'worse when only the other figure of the wire by hand is worse',
      { W: { rate: 2, cost: 0.56 } },
      { W: { rate: 2.1, cost: 0.3 } },
      ['cost'],
    ],
    ['worse when the wire by hand is better', { W: { rate: 1.59, cost: 0.51 } }, { W: { rate: 9, cost: 0.1 } }, ['rate', 'cost']],
    ['within the allowance when the wire by hand is better', { W: { rate: 1.61, cost: 0.49 } }, { W: { rate: 9, cost: 0.1 } }, []],
    [
      'far worse, with a wire by hand that is worse without bound',
      { W: { rate: 0.5, cost: 4 } },
      { W: { rate: 0.1, cost: 9 } },
      ['rate', 'cost'],
    ],
    ['the wire by hand not measured', { W: { rate: 2, cost: 0.4 } }, {}, ['rate', 'cost']],
  ])('A ratio is judged beside the wire by hand: %s', (_title, library, byHand, expected) => {
    expect(worse(library, byHand)).toEqual(expected);
  });

  it('A figure without a recording is a regression; it shows both values and the change of the machine', () => {
    const measured = { library: { W: { rate: 1, cost: 0.4 } }, byHand: { W: { rate: 2.4, cost: 0.3 } } };
    expect(regressions(WORKLOADS, { ...RECORDED, library: { W: { rate: 2 } } }, measured, 0.25)).toEqual([
      { workload: 'W', metric: 'rate', recorded: 2, measured: 1, machine: 1.25 },
      { workload: 'W', metric: 'cost', recorded: NaN, measured: 0.4, machine: 1 },
    ]);
  });
});

describe('the recording to compare with', () => {
  const of = (processor: string, rate: number, cost: number) => ({ processor, library: {}, byHand: { W: { rate, cost } } });
  const recordings = [of('dear calls', 2, 0.4), of('cheap calls', 1, 0.8)];

  it.each<[string, Ratios, string]>([
    ['the same as the first', { W: { rate: 2, cost: 0.4 } }, 'dear calls'],
    ['the same as the second', { W: { rate: 1, cost: 0.8 } }, 'cheap calls'],
    ['worse than all', { W: { rate: 0.5, cost: 1.6 } }, 'cheap calls'],
    ['nearer to the first by factors', { W: { rate: 1.45, cost: 0.5 } }, 'dear calls'],
    ['without a rate', { W: { rate: NaN, cost: 0.7 } }, 'cheap calls'],
    ['of nothing', {}, 'dear calls'],
  ])('The recording to compare with has the nearest wire by hand: %s', (_which, byHand, expected) => {
    expect(nearest(recordings, byHand).processor).toBe(expected);
  });

  it('A recording that lacks a figure is not chosen when another has it', () => {
    const lacking = { ...of('lacking', 2, 0.4), byHand: {} };
    expect(nearest([lacking, ...recordings], { W: { rate: 1, cost: 0.8 } }).processor).toBe('cheap calls');
  });

  it('The comparison throws without a recording', () => {
    expect(() => nearest([], {})).toThrow(new TypeError('expected a recording to compare with, got none'));
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
