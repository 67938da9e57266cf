// `npm run bench:redraw` writes again what README.md, docs/guide/speed.md and docs/PERFORMANCE.md draw and quote, from the last run in docs/benchmarks.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPeers, ROOT } from './harness/place.js';
import { keepComparison } from './report/keep-comparison.js';
import type { Results } from './report/results.js';

installPeers();
await keepComparison(JSON.parse(readFileSync(join(ROOT, 'docs/benchmarks/results.json'), 'utf8')) as Results);
