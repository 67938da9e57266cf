import { NEVER, ReplaySubject, defer, of, share, tap, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { observableFrom } from '../stream/input.js';
import type { Source } from '../stream/input.js';
import { checkFunction, checkNumber, checkObject, refuseUnknown } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { getOrMake } from '../util/collections.js';
import { LONGEST_TIMER_MS } from '../util/time.js';
import { valuesEqual } from '../wire/mapping.js';
import { checkPeer } from './options.js';
import type { Peer } from './peer.js';
import { reopenOnReconnect } from './operators/reopen.js';

/** How streams are shared. */
export interface SharedOptions {
  /**
   * The time in ms for which a stream outlives its last subscriber, and for which a completed stream replays its last value. `0` ends it
   * at once. With `Infinity` it never ends by itself. Default 1000.
   */
  readonly keep?: number | undefined;
  /** The peer whose next socket opens a shared stream again, as `reopenOnReconnect` does. Default `null`: a lost socket is an error. */
  readonly peer?: Peer | null | undefined;
}

/** Names {@link SharedOptions}. */
const OPTIONS: NamesOf<SharedOptions> = { keep: true, peer: true };

/** Opens a stream. */
export type OpenStream<T> = (...args: readonly unknown[]) => Source<T>;

/** One stream, open or kept. */
interface Live<T> {
  readonly args: readonly unknown[];
  readonly stream$: Observable<T>;
}

/** The origin of a function that {@link shared} has made, and its forms for the peers of hooks. */
interface Origin {
  readonly open: OpenStream<unknown>;
  readonly options: SharedOptions;
  readonly byPeer: WeakMap<Peer, OpenStream<unknown>>;
}

const origins = new WeakMap<OpenStream<unknown>, Origin>();
const byDefault = new WeakMap<OpenStream<unknown>, OpenStream<unknown>>();

/**
 * Shares one stream between the subscribers of equal arguments. The first subscriber opens it, and a later one gets the last value at
 * once. The stream ends a moment after its last subscriber has left. Plain objects and arrays are compared by content, functions and
 * other objects by identity.
 *
 * A stream that fails passes its error to all its subscribers, and the next subscriber opens a new one. A completed stream replays its
 * last value and its completion for `keep` ms. After that, it opens anew, too.
 *
 * The option `peer` reopens below the sharing. A `reopenOnReconnect` around a shared stream would stay with the old socket.
 *
 * @param open a call of a contract, or a function of yours that returns an Observable
 * @returns a function with the same parameters
 *
 * @throws TypeError for an option that does not fit
 *
 * @example
 * ```ts
 * const api = contract({ price: stream<{ symbol: string }, number>() });
 * const price = shared(client(peer, api).price, { peer });
 * price({ symbol: 'ACME' }).subscribe(show);
 * price({ symbol: 'ACME' }).subscribe(log);   // the same stream, and its last value first
 * ```
 */
export function shared<Args extends readonly unknown[], T>(
  open: (...args: Args) => Source<T>,
  options: SharedOptions = {},
): (...args: Args) => Observable<T> {
  checkFunction('shared', open);
  refuseUnknown('shared', checkObject('shared', options, '{ keep, peer }'), OPTIONS);
  const { keep = 1_000, peer = null } = options;
  checkNumber('shared.keep', keep);
  if (peer !== null) checkPeer('shared.peer', peer, 'status$');
  const origin = open as OpenStream<T>;
  const reopened: OpenStream<T> = peer === null ? origin : (...args) => reopenOnReconnect(peer, { open: () => origin(...args) });
  const sharing = new Sharing(reopened, keep);
  const made: OpenStream<T> = (...args) => sharing.of(args);
  origins.set(made, { open: origin, options, byPeer: new WeakMap() });
  return made as (...args: Args) => Observable<T>;
}

/** Returns what the hooks' option `shared` reads: one shared function for each `open`. */
export function sharedByDefault<T>(open: OpenStream<T>): OpenStream<T> {
  if (origins.has(open)) return open;
  return getOrMake(byDefault, open, () => shared(checkFunction('useStream', open)) as OpenStream<unknown>) as OpenStream<T>;
}

/**
 * The form of a shared function whose streams a peer opens again, below their subscribers. `undefined` for a function that
 * {@link shared} did not make.
 */
export function sharedOver<T>(open: OpenStream<T>, peer: Peer | null): OpenStream<T> | undefined {
  const origin = origins.get(open);
  if (origin === undefined || peer === null || origin.options.peer != null) return origin && open;
  const make = (): OpenStream<unknown> => shared(origin.open, { ...origin.options, peer }) as OpenStream<unknown>;
  return getOrMake(origin.byPeer, peer, make) as OpenStream<T>;
}

/** The streams of one function, by their arguments. */
class Sharing<T> {
  readonly #live: Live<T>[] = [];

  constructor(
    private readonly open: OpenStream<T>,
    private readonly keep: number,
  ) {}

  of(args: readonly unknown[]): Observable<T> {
    return defer(() => (this.#live.find((live) => valuesEqual(live.args, args)) ?? this.#begin(args)).stream$);
  }

  #begin(args: readonly unknown[]): Live<T> {
    const drop = (): void => {
      const at = this.#live.indexOf(live);
      if (at >= 0) this.#live.splice(at, 1);
    };
    const ending = (): Observable<unknown> => this.#moment().pipe(tap(drop));
    const live: Live<T> = {
      args,
      stream$: defer(() => observableFrom(this.open(...args))).pipe(
        // Before its subscribers hear of the error: one that subscribes again opens a new stream.
        tap({ error: drop }),
        share({ connector: () => new ReplaySubject(1), resetOnComplete: ending, resetOnRefCountZero: ending }),
      ),
    };
    this.#live.push(live);
    return live;
  }

  #moment(): Observable<unknown> {
    if (this.keep === 0) return of(0);
    return this.keep === Infinity ? NEVER : timer(Math.min(this.keep, LONGEST_TIMER_MS));
  }
}
