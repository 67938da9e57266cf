import { Observable, tap } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { disclaim } from './operators/retry-when-safe.js';
import { QueueOverflowError } from '../wire/errors.js';
import { ABSENT } from '../wire/frame.js';
import { ResetCode } from '../wire/reset-code.js';
import { failAnswer } from './answer.js';
import { disown } from './guard.js';
import type { Input } from './input.js';
import { checkValue } from './outbox.js';
import type { Outlet, Overflow } from './overflow.js';
import { decline, pump } from './pump.js';
import type { StreamCore } from './stream-core.js';

/** How an input is sent. */
export interface FeedOptions {
  /** Whether the stream is ended behind the last value. Default `true`. */
  readonly end?: boolean | undefined;
  /** What becomes of a value that an Observable pushes while the stream's queue is full. Default `'buffer'`. */
  readonly overflow?: Overflow | undefined;
}

/**
 * Sends everything an input gives, while subscribed: iterables, async iterables, ReadableStreams and streams are pulled as
 * the queue drains, other Observables push.
 *
 * Completes when all has been accepted, and where the remote needs no more (NO_ERROR). Errors with the input's error, after
 * the stream was reset with it, or with what ended the stream. Unsubscribing before cancels the stream.
 */
export function feed(core: StreamCore, input: Input<unknown>, { end = true, overflow = 'buffer' }: FeedOptions = {}): Observable<never> {
  const fed$ = new Observable<never>((subscriber) => {
    const removed = core.extras.whenGone(() => {
      stopped(core, subscriber);
    });
    subscriber.add(removed);
    core.taken();
    if (core.cause === null) subscriber.add(pump(input, new StreamOutlet(core, subscriber, end), overflow));
    else {
      decline(input);
      stopped(core, subscriber);
    }
  });
  return fed$.pipe(
    tap({
      unsubscribe: () => {
        core.unsubscribed();
      },
    }),
  );
}

/** {@link feed} as a promise whose rejection need not be handled. */
export function sendAll(core: StreamCore, input: Input<unknown>, options: FeedOptions): Promise<void> {
  const fed$ = feed(core, input, options);
  return disown(
    new Promise<void>((resolve, reject) => {
      fed$.subscribe({ error: reject, complete: resolve });
    }),
  );
}

/** The sending side of a stream. What goes wrong on the way ends the stream, once. */
class StreamOutlet implements Outlet {
  readonly queues = true;

  constructor(
    private readonly core: StreamCore,
    private readonly subscriber: Subscriber<never>,
    private readonly end: boolean,
  ) {}

  get closed(): boolean {
    return this.subscriber.closed;
  }

  get hasRoom(): boolean {
    return this.core.line.hasRoom;
  }

  get full(): boolean {
    return this.core.line.overflowsWith(Infinity);
  }

  whenRoom(task: () => void): void {
    this.core.line.whenRoom(task);
  }

  get idle(): boolean {
    return this.core.line.hasDemand;
  }

  whenIdle(task: () => void): void {
    this.core.line.whenDemand(task);
  }

  send(value: unknown): void {
    this.#guarded(() => {
      checkValue(value);
      const refusal = this.core.outbox.accept(value, undefined, false);
      if (refusal === null) return;
      if (this.core.cause === null) this.subscriber.error(refusal);
      else stopped(this.core, this.subscriber);
    });
  }

  complete(): void {
    this.#guarded(() => {
      if (this.end && !this.core.line.sealed) this.core.outbox.accept(ABSENT, undefined, true);
      this.subscriber.complete();
    });
  }

  fail(error: unknown): void {
    if (this.closed) return;
    // Of a stream that has ended, an input may tell the error of that stream itself.
    if (this.core.cause === null) disclaim(error);
    // In this order: whoever is told may let go of the stream, and that is no cancel.
    failAnswer(this.core, error);
    this.subscriber.error(error);
  }

  overflow(): void {
    const text = 'expected room for the next value, got a full queue (overflow)';
    this.core.cancel(text, new QueueOverflowError(text, { streamId: this.core.line.id }));
  }

  #guarded(step: () => void): void {
    if (this.closed) return;
    try {
      step();
    } catch (error) {
      this.fail(error);
    }
  }
}

function stopped(core: StreamCore, subscriber: Subscriber<never>): void {
  const { cause } = core;
  if (cause?.how === 'ended' || (cause?.how === 'reset' && cause.code === ResetCode.NO_ERROR)) subscriber.complete();
  else subscriber.error(core.error);
}
