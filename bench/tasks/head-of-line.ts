import { small, text } from '../harness/payloads.js';
import { quantile } from '../harness/statistics.js';
import { checkNumber, checkSmall, checkText } from './checks.js';
import { readStream } from './context.js';
import type { TaskContext } from './context.js';

interface HeadOfLine {
  /** The transfer meanwhile: nothing for `ms`, one request of `bytes`, or a stream of `items` of `bytes` each. */
  readonly meanwhile: 'nothing' | 'up' | 'down';
  readonly everyMs: number;
  readonly ms?: number;
  readonly bytes?: number;
  readonly items?: number;
}

/**
 * Sends a small request every so often during a large transfer. Latency counts from the time when a request was due, not from
 * the time when a busy process sent it.
 */
export async function headOfLine({ client }: TaskContext, args: HeadOfLine) {
  const { everyMs } = args;
  const latencies: number[] = [];
  const probes: Promise<void>[] = [];
  const begun = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const probe = async (n: number): Promise<void> => {
    checkSmall(await client.request(small(n)), n);
    latencies.push(performance.now() - (begun + n * everyMs));
  };
  const sendDue = (): void => {
    while (begun + probes.length * everyMs <= performance.now()) probes.push(probe(probes.length));
    timer = setTimeout(sendDue, Math.max(0, begun + probes.length * everyMs - performance.now()));
  };
  sendDue();
  await load(client, args);
  sendDue();
  clearTimeout(timer);
  const transferMs = performance.now() - begun;
  await Promise.all(probes);
  return { p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99), transferMs, probes: latencies.length };
}

async function load(client: TaskContext['client'], { meanwhile, ms = 0, bytes = 0, items = 0 }: HeadOfLine): Promise<void> {
  if (meanwhile === 'nothing') await new Promise((resolve) => setTimeout(resolve, ms));
  else if (meanwhile === 'up') checkNumber(await client.request(text(bytes)), bytes);
  else {
    let received = 0;
    await readStream(client, { items, bytes }, (item) => {
      checkText(item, bytes);
      received++;
    });
    checkNumber(received, items);
  }
}
