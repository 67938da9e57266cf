import { checkOverflow } from '../stream/feed.js';

/**
 * The policy for a subscriber that reads more slowly than messages arrive, once so many of them wait for it:
 *
 * - `'history'`, the default: at 1 000 waiting messages it drops them, and reads them from the history when the subscriber gets there.
 *   It loses none as long as the broker keeps them.
 * - `'latest'` keeps the newest message.
 * - `{ dropOldest: n }` keeps the last `n` messages.
 * - `'error'` fails the subscription with QueueOverflowError at 1 000 waiting messages.
 */
export type TopicOverflow =
  | 'history'
  | 'latest'
  | 'error'
  | {
      /** How many messages stay. */
      readonly dropOldest: number;
    };

/** So many messages wait for one subscriber. All subscribers of a process share the messages themselves. */
const PLACES = 1_000;

/** How many messages wait, and the act for one more. */
export interface Waiting {
  readonly places: number;
  readonly beyond: 'history' | 'drop' | 'error';
}

/** @throws TypeError for an unknown policy */
export function waitingBy(overflow: TopicOverflow = 'history'): Waiting {
  if (overflow === 'history') return { places: PLACES, beyond: 'history' };
  const checked = checkOverflow(overflow);
  if (typeof checked === 'object') return { places: checked.dropOldest, beyond: 'drop' };
  return checked === 'latest' ? { places: 1, beyond: 'drop' } : { places: PLACES, beyond: 'error' };
}
