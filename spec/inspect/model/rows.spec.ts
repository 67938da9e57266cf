import { describe, expect, it, jest } from '@jest/globals';
import { Row, Rows } from '../../../examples/inspector/model/rows.js';
import { line, request, timelineOf } from './lines.js';
import type { InspectorLine } from '../../../src/inspect.js';

function rowsOf(folds: boolean, ...lines: readonly InspectorLine[]): Rows {
  const rows = new Rows(folds);
  rows.add(timelineOf(...lines).lanes);
  return rows;
}

function titles(rows: Rows): string[][] {
  return rows.all.map(({ lanes }) => lanes.map(({ title }) => title));
}

const THREE = [...request(0, 1, 10, { n: 'a' }), ...request(5, 3, 20, { n: 'b' }), ...request(1_000, 5, 1_010, { n: 'b' })];

describe('rows', () => {
  it('Each lane has a row of its own while rows do not fold', () => {
    expect(titles(rowsOf(false, ...THREE))).toEqual([['connection 1'], ['#1 a'], ['#3 b'], ['#5 b']]);
  });

  it('A folded row takes the next stream of its name once a stream has ended', () => {
    expect(titles(rowsOf(true, ...THREE))).toEqual([['connection 1'], ['#1 a'], ['#3 b', '#5 b']]);
  });

  it('A stream takes no row whose stream goes on or has only just ended', () => {
    const lines = [line(0, '>', { type: 'open', stream: 1 }), ...request(0, 3, 900), ...request(0, 5, 10), ...request(1_000, 7, 1_001)];
    expect(titles(rowsOf(true, ...lines))).toEqual([['connection 1'], ['#1'], ['#3'], ['#5', '#7']]);
  });

  it('A stream takes a row of another name once there are many rows', () => {
    const names = Array.from({ length: 20 }, (_, n) => request(n * 1_000, 2 * n + 1, n * 1_000 + 5, { n: `name ${n}` }));
    const rows = titles(rowsOf(true, ...names.flat()));
    expect(rows).toHaveLength(17);
    expect(rows[1]).toEqual(['#1 name 0', '#33 name 16', '#35 name 17', '#37 name 18', '#39 name 19']);
  });

  it('Each connection has its rows together', () => {
    const lines = [
      line(0, '>', { type: 'open', stream: 1 }),
      line(1, '>', { type: 'open', stream: 1 }, { c: 2 }),
      line(2, '>', { type: 'open', stream: 3 }),
    ];
    expect(titles(rowsOf(true, ...lines))).toEqual([['connection 1'], ['#1'], ['#3'], ['connection 2'], ['#1']]);
  });

  it('A row is seen while one of its lanes goes on and has marbles that match', () => {
    const [, row] = rowsOf(true, ...request(100, 1, 200)).all;
    expect([row?.isSeen(0, 99), row?.isSeen(0, 100), row?.isSeen(150, 160), row?.isSeen(201, 300)]).toEqual([false, true, true, false]);
    for (const lane of row?.lanes ?? []) lane.matching = 0;
    expect(row?.isSeen(150, 160)).toBe(false);
  });

  it('A row that several names share has the name of a lane that the filter shows', () => {
    const [, row] = rowsOf(true, ...request(0, 1, 10, { n: 'a' })).all;
    const [, other] = rowsOf(true, ...request(1_000, 3, 1_010, { n: 'b' })).all;
    row?.lanes.push(...(other?.lanes ?? []));
    expect(row?.laneAt(2_000)?.name).toBe('b');
    for (const lane of other?.lanes ?? []) lane.matching = 0;
    expect(row?.laneAt(2_000)?.name).toBe('a');
  });

  it('Rows drop forgotten lanes, and the rows that become empty', () => {
    const rows = rowsOf(true, ...THREE);
    for (const { lanes } of rows.all) for (const lane of lanes) if (lane.openedAt < 100) lane.forgetBefore(100);
    rows.forget();
    expect(titles(rows)).toEqual([['connection 1'], ['#5 b']]);
  });

  it('Rows drop a lost connection once it is forgotten', () => {
    const timeline = timelineOf(...request(0, 1, 10));
    const rows = new Rows(true);
    rows.add(timeline.lanes);
    timeline.lost(1, 20);
    for (const lane of timeline.lanes) lane.forgetBefore(100);
    rows.forget();
    expect(titles(rows)).toEqual([]);
  });

  it('Twice as many streams at once, which have ended all, take about twice as many looks at rows', () => {
    const newest = jest.spyOn(Row.prototype, 'newest', 'get');
    const looksAt = (streams: number): number => {
      const { lanes } = timelineOf(...Array.from({ length: streams }, (_, n) => request(n, 2 * n + 1, 100_000 + n)).flat());
      newest.mockClear();
      new Rows(true).add(lanes);
      return newest.mock.calls.length;
    };
    expect(looksAt(2_000) / looksAt(1_000)).toBeLessThan(2.5);
    newest.mockRestore();
  });

  it('New streams look once at the rows of open streams, however many come at once', () => {
    const newest = jest.spyOn(Row.prototype, 'newest', 'get');
    const looksAt = (openRows: number): number => {
      const open = Array.from({ length: openRows }, (_, n) => line(n, '>', { type: 'open', stream: 2 * n + 1 }));
      const timeline = timelineOf(...open);
      const rows = new Rows(true);
      rows.add(timeline.lanes);
      const later = Array.from({ length: 50 }, (_, n) => timeline.add(line(5_000, '>', { type: 'open', stream: 10_001 + 2 * n })).lane);
      newest.mockClear();
      rows.add(later);
      return newest.mock.calls.length;
    };
    expect(looksAt(1_000) - looksAt(100)).toBe(900);
    newest.mockRestore();
  });
});
