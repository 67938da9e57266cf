import { defer, map, noop, Observable, share, Subscription, takeUntil, tap } from 'rxjs';
import { getOrMake } from '../util/collections.js';
import { backgroundTimer } from '../util/time.js';
import { channelOf, checkBus } from './bus.js';
import type { Bus } from './bus.js';
import { CursorLost, newEpoch, numberOf } from './cursor.js';
import { MAX_ITEM_BYTES, toMessageJson } from './json-value.js';
import { checkPublish } from './log.js';
import type { Log, Message, PublishOptions } from './log.js';

/** After a loss a room listens on for this long, in ms: its new place would otherwise be lost before a client comes back alone. */
const HELD_MS = 10_000;

const heldLongEnough$ = new Observable<void>((subscriber) =>
  backgroundTimer(HELD_MS, () => {
    subscriber.next();
  }),
);

/** A room that this server hears. Another one takes its place once its last listener has left: what is said meanwhile is lost. */
class HeardRoom {
  readonly #epoch = newEpoch();
  #heard = 0;
  #held = Subscription.EMPTY;
  readonly live$: Observable<Message<unknown, string>>;

  /** @param left called before the listeners learn of the end */
  constructor(bus: Bus, channel: string, left: () => void) {
    this.live$ = bus.on(channel).pipe(
      map((value) => {
        this.#heard++;
        return { cursor: this.place, value };
      }),
      tap({ error: left, complete: left, unsubscribe: left }),
      share(),
    );
  }

  get place(): string {
    return `${this.#epoch}:${this.#heard}`;
  }

  listenOn(): void {
    this.#held.unsubscribe();
    this.#held = this.live$.pipe(takeUntil(heldLongEnough$)).subscribe({ error: noop });
  }
}

/** The rooms that each bus hears, by their channels. A program may make a room for each follower, and they all have the same places. */
const heardRooms = new WeakMap<Bus, Map<string, HeardRoom>>();

/**
 * Makes a topic without history over a bus: each message at most once. A client that goes on after a message that this server has not
 * heard last gets {@link CursorLost}. With `onLost: () => EMPTY` it skips what it has missed. Rooms of one bus and channel have the same
 * places, so a program may make one for each follower.
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
  const rooms = getOrMake(heardRooms, bus, () => new Map<string, HeardRoom>());
  const heard = (): HeardRoom => getOrMake(rooms, ownChannel, () => new HeardRoom(bus, ownChannel, () => rooms.delete(ownChannel)));
  const place = (): string => rooms.get(ownChannel)?.place ?? `${newEpoch()}:0`;
  return {
    live$: defer(() => heard().live$ as Observable<Message<T, string>>),
    newer: (a, b) => numberOf(a) > numberOf(b),
    head: () => [place()],
    history(cursor) {
      if (cursor === null || cursor === place()) return [];
      heard().listenOn();
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
