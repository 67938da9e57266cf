import { encodedLength } from '../wire/length.js';
import { isMembership } from './roster.js';
import type { Membership } from './roster.js';

/** The report of a server to the others. `version` counts the changes of its members. */
export interface Report {
  readonly from: string;
  readonly version: number;
  readonly joined?: Membership;
  readonly left?: Membership;
  /** All members of the server, or the part of them that `part` names. */
  readonly all?: readonly Membership[];
  /** Counts from 0. The parts of one version are sent one after the other, and nothing between them. */
  readonly part?: Part;
  /** Asks a server for all its members; `'*'` asks each. As a text, because the build shortens names that our classes have, too. */
  readonly ['ask']?: string;
  /** Whether the server has stopped. */
  readonly bye?: boolean;
}

export type Part = readonly [nth: number, of: number];

/** Whether a value of the bus is a report: another program may publish there too. */
export function isReport(value: unknown): value is Report {
  const { from, version, joined, left, all = [], part = [0, 1] } = Object(value) as { readonly [Key in keyof Report]?: unknown };
  if (typeof from !== 'string' || typeof version !== 'number' || !Array.isArray(all) || !isPart(part)) return false;
  return [joined, left, ...(all as unknown[])].every((membership) => membership === undefined || isMembership(membership));
}

function isPart(value: unknown): value is Part {
  return Array.isArray(value) && value.length === 2 && value.every((count) => Number.isSafeInteger(count) && count >= 0);
}

/** Brokers refuse big messages: NATS from 1 MiB on, unless its operator has chosen another limit. */
const PART_BYTES = 65_536;

/** Splits the members of a server into the lists of messages that every broker takes. Returns at least one list. */
export function partsOf(memberships: readonly Membership[]): readonly (readonly Membership[])[] {
  let last: Membership[] = [];
  const parts = [last];
  let bytes = 0;
  for (const membership of memberships) {
    const more = encodedLength(JSON.stringify(membership)) + 1;
    if (bytes + more > PART_BYTES && last.length > 0) {
      parts.push((last = []));
      bytes = 0;
    }
    last.push(membership);
    bytes += more;
  }
  return parts;
}
