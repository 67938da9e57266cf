import { Observable, Subscription, timer } from 'rxjs';
import { frozen } from '../peer/hooks.js';
import type { SeenFrame } from '../peer/events.js';
import type { Peer } from '../peer/peer.js';
import { peersOf } from '../peer/peers.js';
import type { PeersSource } from '../peer/peers.js';
import { steadyNow } from '../util/time.js';
import { guard } from '../rx/subscribers.js';
import { atLeast, checkFunction, checkNumber, checkOptions, readOptions } from '../util/check.js';
import type { Options, Used } from '../util/check.js';
import type { Frame } from '../wire/frame.js';
import type { InspectorFeed, InspectorLine } from './batch.js';
import { History } from './history.js';
import { inspectedLine } from './inspected-line.js';
import type { WatchedConnection } from './inspected-line.js';
import { redacted } from './redact.js';
import { Watch } from './watch.js';

/** How peers are inspected. */
export interface InspectOptions {
  /** How long lines are kept for later viewers, in ms. With 0 none are kept, and peers are watched only while a viewer is there. Default 600 000. */
  readonly historyMs?: number | undefined;
  /** The most lines that are kept. A kept line is small, however long its frame is: its texts are cut after 100 characters. Default 100 000. */
  readonly historyLines?: number | undefined;
  /**
   * The most peers of a server that are watched at once. Another one is watched if it connects once a place is free; batches count the others.
   * Default 50.
   */
  readonly maxPeers?: number | undefined;
  /**
   * Called with each frame before a viewer or the history has it. It returns the frame to show, or `null` to leave it out. With it, slices
   * of payloads stay out, and name no stream. A frame for which it throws, or returns anything else, stays out too, and the error is logged.
   */
  readonly redact?: ((frame: Frame) => Frame | null) | undefined;
}

/** Peers under inspection. */
export interface Inspection {
  /** The lines for a viewer: first the history, then a batch every 50 ms. */
  readonly feed: InspectorFeed;
  /** The history now, without payloads. */
  readonly lines: readonly InspectorLine[];
  /** Watches the peers no more, and completes every feed. It is safe to call it twice. */
  close(): void;
}

type UsedOptions = Used<InspectOptions, 'redact'>;

/** Declares the options of an inspection. */
export const INSPECT_OPTIONS: Options<InspectOptions, UsedOptions> = {
  historyMs: [checkNumber, 600_000],
  historyLines: [checkNumber, 100_000],
  maxPeers: [atLeast(1), 50],
  redact: [checkFunction, undefined],
};
/** A feed sends its lines this often, in ms. */
const EVERY_MS = 50;
/** The turns between two lists of peers in a feed without lines. */
const QUIET_TURNS = 10;

/**
 * Watches the frames of a peer, or of a server's peers, for an inspector. Payloads and headers stay out, unless a viewer asks for them.
 *
 * `npm run bench:price` measures a watched request. With a `historyMs` of 0, peers cost nothing while no viewer is there.
 *
 * @throws TypeError for a bad option
 *
 * @example
 * ```ts
 * const { lines } = inspect(peer);
 * await peer.request({ op: 'sum', of: [1, 2] });
 * lines.map(({ d, f, n }) => [d, f?.type, n]);   // [['>', 'open', 'sum'], ['<', 'data', undefined]]
 * ```
 */
export function inspect(source: Peer | PeersSource, options: InspectOptions = {}): Inspection {
  checkOptions(options, INSPECT_OPTIONS);
  return new PeerInspection(peersOf('inspect', source), () => urlOf(source), readOptions(INSPECT_OPTIONS, options));
}

/** Returns the address of a server that listens on a port; `undefined` of any other source. */
function urlOf(source: Peer | PeersSource): string | undefined {
  try {
    return 'url' in source && typeof source.url === 'string' ? source.url : undefined;
  } catch {
    // A server that does not listen, or listens on a Unix socket, has no address.
    return undefined;
  }
}

/** Takes the lines of watched frames. */
interface Taker {
  readonly hasPayloads: () => boolean;
  readonly take: (line: InspectorLine) => void;
}

class PeerInspection implements Inspection {
  readonly #began = steadyNow();
  readonly #watch: Watch;
  readonly #history: History;
  readonly #takers = new Set<Taker>();
  readonly #open = new Subscription();
  #watching: Subscription | null = null;

  constructor(
    peers$: Observable<Peer>,
    private readonly serverUrl: () => string | undefined,
    private readonly options: UsedOptions,
  ) {
    this.#watch = new Watch(peers$, options.maxPeers, (seen, connection) => {
      this.#see(seen, connection);
    });
    this.#history = new History(options.historyLines, options.historyMs);
    if (options.historyMs > 0) this.#open.add(this.#takes({ hasPayloads: () => false, take: (line) => this.#history.add(line) }));
  }

  get lines(): readonly InspectorLine[] {
    return this.#history.linesAt(steadyNow() - this.#began);
  }

  readonly feed: InspectorFeed = (payloads$) =>
    new Observable((subscriber) => {
      let lines: InspectorLine[] = [...this.lines];
      let hasPayloads = false;
      let quiet = QUIET_TURNS;
      let before = steadyNow();
      subscriber.add(payloads$.subscribe((asked) => (hasPayloads = asked)));
      subscriber.add(this.#takes({ hasPayloads: () => hasPayloads, take: (line) => lines.push(line) }));
      const pass = (): void => {
        if (lines.length === 0 && ++quiet < QUIET_TURNS) return;
        const now = steadyNow();
        const batch = {
          at: now - this.#began,
          lines,
          dropped: 0,
          peers: this.#watch.samples(before),
          unwatched: this.#watch.unwatched,
          url: this.serverUrl(),
        };
        lines = [];
        before = now;
        quiet = 0;
        subscriber.next(batch);
      };
      subscriber.add(timer(0, EVERY_MS).subscribe(pass));
      const closed = (): void => {
        pass();
        subscriber.complete();
      };
      this.#open.add(closed);
      return () => {
        this.#open.remove(closed);
      };
    });

  close(): void {
    this.#open.unsubscribe();
  }

  /** Passes lines on until the result is unsubscribed. The first taker begins to watch the peers, and the last one ends it. */
  #takes(taker: Taker): Subscription {
    this.#takers.add(taker);
    this.#watching ??= this.#watch.start();
    return new Subscription(() => {
      this.#takers.delete(taker);
      if (this.#takers.size > 0) return;
      this.#watching?.unsubscribe();
      this.#watching = null;
    });
  }

  #see(seen: SeenFrame, connection: WatchedConnection): void {
    const { redact } = this.options;
    if (redact === undefined) this.#pass(seen, connection);
    else
      guard('redact', () => {
        const frame = redacted(redact, frozen(seen.frame));
        if (frame !== null) this.#pass({ ...seen, frame }, connection);
      });
  }

  #pass(seen: SeenFrame, connection: WatchedConnection): void {
    const t = seen.at - this.#began;
    const slices = this.options.redact === undefined;
    for (const { hasPayloads, take } of this.#takers) take(inspectedLine(seen, t, connection, { payloads: hasPayloads(), slices }));
  }
}
