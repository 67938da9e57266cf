import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const whole = JSON.parse(readFileSync(join(import.meta.dirname, '../../stryker.config.json'), 'utf8'));

/** The settings of the whole run, without those that would take too long for one change. */
export default {
  ...whole,
  incremental: false,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: 'reports/mutation/changed.json' },
  thresholds: { high: 100, low: 90, break: null },
};
