import { mergeMap, Observable, timer } from 'rxjs';
import { fullJitter } from '../peer/safe-retry.js';
import { checkPeer } from '../peer/options.js';
import { Reopening } from '../peer/operators/reopen.js';
import type { Peer } from '../peer/peer.js';
import { Relay } from '../rx/pipeline.js';
import type { Destination } from '../rx/pipeline.js';
import { observableFrom } from '../stream/input.js';
import type { Source } from '../stream/input.js';
import { checkFunction, checkOptions } from '../util/check.js';
import { lossIn } from './cursor.js';
import { checkItem } from './log.js';
import type { TopicItem } from './log.js';

/** How a topic goes on. */
export interface TopicOptions<T, C = string> {
  /**
   * Called where messages after the last cursor are no longer kept. The topic emits the returned values, such as a snapshot, and then the
   * messages after `resetTo`, the end of the log. Return `EMPTY` to skip the lost messages, and those that are still kept. Default: the
   * topic errors with {@link CursorLost}.
   */
  readonly onLost?: ((resetTo: C) => Source<T>) | undefined;
}

/**
 * Subscribes to a topic of a server, which answers with {@link answerTopic}. The subscription outlives sockets, servers and deploys: on
 * each new socket it goes on after its last cursor. Each message comes once and in order, as long as the broker keeps the history.
 *
 * Cold: each subscription opens streams of its own. Completes and errors as `reopenOnReconnect` does. Also errors with
 * {@link CursorLost} if there is no `onLost`, with the errors of `onLost`, and with a TypeError for an item without a cursor.
 *
 * @param open opens the stream after a cursor, `null` at first; the call needs `retry: 'safe'`
 * @throws TypeError unless `peer` is a peer, and `open` and `onLost` are functions
 *
 * @example
 * ```ts
 * topic(peer, (since) => peer.open$<TopicItem<number>>({ op: 'prices', since }, { retry: 'safe' })).subscribe(console.log);
 * ```
 */
export function topic<T, C = string>(
  peer: Peer,
  open: (since: C | null) => Source<TopicItem<T, C>>,
  options: TopicOptions<T, C> = {},
): Observable<T> {
  checkPeer('topic', peer, 'status$');
  checkFunction('topic.open', open);
  checkOptions(options, { onLost: true });
  const { onLost } = options;
  if (onLost !== undefined) checkFunction('topic.onLost', onLost);
  return new Observable((subscriber) => {
    new Follower(subscriber, peer, open as Open, onLost as OnLost | undefined, null, 0).start();
  });
}

type Open = (since: unknown) => Source<TopicItem<unknown, unknown>>;
type OnLost = (resetTo: unknown) => Source<unknown>;

/** Follows a topic from a place on, until a loss. Another follower goes on after that. */
class Follower extends Reopening<TopicItem<unknown, unknown>> {
  /** @param losses losses since the last item */
  constructor(
    to: Destination,
    peer: Peer,
    open: Open,
    private readonly onLost: OnLost | undefined,
    place: unknown,
    private losses: number,
  ) {
    super(to, peer, open, cursorOf, place);
  }

  override received(item: TopicItem<unknown, unknown>): void {
    this.last = cursorOf(item);
    this.losses = 0;
    if (item.value !== undefined) this.to.next(item.value);
  }

  override error(error: unknown): void {
    const lost = lossIn(error);
    if (lost === null || this.onLost === undefined) super.error(lost ?? error);
    else {
      try {
        this.#goOn(lost.resetTo, this.onLost);
      } catch (failure) {
        super.error(failure);
      }
    }
  }

  #goOn(resetTo: unknown, onLost: OnLost): void {
    const { to, losses } = this;
    const snapshot$ = observableFrom(onLost(resetTo));
    if (!this.stop()) return;
    this.unsubscribe();
    const next = new Follower(to, this.peer, this.open, onLost, resetTo, losses + 1);
    // A log that loses its own places must not be asked without a pause.
    const started$ = losses === 0 ? snapshot$ : timer(fullJitter(losses + 1)).pipe(mergeMap(() => snapshot$));
    started$.subscribe(new Snapshot(to, next));
  }
}

/** Passes the values of `onLost` on, before the messages of a follower. */
class Snapshot extends Relay<unknown> {
  constructor(
    to: Destination,
    private readonly follower: Follower,
  ) {
    super(to);
  }

  protected take(value: unknown): void {
    this.to.next(value);
  }

  override complete(): void {
    if (this.stop()) this.follower.start();
    this.unsubscribe();
  }
}

function cursorOf(item: TopicItem<unknown, unknown>): unknown {
  return checkItem('topic', item, 'items of answerTopic').cursor;
}
