import type { TeardownLogic } from 'rxjs';
import { Relay } from '../rx/pipeline.js';
import type { Destination } from '../rx/pipeline.js';
import { guard, LeanSubscriber } from '../rx/subscribers.js';
import { LateContext, currentContext } from '../util/async-context.js';
import { checkNumber, checkOptions, isThenable, optionError } from '../util/check.js';
import type { NamesOf } from '../util/check.js';
import { Fifo } from '../util/collections.js';
import { ResetCode } from '../wire/codes.js';
import { QueueOverflowError } from '../wire/errors.js';
import { disclaim, endedHere } from './end.js';
import { failAnswer } from './answer.js';
import { adopted, observableFrom, pullSource, refuseBytes, releaseInput } from './input.js';
import type { Input, PullSource, Source } from './input.js';
import type { Pull } from './iterator.js';
import { rejected, unheeded } from './promises.js';
import { accept, hasDemand, hasRoom, overflowsWith, refusal, whenDemand, whenRoom } from './sending.js';
import { checkValue } from './payload.js';
import type { StreamCore } from './stream-core.js';
import { extrasOf } from './extras.js';

/**
 * The policy for a value that an Observable pushes while the queue of its stream is full. A queue is full at 256 KiB of the stream, or at
 * `sendHighWaterBytes` of all streams:
 *
 * - `'buffer'` queues the value all the same; a stream that goes on beyond `maxUnsentBytes` fails with QueueOverflowError.
 * - `'latest'` keeps the value instead of the one kept before, and sends it once there is room.
 * - `'error'` fails the stream with QueueOverflowError.
 * - `{ dropOldest: n }` keeps the last `n` values, and sends them once there is room.
 *
 * A kept value is encoded when it is sent. Iterables and streams are pulled, so they never overflow.
 *
 * `'latest'` and `dropOldest` bound the number of queued values, not their age. They drop nothing before three buffers are full: 256 KiB of
 * the stream, 1 MiB of the socket, and the kernel's. The reader receives all of these first. With `spend` of `withCredit` the queue is full
 * as soon as the credit is spent. So a slow reader receives few values, and new ones.
 *
 * @example
 * ```ts
 * prices$.pipe(withCredit(1).spend(stream, { overflow: 'latest' }));   // the newest price, each time the reader asks for one
 * ```
 */
export type Overflow =
  | 'buffer'
  | 'latest'
  | 'error'
  | {
      /** How many values stay. */
      readonly dropOldest: number;
    };

/** Accepts values while it has room for them. */
export interface Outlet {
  /** Whether the outlet accepts no more values. */
  readonly closed: boolean;
  /** Whether the queue is below its high-water mark, so that a pushed value is sent. */
  readonly hasRoom: boolean;
  /** Whether `send` queues a value without room, up to `maxUnsentBytes`. If not, the overflow buffer keeps the value. */
  readonly queues: boolean;
  /** Whether the hard limit is reached, so that even a pulled value has to wait. */
  readonly full: boolean;
  /** Runs `task` once there is room, or once the outlet has closed. */
  whenRoom(task: () => void): void;
  /** Whether a value sent now leaves at once. Only then is the next value pulled. */
  readonly hasDemand: boolean;
  /** Runs `task` once {@link hasDemand} is true, or once the outlet has closed. */
  whenDemand(task: () => void): void;
  send(value: unknown): void;
  /** The input is exhausted. */
  finish(): void;
  fail(error: unknown): void;
  /** A value came, but there is neither room nor a place to wait. */
  overflow(): void;
}

/**
 * Returns the policy, which is `'buffer'` by default.
 *
 * @throws TypeError for an unknown policy
 */
export function checkOverflow(overflow: Overflow = 'buffer'): Overflow {
  if (typeof overflow === 'object' && (overflow as unknown) !== null) checkNumber('overflow.dropOldest', overflow.dropOldest, 1);
  else if (overflow !== 'buffer' && overflow !== 'latest' && overflow !== 'error')
    throw optionError('overflow', "'buffer', 'latest', 'error' or { dropOldest }", overflow);
  return overflow;
}

/** Passes values of a pushing source to an outlet, and applies the policy to values without room. */
export class OverflowBuffer {
  readonly #kept = new Fifo<{ readonly value: unknown }>();
  readonly #places: number;
  readonly #passesOn: boolean;
  #completed = false;

  constructor(
    private readonly outlet: Outlet,
    overflow: Overflow,
  ) {
    this.#places = typeof overflow === 'object' ? overflow.dropOldest : { buffer: Infinity, latest: 1, error: 0 }[overflow];
    this.#passesOn = overflow === 'buffer' && outlet.queues;
  }

