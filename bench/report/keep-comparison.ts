import { join } from 'node:path';
import { ROOT } from '../harness/place.js';
import { comparison } from './comparison.js';
import type { Results } from './results.js';
import { writeBetween, writeText } from './write.js';

/** Writes the comparison of the first page: its tables, and its plot. */
export async function keepComparison(results: Results): Promise<void> {
  const { drawComparison } = await import('./plots.js');
  await writeBetween(join(ROOT, 'docs/guide/speed.md'), 'benchmarks', comparison(results));
  writeText(join(ROOT, 'docs/benchmarks/speed.svg'), await drawComparison(results));
}
