import { Peer } from '../peer/peer.js';
import type { TotalLimits, Usage } from './total-limits.js';

/** Facts about a server at one moment. */
export interface ServerStats {
  /** `opened` counts all since the server began. */
  readonly connections: { readonly open: number; readonly opened: number };
  /** Streams of both sides that are live now, and `remote`: those that `maxStreams` counts. */
  readonly streams: { readonly open: number; readonly remote: number };
  /** Bytes of received payloads that are held (`maxHeldBytes`), and bytes that wait to be sent, in sockets too (`peer.bufferedAmount`). */
  readonly bytes: { readonly held: number; readonly unsent: number };
  /** Upgrades that were answered with each HTTP status in place of 101. */
  readonly refusals: Readonly<Record<number, number>>;
  /** Each total limit that was set, and how much of it is used: by other servers, too, that share their `Totals`. */
  readonly limits: { readonly [Limit in keyof TotalLimits]?: Usage };
}

/** Sums up what peers have now. */
export function loadOf(peers: Iterable<Peer>): Pick<ServerStats, 'streams' | 'bytes'> {
  const streams = { open: 0, remote: 0 };
  const bytes = { held: 0, unsent: 0 };
  for (const peer of peers) {
    bytes.unsent += peer.bufferedAmount;
    for (const { streams: table, receiveBudget } of Peer.core(peer)?.sessions ?? []) {
      streams.open += table.size;
      streams.remote += table.occupied;
      bytes.held += receiveBudget.held.used + receiveBudget.attached.used;
    }
  }
  return { streams, bytes };
}
