import { Subscription } from 'rxjs';
import type { Observable, TeardownLogic } from 'rxjs';
import { onSizedFrame } from '../peer/base/hooks.js';
import type { SeenFrame } from '../peer/base/hooks.js';
import { defaultLabel } from '../peer/base/label.js';
import { Peer } from '../peer/peer.js';
import type { InspectedPeer } from './batch.js';
import { hiddenStreamsOf } from './hidden-streams.js';
import type { Seat } from './inspected-line.js';

/** Called with each frame of a watched peer, and the seat of its connection. */
export type See = (seen: SeenFrame, seat: Seat) => void;

/** The peers that are watched, with a seat for each of their connections. */
export class Watch {
  readonly #peers = new Map<Peer, Connections>();
  #connections = 0;

  constructor(
    private readonly peers$: Observable<Peer>,
    private readonly maxPeers: number,
    private readonly see: See,
  ) {}

  /** Watches until the result is unsubscribed; only then it costs something. */
  start(): Subscription {
    const all = new Subscription();
    all.add(
      this.peers$.subscribe((peer) => {
        if (this.#peers.size < this.maxPeers && !this.#peers.has(peer)) all.add(this.#watch(peer));
      }),
    );
    return all;
  }

  /** The watched peers now. */
  samples(): readonly InspectedPeer[] {
    return [...this.#peers].map(([peer, { newest }]) => sampleOf(peer, newest()));
  }

  #watch(peer: Peer): Subscription {
    const connections = new Connections(peer, () => ++this.#connections);
    this.#peers.set(peer, connections);
    const watched = new Subscription(() => this.#peers.delete(peer));
    watched.add(
      observe(peer, (seen) => {
        if (!connections.hides(seen.frame.stream)) this.see(seen, connections.seat(seen.connection));
      }),
    );
    void peer.closed.then(() => {
      watched.unsubscribe();
    });
    return watched;
  }
}

/** Observes the frames of a peer without the event that `frames$` makes of each. A peer of another copy of the package has no such hook. */
function observe(peer: Peer, observer: (seen: SeenFrame) => void): TeardownLogic {
  const core = Peer.core(peer);
  return core === null ? peer.frames$.subscribe(observer) : onSizedFrame(core.hooks, observer);
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

function sampleOf(peer: Peer, c: number): InspectedPeer {
  const { status, isDialer, rttMs, bufferedAmount } = peer;
  const [name = ''] = peer.toString().split(' {');
  const reconnects = status.state === 'open' ? status.reconnects : 0;
  return { c, name, isDialer, state: status.state, reconnects, rttMs, bufferedAmount };
}
