import { Subscription, timer } from 'rxjs';
import type { Share } from '../connection/connection.js';
import type { Usage } from '../peer/stats.js';
import { checkNumber, optionError, readObject } from '../util/check.js';
import type { Given, Options } from '../util/check.js';
import { steadyNow } from '../util/time.js';
import { hostOf } from './origin.js';
import type { Objection } from './refusal.js';

/** One connection's share of the total limits. */
export class Member implements Share {
  #held = 0;
  #streams = 0;
  #unsent = 0;
  #hasLeft = false;
  #room: () => void = () => undefined;
  #waits = false;

  /** @param measure returns the bytes that the connection has to send, in its socket too */
  constructor(
    private readonly ledger: Ledger,
    private readonly measure: () => number,
  ) {}

  get waits(): boolean {
    return this.#waits;
  }

  get holdsMuch(): boolean {
    return this.ledger.held.mustWait(this.#held);
  }

  hold(bytes: number): boolean {
    const { held } = this.ledger;
    if (!held.admits(this.#held, bytes)) return false;
    held.used += bytes;
    this.#held += bytes;
    return true;
  }

  holdRefusal(): string {
    return `this connection holds its part of ${this.ledger.held.max} bytes (maxTotalHeldBytes)`;
  }

  // A reader may come to a payload after the end of its connection.
  unhold(bytes: number): void {
    this.ledger.held.used -= bytes;
    this.#held -= bytes;
  }

  streamRefusal(): string | null {
    const { streams, held, unsent } = this.ledger;
    if (!streams.admits(this.#streams, 1)) return `more than ${streams.max} streams on all connections (maxTotalStreams)`;
    if (held.isRefused(this.#held)) return this.holdRefusal();
    if (unsent.isRefused(this.#unsent)) return `this connection has its part of ${unsent.max} bytes to send (maxTotalUnsentBytes)`;
    return null;
  }

  streamTaken(): void {
    this.ledger.streams.used++;
    this.#streams++;
  }

  // A handler that never settles holds a place as long as its connection lasts.
  streamReleased(): void {
    if (this.#hasLeft) return;
    this.ledger.streams.used--;
    this.#streams--;
  }

  queued(bytes: number): void {
    this.#unsent += bytes;
    this.ledger.queued(bytes);
  }

  mustWait(): boolean {
    this.#waits = this.#sendsMuch();
    if (this.#waits) this.ledger.watch();
    return this.#waits;
  }

  overflowsWith(bytes: number): boolean {
    const { unsent } = this.ledger;
    if (!unsent.isUsed) return false;
    this.ledger.measure();
    return unsent.isUsed && !unsent.admits(this.#unsent, bytes);
  }

  onRoom(task: () => void): void {
    this.#room = task;
  }

  /** Updates the count of unsent bytes: the socket may have sent some since the last look. */
  remeasure(): void {
    const now = this.measure();
    this.ledger.unsent.used += now - this.#unsent;
    this.#unsent = now;
  }

  /** Goes on if there is room again. */
  checkRoom(): void {
    if (!this.#waits || this.ledger.unsent.mustWait(this.#unsent)) return;
    this.#waits = false;
    this.#room();
  }

  /** The connection has ended. */
  leave(): void {
    this.#hasLeft = true;
    this.#waits = false;
    this.ledger.streams.used -= this.#streams;
    this.ledger.unsent.used -= this.#unsent;
    this.#streams = this.#unsent = 0;
  }

  #sendsMuch(): boolean {
    const { unsent } = this.ledger;
    if (!unsent.mustWait(this.#unsent)) return false;
    this.ledger.measure();
    return unsent.mustWait(this.#unsent);
  }
}

/** The part of a limit that is divided equally among the connections. */
const DIVIDED = 1 / 4;
/** Parts of a limit: from the first on, connections with more than their share wait; from the second on, they get no new streams. */
const WAITING = 1 / 2;
const REFUSING = 5 / 8;

/**
 * A quantity that several connections have together. The last quarter of its limit is for connections with less than an equal share of
 * that quarter.
 */
export class Quantity {
  used = 0;

  constructor(
    readonly max: number,
    private readonly connections: { readonly size: number },
  ) {}

  get isLimited(): boolean {
    return this.max < Infinity;
  }

  /** Whether new connections are refused. */
  get isNearlyUsed(): boolean {
    return this.used >= this.max * REFUSING;
  }

  /** Whether only connections with less than their share get more. */
  get isUsed(): boolean {
    return this.used >= this.max * (1 - DIVIDED);
  }

  /** Whether a connection that has `own` may have `more`. */
  admits(own: number, more: number): boolean {
    const after = this.used + more;
    return after <= this.max * (1 - DIVIDED) || (own + more <= this.#share() && after <= this.max);
  }

  /** Whether a connection that has `own` has to wait before it gets more. */
  mustWait(own: number): boolean {
    return this.used >= this.max * WAITING && own > this.#share();
  }

  /** Whether a connection that has `own` gets no new streams. */
  isRefused(own: number): boolean {
    return this.isNearlyUsed && own > this.#share();
  }

  #share(): number {
    return (this.max * DIVIDED) / this.connections.size;
  }
}

/** How often connections that wait look for room, in ms. Sockets do not report that they have drained. */
const LOOK_MS = 50;
/** All sockets are measured again when so large a part of the limit was queued since. */
const REMEASURED = 1 / 8;

/** The place of one connection among all. */
export interface Seat {
  /** Returns the connection's share of the total limits, or `null` where none is set. */
  join(measure: () => number): Share | null;
  leave(): void;
}

/** Describes a limit that an upgrade would exceed. */
export type Full = Pick<Objection, 'reason' | 'detail'>;

/** Counts what the connections of a program have together. */
export class Ledger {
  readonly #members = new Set<Member>();
  readonly held: Quantity;
  readonly unsent: Quantity;
  readonly streams: Quantity;
  #connections = 0;
  readonly #byHost = new Map<string, number>();
  #measuredAt = -Infinity;
  #queuedSince = 0;
  #looking = Subscription.EMPTY;

  constructor(private readonly limits: TotalLimits) {
    this.held = new Quantity(limits.maxTotalHeldBytes, this.#members);
    this.unsent = new Quantity(limits.maxTotalUnsentBytes, this.#members);
    this.streams = new Quantity(limits.maxTotalStreams, this.#members);
  }

  /** Returns why an upgrade from `address` is one too many, or `null`. */
  refusal(address: string | null): Full | null {
    const { maxConnections, maxConnectionsPerAddress, maxTotalHeldBytes, maxTotalUnsentBytes } = this.limits;
    if (this.#connections >= maxConnections) return { reason: 'too many connections', detail: `: maxConnections (${maxConnections})` };
    if (address !== null && (this.#byHost.get(hostOf(address)) ?? 0) >= maxConnectionsPerAddress)
      return {
        reason: 'too many connections from this address',
        detail: `: ${address}, maxConnectionsPerAddress (${maxConnectionsPerAddress})`,
      };
    if (this.held.isNearlyUsed) return { reason: 'this side is busy', detail: `: maxTotalHeldBytes (${maxTotalHeldBytes})` };
    if (this.unsent.isNearlyUsed) this.measure();
    if (this.unsent.isNearlyUsed) return { reason: 'this side is busy', detail: `: maxTotalUnsentBytes (${maxTotalUnsentBytes})` };
    return null;
  }

  /** Counts one connection more, whatever the limits. */
  seat(address: string | null): Seat {
    const host = address === null ? null : hostOf(address);
    let member: Member | null = null;
    this.#connections++;
    if (host !== null) this.#count(host, 1);
    return {
      join: (measure) => {
        if (!this.held.isLimited && !this.unsent.isLimited && !this.streams.isLimited) return null;
        member = new Member(this, measure);
        this.#members.add(member);
        return member;
      },
      leave: () => {
        this.#connections--;
        if (host !== null) this.#count(host, -1);
        if (member === null) return;
        this.#members.delete(member);
        member.leave();
      },
    };
  }

  queued(bytes: number): void {
    this.unsent.used += bytes;
    this.#queuedSince += bytes;
  }

  /** Measures the sockets again, which may have sent bytes, unless the last measurement is recent. */
  measure(): void {
    const now = steadyNow();
    if (now - this.#measuredAt < LOOK_MS && this.#queuedSince < this.unsent.max * REMEASURED) return;
    this.#measuredAt = now;
    this.#queuedSince = 0;
    for (const member of this.#members) member.remeasure();
  }

  /** Looks for room every {@link LOOK_MS} while a connection waits. */
  watch(): void {
    if (!this.#looking.closed) return;
    this.#looking = timer(LOOK_MS).subscribe(() => {
      this.#looking = Subscription.EMPTY;
      this.measure();
      const waiting = [...this.#members].filter(({ waits }) => waits);
      for (const member of waiting) member.checkRoom();
      if (waiting.some(({ waits }) => waits)) this.watch();
    });
  }

  usage(): { readonly [Limit in keyof TotalLimits]?: Usage } {
    if (this.unsent.isLimited) this.measure();
    const used: Readonly<Record<keyof TotalLimits, number>> = {
      maxConnections: this.#connections,
      maxConnectionsPerAddress: [...this.#byHost.values()].reduce((most, connections) => Math.max(most, connections), 0),
      maxTotalStreams: this.streams.used,
      maxTotalHeldBytes: this.held.used,
      maxTotalUnsentBytes: this.unsent.used,
    };
    const limited = Object.entries(this.limits).filter(([, max]: readonly [string, number]) => max < Infinity);
    return Object.fromEntries(
      limited.map(([limit, max]: readonly [string, number]) => [limit, { used: used[limit as keyof TotalLimits], max }]),
    );
  }

  #count(host: string, more: number): void {
    const connections = (this.#byHost.get(host) ?? 0) + more;
    if (connections === 0) this.#byHost.delete(host);
    else this.#byHost.set(host, connections);
  }
}

/**
 * Limits of all connections together, beside `limits` of each connection. Sizes are bytes. `Infinity` is no limit.
 *
 * Connections take three quarters of a total of streams or bytes as they come. The last quarter is divided equally among them.
 * A connection with less than this share goes on when the others have taken the rest.
 */
export interface TotalLimits {
  /** Connections, and upgrades that are being judged; more upgrades are answered 503. Default Infinity. */
  readonly maxConnections: number;
  /** The same for one remote address, or one /64 of IPv6; `trustProxy` says where the address is found. Default Infinity. */
  readonly maxConnectionsPerAddress: number;
  /** Live streams that remotes opened, and those whose handler has not settled; more are REFUSED. Default Infinity. */
  readonly maxTotalStreams: number;
  /**
   * Bytes that `maxHeldBytes` counts for one connection. From half on, sockets with more than their share pause. From five eighths on,
   * upgrades are answered 503, and new streams of such connections are REFUSED. From three quarters on, a stream that brings more is reset. Default Infinity.
   */
  readonly maxTotalHeldBytes: number;
  /**
   * Bytes that wait to be sent, in sockets too (`peer.bufferedAmount`). From half on, `send()` waits on connections with more than their
   * share. From five eighths on, upgrades are answered 503, and new streams of such connections are REFUSED. From three quarters on, a
   * sender that did not wait fails with a QueueOverflowError. Calls of this side count, but never wait or fail for this limit. Default Infinity.
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
