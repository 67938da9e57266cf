import { describe, expect, it } from '@jest/globals';
import type { Mark, Moment } from '../../bench/harness/timeline.js';
import { DIAL, REQUEST, timesOf } from '../../bench/report/phases.js';

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
