import type { AdapterName } from '../harness/adapter-names.js';
import { withProcesses } from '../harness/pair.js';
import { warmUp } from '../workloads/requests.js';

/** The cost of requests beside a number of live streams. */
export interface StreamsPoint {
  readonly adapter: AdapterName;
  readonly streams: number;
  readonly clientUs: number;
  readonly serverUs: number;
}

const IN_FLIGHT = 64;

/** Opens ever more idle streams on one connection, and measures 64 requests in flight at each of the counts. */
export async function growStreams(adapter: AdapterName, counts: readonly number[], ms: number): Promise<StreamsPoint[]> {
  const most = Math.max(...counts);
  return withProcesses(adapter, { streams: most + IN_FLIGHT + 1 }, async (pair) => {
    const points: StreamsPoint[] = [];
    let open = 0;
    await warmUp(pair, IN_FLIGHT);
    for (const streams of counts) {
      await pair.openIdle(streams - open);
      open = streams;
      // Collects the garbage of the opens here, and not while the requests are measured.
      await pair.heaps();
      const { cpu, requests } = await pair.timed('closedLoop', { ms, atLeast: 10_000, inFlight: IN_FLIGHT });
      points.push({ adapter, streams, clientUs: cpu.client / requests, serverUs: cpu.server / requests });
    }
    return points;
  });
}
