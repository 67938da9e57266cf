import { concat, defer, EMPTY, filter, map, of, retry, tap, timer } from 'rxjs';
import type { Observable, ObservableInput } from 'rxjs';
import { fullJitter } from '../peer/safe-retry.js';
import { checkPeer } from '../peer/options.js';
import { reopenOnReconnect } from '../peer/operators/reopen.js';
import type { Peer } from '../peer/peer.js';
import { observableFrom } from '../stream/input.js';
import { checkFunction } from '../util/check.js';
import { checkOptions } from '../util/check.js';
import { lossIn } from './cursor-lost.js';
import { checkItem } from './log.js';
import type { Message, TopicItem } from './log.js';

/** How a topic goes on. */
export interface TopicOptions<T, C> {
  /**
   * Called where messages after the last cursor are no longer kept. The topic emits the returned values, such as a snapshot, and then the
   * messages after `resetTo`, the end of the log. Return `EMPTY` to skip the lost messages, and those that are still kept. Default: the
   * topic errors with {@link CursorLost}.
   */
  readonly onLost?: ((resetTo: C) => ObservableInput<T>) | undefined;
}

/**
 * Subscribes to a topic of a server, which answers with {@link answerTopic}. The subscription outlives sockets, servers and deploys: on
 * each new socket it goes on after its last cursor. Each message comes once and in order, as long as the broker keeps the history.
 *
 * Cold: each subscription opens streams of its own. Completes and errors as {@link reopenOnReconnect} does. Also errors with
 * {@link CursorLost} if there is no `onLost`, with the errors of `onLost`, and with a TypeError for an item without a cursor.
 *
 * @param open opens the stream after a cursor, `null` at first; the call needs `retry: 'safe'`
 * @throws TypeError unless `peer` is a peer, and `open` and `onLost` are functions
 *
 * @example
 * ```ts
 * topic(peer, (since: string | null) => peer.open$<TopicItem<Price, string>>({ op: 'prices', since }, { retry: 'safe' })).subscribe(show);
 * ```
 */
export function topic<T, C>(
  peer: Peer,
  open: (since: C | null) => ObservableInput<TopicItem<T, C>>,
  options: TopicOptions<T, C> = {},
): Observable<T> {
  checkPeer('topic', peer, 'status$');
  checkFunction('topic.open', open);
  checkOptions(options, { onLost: true });
  const { onLost } = options;
  if (onLost !== undefined) checkFunction('topic.onLost', onLost);
  return defer(() => {
    let place: C | null = null;
    let snapshot: ObservableInput<T> = EMPTY;
    /** Losses since the last item. */
    let losses = 0;
    const messages$ = defer(() =>
      reopenOnReconnect<TopicItem<T, C>, C, null>(peer, {
        initial: place as null,
        open,
        cursor: (item) => checkItem('topic', item, 'items of answerTopic').cursor,
      }),
    ).pipe(
      tap(() => {
        losses = 0;
      }),
      filter(hasValue),
      map(({ value }) => value),
    );
    /** Goes on after a loss. Throws every other error. */
    const goOn = (error: unknown): Observable<unknown> => {
      const lost = lossIn(error);
      if (lost === null || onLost === undefined) throw lost ?? error;
      place = lost.resetTo as C;
      snapshot = onLost(place);
      // A log that loses its own places must not be asked without a pause.
      return losses++ === 0 ? of(0) : timer(fullJitter(losses));
    };
    return defer(() => concat(observableFrom(snapshot), messages$)).pipe(retry({ delay: goOn }));
  });
}

function hasValue<T, C>(item: TopicItem<T, C>): item is Message<T, C> {
  return item.value !== undefined;
}
