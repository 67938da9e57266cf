import { join } from 'node:path';
import { ROOT } from '../harness/place.js';
import { comparison, standing } from './comparison.js';
import { mainGoalsTable } from './goals.js';
import type { Results } from './results.js';
import { writeBetween, writeText } from './write.js';

/** Writes what pages draw and quote of a run: the tables of the guide, the first table of the record, the plot, and a sentence below it. */
export async function keepComparison(results: Results): Promise<void> {
  const { drawComparison } = await import('./plots.js');
  await writeBetween(join(ROOT, 'docs/guide/speed.md'), 'benchmarks', comparison(results));
  await writeBetween(join(ROOT, 'docs/PERFORMANCE.md'), 'main goals', mainGoalsTable(results));
  await writeBetween(join(ROOT, 'README.md'), 'standing', standing(results));
  writeText(join(ROOT, 'docs/benchmarks/speed.svg'), await drawComparison(results));
}