  next(value: unknown): void {
    const { outlet } = this;
    if (this.#passesOn || (this.#kept.length === 0 && outlet.hasRoom)) {
      outlet.send(value);
      return;
    }
    if (this.#places === 0) {
      outlet.overflow();
      return;
    }
    this.#kept.push({ value });
    if (this.#kept.length === 1) this.#sendWhenRoom();
    if (this.#kept.length > this.#places) this.#kept.shift();
  }

  /** The source has completed. Kept values still leave. */
  complete(): void {
    this.#completed = true;
    if (this.#kept.length === 0) this.outlet.finish();
  }

  /** Sends kept values once there is room, in the async context of the source, because another call may make the room. */
  #sendWhenRoom(): void {
    const context = currentContext();
    this.outlet.whenRoom(() => {
      context(this.#sendKept);
    });
  }

  readonly #sendKept = (): void => {
    const { outlet } = this;
    while (outlet.hasRoom && !outlet.closed) {
      const kept = this.#kept.shift();
      if (kept === undefined) break;
      outlet.send(kept.value);
    }
    if (outlet.closed) this.#kept.clear();
    else if (this.#kept.length > 0) this.#sendWhenRoom();
    else if (this.#completed) outlet.finish();
  };
}

/**
 * Sends all values of an input to an outlet. It pulls iterables, async iterables, ReadableStreams and streams while there is room. Other
 * Observables push, and `overflow` decides about a value without room.
 */
export function pump(input: Input<unknown>, outlet: Outlet, overflow: Overflow): TeardownLogic {
  try {
    const made = adopted(typeof input === 'function' && !isThenable(input) ? input() : input);
    refuseBytes(made);
    const source = pullSource(Object(made) as object);
    if (source === null) return push(made as Source<unknown>, outlet, overflow);
    return new Puller(source, outlet).start();
  } catch (error) {
    outlet.fail(error);
    return undefined;
  }
}

function push(input: Source<unknown>, outlet: Outlet, overflow: Overflow): TeardownLogic {
  const policy = new OverflowBuffer(outlet, overflow);
  const subscription = new LeanSubscriber({
    error(error) {
      outlet.fail(error);
    },
    complete() {
      policy.complete();
    },
  });
  observableFrom(input).subscribe(new PushRelay(subscription, outlet, policy));
  const context = new LateContext();
  if (!subscription.closed) context.take();
  return () => {
    context.run(() => {
      guard('ending an input', () => subscription.unsubscribe());
    });
  };
}

/** Stops a source that emits within `subscribe`, where there is no subscription yet: it completes once the outlet has closed. */
class PushRelay extends Relay<unknown> {
  constructor(
    to: Destination,
    private readonly outlet: Outlet,
    private readonly policy: OverflowBuffer,
  ) {
    super(to);
  }

  protected take(value: unknown): void {
    if (!this.outlet.closed) this.policy.next(value);
    if (this.outlet.closed) this.complete();
  }
}

/** Pulls the next value only while there is room. Pulls in the async context of its call, because another call may have made the room. */
class Puller implements Pull<unknown> {
  readonly #context = new LateContext();
  #isExhausted = false;
  #isAsked = false;
  #isStepping = false;

  constructor(
    private readonly source: PullSource,
    private readonly outlet: Outlet,
  ) {}

  /** Begins to pull. Returns a function that stops the source. */
  start(): () => void {
    this.#step();
    return () => {
      if (!this.#isExhausted)
        this.#context.run(() => {
          guard('ending an input', () => this.source.stop());
        });
    };
  }

  resolve({ done, value }: IteratorResult<unknown, undefined>): void {
    if (done === true) {
      this.#isExhausted = true;
      this.outlet.finish();
    } else if (!this.outlet.full) this.#send(value);
    // There was demand at the pull, but the queue has since reached its limit. So the value waits for room.
    else this.#waitFor('whenRoom', () => this.#send(value));
  }

  reject(error: unknown): void {
    this.#isExhausted = true;
    this.outlet.fail(error);
  }

  /** Pulls value after value. A loop, because a synchronous source would otherwise recurse: each answer would pull the next value. */
  #step(): void {
    if (this.#isStepping) return;
    this.#isStepping = true;
    while (!this.#isAsked && !this.#isOver() && this.outlet.hasDemand) {
      this.#isAsked = true;
      try {
        this.source.pull(this);
      } catch (error) {
        this.reject(error);
      }
    }
    this.#isStepping = false;
    if (this.#isOver()) return;
    // Code that ends the stream meanwhile also stops the source, so keep the context.
    if (this.#isAsked) this.#context.take();
    // `whenDemand` may call `step` synchronously.
    else this.#waitFor('whenDemand', () => this.#step());
  }

  #isOver(): boolean {
    return this.#isExhausted || this.outlet.closed;
  }

  #send(value: unknown): void {
    this.#isAsked = false;
    this.outlet.send(value);
    this.#step();
  }

  #waitFor(what: 'whenRoom' | 'whenDemand', task: () => void): void {
    this.#context.take();
    this.outlet[what](() => {
      this.#context.run(task);
    });
  }
}

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
 * Sends all values of an input. The rejection of the promise need not be handled.
 *
 * @throws TypeError for an unknown option or `overflow`
 */
export function sendAll(stream: StreamCore, input: Input<unknown>, options: FeedOptions): Promise<void> {
  checkOptions(options, FEED_NAMES);
  const { end = true } = options;
  const policy = checkOverflow(options.overflow);
  if (stream.sealed && stream.cause === null) {
    releaseInput(input);
    return rejected(refusal(stream));
  }
  return unheeded<void>((resolve, fail) => {
    new FeedRelay(new LeanSubscriber({ error: fail, complete: resolve }), stream).run(input, policy, end, end ? cutShort : stopped);
  });
}

/** Reports to the subscriber of a feed that the stream has ended before its input. */
type TellStopped = (stream: StreamCore, subscriber: FeedRelay) => void;

/**
 * Sends all values of an input, while subscribed. It pulls iterables, async iterables, ReadableStreams and streams as the queue drains.
 * Other Observables push.
 *
 * Completes once the stream has accepted all values, or the remote needs no more (NO_ERROR). An error of the input resets the stream, then
 * reaches the subscriber. The subscriber also receives the error that ended the stream, or a ProtocolError if both sides had ended before.
 * A subscriber that leaves before cancels the stream, once the input has stopped.
 */
export class FeedRelay extends Relay<never> implements Outlet {
  readonly queues = true;
  /** Whether the input is exhausted. The end that follows may close the stream at once. */
  #exhausted = false;
  #end = true;
  #tellStopped: TellStopped = stopped;
  #unwatch: (() => void) | null = null;

  constructor(
    to: Destination,
    protected readonly stream: StreamCore,
  ) {
    super(to);
  }

  /** Sends an input. */
  run(input: Input<unknown>, policy: Overflow, end = true, tellStopped: TellStopped = stopped): void {
    const { stream } = this;
    this.#end = end;
    this.#tellStopped = tellStopped;
    this.#unwatch = extrasOf(stream).whenGone(() => {
      (this.#exhausted ? stopped : tellStopped)(stream, this);
    });
    stream.markTaken();
    if (stream.cause === null) this.add(pump(input, this, policy));
    else {
      releaseInput(input);
      // The stream ended without waiting for this input.
      cutShort(stream, this);
    }
  }

  protected take(): void {
    // A feed emits nothing.
  }

  override unsubscribe(): void {
    const isLeft = !this.closed && !this.hasEnded;
    this.#unwatch?.();
    super.unsubscribe();
    if (isLeft) this.stream.cancel();
  }

  // The stream's outbox, as the outlet of its input. The first failure ends the stream

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
    if (this.closed) return;
    try {
      checkValue(value);
      const refused = accept(this.stream, value);
      if (refused === null) return;
      if (this.stream.cause === null) this.error(refused);
      else this.#tellStopped(this.stream, this);
    } catch (error) {
      this.fail(error);
    }
  }

