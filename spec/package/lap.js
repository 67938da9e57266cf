import { performance } from 'node:perf_hooks';

/** Prints how long a step took. A machine that does other things takes longer, so no time is a failure. */
export async function lap(title, step) {
  const began = performance.now();
  await step();
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${title}`);
}
