import { describe, expect, it } from '@jest/globals';
import { grown, summed } from '../../bench/harness/heap-classes.js';

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
    expect(summed({ snapshot: { meta }, nodes: rows.flat(), strings: ['', 'Session', 'heard', 'elements'] })).toEqual([
      { name: 'Session', count: 2, bytes: 88 },
      { name: '(array)', count: 2, bytes: 48 },
      { name: 'function heard', count: 1, bytes: 56 },
      { name: 'function (anonymous)', count: 1, bytes: 64 },
    ]);
  });
});
