import { small } from '../harness/payloads.js';
import { quantile } from '../harness/statistics.js';
import { checkSmall } from './checks.js';
import type { TaskContext } from './context.js';

/** How long to make requests: for some ms, and longer where a busy machine has allowed too few for a result. */
interface Span {
  readonly ms: number;
  readonly atLeast: number;
}

/** No span goes on for longer than this, in ms. */
const LONGEST_MS = 5_000;

/** One request after the other. */
export async function sequential({ client }: TaskContext, span: Span) {
  const latencies: number[] = [];
  const goesOn = timer(span);
  for (let n = 0; goesOn(n); n++) {
    const begun = performance.now();
    checkSmall(await client.request(small(n)), n);
    latencies.push((performance.now() - begun) * 1_000);
  }
  return { p50Us: quantile(latencies, 0.5), p99Us: quantile(latencies, 0.99), requests: latencies.length };
}

/** Keeps so many requests in flight: each answer starts the next request. */
export async function closedLoop({ client }: TaskContext, { inFlight, ...span }: Span & { readonly inFlight: number }) {
  let requests = 0;
  const begun = performance.now();
  const goesOn = timer(span);
  const lane = async (): Promise<void> => {
    while (goesOn(requests)) {
      const n = requests++;
      checkSmall(await client.request(small(n)), n);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { requests, perSecond: requests / ((performance.now() - begun) / 1_000) };
}

function timer({ ms, atLeast }: Span): (done: number) => boolean {
  const begun = performance.now();
  return (done) => {
    const spent = performance.now() - begun;
    return spent < ms || (done < atLeast && spent < LONGEST_MS);
  };
}
