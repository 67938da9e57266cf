import { Subscription, noop, timer } from 'rxjs';
import type { Share } from '../connection/connection.js';
import { log } from '../logger.js';
import type { PeerCore } from '../peer/core.js';
import type { Usage } from '../peer/stats.js';
import { steadyNow } from '../util/time.js';
import { hostOf } from './address.js';
import { SparseLog } from './sparse-log.js';
import type { TotalLimits } from './totals.js';
import type { Objection } from './verdict.js';

/** A connection: its name in the log, and the bytes that it has to send, in its socket too. */
type Holder = Pick<PeerCore, 'label' | 'bufferedAmount'>;

/** The totals that are divided. */
type Kind = 'held' | 'streams' | 'unsent';
type Amounts = Record<Kind, number>;

function nothing(): Amounts {
  return { held: 0, streams: 0, unsent: 0 };
}

/** The amounts of a seat that shares no limit. */
const UNCOUNTED: Amounts = Object.freeze(nothing());

/** One remote address, or one connection whose address is not known. */
interface Host {
  readonly name: string | null;
  /** Its connections, and its upgrades that are being judged. */
  connections: number;
  readonly members: Set<Seat>;
  readonly used: Amounts;
}

function newHost(name: string | null): Host {
  return { name, connections: 0, members: new Set(), used: nothing() };
}

/** The place of one connection among all, and its share of the total limits. */
export class Seat implements Share {
  used: Amounts = UNCOUNTED;
  /** The connection; `null` while it is being judged, and where no limit is shared. */
  #holder: Holder | null = null;
  /** Whether the connection ends for a total. Its bytes still count towards the limit, but other connections need not wait for them. */
  #isEnding = false;
  #room = noop;
  #end: (reason: string) => void = noop;
  waits = false;
  /** The address of the dialer behind a trusted proxy, for the log; `null` where no proxy is trusted. */
  remote: string | null = null;

  constructor(
    private readonly ledger: Ledger,
    readonly host: Host,
  ) {}

  /**
   * The connection is open. Returns its share of the total limits, or `null` where none is set.
   *
   * @param end ends the connection soon, because it has far more of a total than others
   */
  join(holder: Holder, end: (reason: string) => void): Share | null {
    if (!this.ledger.isShared) return null;
    this.#holder = holder;
    this.#end = end;
    this.used = nothing();
    this.ledger.add(this);
    return this;
  }