  finish(): void {
    this.#exhausted = true;
    if (this.closed) return;
    try {
      if (this.#end && !this.stream.sealed) accept(this.stream, undefined, true);
      this.complete();
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    if (this.closed) return;
    // After the stream's end the input may fail with the stream's own error.
    if (this.stream.cause === null) disclaim(error);
    // Reset first: the subscriber may release the stream on the error, which must not count as a cancel.
    failAnswer(this.stream, error);
    this.error(error);
  }

  overflow(): void {
    const text = 'expected room for the next value, got a full queue (overflow)';
    this.stream.cancel(text, new QueueOverflowError(text, { streamId: this.stream.id }));
  }
}

/**
 * Reports an early end of this side as an error: the handler ended the stream before its input. Used by `sendAll`, which promises that the
 * stream accepts all values, and for a stream that had already ended.
 */
function cutShort(stream: StreamCore, subscriber: FeedRelay): void {
  if (endedHere(stream.cause)) subscriber.error(refusal(stream));
  else stopped(stream, subscriber);
}

function stopped(stream: StreamCore, subscriber: FeedRelay): void {
  const { cause } = stream;
  if (cause?.how === 'ended' || (cause?.how === 'reset' && cause.code === ResetCode.NO_ERROR)) subscriber.complete();
  else subscriber.error(stream.failure);
}
