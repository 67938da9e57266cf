import { asyncScheduler, interval, merge, Observable, share, Subject, Subscription, take, throttleTime } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { log } from '../logger.js';
import type { Peer } from '../peer/peer.js';
import { checkPeer } from '../peer/options.js';
import { checkNumber, checkOptions, errorText } from '../util/check.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { channelOf, checkBus, checkName } from './bus.js';
import type { Bus } from './bus.js';
import { BrokerError } from './broker-error.js';
import { newEpoch } from './cursor.js';
import { isReport, partsOf } from './presence-report.js';
import type { Part, Report } from './presence-report.js';
import { RoomLists, Roster } from './roster.js';
import type { Membership } from './roster.js';
import { closed } from './users.js';

/** How presence is kept. */
export interface PresenceOptions {
  /** The members of a server that is silent this long are gone, in ms. Default 10 000. */
  readonly leaseMs?: number | undefined;
  /** The channel of the bus. Default `'presence'`. */
  readonly channel?: string | undefined;
}

/** The members of rooms, on all servers. */
export interface Presence {
  /** Keeps a member in a room until its peer closes, or the result is unsubscribed. The same member counts once, on any servers. */
  join(room: string, member: string, peer: Peer): Subscription;
  /**
   * Emits the members of a room, and again after each turn of the event loop that has changed them. All observers share a list. A new
   * server knows of the others once they have answered.
   */
  members$(room: string): Observable<ReadonlySet<string>>;
}

/**
 * Keeps the members of rooms on all servers, over a bus: eventually right, after one lease at most. Each server renews the lease of all its
 * members with one message, three times in a lease. The members of a crashed server are gone within one lease. A message that the bus has
 * lost is noticed at the next renewal.
 *
 * Every server holds all members of the channel in memory.
 *
 * @throws TypeError for a bus that is none, and unless `leaseMs` is a number of at least 6; `join` and `members$` for a room or a
 *   member that is empty or no text, and `join` for a peer that is none
 *
 * @example
 * ```ts
 * const present = presence(natsBus(nc));
 * server.peers$.subscribe((peer) => present.join('lobby', userOf(peer), peer));
 * present.members$('lobby').subscribe(({ size }) => console.log(`${size} in the lobby`));
 * ```
 */
export function presence(bus: Bus, options: PresenceOptions = {}): Presence {
  checkBus('presence', bus);
  checkOptions(options, { leaseMs: true, channel: true });
  const { leaseMs = 10_000, channel = 'presence' } = options;
  const tickMs = Math.min(checkNumber('leaseMs', leaseMs, LEASE_TICKS) / LEASE_TICKS, LONGEST_TIMER_MS);
  return new BusPresence(bus, channelOf('presence', 'presence', 'the channel', channel), tickMs);
}

/** The ticks of a lease. A server renews it at every second one, so two renewals may be lost. */
const LEASE_TICKS = 6;

/** A server sends all its members at most this often in a tick, however many others ask. */
const REPORTS_A_TICK = 10;

/** Another server, as this server knows it. */
interface OtherServer {
  version: number;
  memberships: Map<string, Membership>;
  ticksLeft: number;
  /** The parts of the report that is arriving. */
  readonly arrived: { version: number; parts: (readonly Membership[])[] };
  /** Whether it was asked for all its members, and has not answered yet. */
  isAsked: boolean;
}

class BusPresence implements Presence {
  readonly #self = newEpoch();
  /** The members at this server. */
  readonly #own = new Roster();
  /** The members on all servers. */
  readonly #all = new Roster();
  readonly #others = new Map<string, OtherServer>();
  readonly #lists = new RoomLists((room) => this.#all.membersOf(room));
  #version = 0;
  /** Emits when another server asks for all members of this one. */
  readonly #asked$ = new Subject<void>();
  /** Whether the bus has ended the channel. Nothing is sent then. */
  #isLost = false;
  /** The error text of the last warning. */
  #warned = '';
  #ticks = 0;
  /** Runs while this server has members or observers. */
  readonly #running$: Observable<never>;
  /** Holds the run for the members. A lost bus ends it, and the next member begins another one for all. */
  #running = Subscription.EMPTY;

  constructor(
    private readonly bus: Bus,
    private readonly channel: string,
    tickMs: number,
  ) {
    this.#running$ = new Observable<never>((subscriber) => this.#run(subscriber, tickMs)).pipe(share());
  }

