import { higher, lower } from './workload.js';
import type { Workload } from './workload.js';

const MIB = 1024 * 1024;
const BYTES = 16 * MIB;
const TIMES = 3;

export const bulk: Workload = {
  id: 'W5',
  title: '16 MiB in one payload',
  // Each echoed object holds 14 keys, values and entries, and is one itself, in 93 bytes.
  needs: { payloadBytes: BYTES, payloadItems: Math.ceil(BYTES / 93) * 16 },
  metrics: [
    higher('up', 'up MB/s'),
    higher('down', 'down MB/s'),
    higher('objects', 'objects echoed MB/s'),
    lower('clientRss', 'client peak RSS MB'),
    lower('serverRss', 'server peak RSS MB'),
  ],
  async run(pair, scale) {
    const times = Math.max(1, Math.round(TIMES * scale));
    const figures: Record<string, number> = {};
    for (const way of ['up', 'down', 'objects'] as const) {
      await pair.task('bulk', { way, bytes: BYTES, times: 1 });
      figures[way] = (await pair.task('bulk', { way, bytes: BYTES, times })).megabytesPerSecond;
    }
    const { client, server } = await pair.peakRss();
    return { ...figures, clientRss: client / 1e6, serverRss: server / 1e6 };
  },
};
