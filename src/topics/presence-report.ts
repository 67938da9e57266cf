import { isMembership } from './roster.js';
import type { Membership } from './roster.js';

/** The report of a server to the others. `version` counts the changes of its members. */
export interface Report {
  readonly from: string;
  readonly version: number;
  readonly joined?: Membership;
  readonly left?: Membership;
  /** All members of the server. */
  readonly all?: readonly Membership[];
  /** Asks a server for all its members; `'*'` asks each. */
  readonly ask?: string;
  /** Whether the server has stopped. */
  readonly bye?: boolean;
}

/** Whether a value of the bus is a report: another program may publish there too. */
export function isReport(value: unknown): value is Report {
  const { from, version, joined, left, all = [] } = Object(value) as { readonly [Key in keyof Report]?: unknown };
  if (typeof from !== 'string' || typeof version !== 'number' || !Array.isArray(all)) return false;
  return [joined, left, ...(all as unknown[])].every((membership) => membership === undefined || isMembership(membership));
}
