// `npm run bench:targets` measures the CPU of a request in a bundle for each target of a bundler. Below ES2022 a bundler may turn each private member into a
// WeakMap. The run fails if such a target costs more than the newest one by a quarter.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type * as testing from 'rxmux/testing';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import { cpuOfARequest } from './harness/in-memory.js';
import { BUILT, ROOT } from './harness/place.js';
import { median, medianRatio } from './harness/statistics.js';
import { machineLine } from './report/machine-line.js';
import { environment } from './report/results.js';
import { figure, markdown } from './report/table.js';
import { writeBetween } from './report/write.js';

const quick = fromCommandLine(readQuick);
const ROUNDS = quick ? 15 : 100;
const REQUESTS = 2_000;
const ALLOWANCE = 1.25;
const PAGE = join(ROOT, 'docs/PERFORMANCE.md');
/** The first one is compared with. Vite 6 compiles for ES2020 by default. */
const TARGETS = ['es2022', 'es2020', 'es2018'];

// Below the checkout, where a bundle finds the packages that it leaves out.
const folder = mkdtempSync(join(ROOT, 'dist/targets-'));
process.on('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});

const measured = await Promise.all(TARGETS.map(async (target) => ({ target, pair: await pairOf(target), us: [] as number[] })));
for (const { pair } of measured) await cpuOfARequest(pair, REQUESTS);
for (let round = 0; round < ROUNDS; round++) for (const { pair, us } of measured) us.push(await cpuOfARequest(pair, REQUESTS));

const newest = measured[0]?.us ?? [];
const rows = measured.map(({ target, us }) => ({ target, us: median(us), ratio: medianRatio(us.map((own, nth) => [own, newest[nth]])) }));
const table = markdown(
  ['compiled for', 'CPU of a request, µs', 'to ES2022'],
  rows.map(({ target, us, ratio }) => [target.toUpperCase(), figure(us), ratio.toFixed(2)]),
);
const text = `\`npm run bench:targets\` writes this table: the CPU of both ends of a request, in one process and in memory, as the median of ${ROUNDS} rounds by turns. Each pair is a bundle of its own.

${table}

${machineLine(environment())}.`;
console.log(text);
if (!quick) await writeBetween(PAGE, 'targets', text);
const dear = rows.filter(({ ratio }) => !(ratio <= ALLOWANCE));
for (const { target, ratio } of dear)
  console.error(`${target}: expected at most ${ALLOWANCE} of the CPU of ${TARGETS[0] ?? ''}, got ${ratio.toFixed(2)}`);
// The pairs keep the process alive.
process.exit(dear.length === 0 ? 0 : 1);

/** Two peers out of a bundle for one target. */
async function pairOf(target: string): Promise<testing.Pair> {
  const outfile = join(folder, `${target}.mjs`);
  await build({
    entryPoints: [join(BUILT, 'testing.js')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target,
    outfile,
    external: ['ws'],
  });
  const { createPair } = (await import(pathToFileURL(outfile).href)) as typeof testing;
  return createPair({ acceptor: { onStream: (_, stream) => stream.reply(3) } });
}
