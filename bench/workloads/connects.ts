import { lower } from './workload.js';
import type { Workload } from './workload.js';

/** How many connections to dial before the measured ones. */
export const FIRST_DIALS = 20;
export const MEASURED_DIALS = 50;

export const connects: Workload = {
  id: 'W9',
  title: 'from dialing to the first reply',
  needs: {},
  metrics: [lower('medianMs', 'ms')],
  async run(pair) {
    await pair.task('connects', { times: FIRST_DIALS });
    return pair.task('connects', { times: MEASURED_DIALS });
  },
};
