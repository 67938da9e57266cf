import { join } from 'node:path';
import { ROOT } from '../harness/place.js';
import { barPanels } from './bars.js';
import { comparison, comparisonPoints, standing } from './comparison.js';
import { mainGoalsTable } from './goals.js';
import type { Results } from './results.js';
import { writeBetween, writeText } from './write.js';

const NOTE = 'Longer is better. 1 is a peer by hand, or the smallest client.';

/** A drawing for the width of a README on a desk, and one for a phone. */
const LAYOUTS = {
  'speed.svg': { columns: 2, width: 624 },
  'speed-phone.svg': { columns: 1, width: 342 },
} as const;

/** Writes what pages draw and quote of a run: the tables of the guide, the first table of the record, the plots, and a sentence below them. */
export async function keepComparison(results: Results): Promise<void> {
  await writeBetween(join(ROOT, 'docs/guide/speed.md'), 'benchmarks', comparison(results));
  await writeBetween(join(ROOT, 'docs/PERFORMANCE.md'), 'main goals', mainGoalsTable(results));
  await writeBetween(join(ROOT, 'README.md'), 'standing', standing(results));
  const points = comparisonPoints(results);
  for (const [file, layout] of Object.entries(LAYOUTS)) writeText(join(ROOT, 'docs/benchmarks', file), barPanels(points, NOTE, layout));
}
