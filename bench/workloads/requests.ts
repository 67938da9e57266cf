import type { Pair } from '../harness/pair.js';
import { higher, lower } from './workload.js';
import type { Workload } from './workload.js';

/** Enough requests to compile the code. The count matters, because on a busy machine time passes without work. */
const WARM = { ms: 1_500, atLeast: 10_000 };
const MEASURED_MS = 600;

export const sequential: Workload = {
  id: 'W1',
  title: 'requests one after the other',
  needs: {},
  metrics: [lower('p50Us', 'p50 µs'), lower('p99Us', 'p99 µs')],
  async run(pair, scale) {
    await warmUp(pair);
    await pair.task('sequential', { ms: WARM.ms * scale, atLeast: 500 });
    const { p50Us, p99Us } = await pair.task('sequential', { ms: MEASURED_MS * scale, atLeast: 1_000 });
    return { p50Us, p99Us };
  },
};

export function closedLoop(inFlight: number): Workload {
  return {
    id: `W2@${inFlight}`,
    title: `${inFlight} requests in flight`,
    needs: { streams: inFlight },
    metrics: [higher('perSecond', 'req/s'), lower('clientUs', 'client µs/req'), lower('serverUs', 'server µs/req')],
    async run(pair, scale) {
      await warmUp(pair, inFlight);
      const { perSecond, requests, cpu } = await pair.timed('closedLoop', { ms: MEASURED_MS * scale, atLeast: 10_000, inFlight });
      return { perSecond, clientUs: cpu.client / requests, serverUs: cpu.server / requests };
    },
  };
}

/** Makes small requests until both ends have compiled the code for them. */
export async function warmUp(pair: Pair, inFlight = 16): Promise<void> {
  await pair.task('closedLoop', { ...WARM, inFlight });
}
