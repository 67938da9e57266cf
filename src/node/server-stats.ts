import type { PeerStats, Usage } from '../peer/stats.js';
import type { TotalLimits } from './total-limits.js';

/** The facts that add up. */
type Load = Omit<PeerStats, 'limits' | 'rttMs'>;

/** Facts about a server at one moment: the sums of its peers, those that have closed included. */
export interface ServerStats extends Load {
  /** The connections of the server. */
  readonly connections: {
    /** Connections that are open now. */
    readonly open: number;
    /** All connections since the server began. */
    readonly opened: number;
  };
  /** Upgrades that were answered with each HTTP status in place of 101. */
  readonly refusals: Readonly<Record<number, number>>;
  /** Each total limit that was set, and how much of it is used: by other servers, too, that share their `Totals`. */
  readonly limits: { readonly [Limit in keyof TotalLimits]?: Usage };
  /** How many peers use at least four fifths of a limit of their own. */
  readonly peersNearLimits: { readonly [Limit in keyof PeerStats['limits']]: number };
}

/** A limit counts as nearly met from so much of it on. */
const NEAR = 4 / 5;

/** The load of no peer. */
export const NO_LOAD: Load = {
  streams: { open: 0, remote: 0, waiting: 0, opened: 0 },
  ended: {},
  sent: { frames: 0, bytes: 0 },
  received: { frames: 0, bytes: 0 },
  queue: { frames: 0, bytes: 0 },
  bytes: { held: 0, unsent: 0 },
};

export function sumOf(loads: readonly Load[]): Load {
  return {
    streams: sum(loads.map(({ streams }) => streams)),
    ended: sum(loads.map(({ ended }) => ended)),
    sent: sum(loads.map(({ sent }) => sent)),
    received: sum(loads.map(({ received }) => received)),
    queue: sum(loads.map(({ queue }) => queue)),
    bytes: sum(loads.map(({ bytes }) => bytes)),
  };
}

/** Returns how many peers are near each limit. */
export function nearLimits(peers: readonly PeerStats[]): ServerStats['peersNearLimits'] {
  const near = (limit: keyof PeerStats['limits']): number =>
    peers.filter(({ limits }) => limits[limit].used >= limits[limit].max * NEAR).length;
  return {
    maxStreams: near('maxStreams'),
    maxHeldBytes: near('maxHeldBytes'),
    maxUnsentBytes: near('maxUnsentBytes'),
    maxQueuedBytes: near('maxQueuedBytes'),
  };
}

/** Adds up counts that have the same keys, or more. */
function sum<Key extends string>(all: readonly Readonly<Record<Key, number>>[]): Record<Key, number> {
  const sums: Partial<Record<Key, number>> = {};
  for (const counts of all) {
    for (const [key, count] of Object.entries<number>(counts)) sums[key as Key] = (sums[key as Key] ?? 0) + count;
  }
  return sums as Record<Key, number>;
}
