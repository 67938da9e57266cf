import type { AdapterName } from '../harness/adapter-names.js';
import { withProcesses } from '../harness/pair.js';

/** The memory of a number of idle connections. */
export interface ConnectionsPoint {
  readonly adapter: AdapterName;
  readonly connections: number;
  /** Bytes of heap, and beside it, more than without connections. */
  readonly clientBytes: number;
  readonly serverBytes: number;
}

/** Opens ever more connections that each make one request and then rest. Measures the heaps of both processes. */
export async function growConnections(adapter: AdapterName, counts: readonly number[]): Promise<ConnectionsPoint[]> {
  return withProcesses(adapter, {}, async (pair) => {
    const points: ConnectionsPoint[] = [];
    await pair.task('connections', { count: 20 });
    const before = await pair.heaps();
    let open = 0;
    for (const connections of counts) {
      await pair.task('connections', { count: connections - open });
      open = connections;
      const after = await pair.heaps();
      points.push({ adapter, connections, clientBytes: after.client - before.client, serverBytes: after.server - before.server });
    }
    return points;
  });
}
