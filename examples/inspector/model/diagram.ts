import { filterOf } from './filter.js';
import type { InspectedPeer, InspectorBatch } from 'rxmux/inspect';
import type { Lane } from './lane.js';
import type { Marble } from './marble.js';
import { Rows } from './rows.js';
import type { Row } from './rows.js';
import { Timeline } from './timeline.js';
import { Totals } from './totals.js';
import { View } from './view.js';

/** The diagram is so far behind the feed: what is drawn then does not change any more. */
export const DELAY_MS = 150;
/** How fast the clock of a feed may seem to run away, in ms a batch. */
const DRIFT_MS = 0.05;

/** Everything that the page shows, without the page. */
export class Diagram {
  readonly totals = new Totals();
  readonly view = new View();
  peers: readonly InspectedPeer[] = [];
  /** The last sample of each connection, also of those that have left while their lanes are kept. */
  readonly #samples = new Map<number, InspectedPeer>();
  /** How many connected peers the feed does not watch. */
  unwatched = 0;
  /** The address of the server whose peers the feed watches, if it says it. */
  url: string | undefined;
  /** How many lines the feed has dropped. */
  dropped = 0;
  /** Rises with each change of what is already drawn. */
  version = 0;
  #rows = new Rows(true);
  /** Whether the feed has ever had a peer. */
  #hasPeers = false;
  /** The right edge of the picture of a run that was over before the page came, and the span before it; `null` without such a picture. */
  #fitted: { readonly end: number; readonly spanBefore: number } | null = null;
  /** The timeline replaces its lanes when it forgets some. */
  #placed: readonly Lane[] = [];
  #offset: number | null = null;

  constructor(readonly timeline = new Timeline()) {}

  get folds(): boolean {
    return this.#rows.folds;
  }

  get rows(): readonly Row[] {
    return this.#rows.all;
  }

  /** Whether a batch of a feed has come. */
  get isFed(): boolean {
    return this.#offset !== null;
  }

  /** @param local the time on the clock of the page, in ms */
  receive({ at, lines, dropped, peers, unwatched = 0, url }: InspectorBatch, local: number): void {
    this.#follow(at, local);
    const drawn = this.now(local);
    for (const peer of peers) this.#samples.set(peer.c, peer);
    for (const line of lines) {
      const marble = this.timeline.add(line);
      if (line.t < drawn) this.version++;
      this.totals.add(marble, this.isSent(marble));
    }
    this.dropped += dropped;
    this.unwatched = unwatched;
    this.url = url;
    if (dropped > 0) this.timeline.doubt();
    this.#sampled(at, peers);
    this.#place();
    this.#fit();
  }

  /** Adds the lines of a file, and shows all of them that the timeline keeps. */
  load(lines: InspectorBatch['lines']): void {
    this.peers = [];
    this.url = undefined;
    for (const line of lines) this.totals.add(this.timeline.add(line), line.d === '>');
    this.#place();
    this.#offset = null;
    this.#showAll();
  }

  /** The present of the diagram, in ms since the feed began. A file's present is its last line. */
  now(local: number): number {
    return this.#offset === null ? this.timeline.newest : Math.max(0, local - this.#offset - DELAY_MS);
  }

  /** The rows that have something to show between two times, from top to bottom. */
  seenRows(begin: number, end: number): readonly Row[] {
    return this.rows.filter((row) => row.isSeen(begin, end));
  }

  /** @throws FilterError for a filter that makes no sense */
  filterBy(text: string): void {
    this.timeline.filterBy(filterOf(text));
    this.version++;
  }

  /** The last sample of a connection. */
  sampleOf(c: number): InspectedPeer | undefined {
    return this.#samples.get(c);
  }

  /** Whether the inspected peer has sent a marble. Of a recording it is the dialer. */
  isSent({ ofDialer, lane }: Marble): boolean {
    return ofDialer === (this.sampleOf(lane.c)?.isDialer ?? true);
  }

  fold(folds: boolean): void {
    this.#rows = new Rows(folds);
    this.#rows.add(this.timeline.lanes);
    this.version++;
  }

  clear(): void {
    this.timeline.clear();
    this.totals.clear();
    this.#samples.clear();
    this.#rows = new Rows(this.folds);
    this.dropped = 0;
    this.unwatched = 0;
    this.version++;
  }

  /** Shows a run whose peers have left, from its begin to its end. Once a peer connects, the picture follows again. */
  #fit(): void {
    const { view } = this;
    const fitted = this.#fitted?.end === view.endAt(Infinity) ? this.#fitted : null;
    if (this.#hasPeers) {
      if (fitted !== null) {
        view.span = fitted.spanBefore;
        view.follow();
      }
      this.#fitted = null;
    } else if (this.timeline.count > 0 && (fitted !== null || view.follows)) {
      const spanBefore = fitted?.spanBefore ?? view.span;
      this.#showAll();
      this.#fitted = { end: view.endAt(Infinity), spanBefore };
    }
  }

  #showAll(): void {
    const { newest, oldest, lanes } = this.timeline;
    const begin = Math.max(lanes[0]?.openedAt ?? 0, oldest);
    this.view.show(begin, newest + (newest - begin) * 0.02 + 1);
    this.version++;
  }

  #sampled(at: number, peers: readonly InspectedPeer[]): void {
    // A peer that waits to dial again has lost its last connection.
    const now = new Set(peers.flatMap(({ c, state, draining = [] }) => (state === 'waiting' ? draining : [c, ...draining])));
    const before = new Set(this.peers.flatMap(({ c, draining = [] }) => [c, ...draining]));
    for (const c of this.timeline.connections) if (!now.has(c)) this.timeline.lost(c, before.has(c) ? at : this.timeline.newest);
    if (peers.length > 0) this.#hasPeers = true;
    for (const { c, name } of peers) this.timeline.nameConnection(c, name);
    if (peers.length > 0) this.totals.sample(at, peers);
    this.peers = peers;
  }

  /** Places new lanes, which are the last ones, and removes forgotten ones. */
  #place(): void {
    const { lanes } = this.timeline;
    let first = lanes.length;
    while (first > 0 && lanes[first - 1]?.row === null) first--;
    this.#rows.add(lanes.slice(first));
    if (lanes !== this.#placed) this.#forget();
    this.#placed = lanes;
  }

  /** Forgets the rows and samples of forgotten lanes. */
  #forget(): void {
    this.#rows.forget();
    const kept = new Set([...this.timeline.lanes, ...this.peers].map(({ c }) => c));
    for (const c of this.#samples.keys()) if (!kept.has(c)) this.#samples.delete(c);
  }

  /** Keeps the least delay of all batches as the offset between the clocks. */
  #follow(at: number, local: number): void {
    this.#offset = Math.min((this.#offset ?? Infinity) + DRIFT_MS, local - at);
  }
}
