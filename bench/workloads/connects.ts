import { lower } from './workload.js';
import type { Workload } from './workload.js';

export const connects: Workload = {
  id: 'W9',
  title: 'from dialing to the first reply',
  needs: {},
  metrics: [lower('medianMs', 'ms')],
  async run(pair) {
    await pair.task('connects', { times: 20 });
    return pair.task('connects', { times: 50 });
  },
};
