import { log } from '../logger.js';
import { getOrMake } from '../util/collections.js';

/** So many messages of a topic are warned about. */
const MOST_WARNINGS = 100;
/** The places of the messages that were warned about, by topic. */
const warned = new WeakMap<object, Set<unknown>>();

/**
 * Logs that a message of a topic reaches no follower: at `warn` once for each message, and for 100 messages at most. Every reader of the
 * history meets the message again, so the others go to `debug`.
 */
export function warnOfPassing(topic: object, place: unknown, text: string, error?: unknown): void {
  const places = getOrMake(warned, topic, () => new Set());
  const isFirst = places.size < MOST_WARNINGS && !places.has(place);
  if (isFirst) places.add(place);
  log(isFirst ? 'warn' : 'debug', text, ...(error === undefined ? [] : [error]));
}
