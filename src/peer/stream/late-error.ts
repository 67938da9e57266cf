import { asyncScheduler } from 'rxjs';
import type { TeardownLogic, Unsubscribable } from 'rxjs';
import type { Reader } from './inbox.js';
import type { StreamCore } from './stream-core.js';

/** A subscriber. Its unsubscription runs the added teardowns. */
interface Subscribing extends Reader {
  add(teardown: TeardownLogic): void;
}

/** Opens a stream for a subscriber. Returns `undefined` if `open` throws, and passes the error on as {@link failLater a late error}. */
export function openFor(subscriber: Subscribing, open: () => StreamCore): StreamCore | undefined {
  try {
    return open();
  } catch (error) {
    failLater(subscriber, error);
    return undefined;
  }
}

/** Connects a subscriber to the stream opened for it. The error of a stream that failed at once comes on a later turn. */
export function readOpened(subscriber: Subscribing, stream: StreamCore): Unsubscribable {
  return stream.readBy(stream.end === null ? subscriber : new LateError(subscriber));
}

/** Fails a subscriber on a later turn. Otherwise a bare `retry()` of a call that fails at once would never return. */
export function failLater(subscriber: Pick<Subscribing, 'add' | 'error'>, error: unknown): void {
  subscriber.add(
    asyncScheduler.schedule(() => {
      subscriber.error(error);
    }),
  );
}

/** Reads a stream that ended before the subscription. Delivers its error on a later turn. */
class LateError implements Reader {
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
