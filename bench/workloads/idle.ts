import { warmUp } from './requests.js';
import { lower } from './workload.js';
import type { Workload } from './workload.js';

const STREAMS = 10_000;
/** How many streams to open beforehand. Beside all streams there is one request at a time. */
const FIRST = 100;

export const idleStreams: Workload = {
  id: 'W7',
  title: `${STREAMS} idle streams`,
  needs: { streams: STREAMS + FIRST + 1 },
  metrics: [lower('clientBytes', 'client B/stream'), lower('serverBytes', 'server B/stream')],
  async run(pair) {
    await warmUp(pair);
    // The first streams also compile what every stream needs.
    await pair.openIdle(FIRST);
    const before = await pair.heaps();
    await pair.openIdle(STREAMS);
    const after = await pair.heaps();
    return { clientBytes: (after.client - before.client) / STREAMS, serverBytes: (after.server - before.server) / STREAMS };
  },
};
