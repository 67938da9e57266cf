import { SharedPayload } from '../stream/payload.js';
import { getOrMake } from '../util/collections.js';
import type { Codec, Message } from '../wire/codec.js';
import { encodedLength } from '../wire/length.js';
import { DEFAULT_LIMITS } from '../wire/limits.js';
import { follow } from './catch-up.js';
import type { CatchUpOptions, Followed } from './catch-up.js';
import { checkMaxItemBytes, warnOfPassing } from './json-value.js';
import type { Log, TopicItem } from './log.js';

/**
 * An item that several subscribers send, encoded once for each codec. Where a codec or its followers refuse the item, the bare cursor takes
 * its place: one message must not end a topic for everybody, and again for each follower that resumes before it.
 */
class SharedItem<T, C> extends SharedPayload<TopicItem<T, C>> {
  /** The bare cursor where the item is passed over, by codec; `null` where it is sent. */
  readonly #passed = new Map<Codec, SharedPayload | null>();

  constructor(
    item: TopicItem<T, C>,
    readonly log: Log<T, C>,
  ) {
    super(item);
  }

  override encodedBy(codec: Codec): Message {
    const passed = getOrMake(this.#passed, codec, () => this.#judge(codec));
    return passed === null ? super.encodedBy(codec) : passed.encodedBy(codec);
  }

  override with<U>(item: U): SharedPayload<U> {
    return new SharedItem(item as TopicItem<unknown, unknown>, this.log) as SharedPayload as SharedPayload<U>;
  }

  #judge(codec: Codec): SharedPayload | null {
    const { cursor } = this.value;
    try {
      checkAccepted(super.encodedBy(codec), codec, checkMaxItemBytes(this.log.maxItemBytes));
      return null;
    } catch (error) {
      const text = `message ${String(cursor)} of a topic is passed over: its followers under the codec '${codec.name}' cannot receive it`;
      warnOfPassing(this.log, cursor, text, error);
      return new SharedPayload({ cursor });
    }
  }
}

/**
 * Checks an encoded item against what a follower accepts.
 *
 * @throws TypeError for too many bytes; the codec's error for too many items
 */
function checkAccepted(encoded: Message, codec: Codec, maxItemBytes: number): void {
  const bytes = encodedLength(encoded);
  if (bytes > maxItemBytes) throw new TypeError(`item: expected at most ${maxItemBytes} bytes (maxItemBytes), got ${bytes}`);
  // Each item takes a byte or more.
  if (bytes > DEFAULT_LIMITS.maxPayloadItems) codec.decodePayload(encoded, DEFAULT_LIMITS);
}

/** The shared forms of items, which end with the items. */
const shared = new WeakMap<object, SharedItem<unknown, unknown>>();

/**
 * Answers a stream with a log, for {@link topic} at the client: {@link catchUp}, with each arriving message encoded once for all subscribers
 * of this process.
 *
 * The result is pulled. A slow subscriber reads on when its stream has room, and holds up no other one.
 *
 * A message that the codec of the stream refuses, or that is over the `maxItemBytes` of the log, is passed over: the subscriber receives
 * its cursor without a value, and the log warns once. Another program may have published it.
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
  return follow(log, since, options, sharedItem<T, C>);
}

function sharedItem<T, C>(item: TopicItem<T, C>, log: Log<T, C>): SharedItem<T, C> {
  const made = getOrMake(shared, item, () => new SharedItem(item, log)) as SharedItem<T, C>;
  // Two logs may emit one item, and each has a bound of its own.
  return made.log === log ? made : new SharedItem(item, log);
}