  /** The connection has ended, or was never made. */
  leave(): void {
    const { streams, unsent } = this.ledger;
    this.ledger.vacate(this.host);
    if (this.#holder === null) return;
    this.ledger.remove(this);
    this.waits = false;
    this.#add(streams, -this.used.streams);
    this.#add(unsent, -this.used.unsent);
  }

  get holdsMuch(): boolean {
    return this.ledger.held.mustWait(this);
  }

  hold(bytes: number): boolean {
    const { held } = this.ledger;
    if (!this.#mayHave(held, bytes)) return false;
    this.#add(held, bytes);
    return true;
  }

  holdRefusal(): string {
    return `this connection holds its part of ${this.ledger.held.max} bytes (maxTotalHeldBytes)`;
  }

  // A reader may come to a payload after the end of its connection.
  unhold(bytes: number): void {
    this.#add(this.ledger.held, -bytes);
  }

  streamRefusal(): string | null {
    const { streams, held, unsent } = this.ledger;
    if (!this.#mayHave(streams, 1)) return `more than ${streams.max} streams on all connections (maxTotalStreams)`;
    if (this.#isRefused(held)) return this.holdRefusal();
    if (this.#isRefused(unsent)) return `this connection has its part of ${unsent.max} bytes to send (maxTotalUnsentBytes)`;
    return null;
  }

  streamTaken(): void {
    this.#add(this.ledger.streams, 1);
  }

  // A handler that never settles holds a place as long as its connection lasts, which has released all places at its end.
  streamReleased(): void {
    if (this.used.streams > 0) this.#add(this.ledger.streams, -1);
  }

  queued(bytes: number): void {
    this.#add(this.ledger.unsent, bytes);
    this.ledger.queuedSince += bytes;
  }

  mustWait(): boolean {
    const { ledger } = this;
    const { unsent } = ledger;
    this.waits = unsent.mustWait(this);
    if (!this.waits) return false;
    ledger.measure();
    this.waits = unsent.mustWait(this);
    if (this.waits) ledger.watch();
    return this.waits;
  }

  overflowsWith(bytes: number): boolean {
    const { ledger } = this;
    const { unsent } = ledger;
    if (!unsent.isUsed) return false;
    ledger.measure();
    return unsent.isUsed && !this.#mayHave(unsent, bytes);
  }

  onRoom(task: () => void): void {
    this.#room = task;
  }

  /** Updates the count of unsent bytes: the socket may have sent some since the last look. */
  remeasure(): void {
    this.#add(this.ledger.unsent, (this.#holder?.bufferedAmount ?? 0) - this.used.unsent);
  }

  /** Goes on if there is room again. */
  checkRoom(): void {
    if (!this.waits || this.ledger.unsent.mustWait(this)) return;
    this.waits = false;
    this.#room();
  }

  /** Ends the connection, because it has far more of `quantity` than one that needs some. Its streams release their places at once. */
  end(quantity: Quantity): void {
    const { held, streams, unsent } = this.ledger;
    this.#add(streams, -this.used.streams);
    for (const each of [held, unsent]) {
      const bytes = this.used[each.kind];
      each.used -= bytes;
      each.ending += bytes;
      this.host.used[each.kind] -= bytes;
    }
    this.#isEnding = true;
    this.ledger.remove(this);
    const reason = `this connection has far more than its part of ${quantity.max} ${quantity.unit}`;
    this.ledger.log.note(quantity.kind, ENDED_PERIOD_MS, (more) => {
      log('warn', `${this.#holder?.label ?? ''} is ended${more === 0 ? '' : `, the last of ${more} more`}: ${reason}`);
    });
    this.#end(reason);
  }

  /** Whether it may have `more`, if need be after the greediest connection has ended. */
  #mayHave(quantity: Quantity, more: number): boolean {
    if (this.#isEnding) return false;
    if (quantity.admits(this, more)) return true;
    return !quantity.allows(this, more) && this.ledger.makeRoom(quantity, this, more) && quantity.admits(this, more);
  }

  #add(quantity: Quantity, more: number): void {
    const { kind } = quantity;
    this.used[kind] += more;
    if (this.#isEnding) quantity.ending += more;
    else {
      quantity.used += more;
      this.host.used[kind] += more;
    }
  }

  /** Whether it gets no new streams, even after the greediest connection has ended. */
  #isRefused(quantity: Quantity): boolean {
    return quantity.isRefused(this) && !(this.ledger.makeRoom(quantity, this, 0) && !quantity.isRefused(this));
  }
}

/** The part of a limit that is divided: equally among the addresses, and then among the connections of each. */
const DIVIDED = 1 / 4;
/** Parts of a limit: from the first on, connections with more than their share wait; from the second on, they get no new streams. */
const WAITING = 1 / 2;
const REFUSING = 5 / 8;
/** From this part on, a new connection may find nothing left. */
const FULL = 7 / 8;
/** Beyond this part, with the bytes of connections that end, only connections within their share get more: others would leave them nothing. */
const LAST = 15 / 16;
/** A connection ends for another one if it has this many times as much. */
const FAR_MORE = 2;
/** No share of bytes is smaller, so that every connection has room for a small call. */
const LEAST_BYTES = 16 * 1024;
/** For a small limit the smallest share is this part of it. */
const LEAST_PART = 1 / 64;

/**
 * A quantity that several connections have together. The last quarter of its limit is for connections with less than an equal share of
 * that quarter.
 */
class Quantity {
  /** The sum over all connections, without those that end for a total. */
  used = 0;
  /** Bytes of the connections that end for a total. */
  ending = 0;
  /** The smallest share. */
  readonly #least: number;

  /** @param unit what is counted, and the name of the limit */
  constructor(
    readonly kind: Kind,
    readonly max: number,
    readonly unit: string,
    private readonly ledger: Ledger,
  ) {
    this.#least = kind === 'streams' ? 1 : Math.min(LEAST_BYTES, max * LEAST_PART);
  }

  get isLimited(): boolean {
    return this.max < Infinity;
  }

  /** Everything that connections have. */
  get total(): number {
    return this.used + this.ending;
  }

  /** Whether a new connection may find nothing left. */
  get isFull(): boolean {
    return this.used >= this.max * FULL;
  }

  /** Whether so much is taken that a sender has to ask for more. Connections that end have not sent their bytes yet. */
  get isUsed(): boolean {
    return this.total >= this.max * (1 - DIVIDED);
  }

  /** Whether `member` may have `more`. */
  admits(member: Seat, more: number): boolean {
    const most = this.max * (this.#isWithinShare(member, more) ? 1 : LAST);
    return this.total + more <= most && this.allows(member, more);
  }

  /** Whether `member` may have `more` once the connections that end have released their bytes. */
  allows(member: Seat, more: number): boolean {
    const after = this.used + more;
    return after <= this.max * (1 - DIVIDED) || (after <= this.max && this.#isWithinShare(member, more));
  }

  /** Whether `member` has to wait before it gets more. */
  mustWait(member: Seat): boolean {
    return this.used >= this.max * WAITING && member.used[this.kind] > this.#share(member);
  }

  /** Whether `member` gets no new streams. */
  isRefused(member: Seat): boolean {
    return this.used >= this.max * REFUSING && member.used[this.kind] > this.#share(member);
  }

  /**
   * Whether `greedy` ends for `member`, or for a new connection. It then has at least twice what the other would have with `more`. It also has
   * far more than an equal part, unless the other asks for less than its share. Addresses are compared first.
   */
  yields(greedy: Seat, member: Seat | null, more: number): boolean {
    const { kind, max, ledger } = this;
    const own = member?.used[kind] ?? 0;
    if (greedy.used[kind] < own + more) return false;
    const isOfOneHost = greedy.host === member?.host;
    const most = isOfOneHost ? greedy.used[kind] : greedy.host.used[kind];
    const others = isOfOneHost ? own : (member?.host.used[kind] ?? 0);
    if (most < FAR_MORE * (others + Math.max(more, this.#least))) return false;
    if (member === null) return most >= max * DIVIDED;
    if (this.#isWithinShare(member, more)) return true;
    return isOfOneHost ? most * ledger.members.size >= FAR_MORE * max : most >= Math.min(max / 2, (FAR_MORE * max) / ledger.hosts.size);
  }

  #isWithinShare(member: Seat, more: number): boolean {
    return member.used[this.kind] + more <= this.#share(member);
  }

  #share({ host }: Seat): number {
    return Math.max(this.#least, (this.max * DIVIDED) / this.ledger.hosts.size / host.members.size);
  }
}

/** The log has one line in this period for the connections that end for one total, in ms. */
const ENDED_PERIOD_MS = 60_000;
/** How often connections that wait look for room, in ms. Sockets do not report that they have drained. */
const LOOK_MS = 50;
/** All sockets are measured again when so large a part of the limit was queued since. */
const REMEASURED = 1 / 8;

/** Describes a limit that an upgrade would exceed. */
export type Full = Pick<Objection, 'reason' | 'detail'>;

/** Counts what the connections of a program have together. */
export class Ledger {
  readonly log = new SparseLog();
  /** The hosts with members. */
  readonly hosts = new Set<Host>();
  readonly members = new Set<Seat>();
  readonly held: Quantity;
  readonly unsent: Quantity;
  readonly streams: Quantity;
  /** Whether any limit is set. Without one, the address of a connection does not matter. */
  readonly isLimited: boolean;
  /** Whether a limit is set that connections share. */
  readonly isShared: boolean;
  readonly #anyHost = newHost(null);
  #connections = 0;
  readonly #byAddress = new Map<string, Host>();
  #measuredAt = -Infinity;
  /** Bytes that were queued since the last measurement. */
  queuedSince = 0;
  #looking = Subscription.EMPTY;
  /** The connection that has most of each quantity, found at most each {@link LOOK_MS}. */
  readonly #greediest = new Map<Quantity, { readonly at: number; readonly member: Seat | null }>();

  constructor(private readonly limits: TotalLimits) {
    const { maxTotalHeldBytes, maxTotalUnsentBytes, maxTotalStreams } = limits;
    this.held = new Quantity('held', maxTotalHeldBytes, 'bytes (maxTotalHeldBytes)', this);
    this.unsent = new Quantity('unsent', maxTotalUnsentBytes, 'bytes to send (maxTotalUnsentBytes)', this);
    this.streams = new Quantity('streams', maxTotalStreams, 'streams (maxTotalStreams)', this);
    this.isLimited = Object.values(limits).some((max: number) => max < Infinity);
    this.isShared = [this.held, this.unsent, this.streams].some(({ isLimited }) => isLimited);
  }

  /** Returns why an upgrade from `address` is one too many, or `null`. */
  refusal(address: string | null): Full | null {
    if (!this.isLimited) return null;
    const { maxConnections, maxConnectionsPerAddress, maxTotalHeldBytes, maxTotalUnsentBytes } = this.limits;
    if (this.#connections >= maxConnections) return { reason: 'too many connections', detail: `: maxConnections (${maxConnections})` };
    if (address !== null && (this.#byAddress.get(hostOf(address))?.connections ?? 0) >= maxConnectionsPerAddress)
      return {
        reason: 'too many connections from this address',
        detail: `: ${address}, maxConnectionsPerAddress (${maxConnectionsPerAddress})`,
      };
    if (this.#isClosedBy(this.held)) return { reason: 'this side is busy', detail: `: maxTotalHeldBytes (${maxTotalHeldBytes})` };
    if (this.unsent.isFull) this.measure();
    if (this.#isClosedBy(this.unsent)) return { reason: 'this side is busy', detail: `: maxTotalUnsentBytes (${maxTotalUnsentBytes})` };
    return null;
  }

  /** Counts one connection more, whatever the limits. */
  seat(address: string | null): Seat {
    const name = address === null || !this.isLimited ? null : hostOf(address);
    const host = (name === null ? null : this.#byAddress.get(name)) ?? (this.isLimited ? newHost(name) : this.#anyHost);
    this.#connections++;
    host.connections++;
    if (name !== null) this.#byAddress.set(name, host);
    return new Seat(this, host);
  }

  /** Counts one connection less. */
  vacate(host: Host): void {
    this.#connections--;
    host.connections--;
    if (host.name !== null && host.connections === 0) this.#byAddress.delete(host.name);
  }

  /** A connection shares the limits from now on. */
  add(member: Seat): void {
    member.host.members.add(member);
    this.hosts.add(member.host);
    this.members.add(member);
  }

  /** A connection no longer shares the limits, because it has ended or ends for a total. */
  remove(member: Seat): void {
    const { host } = member;
    host.members.delete(member);
    if (host.members.size === 0) this.hosts.delete(host);
    this.members.delete(member);
    this.#greediest.clear();
  }

  /** Measures the sockets again, which may have sent bytes, unless the last measurement is recent. */
  measure(): void {
    const now = steadyNow();
    if (now - this.#measuredAt < LOOK_MS && this.queuedSince < this.unsent.max * REMEASURED) return;
    this.#measuredAt = now;
    this.queuedSince = 0;
    for (const member of this.members) member.remeasure();
  }

  /** Looks for room every {@link LOOK_MS} while a connection waits. */
  watch(): void {
    if (!this.#looking.closed) return;
    this.#looking = timer(LOOK_MS).subscribe(() => {
      this.#looking = Subscription.EMPTY;
      this.measure();
      const waiting = [...this.members].filter(({ waits }) => waits);
      for (const member of waiting) member.checkRoom();
      if (waiting.some(({ waits }) => waits)) this.watch();
    });
  }

  /**
   * Ends the greediest connection where it has far more of `quantity` than `member`, or a new connection, would have with `more`. Returns
   * whether it did.
   */
  makeRoom(quantity: Quantity, member: Seat | null, more: number): boolean {
    const greedy = this.#greediestOf(quantity);
    if (greedy === null || greedy === member || !quantity.yields(greedy, member, more)) return false;
    greedy.end(quantity);
    return true;
  }

  usage(): { readonly [Limit in keyof TotalLimits]?: Usage } {
    if (this.unsent.isLimited) this.measure();
    const used: Readonly<Record<keyof TotalLimits, number>> = {
      maxConnections: this.#connections,
      maxConnectionsPerAddress: [...this.#byAddress.values()].reduce((most, { connections }) => Math.max(most, connections), 0),
      maxTotalStreams: this.streams.total,
      maxTotalHeldBytes: this.held.total,
      maxTotalUnsentBytes: this.unsent.total,
    };
    const usage = Object.entries(used).map(([limit, now]) => [limit, { used: now, max: this.limits[limit as keyof TotalLimits] }] as const);
    return Object.fromEntries(usage.filter(([, { max }]) => max < Infinity));
  }

  /** Whether no room can be made for a new connection. */
  #isClosedBy(quantity: Quantity): boolean {
    return quantity.isFull && !this.makeRoom(quantity, null, 0);
  }

  /** Returns the connection that has most, of the address that has most. */
  #greediestOf(quantity: Quantity): Seat | null {
    const { kind } = quantity;
    const known = this.#greediest.get(quantity);
    const at = steadyNow();
    if (known !== undefined && at - known.at < LOOK_MS) return known.member;
    const host = mostOf(this.hosts, kind);
    const member = host === null ? null : mostOf(host.members, kind);
    this.#greediest.set(quantity, { at, member });
    return member;
  }
}

/** Returns the one that has most, or `null` if none has any. */
function mostOf<T extends { readonly used: Amounts }>(all: Iterable<T>, kind: Kind): T | null {
  let most: T | null = null;
  for (const each of all) if (each.used[kind] > (most?.used[kind] ?? 0)) most = each;
  return most;
}
