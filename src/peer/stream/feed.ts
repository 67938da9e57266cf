import { Observable, tap } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { endedHere } from '../../session/base/close-cause.js';
import { QueueOverflowError } from '../../wire/stream-errors.js';
import { ResetCode } from '../../wire/reset-code.js';
import { rejected, unheeded } from '../base/caller-frames.js';
import { failAnswer } from './answer.js';
import { decline } from './input.js';
import type { Input } from './input.js';
import { checkValue } from './check-value.js';
import { checkOverflow } from './overflow.js';
import type { Outlet, Overflow } from './overflow.js';
import { pump } from './pump.js';
import { disclaim } from './disclaimed.js';
import type { StreamCore } from './stream-core.js';

/** How an input is sent. */
export interface FeedOptions {
  /** Ends the stream after the last value. Default `true`. */
  readonly end?: boolean | undefined;
  /** Chooses what becomes of a value that an Observable pushes while the stream's queue is full. Default `'buffer'`. */
  readonly overflow?: Overflow | undefined;
}

/**
 * Sends everything an input gives, while subscribed: iterables, async iterables, ReadableStreams and streams are pulled as
 * the queue drains, other Observables push.
 *
 * Completes when all has been accepted, and where the remote needs no more (NO_ERROR). Errors with the input's error, after
 * the stream was reset with it, with what ended the stream, or with a ProtocolError where it has ended on both sides before. Unsubscribing before cancels the stream.
 */
export function feed(stream: StreamCore, input: Input<unknown>, options: FeedOptions = {}): Observable<never> {
  return feedUntil(stopped, stream, input, options);
}

/** {@link feed} as a promise whose rejection need not be handled. */
export function sendAll(stream: StreamCore, input: Input<unknown>, options: FeedOptions): Promise<void> {
  if (stream.line.sealed && stream.cause === null) {
    decline(input);
    return rejected(stream.outbox.refusal());
  }
  const fed$ = feedUntil(options.end === false ? stopped : cutShort, stream, input, options);
  return unheeded<void>((resolve, fail) => {
    fed$.subscribe({ error: fail, complete: resolve });
  });
}

/** Tells whoever feeds a stream that it has ended before its input. */
type TellStopped = (stream: StreamCore, subscriber: Subscriber<never>) => void;

function feedUntil(
  tellStopped: TellStopped,
  stream: StreamCore,
  input: Input<unknown>,
  { end = true, overflow }: FeedOptions,
): Observable<never> {
  const policy = checkOverflow(overflow);
  const fed$ = new Observable<never>((subscriber) => {
    const outlet = new StreamOutlet(stream, subscriber, end, tellStopped);
    const removed = stream.extras.whenGone(() => {
      outlet.streamGone();
    });
    subscriber.add(removed);
    stream.markTaken();
    if (stream.cause === null) subscriber.add(pump(input, outlet, policy));
    else {
      decline(input);
      // The side that ended the stream did not wait for this input.
      cutShort(stream, subscriber);
    }
  });
  return fed$.pipe(
    tap({
      unsubscribe: () => {
        stream.cancel();
      },
    }),
  );
}

/** The outlet that {@link pump} fills: a stream's outbox. A failure ends the stream, once. */
class StreamOutlet implements Outlet {
  readonly queues = true;
  /** Whether the input has given all; the end that follows it may close the stream at once. */
  #exhausted = false;

  constructor(
    private readonly stream: StreamCore,
    private readonly subscriber: Subscriber<never>,
    private readonly end: boolean,
    private readonly tellStopped: TellStopped,
  ) {}

  get closed(): boolean {
    return this.subscriber.closed;
  }

  get hasRoom(): boolean {
    return this.stream.line.hasRoom;
  }

  get full(): boolean {
    return this.stream.line.overflowsWith(Infinity);
  }

  whenRoom(task: () => void): void {
    this.stream.line.whenRoom(task);
  }

  get hasDemand(): boolean {
    return this.stream.line.hasDemand;
  }

  whenDemand(task: () => void): void {
    this.stream.line.whenDemand(task);
  }

  send(value: unknown): void {
    this.#guarded(() => {
      checkValue(value);
      const refusal = this.stream.outbox.accept(value);
      if (refusal === null) return;
      if (this.stream.cause === null) this.subscriber.error(refusal);
      else this.tellStopped(this.stream, this.subscriber);
    });
  }

  complete(): void {
    this.#exhausted = true;
    this.#guarded(() => {
      if (this.end && !this.stream.line.sealed) this.stream.outbox.acceptLast();
      this.subscriber.complete();
    });
  }

  fail(error: unknown): void {
    if (this.closed) return;
    // Of a stream that has ended, an input may tell the error of that stream itself.
    if (this.stream.cause === null) disclaim(error);
    // In this order: whoever is told may let go of the stream, and that is not a cancel.
    failAnswer(this.stream, error);
    this.subscriber.error(error);
  }

  streamGone(): void {
    (this.#exhausted ? stopped : this.tellStopped)(this.stream, this.subscriber);
  }

  overflow(): void {
    const text = 'expected room for the next value, got a full queue (overflow)';
    this.stream.cancel(text, new QueueOverflowError(text, { streamId: this.stream.line.id }));
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

/** For `sendAll`, which promises that all was accepted, and for a stream that had ended before: an end of this side is an error, and a mistake of the handler's. */
function cutShort(stream: StreamCore, subscriber: Subscriber<never>): void {
  if (endedHere(stream.cause)) subscriber.error(stream.outbox.refusal());
  else stopped(stream, subscriber);
}

function stopped(stream: StreamCore, subscriber: Subscriber<never>): void {
  const { cause } = stream;
  if (cause?.how === 'ended' || (cause?.how === 'reset' && cause.code === ResetCode.NO_ERROR)) subscriber.complete();
  else subscriber.error(stream.error);
}
