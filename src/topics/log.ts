import type { Observable, ObservableInput } from 'rxjs';
import { checkOptions, optionError } from '../util/check.js';

/** A value of a log, and its place there. */
export interface Message<T, C> {
  /** The place of the message. */
  readonly cursor: C;
  /** `undefined` is no value. */
  readonly value: T;
}

/**
 * An item of a topic on the wire: a message, or the place of a subscriber who has received no value yet.
 *
 * @typeParam C the type of cursors: texts, in every log of this package
 */
export interface TopicItem<T, C = string> {
  /** The place of the message; without a value, the end of the log. */
  readonly cursor: C;
  /** The value; absent for a bare cursor. */
  readonly value?: T;
}

/** @throws TypeError for an item without a cursor: no reader could go on after it */
export function checkItem<T, C>(name: string, item: TopicItem<T, C>, expected = 'messages'): TopicItem<T, C> {
  if (typeof item === 'object' && (item as unknown) !== null && 'cursor' in item) return item;
  throw optionError(name, `${expected}, { cursor, value }`, item);
}

/** How a message is published. */
export interface PublishOptions {
  /** The same key twice is one message, where the broker can: in `memoryLog` among the kept messages, in JetStream for a time. */
  readonly key?: string | undefined;
}

/**
 * Checks how a message is published. A broker may carry its key in a header.
 *
 * @throws TypeError for an unknown option, and for a key that no header carries
 */
export function checkPublish(options: PublishOptions): void {
  checkOptions(options, { key: true });
  const { key }: { readonly key?: unknown } = options;
  if (key === undefined || (typeof key === 'string' && /^\S([^\r\n]*\S)?$/.test(key))) return;
  throw optionError('key', 'a text of one line without spaces at its ends', key);
}

/**
 * A log of a broker, as topics read it. Each message has a cursor, and cursors rise in the order of the log.
 *
 * An adapter keeps two promises. `live$` emits its messages in order and leaves none out. While `live$` has a subscriber, `head` and
 * `history` wait until the broker sends to it. So each message after their end is on its way through `live$`.
 */
export interface Log<T, C = string> {
  /** New messages. All subscribers of a process share one consumer at the broker. A message may come twice. */
  readonly live$: Observable<Message<T, C>>;
  /** Returns the place of the last message; the first value counts. */
  head(): ObservableInput<C>;
  /**
   * Returns every message after a place, to the end of the log. A subscriber pulls an iterable as it reads. It collects a pushing
   * Observable in memory.
   *
   * Throws or errors with CursorLost where messages after `cursor` are no longer kept. The same holds for a value that is no cursor.
   *
   * @param cursor may come from a client, so it may have any value; `null` only with `from: 'start'`, for every message that is kept
   */
  history(cursor: C | null): ObservableInput<Message<T, C>>;
  /**
   * Resolves with the place of the message once the broker has it.
   *
   * @throws TypeError for a value that JSON does not carry, such as `undefined`, bytes, `NaN` and a Map. Also for a value that no item can
   *   carry to each follower: over `maxItemBytes`, over 94 levels of nesting, or with a key `__proto__`
   */
  publish(value: T, options?: PublishOptions): Promise<C>;
  /**
   * The most bytes of an item, encoded: a value and its cursor. `publish` rejects a larger one, and {@link answerTopic} passes over it.
   * Default 16 MiB, the `maxPayloadBytes` of a client. With clients of several limits, the smallest counts.
   */
  readonly maxItemBytes?: number | undefined;
  /** Returns whether `a` is after `b`. Default: `a > b`, which fails subscribers where texts such as `'9'` and `'10'` do not rise by it. */
  newer?(a: C, b: C): boolean;
}
