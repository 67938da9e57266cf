import { small } from '../harness/payloads.js';
import { median } from '../harness/statistics.js';
import { checkSmall } from './checks.js';
import type { TaskContext } from './context.js';

/** Measures from dialing to the first reply, one connection after the other. */
export async function connects({ connect }: TaskContext, { times }: { readonly times: number }) {
  const took: number[] = [];
  for (let n = 0; n < times; n++) {
    const begun = performance.now();
    const client = await connect();
    checkSmall(await client.request(small(n)), n);
    took.push(performance.now() - begun);
    await client.close();
  }
  return { medianMs: median(took) };
}

/** Opens connections and keeps them. Each has made one request. */
export async function connections({ connect }: TaskContext, { count }: { readonly count: number }) {
  for (let n = 0; n < count; n++) {
    const client = await connect();
    checkSmall(await client.request(small(n)), n);
    kept.push(client);
  }
  return { count: kept.length };
}

const kept: unknown[] = [];