  join(room: string, member: string, peer: Peer): Subscription {
    const membership: Membership = [checkName('join', 'a room', room), checkName('join', 'a member', member)];
    checkPeer('join', peer, 'status$');
    // One line for all members. Observers receive the error themselves.
    const error = (lost: unknown): void => log('error', 'presence has lost its bus', lost);
    if (this.#running.closed) this.#running = this.#running$.subscribe({ error });
    this.#enter(membership);
    const joined = new Subscription(() => {
      this.#leave(membership);
      if (this.#own.isEmpty) this.#running.unsubscribe();
    });
    joined.add(
      closed(peer)
        .pipe(take(1))
        .subscribe(() => {
          joined.unsubscribe();
        }),
    );
    return joined;
  }

  members$(room: string): Observable<ReadonlySet<string>> {
    checkName('members$', 'a room', room);
    return merge(this.#running$, this.#lists.of(room));
  }

  #run(subscriber: Subscriber<never>, tickMs: number): () => void {
    this.#isLost = false;
    this.#warned = '';
    const running = this.bus.on(this.channel).subscribe({
      next: (report) => {
        if (isReport(report)) this.#receive(report);
        else log('warn', `a value of the channel '${this.channel}' is no report of presence, and is dropped`);
      },
      error: (error: unknown) => {
        this.#isLost = true;
        subscriber.error(error);
      },
    });
    running.add(
      interval(tickMs).subscribe(() => {
        this.#tick();
      }),
    );
    running.add(
      this.#asked$.pipe(throttleTime(tickMs / REPORTS_A_TICK, asyncScheduler, { leading: true, trailing: true })).subscribe(() => {
        this.#report();
      }),
    );
    void this.#send({ ask: '*' });
    // Each server would ask for it at the first change.
    this.#report();
    return () => {
      running.unsubscribe();
      void this.#send({ bye: true });
      for (const [from, other] of [...this.#others]) this.#drop(from, other);
    };
  }

  #enter(membership: Membership): void {
    if (!this.#own.add(membership)) return;
    this.#version++;
    void this.#send({ joined: membership });
    this.#add(membership);
  }

  #leave(membership: Membership): void {
    if (!this.#own.remove(membership)) return;
    this.#version++;
    void this.#send({ left: membership });
    this.#remove(membership);
  }

  #add(membership: Membership): void {
    if (this.#all.add(membership)) this.#lists.changed(membership);
  }

  #remove(membership: Membership): void {
    if (this.#all.remove(membership)) this.#lists.changed(membership);
  }

  #tick(): void {
    this.#ticks++;
    if (this.#ticks % 2 === 0) void this.#send({});
    for (const [from, other] of [...this.#others]) if (--other.ticksLeft <= 0) this.#drop(from, other);
  }

  #receive(report: Report): void {
    const { from, ask } = report;
    if (from === this.#self) return;
    if (ask === '*' || ask === this.#self) this.#asked$.next();
    if (ask === undefined) this.#follow(report);
  }

  /** Takes over a change of another server. Asks for all its members where a change was missed. */
  #follow(report: Report): void {
    const { from, version, joined, left, all, part, bye } = report;
    const known = this.#others.get(from);
    if (bye === true) {
      if (known !== undefined) this.#drop(from, known);
      return;
    }
    const other = known ?? newServer();
    this.#others.set(from, other);
    other.ticksLeft = LEASE_TICKS;
    const membership = joined ?? left;
    if (all !== undefined) this.#gather(other, all, version, part);
    else if (membership !== undefined && version === other.version + 1) this.#change(other, membership, joined !== undefined, version);
    // The answer holds the changes until then. A renewal asks again: the question or the answer may be lost.
    else if (version !== other.version && (membership === undefined || !other.isAsked)) {
      other.isAsked = true;
      void this.#send({ ask: from });
    }
  }

  /** Takes over a report of all members once its last part has come. If one was lost, a renewal asks again. */
  #gather(other: OtherServer, all: readonly Membership[], version: number, [nth, of]: Part = [0, 1]): void {
    if (version === other.version) return;
    const { arrived } = other;
    if (nth === 0) Object.assign(arrived, { version, parts: [] });
    if (version !== arrived.version || nth !== arrived.parts.length) return;
    arrived.parts.push(all);
    if (arrived.parts.length < of) return;
    const memberships = arrived.parts.flat();
    arrived.parts = [];
    other.isAsked = false;
    this.#replace(other, memberships, version);
  }

  #replace(other: OtherServer, all: readonly Membership[], version: number): void {
    const next = new Map(all.map((membership) => [keyOf(membership), membership]));
    const before = other.memberships;
    other.version = version;
    other.memberships = next;
    for (const [key, membership] of next) if (!before.has(key)) this.#add(membership);
    for (const [key, membership] of before) if (!next.has(key)) this.#remove(membership);
  }

  #change(other: OtherServer, membership: Membership, isJoining: boolean, version: number): void {
    other.version = version;
    if (isJoining) {
      other.memberships.set(keyOf(membership), membership);
      this.#add(membership);
    } else {
      other.memberships.delete(keyOf(membership));
      this.#remove(membership);
    }
  }

  #drop(from: string, other: OtherServer): void {
    this.#others.delete(from);
    this.#replace(other, [], -1);
  }

  /** Sends all members, all parts at once: a change between two of them would make their receivers ask again. */
  #report(): void {
    const parts = partsOf(this.#own.memberships);
    parts.forEach((all, nth) => void this.#send(parts.length === 1 ? { all } : { all, part: [nth, parts.length] }));
  }

  async #send(report: Omit<Report, 'from' | 'version'>): Promise<void> {
    if (this.#isLost) return;
    try {
      await this.bus.send(this.channel, { from: this.#self, version: this.#version, ...report });
    } catch (error) {
      this.#notSent(error);
    }
  }

  /** A renewal mends what a broker that was away has lost, and the channel reports a closed connection. The rest stays as it is: warn once. */
  #notSent(error: unknown): void {
    if (error instanceof BrokerError && (error.code === 'BROKER_AWAY' || error.code === 'BROKER_CLOSED')) {
      log('debug', 'a report of presence was not sent', error);
      return;
    }
    const text = errorText(error);
    if (text === this.#warned) return;
    this.#warned = text;
    log('warn', `presence cannot report on the channel '${this.channel}': other servers do not see all members of this one`, error);
  }
}

function newServer(): OtherServer {
  return { version: -1, memberships: new Map(), ticksLeft: 0, arrived: { version: -1, parts: [] }, isAsked: false };
}

function keyOf([room, member]: Membership): string {
  return JSON.stringify([room, member]);
}
