import { Lane } from './lane.js';
import { Marble } from './marble.js';
import { everything } from './filter.js';
import type { Filter } from './filter.js';
import type { InspectorLine } from 'rxmux/inspect';

/** How much a timeline keeps. */
export interface Bounds {
  readonly ageMs: number;
  readonly marbles: number;
  /** Bytes of frames whose payloads are shown. */
  readonly contentBytes: number;
}

export const BOUNDS: Bounds = { ageMs: 600_000, marbles: 200_000, contentBytes: 64_000_000 };
/** It forgets in steps, because each step looks at every lane. */
const FORGETS_EVERY_MS = 1_000;
/** A step is due once there is so much more than the bounds allow. */
const SURPLUS = 1.1;

/** The lanes of every connection, built up line by line. */
export class Timeline {
  /** The lanes of streams and connections, in the order of their first marble. */
  lanes: Lane[] = [];
  /** The time of the newest line. */
  newest = 0;
  /** How many lines were forgotten because there are too many. */
  forgotten = 0;
  /** The marbles in the order of their lines. */
  #marbles: Marble[] = [];
  #contentBytes = 0;
  #filter: Filter = everything;
  #known = new Map<string, Lane>();
  readonly #pings = new Map<string, Marble>();
  #forgetAt = FORGETS_EVERY_MS;
  #keptFrom = 0;

  constructor(private readonly bounds: Bounds = BOUNDS) {}

  /** Marbles before this time are forgotten. */
  get oldest(): number {
    return Math.max(this.#keptFrom, this.newest - this.bounds.ageMs);
  }

  /** How many marbles it keeps. */
  get count(): number {
    return this.#marbles.length;
  }

  /** The lines that it keeps, in their order. */
  get lines(): readonly InspectorLine[] {
    return this.#marbles.map(({ line }) => line);
  }

  /** Adds a line. Returns its marble. */
  add(line: InspectorLine): Marble {
    const lane = this.#laneOf(line);
    if (line.n !== undefined && line.n !== '') lane.name = line.n;
    const marble = new Marble(line, lane);
    lane.add(marble);
    if (lane.isConnection) this.#pair(marble);
    this.#judge(marble);
    this.#marbles.push(marble);
    this.#contentBytes += marble.contentBytes;
    this.newest = Math.max(this.newest, line.t);
    if (this.newest >= this.#forgetAt || this.#isOver(SURPLUS)) this.#forget();
    return marble;
  }

  /** Notes that the feed dropped lines: the end of each open stream may be among them. */
  doubt(): void {
    for (const lane of this.lanes) if (lane.end === null && !lane.isConnection) lane.isDoubtful = true;
  }

  /** The connections that have not ended. */
  get connections(): readonly number[] {
    return this.lanes.filter(({ isConnection, end }) => isConnection && end === null).map(({ c }) => c);
  }

  /** Ends the lanes of a connection. */
  lost(c: number, at: number): void {
    for (const lane of this.#known.values()) if (lane.c === c) lane.close('lost', at);
  }

  nameConnection(c: number, name: string): void {
    const lane = this.#known.get(`${c}`);
    if (lane !== undefined) lane.name = name;
  }

  filterBy(filter: Filter): void {
    this.#filter = filter;
    for (const lane of this.lanes) {
      lane.matching = 0;
      for (const marble of lane.marbles) this.#judge(marble);
    }
  }

  clear(): void {
    this.lanes = [];
    this.#known.clear();
    this.#pings.clear();
    this.newest = 0;
    this.#marbles = [];
    this.#contentBytes = 0;
    this.forgotten = 0;
    this.#keptFrom = 0;
    this.#forgetAt = FORGETS_EVERY_MS;
  }

  #judge(marble: Marble): void {
    marble.matches = this.#filter(marble);
    if (marble.matches) marble.lane.matching++;
  }

  /** Late frames of an ended stream belong to its lane: a socket uses each stream id once. */
  #laneOf({ c, t, f }: InspectorLine): Lane {
    const stream = typeof f?.['stream'] === 'number' ? f['stream'] : null;
    const key = stream === null ? `${c}` : `${c}:${stream}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (stream !== null && !this.#known.has(`${c}`)) this.#begin(`${c}`, new Lane(c, null, t));
    return this.#begin(key, new Lane(c, stream, t));
  }

  #begin(key: string, lane: Lane): Lane {
    this.#known.set(key, lane);
    this.lanes.push(lane);
    return lane;
  }

  #pair(marble: Marble): void {
    const nonce = marble.line.f?.['nonce'];
    if (marble.kind === 'ping') this.#pings.set(pingKey(marble.lane.c, marble.ofDialer, nonce), marble);
    if (marble.kind !== 'pong') return;
    const key = pingKey(marble.lane.c, !marble.ofDialer, nonce);
    const ping = this.#pings.get(key);
    if (ping === undefined) return;
    this.#pings.delete(key);
    marble.roundTrip = marble.t - ping.t;
    ping.roundTrip = marble.roundTrip;
  }

  #isOver(factor: number): boolean {
    return this.count > this.bounds.marbles * factor || this.#contentBytes > this.bounds.contentBytes * factor;
  }

  /** Forgets what is too old, and then what is too much. */
  #forget(): void {
    this.#forgetAt = this.newest + FORGETS_EVERY_MS;
    this.#forgetBefore(this.oldest);
    if (!this.#isOver(1)) return;
    this.#keptFrom = this.#marbles[this.#surplus()]?.t ?? this.newest;
    this.forgotten += this.#forgetBefore(this.#keptFrom);
  }

  /** How many of the oldest marbles are beyond the bounds. */
  #surplus(): number {
    const { marbles, contentBytes } = this.bounds;
    let surplus = 0;
    let bytes = this.#contentBytes;
    while (surplus < this.count - 1 && (this.count - surplus > marbles || bytes > contentBytes))
      bytes -= this.#marbles[surplus++]?.contentBytes ?? 0;
    return surplus;
  }

  #forgetBefore(t: number): number {
    let forgotten = 0;
    for (const lane of this.lanes) forgotten += lane.forgetBefore(t);
    if (forgotten === 0) return 0;
    this.#marbles = this.#marbles.filter((marble) => marble.t >= t);
    this.#contentBytes = this.#marbles.reduce((sum, { contentBytes }) => sum + contentBytes, 0);
    this.lanes = this.lanes.filter((lane) => !lane.isForgotten);
    for (const [key, lane] of this.#known) if (lane.isForgotten) this.#known.delete(key);
    for (const [key, ping] of this.#pings) if (ping.t < t) this.#pings.delete(key);
    return forgotten;
  }
}

function pingKey(c: number, ofDialer: boolean, nonce: unknown): string {
  return `${c}${ofDialer ? '>' : '<'}${String(nonce)}`;
}
