import type { Headers } from '../harness/adapter.js';
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

interface Loop extends Span {
  readonly inFlight: number;
  /** Whether each request has a header as tracing adds it. Default `false`. */
  readonly traced?: boolean;
}

/** Keeps a number of requests in flight: each answer starts the next request. */
export async function closedLoop({ client }: TaskContext, { inFlight, traced = false, ...span }: Loop) {
  let requests = 0;
  const begun = performance.now();
  const goesOn = timer(span);
  const lane = async (): Promise<void> => {
    while (goesOn(requests)) {
      const n = requests++;
      checkSmall(await (traced ? client.request(small(n), traceOf(n)) : client.request(small(n))), n);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { requests, perSecond: requests / ((performance.now() - begun) / 1_000) };
}

/** A `traceparent` (W3C Trace Context) of its own for each request. */
function traceOf(n: number): Headers {
  return { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${n.toString(16).padStart(16, '0')}-01` };
}

function timer({ ms, atLeast }: Span): (done: number) => boolean {
  const begun = performance.now();
  return (done) => {
    const spent = performance.now() - begun;
    return spent < ms || (done < atLeast && spent < LONGEST_MS);
  };
}
