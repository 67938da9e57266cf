import { defer, map, noop, Observable, share, Subscription, takeUntil } from 'rxjs';
import { backgroundTimer } from '../util/time.js';
import { channelOf, checkBus } from './bus.js';
import type { Bus } from './bus.js';
import { CursorLost, newEpoch, numberOf } from './cursor.js';
import { MAX_ITEM_BYTES, toMessageJson } from './json-value.js';
import { checkPublish } from './log.js';
import type { Log, PublishOptions } from './log.js';

/** After a loss a room listens on for this long, in ms: its new place would otherwise be lost before a client comes back alone. */
const HELD_MS = 10_000;

const heldLongEnough$ = new Observable<void>((subscriber) =>
  backgroundTimer(HELD_MS, () => {
    subscriber.next();
  }),
);

/**
 * Makes a topic without history over a bus: each message at most once. A client that goes on after a message that this server has not
 * heard last gets {@link CursorLost}. With `onLost: () => EMPTY` it skips what it has missed.
 *
 * @returns a log for {@link answerTopic}; `publish` resolves with the place of this server once the broker has the message
 *
 * @throws TypeError for a bus that is none, and for a channel that is no text of 1 to 1 000 bytes
 *
 * @example
 * ```ts
 * const typing = room<{ user: string }>(natsBus(nc), 'typing:42');
 * peer.streams$.pipe(respond((payload: { since: string | null }) => answerTopic(typing, payload.since))).subscribe();
 * ```
 */
export function room<T>(bus: Bus, channel: string): Log<T> {
  checkBus('room', bus);
  const ownChannel = channelOf('room', 'room', 'a channel', channel);
  let epoch = newEpoch();
  let heard = 0;
  const place = (): string => `${epoch}:${heard}`;
  const live$ = defer(() => {
    // This server has heard nothing since the last subscriber left, so places of before are lost.
    epoch = newEpoch();
    return bus.on<T>(ownChannel);
  }).pipe(
    map((value) => {
      heard++;
      return { cursor: place(), value };
    }),
    share(),
  );
  let held = Subscription.EMPTY;
  const listenOn = (): void => {
    held.unsubscribe();
    held = live$.pipe(takeUntil(heldLongEnough$)).subscribe({ error: noop });
  };
  return {
    live$,
    newer: (a, b) => numberOf(a) > numberOf(b),
    head: () => [place()],
    history(cursor) {
      if (cursor === null || cursor === place()) return [];
      listenOn();
      throw new CursorLost(place());
    },
    async publish(value, options: PublishOptions = {}) {
      checkPublish(options);
      toMessageJson(value, MAX_ITEM_BYTES);
      await bus.send(ownChannel, value);
      return place();
    },
  };
}
