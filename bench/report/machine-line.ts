import type { Results } from './results.js';

/** The machine and the day of a measurement, as pages name them. */
export function machineLine(on: Results['environment']): string {
  return Object.values(on).join(', ');
}
