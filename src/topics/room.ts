import { defer, map, share } from 'rxjs';
import { channelOf, checkBus } from './bus.js';
import type { Bus } from './bus.js';
import { CursorLost, newEpoch, numberOf } from './cursor.js';
import { MAX_ITEM_BYTES, toMessageJson } from './json-value.js';
import { checkPublish } from './log.js';
import type { Log, PublishOptions } from './log.js';

/**
 * Makes a topic without history over a bus: each message at most once. A client that goes on after a message that this server has not
 * heard last gets {@link CursorLost}. With `onLost: () => EMPTY` it skips what it has missed, and goes on as a new subscriber.
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
  return {
    live$,
    newer: (a, b) => numberOf(a) > numberOf(b),
    head: () => [place()],
    history(cursor) {
      if (cursor !== null && cursor !== place()) throw new CursorLost(null);
      return [];
    },
    async publish(value, options: PublishOptions = {}) {
      checkPublish(options);
      toMessageJson(value, MAX_ITEM_BYTES);
      await bus.send(ownChannel, value);
      return place();
    },
  };
}
