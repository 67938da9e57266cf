import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { AdapterName } from '../../bench/harness/adapter-names.js';
import { parseOptions, readQuick } from '../../bench/harness/command-line.js';
import { summed } from '../../bench/harness/cpu-times.js';
import type { FunctionTime } from '../../bench/harness/cpu-times.js';
import { grown, summed as summedFromHeapClasses } from '../../bench/harness/heap-classes.js';
import { machineTime, machineTimeOf, stolenShare } from '../../bench/harness/machine-time.js';
import { objects, small } from '../../bench/harness/payloads.js';
import { randomFrom, shuffled } from '../../bench/harness/random.js';
import { BenchService } from '../../bench/harness/service.js';
import { leastSquares, median, medianRatio, quantile } from '../../bench/harness/statistics.js';
import type { Mark, Moment } from '../../bench/harness/timeline.js';
import { comparable, isStarved, regressions } from '../../bench/harness/verdict.js';
import type { Ratios } from '../../bench/harness/verdict.js';
import { readOptions } from '../../bench/options.js';
import type { Options } from '../../bench/options.js';
import { barPanels } from '../../bench/report/bars.js';
import { comparison, comparisonPoints, standing } from '../../bench/report/comparison.js';
import { cpuParts } from '../../bench/report/cpu-parts.js';
import { goalsTable, mainGoalsTable } from '../../bench/report/goals.js';
import { DIAL, REQUEST, timesOf } from '../../bench/report/phases.js';
import type { Results } from '../../bench/report/results.js';
import { summarize } from '../../bench/report/summary.js';
import { figure, markdown } from '../../bench/report/table.js';
import { checkNumber, checkSmall, checkText } from '../../bench/tasks/checks.js';
import { higher, lower } from '../../bench/workloads/workload.js';
import { parseJson } from '../../src/codec/json-text.js';
import { JsonCodec } from '../../src/index.js';
import { textOf } from '../docs/markdown.js';
import fc from '../support/fast-check.js';

describe('statistics', () => {
  /** fast-check prints the seed with a failure. */
  const SEED = { seed: Number(process.env['FC_SEED'] ?? 1) };

  describe('the median', () => {
    it.each([
      ['The median of one value is the value', [7], 7],
      ['The median of an odd number of values is the middle one, in any order', [9, 1, 5], 5],
      ['The median of an even number of values is half-way between the two in the middle', [4, 1, 10, 2], 3],
      ['The median of negative and repeated values is the middle one', [-3, -3, 2], -3],
      ['The median of no values is NaN', [], NaN],
    ])('%s', (_title, values, expected) => {
      expect(median(values)).toBe(expected);
    });

    it('The median leaves its argument in the same order', () => {
      const values = [3, 1, 2];
      median(values);
      expect(values).toEqual([3, 1, 2]);
    });

    it('The median has at most half of the values on either side', () => {
      fc.assert(
        fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
          const middle = median(values);
          expect(values.filter((value) => value < middle).length).toBeLessThanOrEqual(values.length / 2);
          expect(values.filter((value) => value > middle).length).toBeLessThanOrEqual(values.length / 2);
        }),
        SEED,
      );
    });
  });

  it.each([
    ['the least value', 0, 10],
    ['the greatest value', 1, 50],
    ['one of the values', 0.25, 20],
    ['between two values, in proportion', 0.9, 46],
  ])('`quantile` returns %s', (_title, share, expected) => {
    expect(quantile([50, 40, 30, 20, 10], share)).toBeCloseTo(expected, 10);
  });

  it.each<[string, [number | undefined, number | undefined][], number]>([
    [
      'of each round, not of the medians',
      [
        [2, 1],
        [30, 10],
        [8, 2],
      ],
      3,
    ],
    [
      'without rounds that lack a figure',
      [
        [2, 1],
        [undefined, 1],
        [3, undefined],
        [4, 1],
      ],
      3,
    ],
    [
      'without rounds whose reference is zero',
      [
        [2, 0],
        [5, 1],
      ],
      5,
    ],
    ['of no rounds', [], NaN],
  ])('The ratio is the median of the ratios %s', (_title, rounds, expected) => {
    expect(medianRatio(rounds)).toBe(expected);
  });

  describe('least squares', () => {
    it('Least squares find the line through points on a line', () => {
      const line = fc.record({ slope: fc.integer({ min: -100, max: 100 }), intercept: fc.integer({ min: -100, max: 100 }) });
      fc.assert(
        fc.property(line, fc.uniqueArray(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 2 }), ({ slope, intercept }, xs) => {
          const found = leastSquares(xs.map((x) => [x, intercept + slope * x]));
          expect(found.slope).toBeCloseTo(slope, 6);
          expect(found.intercept).toBeCloseTo(intercept, 6);
        }),
        SEED,
      );
    });

    it('Least squares find a line between points on no line', () => {
      const found = leastSquares([
        [0, 1],
        [1, 0],
        [2, 2],
      ]);
      expect(found.slope).toBeCloseTo(0.5, 10);
      expect(found.intercept).toBeCloseTo(0.5, 10);
    });

    it('Least squares find no slope when all points share one x', () => {
      expect(
        leastSquares([
          [1, 1],
          [1, 2],
        ]).slope,
      ).toBeNaN();
    });
  });
});

