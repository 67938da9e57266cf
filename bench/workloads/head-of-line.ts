import { warmUp } from './requests.js';
import { lower } from './workload.js';
import type { Workload } from './workload.js';

const MIB = 1024 * 1024;
const LARGE = 64 * MIB;
const EVERY_MS = 2;
const IDLE_MS = 600;

export const headOfLine: Workload = {
  id: 'W6',
  title: 'a small request every 2 ms beside something large',
  // On a busy machine either end may rest for seconds. It then sends all small requests that fell due meanwhile at once.
  needs: { payloadBytes: LARGE, streams: 10_000 },
  metrics: [
    lower('idleP99', 'idle p99 ms'),
    lower('upP50', 'up p50 ms'),
    lower('upP99', 'up p99 ms'),
    lower('upMs', 'up transfer ms'),
    lower('downP50', 'down p50 ms'),
    lower('downP99', 'down p99 ms'),
    lower('downMs', 'down transfer ms'),
  ],
  async run(pair) {
    await warmUp(pair);
    const idle = await pair.task('headOfLine', { meanwhile: 'nothing', everyMs: EVERY_MS, ms: IDLE_MS });
    const up = await pair.task('headOfLine', { meanwhile: 'up', everyMs: EVERY_MS, bytes: LARGE });
    const down = await pair.task('headOfLine', { meanwhile: 'down', everyMs: EVERY_MS, items: 1_024, bytes: 65_000 });
    return {
      idleP99: idle.p99Ms,
      upP50: up.p50Ms,
      upP99: up.p99Ms,
      upMs: up.transferMs,
      downP50: down.p50Ms,
      downP99: down.p99Ms,
      downMs: down.transferMs,
    };
  },
};
