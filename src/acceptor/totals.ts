import type { Usage } from '../peer/stats.js';
import { checkNumber, checkObject, optionError, readObject, tagOf } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { Ledger } from './ledger.js';

/**
 * Limits of all connections together, beside `limits` of each connection. Sizes are bytes. `Infinity` is no limit.
 *
 * Connections take three quarters of a total of streams or bytes as they come. The last quarter is divided equally among the addresses, and
 * then among the connections of each address. A connection with less than this share goes on when the others have taken the rest. The share
 * is one stream, and 16 KiB, or more. Before a total refuses a connection, it may end the greediest one (1008, ENHANCE_YOUR_CALM).
 */
export interface TotalLimits {
  /** Connections, and upgrades that are being judged; more upgrades are answered 503. Default Infinity. */
  readonly maxConnections: number;
  /** The same for one remote address, or one /64 of IPv6; `trustProxy` says where the address is found. Default Infinity. */
  readonly maxConnectionsPerAddress: number;
  /**
   * Live streams that remotes opened, and those whose handler has not settled; more are REFUSED. A connection without a stream gets one,
   * at the cost of the connection with most, if need be. Default Infinity.
   */
  readonly maxTotalStreams: number;
  /**
   * Bytes that `maxHeldBytes` counts for one connection. From half on, sockets with more than their share pause. From five eighths on,
   * new streams of such connections are REFUSED. From three quarters on, a stream that brings more is reset. From seven eighths on,
   * upgrades are answered 503 unless the greediest connection can end for them. Default Infinity.
   */
  readonly maxTotalHeldBytes: number;
  /**
   * Bytes that wait to be sent, in sockets too (`peer.bufferedAmount`). From half on, `send()` waits on connections with more than their
   * share. From five eighths on, new streams of such connections are REFUSED. From three quarters on, a sender that did not wait fails with a
   * QueueOverflowError. From seven eighths on, upgrades are answered 503 unless the greediest connection can end for them. Calls of this side
   * count, but never wait or fail for this limit. Default Infinity.
   */
  readonly maxTotalUnsentBytes: number;
}

/** Declares every total limit. */
export const TOTAL_LIMITS: Options<TotalLimits, TotalLimits> = {
  maxConnections: [checkNumber, Infinity],
  maxConnectionsPerAddress: [checkNumber, Infinity],
  maxTotalStreams: [checkNumber, Infinity],
  maxTotalHeldBytes: [checkNumber, Infinity],
  maxTotalUnsentBytes: [checkNumber, Infinity],
};

/**
 * Returns `totals`.
 *
 * @throws TypeError unless it is a {@link Totals}
 */
export function checkTotals(name: string, totals: Totals): Totals {
  if ((totals as unknown) instanceof Totals) return totals;
  throw optionError(name, 'new Totals({ … })', totals);
}

/** Makes totals for one server of the limits alone. */
export function totalsOf(_name: string, given: Totals | Given<TotalLimits>): Totals {
  return given instanceof Totals ? given : new Totals(given);
}

const ACCEPTED = '{ maxConnections, … }, or new Totals({ … }) of this copy of rxmux';

/**
 * Counts the connections of several servers together. Pass it as `totalLimits` to each `serve`, `handleUpgrade` or `accept`.
 *
 * @example
 * ```ts
 * const totalLimits = new Totals({ maxConnections: 10_000, maxTotalHeldBytes: 512 * 1024 * 1024 });
 * serve({ server: httpServer, path: '/chat', handler: chat, totalLimits });
 * serve({ server: httpServer, path: '/files', handler: files, totalLimits });
 * totalLimits.usage().maxConnections;   // { used: 0, max: 10000 }
 * ```
 */
export class Totals {
  readonly #ledger: Ledger;

  /** @throws TypeError naming the wrong limit */
  constructor(limits: Given<TotalLimits> = {}) {
    const kind = tagOf(checkObject('totalLimits', limits));
    // A promise has no limit, and would admit everybody.
    if (kind !== 'Object' && !Object.keys(TOTAL_LIMITS).some((limit) => limit in limits))
      throw new TypeError(`totalLimits: expected ${ACCEPTED}, got a ${kind}`);
    this.#ledger = new Ledger(readObject('totalLimits', limits, TOTAL_LIMITS));
  }

  /** @internal */
  static ledger(totals: Totals): Ledger {
    return totals.#ledger;
  }

  /** Returns how much is used of each limit that was set. `maxConnectionsPerAddress` shows the address with most. */
  usage(): { readonly [Limit in keyof TotalLimits]?: Usage } {
    return this.#ledger.usage();
  }

  /** Keeps Vue from wrapping it in a Proxy: plain objects have another tag. */
  get [Symbol.toStringTag](): string {
    return 'Totals';
  }
}