describe('verdict', () => {
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
    const recordings = [
      { processor: 'one', node: 20, ratios: {} },
      { processor: 'another', node: 20, ratios: {} },
      { processor: 'one', node: 24, ratios: {} },
    ];

    it.each([
      ['one', 24, ['one 24']],
      ['another', 24, ['one 24']],
      ['a third', 20, ['one 20', 'another 20']],
      ['one', 26, ['one 20', 'another 20', 'one 24']],
    ])(
      'A run compares with the recording of its processor and Node, or else with all of its Node: %s on %d',
      (processor, node, expected) => {
        expect(comparable(recordings, { processor, node }).map((recording) => `${recording.processor} ${recording.node}`)).toEqual(
          expected,
        );
      },
    );

    it('The comparison throws without a recording', () => {
      expect(() => comparable([], { processor: 'one', node: 20 })).toThrow(new TypeError('expected a recording to compare with, got none'));
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
});

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

describe('the table of goals', () => {
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

describe('machine time', () => {
  it("`machineTimeOf` reads the time of all cores and the stolen time, and counts no guest's time twice", () => {
    expect(machineTimeOf('cpu  10 20 30 40 50 60 70 80 900 900\ncpu0 1 2 3 4 5 6 7 8 9 9\n')).toEqual({ all: 360, stolen: 80 });
  });

  it('`stolenShare` returns the share between two samples', () => {
    expect(stolenShare({ all: 1_000, stolen: 10 }, { all: 1_200, stolen: 16 })).toBe(0.03);
    expect(stolenShare({ all: 0, stolen: 0 }, { all: 0, stolen: 0 })).toBe(0);
  });

  it('`machineTime` never decreases', () => {
    const before = machineTime();
    expect(stolenShare(before, machineTime())).toBeGreaterThanOrEqual(0);
    expect(before.stolen).toBeLessThanOrEqual(before.all);
  });
});

const marks = (...given: readonly (readonly [atUs: number, moment: Moment, connection?: number])[]): Mark[] =>
  given.map(([atUs, moment, connection = 0]) => ({ atUs, moment, connection }));

describe('the phases of a request', () => {
  it('A request is divided by its next mark on the side at work, each time it runs', () => {
    const client = marks(
      [0, 'called'],
      [2, 'written'],
      [30, 'read'],
      [33, 'answered'],
      [40, 'called'],
      [41, 'written'],
      [60, 'read'],
      [62, 'answered'],
    );
    const server = marks([10, 'read'], [14, 'written'], [50, 'read'], [53, 'written']);
    expect(timesOf(REQUEST, { client, server })).toEqual([
      [2, 8, 4, 16, 3],
      [1, 9, 3, 7, 2],
    ]);
  });

  it('The phases of a request ignore other writes and reads', () => {
    const client = marks([0, 'called'], [2, 'written'], [3, 'written'], [30, 'read'], [31, 'written'], [33, 'answered']);
    const server = marks([1, 'written'], [10, 'read'], [11, 'read'], [14, 'written'], [15, 'written']);
    expect(timesOf(REQUEST, { client, server })).toEqual([[2, 8, 4, 16, 3]]);
  });

  it('The phases of a request fail without the last mark', () => {
    const client = marks([0, 'called'], [2, 'written'], [30, 'read'], [33, 'answered']);
    expect(() => timesOf(REQUEST, { client, server: marks([10, 'read']) })).toThrow(
      "expected a mark 'written' of connection 0 for 'server: from what it has read until it writes', got none",
    );
  });

  it('Without a call there are no phases', () => {
    expect(timesOf(REQUEST, { client: marks([1, 'read']), server: [] })).toEqual([]);
  });
});

describe('the phases of a dial', () => {
  it('The phases of a dial use its own connection, while the connection before is closing', () => {
    const client = marks(
      [0, 'dialed', 2],
      [1, 'written', 1],
      [5, 'connecting', 2],
      [6, 'written', 2],
      [20, 'read', 1],
      [40, 'read', 2],
      [47, 'opened', 2],
      [48, 'called', 2],
      [50, 'written', 2],
      [90, 'read', 2],
      [93, 'answered', 2],
    );
    const server = marks([12, 'written', 1], [25, 'upgraded', 2], [26, 'read', 1], [28, 'written', 2], [60, 'read', 2], [71, 'written', 2]);
    expect(timesOf(DIAL, { client, server })).toEqual([[5, 20, 3, 12, 7, 3, 10, 11, 19, 3]]);
  });
});

const node = (id: number, functionName: string, url: string, lineNumber = 0): Profiler.ProfileNode => ({
  id,
  callFrame: { functionName, url, lineNumber, columnNumber: 0, scriptId: '1' },
});

const profile: Profiler.Profile = {
  startTime: 0,
  endTime: 1_000,
  nodes: [
    node(1, '(idle)', ''),
    node(2, 'send', 'a.js', 4),
    node(3, 'send', 'a.js', 9),
    node(4, 'send', 'a.js', 4),
    node(5, 'never', 'a.js'),
  ],
  samples: [2, 1, 3, 4, 3, 2],
  timeDeltas: [10, 500, 20, 30, 40, 1],
};

describe('a CPU profile', () => {
  it('A CPU profile is summed by function over all callers, without idle time', () => {
    expect(summed(profile, ({ url }) => `/src/${url}`)).toEqual([
      { name: 'send', file: '/src/a.js', us: 60 },
      { name: 'send', file: '/src/a.js', us: 41 },
    ]);
  });

  it('A CPU profile without samples has no times', () => {
    expect(summed({ startTime: 0, endTime: 0, nodes: profile.nodes }, () => '')).toEqual([]);
  });

  it('A CPU profile is divided into parts, each function into one', () => {
    const took = (name: string, file: string, us: number): FunctionTime => ({ name, file, us });
    const parts = cpuParts([
      took('writeBuffer', '', 1),
      took('writev', '', 2),
      took('(garbage collector)', '', 4),
      took('parseJson', '/p/src/codec/json-text.ts', 8),
      took('encodePayload', '/p/src/codec/json.ts', 16),
      took('encodePayload', '/p/src/codec/msgpack.ts', 32),
      took('startLoop', '/p/node_modules/ws/lib/receiver.js', 64),
      took('now', '/p/node_modules/rxjs/dist/cjs/internal/scheduler/dateTimestampProvider.js', 128),
      took('settle', '/p/src/connection/closing.ts', 256),
      took('log', '/p/src/logger.ts', 512),
      took('lane', '/p/bench/dist/1/harness/worker.js', 1_024),
      took('emit', 'node:events', 2_048),
      took('latin1Write', '', 4_096),
    ]);
    expect(parts.filter(({ us }) => us > 0)).toEqual([
      { title: 'the system call that writes', us: 3 },
      { title: 'garbage collection', us: 4 },
      { title: '`JSON.parse` of payloads', us: 8 },
      { title: '`JSON.stringify` of payloads', us: 16 },
      { title: '`ws`: reading frames', us: 64 },
      { title: 'rxjs', us: 128 },
      { title: '`src/codec`', us: 32 },
      { title: '`src/connection`', us: 256 },
      { title: 'the rest of `src`', us: 512 },
      { title: 'the benchmark itself', us: 1_024 },
      { title: 'Node: buffers, streams, sockets, promises', us: 6_144 },
    ]);
  });

  it('The parts name functions of the sources that exist', () => {
    expect([JsonCodec.prototype.encodePayload.name, parseJson.name]).toEqual(['encodePayload', 'parseJson']);
  });
});

describe('the growth of a heap', () => {
  it('The growth of a heap is counted per kept thing, largest first, without classes of few instances', () => {
    const before = [
      { name: 'Small', count: 5, bytes: 50 },
      { name: 'Same', count: 7, bytes: 70 },
    ];
    const after = [
      { name: 'Small', count: 15, bytes: 150 },
      { name: 'Same', count: 7, bytes: 70 },
      { name: 'Rare', count: 0.9, bytes: 900 },
      { name: 'Large', count: 20, bytes: 4_000 },
    ];
    expect(grown(before, after, 10)).toEqual([
      { name: 'Large', count: 2, bytes: 400 },
      { name: 'Small', count: 1, bytes: 10 },
    ]);
  });
});

describe('a heap snapshot', () => {
  it('A heap snapshot is summed by class: functions by name, the rest by kind', () => {
    const meta = { node_fields: ['type', 'name', 'id', 'self_size'], node_types: [['array', 'object', 'closure'], 'string'] as const };
    const rows = [
      [1, 1, 3, 40],
      [0, 0, 5, 16],
      [2, 2, 7, 56],
      [1, 1, 9, 48],
      [2, 0, 11, 64],
      [0, 3, 13, 32],
    ];
    expect(summedFromHeapClasses({ snapshot: { meta }, nodes: rows.flat(), strings: ['', 'Session', 'heard', 'elements'] })).toEqual([
      { name: 'Session', count: 2, bytes: 88 },
      { name: '(array)', count: 2, bytes: 48 },
      { name: 'function heard', count: 1, bytes: 56 },
      { name: 'function (anonymous)', count: 1, bytes: 64 },
    ]);
  });
});

function optionsOf(...args: string[]): Options {
  return readOptions(args, '/project');
}

function refusal(message: string): unknown {
  return expect.objectContaining({ name: 'TypeError', message });
}

describe('the command line of a benchmark', () => {
  it.each<[string, string[], string]>([
    [
      'an unknown option',
      ['--only', 'W3'],
      "Unknown option '--only'; expected some of --quick, --browser, --workloads, --adapters, --rounds, --seed, --profile, --out",
    ],
    [
      'an option without its value',
      ['--rounds'],
      "Option '--rounds <value>' argument missing; expected some of --quick, --browser, --workloads, --adapters, --rounds, --seed, --profile, --out",
    ],
    ['zero rounds', ['--rounds', '0'], "--rounds: expected a positive whole number, got '0'"],
    ['part of a round', ['--rounds', '1.5'], "--rounds: expected a positive whole number, got '1.5'"],
    ['a seed that is no number', ['--seed', 'x'], "--seed: expected a positive whole number, got 'x'"],
  ])('The command line of a benchmark refuses %s', (_title, args, message) => {
    expect(() => optionsOf(...args)).toThrow(refusal(message));
  });

  it.each([
    ['--adapters', 'floor-b', 'floor-z'],
    ['--workloads', 'W3', 'W33'],
  ])('For %s the command line lists the valid names when one is unknown', (option, known, unknown) => {
    expect(() => optionsOf(option, `${known},${unknown}`)).toThrow(
      new RegExp(`^${option}: expected some of .*${known}.*, got '${unknown}'$`),
    );
  });

  it('The command line says that there are no options when there are none', () => {
    expect(() => parseOptions(['--quick'], {})).toThrow(refusal("Unknown option '--quick'; expected no options"));
  });

  it.each([
    [[], false],
    [['--quick'], true],
  ])('The arguments %j choose whether a run is quick: %j', (args, quick) => {
    expect(readQuick(args)).toBe(quick);
  });
});

describe('the options of a benchmark', () => {
  it('A benchmark runs and stores everything by default', () => {
    const { workloads, growth, bundles, rounds, out } = optionsOf();
    expect(workloads.map(({ id }) => id)).toEqual(expect.arrayContaining(['W1', 'W2@64', 'W2@1024', 'W9']));
    expect({ bundles, rounds }).toEqual({ bundles: true, rounds: 5 });
    expect([growth.streams.length, growth.connections.length]).toEqual([4, 5]);
    expect(out).toMatch(/project[/\\]docs[/\\]benchmarks$/);
  });

  it('A partial benchmark is only printed, unless a place is named', () => {
    expect(optionsOf('--quick').out).toBeNull();
    expect(optionsOf('--workloads', 'W3').out).toBeNull();
    expect(optionsOf('--workloads', 'W3', '--out', 'there').out).toMatch(/there$/);
  });

  it('The name of several workloads selects each of them', () => {
    const { workloads, growth, bundles } = optionsOf('--workloads', 'W2');
    expect(workloads.map(({ id }) => id)).toEqual(['W2@64', 'W2@1024', 'W2@64-header']);
    expect([bundles, growth.streams, growth.connections]).toEqual([false, [], []]);
  });

  it('A benchmark needs the packages of bench/ to measure a peer or bundles', () => {
    const needsPeers = (...args: string[]): boolean => optionsOf(...args).needsPeers;
    expect(needsPeers('--workloads', 'W3', '--adapters', 'rxmux-json,floor-a')).toBe(false);
    expect(needsPeers('--workloads', 'W3', '--adapters', 'socket.io')).toBe(true);
    expect(needsPeers('--workloads', 'W8', '--adapters', 'rxmux-json')).toBe(true);
  });
});

describe('package', () => {
  interface Lock {
    readonly packages: Readonly<Record<string, { readonly version: string; readonly resolved?: string }>>;
  }

  function lockOf(directory: string): Lock {
    return JSON.parse(readFileSync(join(__dirname, '../..', directory, 'package-lock.json'), 'utf8')) as Lock;
  }

  it.each(['ws', 'rxjs', '@msgpack/msgpack'])('The benchmark measures floors and rxmux over the same %s', (name) => {
    const place = `node_modules/${name}`;
    expect(lockOf('bench').packages[place]?.version).toBe(lockOf('').packages[place]?.version);
  });

  it('The lock of the benchmark records no download addresses', () => {
    expect(Object.values(lockOf('bench').packages).filter(({ resolved }) => resolved?.startsWith('http') === true)).toEqual([]);
  });

  it.each([0, 1, 899_999])('Every small payload has 93 bytes of JSON (%i)', (n) => {
    expect(Buffer.byteLength(JSON.stringify(small(n)))).toBe(93);
  });

  it('`objects` fills the requested bytes with objects, up to one', () => {
    const bytes = Buffer.byteLength(JSON.stringify(objects(100_000)));
    expect(bytes).toBeLessThanOrEqual(100_001);
    expect(bytes).toBeGreaterThan(99_900);
  });

  it('The service answers a text with its length, a wish with a text of that length, all else with itself', () => {
    const service = new BenchService();
    expect(service.answer('abc')).toBe(3);
    expect(service.answer({ text: 3 })).toBe('xxx');
    expect(service.answer(small(1))).toEqual(small(1));
  });

  it('The service emits the requested items, and keeps a stream without items open', () => {
    const service = new BenchService();
    expect([...(service.items({ items: 2 }) ?? [])]).toEqual([small(0), small(1)]);
    expect([...(service.items({ items: 2, bytes: 3 }) ?? [])]).toEqual(['xxx', 'xxx']);
    expect(service.idle).toBe(0);
    expect(service.items({ items: 0 })).toBeNull();
    expect(service.idle).toBe(1);
  });

  it.each<[string, () => void]>([
    ['the answer to another request', () => checkSmall(small(2), 1)],
    ['a damaged answer that is checked whole', () => checkSmall({ ...small(64), user: 'u' }, 64)],
    ['no answer', () => checkSmall(null, 1)],
    ['a text that is too short', () => checkText('xx', 3)],
    ['a text with another end', () => checkText('xxy', 3)],
    ['a value that is no text', () => checkText(3, 3)],
    ['another number', () => checkNumber(4, 5)],
  ])('A check fails at %s', (_title, check) => {
    expect(check).toThrow(/^a wrong answer: expected /);
  });

  it('The checks accept the right answers', () => {
    expect(() => {
      checkSmall(small(0), 0);
      checkSmall({ ...small(65) }, 65);
      checkText('xxx', 3);
      checkNumber(4, 4);
    }).not.toThrow();
  });
});

describe('the bars of the first page', () => {
  const points = [
    { series: 'requests & replies', x: 'rxmux', y: 2 },
    { series: 'requests & replies', x: 'other', y: 0.5 },
    { series: 'size', x: 'rxmux', y: 0.06 },
  ];
  const textsOf = (svg: string): string[] => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text = '']) => text);

  it('A panel of each series has the names, the figures, and one marked bar', () => {
    const drawn = barPanels(points, 'Longer is better.', { columns: 2, width: 640 });
    const panels = ['requests &amp; replies', 'rxmux', '2.0', 'other', '0.50', 'size', 'rxmux', '0.06'];
    expect(textsOf(drawn)).toEqual([...panels, 'Longer is better.']);
    expect(drawn.match(/class="own"/g)).toHaveLength(2);
    expect(drawn.match(/class="one"/g)).toHaveLength(2);
  });

  it.each([
    ['a desk', { columns: 2, width: 640 }],
    ['a phone', { columns: 1, width: 360 }],
  ])(
    'All that is drawn for %s is within its frame, in letters of 12 px and more, with colours for programs without styles',
    (_what, layout) => {
      const drawn = barPanels(points, 'note', layout);
      const height = Number(/height="(\d+)"/.exec(drawn)?.[1]);
      for (const [, x, y] of drawn.matchAll(/ x="([\d.]+)" y="([\d.]+)"/g)) {
        expect(Number(x)).toBeLessThanOrEqual(layout.width);
        expect(Number(y)).toBeLessThanOrEqual(height);
      }
      for (const [, size] of drawn.matchAll(/font-size="(\d+)"/g)) expect(Number(size)).toBeGreaterThanOrEqual(12);
      for (const [shape] of drawn.matchAll(/<(?:text|rect)[^>]*>/g)) expect(shape).toContain('fill="#');
    },
  );

  it('The committed drawings show the committed run', () => {
    const run = JSON.parse(textOf('docs/benchmarks/results.json')) as Results;
    for (const { series, y } of comparisonPoints(run).filter(({ x }) => x === 'rxmux')) {
      for (const file of ['speed.svg', 'speed-phone.svg']) {
        const texts = textsOf(textOf(`docs/benchmarks/${file}`));
        const figure = Number(texts[texts.indexOf(series) + 2]);
        expect(Math.abs(figure - y)).toBeLessThanOrEqual(Math.max(0.05 * y, 0.01));
      }
    }
  });
});
