import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { failAnswer } from '../peer/stream/answer.js';
import { checkValue } from '../peer/stream/check-value.js';
import { disclaim } from '../peer/stream/disclaimed.js';
import { checkOverflow } from '../peer/stream/overflow.js';
import type { Outlet, Overflow } from '../peer/stream/overflow.js';
import { pump } from '../peer/stream/pump.js';
import { hasDemand, hasRoom, overflowsWith, whenDemand, whenRoom } from '../peer/stream/room.js';
import type { StreamCore } from '../peer/stream/stream-core.js';
import { extrasOf } from '../peer/stream/stream-extras.js';
import { Relay } from '../rx/relay.js';
import { endedHere } from '../session/base/close-cause.js';
import { checkOptions } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { ResetCode } from '../wire/codes.js';
import { QueueOverflowError } from '../wire/stream-errors.js';
import { releaseInput } from './input.js';
import type { Input } from './input.js';
import { rejected, unheeded } from './promises.js';
import { outboxOf } from './sending.js';

/** How an input is sent. */
export interface FeedOptions {
  /** Ends the stream after the last value. Default `true`. */
  readonly end?: boolean | undefined;
  /** Chooses what becomes of a value that an Observable pushes while the stream's queue is full. Default `'buffer'`. */
  readonly overflow?: Overflow | undefined;
}

/** Names {@link FeedOptions}. */
const FEED_NAMES: NamesOf<FeedOptions> = { end: true, overflow: true };

/**
 * Sends all values of an input, while subscribed. It pulls iterables, async iterables, ReadableStreams and streams as the queue drains.
 * Other Observables push.
 *
 * Completes once the stream has accepted all values, or the remote needs no more (NO_ERROR). An error of the input resets the stream, then
 * reaches the subscriber. The subscriber also receives the error that ended the stream, or a ProtocolError if both sides had ended before.
 * Unsubscribing early cancels the stream.
 */
export function feed(stream: StreamCore, input: Input<unknown>, options: FeedOptions = {}): Observable<never> {
  return feedUntil(stopped, stream, input, options);
}

/**
 * {@link feed} as a promise. Its rejection need not be handled.
 *
 * @throws TypeError for an unknown option or `overflow`
 */
export function sendAll(stream: StreamCore, input: Input<unknown>, options: FeedOptions): Promise<void> {
  checkOptions(options, FEED_NAMES);
  checkOverflow(options.overflow);
  if (stream.sealed && stream.cause === null) {
    releaseInput(input);
    return rejected(outboxOf(stream).refusal());
  }
  const fed$ = feedUntil(options.end === false ? stopped : cutShort, stream, input, options);
  return unheeded<void>((resolve, fail) => {
    fed$.subscribe({ error: fail, complete: resolve });
  });
}

/** Reports to the subscriber of {@link feed} that the stream has ended before its input. */
type TellStopped = (stream: StreamCore, subscriber: FeedRelay) => void;

function feedUntil(
  tellStopped: TellStopped,
  stream: StreamCore,
  input: Input<unknown>,
  { end = true, overflow }: FeedOptions,
): Observable<never> {
  const policy = checkOverflow(overflow);
  return new Observable<never>((to) => {
    const subscriber = new FeedRelay(to, stream);
    const outlet = new StreamOutlet(stream, subscriber, end, tellStopped);
    const removed = extrasOf(stream).whenGone(() => {
      outlet.streamGone();
    });
    subscriber.add(removed);
    stream.markTaken();
    if (stream.cause === null) subscriber.add(pump(input, outlet, policy));
    else {
      releaseInput(input);
      // The stream ended without waiting for this input.
      cutShort(stream, subscriber);
    }
  });
}

/** Passes on the end of a feed. A subscriber that leaves before cancels the stream, once the input has stopped. */
class FeedRelay extends Relay<never> {
  constructor(
    to: Subscriber<never>,
    private readonly stream: StreamCore,
  ) {
    super(to);
  }

  protected take(): void {
    // A feed emits nothing.
  }

  override unsubscribe(): void {
    const isLeft = !this.closed && !this.hasEnded;
    super.unsubscribe();
    if (isLeft) this.stream.cancel();
  }
}

/** A stream's outbox as the outlet of {@link pump}. The first failure ends the stream. */
class StreamOutlet implements Outlet {
  readonly queues = true;
  /** Whether the input is exhausted. The end that follows may close the stream at once. */
  #exhausted = false;

  constructor(
    private readonly stream: StreamCore,
    private readonly subscriber: FeedRelay,
    private readonly end: boolean,
    private readonly tellStopped: TellStopped,
  ) {}

  get closed(): boolean {
    return this.subscriber.closed;
  }

  get hasRoom(): boolean {
    return hasRoom(this.stream);
  }

  get full(): boolean {
    return overflowsWith(this.stream, Infinity);
  }

  whenRoom(task: () => void): void {
    whenRoom(this.stream, task);
  }

  get hasDemand(): boolean {
    return hasDemand(this.stream);
  }

  whenDemand(task: () => void): void {
    whenDemand(this.stream, task);
  }

  send(value: unknown): void {
    this.#guarded(() => {
      checkValue(value);
      const refusal = outboxOf(this.stream).accept(value);
      if (refusal === null) return;
      if (this.stream.cause === null) this.subscriber.error(refusal);
      else this.tellStopped(this.stream, this.subscriber);
    });
  }

  complete(): void {
    this.#exhausted = true;
    this.#guarded(() => {
      if (this.end && !this.stream.sealed) outboxOf(this.stream).acceptLast();
      this.subscriber.complete();
    });
  }

  fail(error: unknown): void {
    if (this.closed) return;
    // After the stream's end the input may fail with the stream's own error.
    if (this.stream.cause === null) disclaim(error);
    // Reset first: the subscriber may release the stream on the error, which must not count as a cancel.
    failAnswer(this.stream, error);
    this.subscriber.error(error);
  }

  streamGone(): void {
    (this.#exhausted ? stopped : this.tellStopped)(this.stream, this.subscriber);
  }

  overflow(): void {
    const text = 'expected room for the next value, got a full queue (overflow)';
    this.stream.cancel(text, new QueueOverflowError(text, { streamId: this.stream.id }));
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

/**
 * Reports an early end of this side as an error: the handler ended the stream before its input. Used by `sendAll`, which promises that the
 * stream accepts all values, and for a stream that had already ended.
 */
function cutShort(stream: StreamCore, subscriber: FeedRelay): void {
  if (endedHere(stream.cause)) subscriber.error(outboxOf(stream).refusal());
  else stopped(stream, subscriber);
}

function stopped(stream: StreamCore, subscriber: FeedRelay): void {
  const { cause } = stream;
  if (cause?.how === 'ended' || (cause?.how === 'reset' && cause.code === ResetCode.NO_ERROR)) subscriber.complete();
  else subscriber.error(stream.error);
}
