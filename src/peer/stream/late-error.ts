import { asyncScheduler } from 'rxjs';
import type { TeardownLogic, Unsubscribable } from 'rxjs';
import type { Reader } from './inbox.js';
import type { StreamCore } from './stream-core.js';

/** A subscriber; its unsubscription ends what was added to it. */
interface Subscribing extends Reader<unknown> {
  add(teardown: TeardownLogic): void;
}

/** Opens a stream for a subscriber; `undefined` where that throws, which the subscriber gets as {@link failLater a late error}. */
export function openFor(subscriber: Subscribing, open: () => StreamCore): StreamCore | undefined {
  try {
    return open();
  } catch (error) {
    failLater(subscriber, error);
    return undefined;
  }
}

/** Has a subscriber read a stream that was opened for it. The error of one that failed at once comes late. */
export function readOpened(subscriber: Subscribing, stream: StreamCore): Unsubscribable {
  return stream.readBy(stream.end === null ? subscriber : new LateError(subscriber));
}

/** Fails a subscriber on a later turn: a bare `retry()` of a call that fails at once would otherwise not return. */
export function failLater(subscriber: Pick<Subscribing, 'add' | 'error'>, error: unknown): void {
  subscriber.add(
    asyncScheduler.schedule(() => {
      subscriber.error(error);
    }),
  );
}

/** Reads a stream that has ended before anybody subscribed: its error comes on a later turn. */
class LateError implements Reader<unknown> {
  constructor(private readonly subscriber: Subscribing) {}

  next(value: unknown): void {
    this.subscriber.next(value);
  }

  error(error: unknown): void {
    failLater(this.subscriber, error);
  }

  complete(): void {
    this.subscriber.complete();
  }
}
