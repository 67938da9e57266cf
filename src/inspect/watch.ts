import { Subscription } from 'rxjs';
import type { Observable, TeardownLogic } from 'rxjs';
import { defaultLabel } from '../stream/label.js';
import { sizedFramesOf } from '../peer/events.js';
import type { SeenFrame } from '../peer/events.js';
import { Peer } from '../peer/peer.js';
import { steadyNow } from '../util/time.js';
import type { InspectedPeer } from './batch.js';
import { hiddenStreamsOf } from './hidden-streams.js';
import type { WatchedConnection } from './inspected-line.js';

/** Called with each frame of a watched peer, and its connection. */
export type See = (seen: SeenFrame, connection: WatchedConnection) => void;

/** The peers that are watched, and their connections. */
export class Watch {
  readonly #peers = new Map<Peer, Connections>();
  readonly #unwatched = new Set<Peer>();
  /** The last samples of the newest peers that have left, `maxPeers` at most. */
  #left: readonly { readonly sample: InspectedPeer; readonly at: number }[] = [];
  #connections = 0;

  constructor(
    private readonly peers$: Observable<Peer>,
    private readonly maxPeers: number,
    private readonly see: See,
  ) {}

  /** Watches until the result is unsubscribed. A peer that is not watched does no work for it. */
  start(): Subscription {
    const all = new Subscription();
    all.add(
      this.peers$.subscribe((peer) => {
        if (this.#peers.has(peer)) return;
        if (this.#peers.size < this.maxPeers) all.add(this.#watch(peer));
        else this.#count(peer);
      }),
    );
    all.add(() => {
      this.#unwatched.clear();
    });
    return all;
  }

  /** The watched peers now, and those that have left since a time of {@link steadyNow}. */
  samples(since: number): readonly InspectedPeer[] {
    const left = this.#left.filter(({ at }) => at >= since).map(({ sample }) => sample);
    return [...[...this.#peers].map(([peer, connections]) => sampleOf(peer, connections.sample())), ...left];
  }

  /** How many peers are connected, and not watched. */
  get unwatched(): number {
    return this.#unwatched.size;
  }

  #count(peer: Peer): void {
    this.#unwatched.add(peer);
    void peer.closed.then(() => this.#unwatched.delete(peer));
  }

  #watch(peer: Peer): Subscription {
    const connections = new Connections(peer, () => ++this.#connections);
    this.#peers.set(peer, connections);
    const watched = new Subscription(() => this.#peers.delete(peer));
    watched.add(
      observe(peer, (seen) => {
        if (!connections.hides(seen.frame.stream)) this.see(seen, connections.at(seen.connection));
      }),
    );
    void peer.closed.then(() => {
      if (watched.closed) return;
      const sample = sampleOf(peer, connections.sample());
      this.#left = [...this.#left, { sample, at: steadyNow() }].slice(-this.maxPeers);
      watched.unsubscribe();
    });
    return watched;
  }
}

/** Observes the frames of a peer without the event that `frames$` makes of each. A peer of another copy of the package has no such hook. */
function observe(peer: Peer, observer: (seen: SeenFrame) => void): TeardownLogic {
  const core = Peer.core(peer);
  return core === null ? peer.frames$.subscribe(observer) : sizedFramesOf(core).add(observer);
}

/** The connections of a peer. While one drains, frames of its replacement come in between. */
class Connections {
  /** By their numbers among the connections of the peer. */
  readonly #known = new Map<number, WatchedConnection>();
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

  at(number: number): WatchedConnection {
    return this.#known.get(number) ?? this.#begin(number);
  }

  /** The number of its last socket, and the numbers of earlier ones that still drain. */
  sample(): Pick<InspectedPeer, 'c' | 'draining'> {
    const last = Math.max(0, ...this.#known.keys());
    const { c } = this.at(last);
    const draining = [...this.#known].flatMap(([number, known]) => (number !== last && this.#isOpen(number) === true ? [known.c] : []));
    return draining.length === 0 ? { c } : { c, draining };
  }

  #begin(number: number): WatchedConnection {
    for (const known of this.#known.keys()) if (this.#isOpen(known) === false) this.#known.delete(known);
    const { peer } = this;
    const begun = { c: this.next(), isDialer: peer.isDialer, label: Peer.core(peer)?.options.label ?? defaultLabel };
    this.#known.set(number, begun);
    return begun;
  }

  /** `null` of a peer of another copy of the package, which does not show its sockets. */
  #isOpen(number: number): boolean | null {
    return Peer.core(this.peer)?.connections.some((open) => open.number === number) ?? null;
  }
}

// A batch has a sample of each peer, so it leaves out what is known without it.
function sampleOf(peer: Peer, sockets: Pick<InspectedPeer, 'c' | 'draining'>): InspectedPeer {
  const { status, isDialer, rttMs, bufferedAmount, codec } = peer;
  const [name = ''] = peer.toString().split(' {');
  const reconnects = status.state === 'open' ? status.reconnects : 0;
  const url = isDialer ? dialledUrl(Peer.core(peer)?.remote ?? '') : undefined;
  return {
    ...sockets,
    name,
    isDialer,
    state: status.state,
    reconnects,
    rttMs,
    bufferedAmount,
    ...(codec.name === 'json' ? {} : { codec: codec.name }),
    ...(url === undefined ? {} : { url }),
  };
}

/** Returns a dialed address as a command can dial it: one of a page may be relative. */
function dialledUrl(address: string): string | undefined {
  if (/^wss?:/.test(address)) return address;
  const { document }: { readonly document?: { readonly baseURI: string } } = globalThis;
  if (address === '' || document === undefined) return undefined;
  return `ws${new URL(address, document.baseURI).href.slice('http'.length)}`;
}
