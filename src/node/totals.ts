import { Subscription, timer } from 'rxjs';
import type { Usage } from '../peer/stats.js';
import type { Share } from '../session/base/share.js';
import { steadyNow } from '../util/time.js';
import { hostOf } from './client-address.js';
import { Member } from './member.js';
import { Quantity } from './quantity.js';
import type { Objection } from './refusal.js';
import type { TotalLimits } from './total-limits.js';

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
