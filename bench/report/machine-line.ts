import type { Results } from './results.js';

/** The machine, as pages name it. */
export function machineLine(on: Results['environment']): string {
  return Object.values(on).join(', ');
}
