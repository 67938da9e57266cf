import { ResetCode } from 'rxmux';
import type { Marble } from './marble.js';
import type { Row } from './rows.js';

/**
 * How a stream ended. `cancelled`: a side was no longer interested. `refused`: the receiver did not begin. `failed`: a reset for another
 * reason. `lost`: its connection ended first.
 */
export type LaneEnd = 'completed' | 'cancelled' | 'refused' | 'failed' | 'lost';

/** The ends that are no failure. `take`, `unsubscribe` and `switchMap` cancel; NO_ERROR stops an upload whose answer is complete. */
const ENDS: ReadonlyMap<unknown, LaneEnd> = new Map([
  [ResetCode.NO_ERROR, 'completed'],
  [ResetCode.CANCEL, 'cancelled'],
  [ResetCode.REFUSED, 'refused'],
]);

/** How a reset ends its stream. */
export function endOfReset({ line: { f } }: Marble): LaneEnd {
  return ENDS.get(f?.['code']) ?? 'failed';
}

/** A stream, or a connection, and its marbles from the oldest to the newest. */
export class Lane {
  readonly marbles: Marble[] = [];
  name = '';
  /** When it ended; `Infinity` while it goes on. */
  endedAt = Infinity;
  end: LaneEnd | null = null;
  /** The reset that ended it. */
  reset: Marble | null = null;
  /** How many marbles the filter shows. */
  matching = 0;
  /** Where the diagram shows it; `null` until it is placed. */
  row: Row | null = null;
  /** When the first side ended; from then on the line is thin. */
  halfEndedAt = Infinity;
  readonly bytes = { dialer: 0, acceptor: 0 };
  /** Whether its end may be among lines that the feed dropped. */
  isDoubtful = false;
  #forgottenBefore = 0;
  #dialerEnded = false;
  #acceptorEnded = false;

  /** @param stream the id of the stream; `null` for the lane of the connection */
  constructor(
    readonly c: number,
    readonly stream: number | null,
    readonly openedAt: number,
  ) {}

  /** `#17 search`, or the name of the connection. */
  get title(): string {
    if (this.stream === null) return this.name === '' ? `connection ${this.c}` : this.name;
    return this.name === '' ? `#${this.stream}` : `#${this.stream} ${this.name}`;
  }

  get isConnection(): boolean {
    return this.stream === null;
  }

  /** Whether the filter shows it. It shows each connection. */
  get isShown(): boolean {
    return this.matching > 0 || this.isConnection;
  }

  /** Whether nothing is left of a lane that has ended, or may have. */
  get isForgotten(): boolean {
    if (this.marbles.length > 0) return false;
    return this.end === null ? this.isDoubtful : this.endedAt < this.#forgottenBefore;
  }

  add(marble: Marble): void {
    this.marbles.push(marble);
    this.bytes[marble.ofDialer ? 'dialer' : 'acceptor'] += marble.bytes;
    if (this.isConnection) return;
    if (marble.kind === 'reset') this.close(endOfReset(marble), marble.t, marble);
    else if (marble.ends) this.#ended(marble);
  }

  /** Ends the lane, unless it has ended. */
  close(end: LaneEnd, at: number, reset: Marble | null = null): void {
    if (this.end !== null) return;
    this.end = end;
    this.endedAt = at;
    this.reset = reset;
  }

  /** Forgets the marbles before a time. Returns how many. */
  forgetBefore(t: number): number {
    this.#forgottenBefore = t;
    const count = firstAtOrAfter(this.marbles, t);
    for (const { matches } of this.marbles.splice(0, count)) if (matches) this.matching--;
    return count;
  }

  #ended(marble: Marble): void {
    if (marble.ofDialer) this.#dialerEnded = true;
    else this.#acceptorEnded = true;
    this.halfEndedAt = Math.min(this.halfEndedAt, marble.t);
    if (this.#dialerEnded && this.#acceptorEnded) this.close('completed', marble.t);
  }
}

/** The index of the first marble at a time or after it. */
export function firstAtOrAfter(marbles: readonly Marble[], t: number): number {
  let low = 0;
  let high = marbles.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marbles[middle]?.t ?? Infinity) < t) low = middle + 1;
    else high = middle;
  }
  return low;
}
