import { defer, EMPTY, filter, finalize, from, map, merge, mergeMap } from 'rxjs';
import type { Observable } from 'rxjs';
import { defaultLabel } from '../peer/base/label.js';
import { Peer } from '../peer/peer.js';
import type { FrameEvent } from '../peer/peer.js';
import type { InspectedPeer } from './batch.js';
import { hiddenStreamsOf } from './hidden-streams.js';
import type { Seat } from './inspected-line.js';

/** A server, with its peers of now and of later. */
export interface PeersSource {
  /** The peers that are connected now. */
  readonly peers?: Iterable<Peer> | undefined;
  /** Emits each later peer. */
  readonly peers$: Observable<Peer>;
}

/** A frame, and the seat of its connection. */
export interface Seen {
  readonly event: FrameEvent;
  readonly seat: Seat;
}

/** The peers that are watched, with a seat for each of their connections. */
export class Watch {
  readonly #peers = new Map<Peer, Connections>();
  #connections = 0;

  /** Emits every frame of the watched peers. It costs only while it has a subscriber. */
  readonly seen$: Observable<Seen>;

  constructor(source: Peer | PeersSource, maxPeers: number) {
    this.seen$ = peersOf(source).pipe(
      mergeMap((peer) => (this.#peers.size < maxPeers && !this.#peers.has(peer) ? this.#watched(peer) : EMPTY)),
    );
  }

  /** The watched peers now. */
  samples(): readonly InspectedPeer[] {
    return [...this.#peers].map(([peer, { newest }]) => sampleOf(peer, newest()));
  }

  #watched(peer: Peer): Observable<Seen> {
    const connections = new Connections(peer, () => ++this.#connections);
    this.#peers.set(peer, connections);
    return peer.frames$.pipe(
      filter(({ frame }) => !connections.hides(frame.stream)),
      map((event) => ({ event, seat: connections.seat(event.connection) })),
      finalize(() => this.#peers.delete(peer)),
    );
  }
}

/** The seats of a peer's connections. */
class Connections {
  #connection = 0;
  #seat: Seat | null = null;
  readonly #hidden: ReadonlySet<number>;

  constructor(
    private readonly peer: Peer,
    private readonly next: () => number,
  ) {
    this.#hidden = hiddenStreamsOf(peer);
  }

  hides(stream: number | null | undefined): boolean {
    return this.#hidden.size > 0 && stream != null && this.#hidden.has(stream);
  }

  seat(connection: number): Seat {
    if (this.#seat !== null && this.#connection === connection) return this.#seat;
    this.#connection = connection;
    const { isDialer } = this.peer;
    return (this.#seat = { c: this.next(), isDialer, label: Peer.core(this.peer)?.options.label ?? defaultLabel });
  }

  readonly newest = (): number => (this.#seat ?? this.seat(this.#connection)).c;
}

/** Emits the peers of a source, present and later ones. */
export function peersOf(source: Peer | PeersSource): Observable<Peer> {
  if (!('peers$' in source)) return from([source]);
  return defer(() => merge(from([...(source.peers ?? [])]), source.peers$));
}

function sampleOf(peer: Peer, c: number): InspectedPeer {
  const { status, isDialer, rttMs, bufferedAmount } = peer;
  const [name = ''] = peer.toString().split(' {');
  const reconnects = status.state === 'open' ? status.reconnects : 0;
  return { c, name, isDialer, state: status.state, reconnects, rttMs, bufferedAmount };
}
