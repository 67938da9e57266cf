import { describe, expect, it } from '@jest/globals';
import { tableBelow, writeTable } from '../docs/markdown.js';
import { readMeasured } from './figures.js';
import { play } from './herd.js';
import { loadOf, planOf, redialing, returnMs, TO_EACH_USER, WORKLOADS } from './plan.js';
import { tablesOf } from './tables.js';

const PAGE = 'docs/SCALE.md';
const measured = readMeasured();
const tables = [...tablesOf(measured)];

// `TABLES=write npx jest spec/scale` writes the tables after a change of a figure.
if (process.env['TABLES'] === 'write') for (const [heading, rows] of tables) writeTable(PAGE, heading, rows);

describe('the page about a million connections', () => {
  it.each(tables)('The table below `%s` has the figures of the simulation', (heading, rows) => {
    expect(tableBelow(PAGE, heading)).toEqual(rows);
  });
});

describe('a plan', () => {
  it.each(WORKLOADS)('One process less carries $name, and two less do not', (workload) => {
    const { figures } = measured;
    const { processes } = planOf(workload, figures);
    const [enough, tooFew] = [1, 2].map((missing) => loadOf(workload, processes - missing, figures));
    expect(enough?.busy).toBeLessThanOrEqual(0.5);
    expect(enough?.bytes).toBeLessThanOrEqual(1024 ** 3);
    expect(redialing(processes, figures)).toBeLessThanOrEqual(1);
    expect((tooFew?.busy ?? 0) > 0.5 || (tooFew?.bytes ?? 0) > 1024 ** 3 || redialing(processes - 1, figures) > 1).toBe(true);
  });

  it('A cost of dials that memory hides asks for more processes', () => {
    const figures = { ...measured.figures, connectionRssBytes: 1, connectionHeapBytes: 1, followHeapBytes: 1, dialUs: 2_000 };
    const { processes } = planOf(TO_EACH_USER, figures);
    const all = { clients: 1_000_000, costMs: returnMs(figures), busy: 0, spreadMs: null, downMs: 0 };
    const reconnect = { maxDelayMs: 60_000 };
    expect(play({ ...all, processes, reconnect }).allMs).toBeLessThan(Infinity);
    expect(play({ ...all, processes: Math.floor(processes / 4), reconnect }).allMs).toBe(Infinity);
  });

  it('A message to one follower reaches one process, and a message to all reaches all processes', () => {
    const { figures } = measured;
    expect(loadOf({ name: '', published: 7, followers: 1 }, 10, figures).fromBroker).toBeCloseTo(7);
    expect(loadOf({ name: '', published: 7, followers: 1e6 }, 10, figures).fromBroker).toBeCloseTo(70);
  });
});

describe('a herd', () => {
  const herd = { clients: 10_000, processes: 10, costMs: 0, busy: 0, spreadMs: null, downMs: 0 };

  it('Clients of a killed server come back within 500 ms where a dial costs nothing', () => {
    const { halfMs, allMs, timeouts } = play(herd);
    expect(halfMs).toBeGreaterThan(200);
    expect(halfMs).toBeLessThan(300);
    expect(allMs).toBeGreaterThan(490);
    expect(allMs).toBeLessThanOrEqual(500);
    expect(timeouts).toBe(0);
  });

  it('Clients of a draining server come back within the spread and one second more', () => {
    const { allMs, peak } = play({ ...herd, spreadMs: 5_000 });
    expect(allMs).toBeGreaterThan(5_000);
    expect(allMs).toBeLessThanOrEqual(6_000);
    expect(peak).toBeLessThan(300);
  });

  it('A herd whose dials time out for ever never comes back', () => {
    expect(play({ ...herd, costMs: 100, busy: 0.5 })).toMatchObject({ halfMs: Infinity, allMs: Infinity });
  });

  it('Clients wait in line where their dials cost more than the core has', () => {
    // 1 000 dials at each process, of 4 ms each at half a core.
    const { allMs, timeouts } = play({ ...herd, costMs: 2, busy: 0.5 });
    expect(allMs).toBeGreaterThan(4_000);
    expect(allMs).toBeLessThan(5_500);
    expect(timeouts).toBe(0);
  });

  it('A client abandons a dial after 10 s, and dials again', () => {
    const { allMs, timeouts } = play({ ...herd, costMs: 20 });
    expect(timeouts).toBeGreaterThan(0);
    expect(allMs).toBeGreaterThan(20_000);
  });

  it('Clients come back within 5 s of the first process that listens', () => {
    const { allMs } = play({ ...herd, downMs: 30_000 });
    expect(allMs).toBeGreaterThan(30_000);
    expect(allMs).toBeLessThanOrEqual(35_000);
  });

  it('The same herd comes back in the same way', () => {
    expect(play(herd)).toEqual(play(herd));
  });
});
