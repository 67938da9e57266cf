import { SharedPayload } from '../stream/payload.js';
import { getOrMake } from '../util/collections.js';
import { follow } from './catch-up.js';
import type { CatchUpOptions, Followed } from './catch-up.js';
import type { Log, TopicItem } from './log.js';

/** The encoded forms of items that several subscribers send. */
const shared = new WeakMap<object, SharedPayload>();

function sharedItem<T, C>(item: TopicItem<T, C>): SharedPayload<TopicItem<T, C>> {
  return getOrMake(shared, item, () => new SharedPayload(item)) as SharedPayload<TopicItem<T, C>>;
}

/**
 * Answers a stream with a log, for {@link topic} at the client: {@link catchUp}, with each arriving message encoded once for all subscribers
 * of this process.
 *
 * The result is pulled. A slow subscriber reads on when its stream has room, and holds up no other one.
 *
 * @param since the cursor of the client, as it came; `null` and `undefined` for none
 * @throws TypeError for an unknown `from` or `overflow`
 *
 * @example
 * ```ts
 * const prices = memoryLog<{ symbol: string; price: number }>();
 * peer.streams$.pipe(respond((payload: { since: string | null }) => answerTopic(prices, payload.since))).subscribe();
 * ```
 */
export function answerTopic<T, C>(
  log: Log<T, C>,
  since: C | null | undefined,
  options: CatchUpOptions = {},
): Followed<SharedPayload<TopicItem<T, C>>> {
  return follow(log, since, options, sharedItem);
}
