// `npm run bench:price` measures what tracing, metrics and inspection add to a request: CPU of both ends in one process, by turns.
import { join } from 'node:path';
import { context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOffSampler, BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { inspect } from 'rxmux/inspect';
import { instrument } from 'rxmux/otel';
import { createPair } from 'rxmux/testing';
import type { Pair } from 'rxmux/testing';
import { fromCommandLine, readQuick } from './harness/command-line.js';
import { cpuOfARequest } from './harness/in-memory.js';
import { ROOT } from './harness/place.js';
import { median } from './harness/statistics.js';
import { machineLine } from './report/machine-line.js';
import { environment } from './report/results.js';
import { figure, markdown } from './report/table.js';
import { writeBetween } from './report/write.js';

const quick = fromCommandLine(readQuick);
const ROUNDS = quick ? 2 : 25;
const REQUESTS = quick ? 500 : 4_000;
const PAGE = join(ROOT, 'docs/guide/observing.md');

/** A pair that is observed in one way. */
interface Case {
  readonly title: string;
  readonly observe: (pair: Pair) => unknown;
  /** Whether the program has registered the context manager and the propagator of an SDK. */
  readonly hasSdk?: boolean;
}

/** Keeps metrics, and reads none. */
class Unread extends MetricReader {
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
}

const sampled = new BasicTracerProvider();
const unsampled = new BasicTracerProvider({ sampler: new AlwaysOffSampler() });
const measured = new MeterProvider({ readers: [new Unread()] });

const PLAIN: Case = { title: 'nothing', observe: () => undefined };
const CASES: readonly Case[] = [
  { title: 'nothing, once more', observe: () => undefined },
  { title: 'an inspector that has closed', observe: ({ dialer }) => inspect(dialer).close() },
  { title: 'an inspector of one end', observe: ({ dialer }) => inspect(dialer) },
  { title: 'OpenTelemetry without an SDK', observe: bothEnds({}) },
  { title: 'spans, none of them sampled', observe: bothEnds({ tracerProvider: unsampled }), hasSdk: true },
  { title: 'spans, all of them sampled', observe: bothEnds({ tracerProvider: sampled }), hasSdk: true },
  { title: 'metrics alone', observe: bothEnds({ meterProvider: measured }) },
  { title: 'all spans, and metrics', observe: bothEnds({ tracerProvider: sampled, meterProvider: measured }), hasSdk: true },
];

const pairs = [PLAIN, ...CASES].map((each) => ({ ...each, pair: observed(each), us: [] as number[] }));
for (const each of pairs) await priceOf(each);
for (let round = 0; round < ROUNDS; round++) for (const each of pairs) each.us.push(await priceOf(each));

const [plain, ...others] = pairs;
const table = markdown(
  ['a peer with', 'CPU of a request, µs', 'more than nothing, µs'],
  [
    [PLAIN.title, figure(median(plain?.us ?? [])), ''],
    ...others.map(({ title, us }) => [title, figure(median(us)), median(us.map((own, n) => own - (plain?.us[n] ?? NaN))).toFixed(1)]),
  ],
);
const text = `\`npm run bench:price\` writes this table: the CPU of both ends of a request, in one process and in memory, as the median of ${ROUNDS} rounds by turns. Spans are at both ends, and no exporter reads them.

${table}

${machineLine(environment())}.`;
console.log(text);
if (!quick) await writeBetween(PAGE, 'price', text);
// The pairs keep the process alive.
process.exit();

function bothEnds(options: Parameters<typeof instrument>[1]): Case['observe'] {
  return ({ dialer, acceptor }) => [dialer, acceptor].map((peer) => instrument(peer, { ...options, methods: ['sum'] }));
}

function observed({ observe }: Case): Pair {
  const pair = createPair({ acceptor: { onStream: (_, stream) => stream.reply(3) } });
  observe(pair);
  return pair;
}

/** The CPU of a request under observation, in µs. */
async function priceOf({ pair, hasSdk = false }: Case & { readonly pair: Pair }): Promise<number> {
  if (hasSdk) {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  }
  const us = await cpuOfARequest(pair, REQUESTS);
  context.disable();
  propagation.disable();
  return us;
}
