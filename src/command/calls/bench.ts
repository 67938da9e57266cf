import { createHistogram, performance } from 'node:perf_hooks';
import type { RecordableHistogram } from 'node:perf_hooks';
import type { ExitStatus } from '../exit.js';
import { numberOf, wholeOf } from '../headers.js';
import { calling } from './calling.js';
import { COMMON_HELP } from './settings.js';
import type { CallSettings } from './settings.js';
import { withPeer } from './with-peer.js';

export const help = `rxmux bench: repeats a request, and prints how long the answers took

USAGE
  rxmux bench [options] URL [NAME] [PAYLOAD]

All requests share one connection. The first one that fails ends the run.

OPTIONS
  --seconds N       begin requests for so long (default 5)
  --flight N        keep N requests in flight (default 64)
  --text            the payload is a text, and no JSON
${COMMON_HELP}
EXAMPLES
  rxmux bench ws://127.0.0.1:8080 '["check.echo",1]'
  rxmux bench --json --flight 1 ws://127.0.0.1:8080 @query.json
`;

const MOST_IN_FLIGHT = 100_000;
const NS_PER_MS = 1e6;
const MS_PER_S = 1_000;

/** The result of a run. */
interface Run {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly flight: number;
  readonly latencyMs: Readonly<Record<'p50' | 'p90' | 'p99' | 'max', number>>;
}

/** Runs `rxmux bench`. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const options = { seconds: { type: 'string', default: '5' }, flight: { type: 'string', default: '64' } } as const;
  return calling(args, { kinds: ['request'], options }, repeat);
}

async function repeat(settings: CallSettings, payload: unknown): Promise<ExitStatus> {
  const seconds = numberOf('seconds', String(settings.own['seconds']));
  const flight = wholeOf('flight', String(settings.own['flight']), 1, MOST_IN_FLIGHT);
  return withPeer(settings, async (peer) => {
    const latency = createHistogram();
    const began = performance.now();
    const ends = began + seconds * MS_PER_S;
    const requests = async (): Promise<void> => {
      do {
        const sent = performance.now();
        await peer.request(payload);
        latency.record(Math.max(1, Math.round((performance.now() - sent) * NS_PER_MS)));
      } while (performance.now() < ends);
    };
    await Promise.all(Array.from({ length: flight }, requests));
    const result = runOf(latency, flight, (performance.now() - began) / MS_PER_S);
    process.stdout.write(settings.json ? `${JSON.stringify(result)}\n` : shown(result));
  });
}

function runOf(latency: RecordableHistogram, flight: number, seconds: number): Run {
  const at = (percentile: number): number => rounded(latency.percentile(percentile) / NS_PER_MS);
  return {
    requests: latency.count,
    seconds: rounded(seconds),
    perSecond: Math.round(latency.count / seconds),
    flight,
    latencyMs: { p50: at(50), p90: at(90), p99: at(99), max: rounded(latency.max / NS_PER_MS) },
  };
}

function shown({ requests, seconds, perSecond, flight, latencyMs: { p50, p90, p99, max } }: Run): string {
  return `${requests} requests in ${seconds} s, ${flight} in flight: ${perSecond} a second
answered after ${p50} ms (half), ${p90} ms (90 %), ${p99} ms (99 %), ${max} ms (all)
`;
}

/** Three digits are as many as the histogram keeps. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
