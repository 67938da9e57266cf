import { WITH_FEED } from '../harness/adapter-names.js';
import { warmUp } from './requests.js';
import { higher, lower } from './workload.js';
import type { Workload } from './workload.js';

const SUBSCRIBERS = 300;
const WARM_VALUES = 60;
const VALUES = 120;

/** One value after the other to many subscribers, each with a connection of its own. rxmux encodes each value once. */
export function fanOut(id: string, bytes: number): Workload {
  return {
    id,
    title: `values of ${bytes / 1_000} KB to ${SUBSCRIBERS} subscribers`,
    needs: {},
    adapters: WITH_FEED,
    metrics: [higher('perSecond', 'deliveries/s'), lower('serverUs', 'server µs/delivery'), lower('clientUs', 'client µs/delivery')],
    async run(pair, scale) {
      await warmUp(pair);
      await pair.task('subscribe', { count: SUBSCRIBERS });
      await pair.task('fanOut', { values: WARM_VALUES, bytes });
      const { deliveries, perSecond, cpu } = await pair.timed('fanOut', { values: Math.ceil(VALUES * scale), bytes });
      return { perSecond, serverUs: cpu.server / deliveries, clientUs: cpu.client / deliveries };
    },
  };
}
