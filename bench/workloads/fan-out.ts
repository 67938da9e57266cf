import { ANSWERING, WITH_FEED } from '../harness/adapter-names.js';
import type { AnsweredBy } from '../harness/adapter.js';
import type { Pair } from '../harness/pair.js';
import { warmUp } from './requests.js';
import { higher, lower } from './workload.js';
import type { Figures, Workload } from './workload.js';

const SUBSCRIBERS = 300;
const WARM_VALUES = 60;
const VALUES = 120;
const METRICS = [higher('perSecond', 'deliveries/s'), lower('serverUs', 'server µs/delivery'), lower('clientUs', 'client µs/delivery')];

/** One value after the other to many subscribers, each with a connection of its own. rxmux encodes each value once. */
export function fanOut(id: string, bytes: number): Workload {
  return {
    id,
    title: `values of ${bytes / 1_000} KB to ${SUBSCRIBERS} subscribers`,
    needs: {},
    adapters: WITH_FEED,
    metrics: METRICS,
    run: (pair, scale) => deliver(pair, scale, bytes, 'observable'),
  };
}

/** {@link fanOut} by notifications: each value opens a stream for each subscriber, which ends with it. */
export function notify(id: string, bytes: number): Workload {
  return {
    id,
    title: `values of ${bytes / 1_000} KB to ${SUBSCRIBERS} subscribers, by server.notify`,
    needs: {},
    adapters: ANSWERING,
    metrics: METRICS,
    run: (pair, scale) => deliver(pair, scale, bytes, 'notify'),
  };
}

async function deliver(pair: Pair, scale: number, bytes: number, by: AnsweredBy): Promise<Figures> {
  await warmUp(pair);
  await pair.task('subscribe', { count: SUBSCRIBERS, by });
  await pair.task('fanOut', { values: WARM_VALUES, bytes });
  const { deliveries, perSecond, cpu } = await pair.timed('fanOut', { values: Math.ceil(VALUES * scale), bytes });
  return { perSecond, serverUs: cpu.server / deliveries, clientUs: cpu.client / deliveries };
}
