import { Observable, filter, from } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import { Relay } from '../../rx/pipeline.js';
import type { Destination } from '../../rx/pipeline.js';
import { failAnswer, stopUpload } from '../../stream/answer.js';
import { FeedRelay, checkOverflow } from '../../stream/feed.js';
import type { FeedOptions, Overflow } from '../../stream/feed.js';
import { promisedBy, releaseInput } from '../../stream/input.js';
import type { Input, Source } from '../../stream/input.js';
import type { StreamCore } from '../../stream/stream-core.js';
import { Stream } from '../../stream/stream.js';
import { checkFunction, checkOptions } from '../../util/check.js';
import { OPEN_NAMES } from '../calls.js';
import type { InputOptions, OpenOptions } from '../calls.js';
import type { Peer } from '../peer.js';
import { checkPeer } from '../options.js';

/**
 * Answers each stream with an Observable: values become data, and completion becomes the end. An error resets the stream as a handler's
 * error does. The remote's cancel unsubscribes. Iterables, async iterables and ReadableStreams are pulled as the queue drains.
 *
 * An upload that still runs when the answer is complete is stopped with NO_ERROR, unless it has a reader, as after a handler. `project`
 * may return nothing: then it has taken the stream itself, or leaves it to the handler. An async function that sends by itself returns
 * a promise of nothing. It ends the answer when it resolves, as after a handler.
 *
 * An error of one stream does not affect the others. Unsubscribing resets the streams that are still being answered with CANCEL.
 *
 * Put this operator directly after `streams$`: a stream without a user is refused once `streams$` has emitted it.
 *
 * @param options `overflow` decides about a value that an Observable pushes while the queue is full; default `'buffer'`
 * @throws TypeError for an unknown `overflow`, and unless `project` is a function
 *
 * @example
 * ```ts
 * peer.streams$.pipe(respond((payload) => (payload === 'ticks' ? interval(1_000) : EMPTY))).subscribe();
 * ```
 */
export function respond<P = unknown, In = unknown, Out = unknown, O extends Answer<Out> = Answer<Out>>(
  project: (payload: P, stream: Stream<In, Out>) => O,
  options: Pick<FeedOptions, 'overflow'> = {},
): OperatorFunction<Stream, never> {
  checkFunction('respond', project);
  checkOptions(options, { overflow: true });
  const overflow = checkOverflow(options.overflow);
  return (source) => new Observable((subscriber) => source.subscribe(new Responding(subscriber, project as Project, overflow)));
}

/** The values that answer a stream: all that rxjs takes for an Observable, Observables of others, and a Blob. Nothing leaves the stream to other handlers. */
export type Answer<Out> = Source<Out> | Blob | PromiseLike<void> | void;

type Project = (payload: unknown, stream: Stream) => Input<unknown> | void;

/** Answers the streams of a source. Completes after the source and its last answer. */
class Responding extends Relay<Stream> {
  /** The source, until it has completed, and the answers that run. */
  #running = 1;

  constructor(
    to: Destination,
    private readonly project: Project,
    private readonly overflow: Overflow,
  ) {
    super(to);
  }

  protected take(stream: Stream): void {
    const streamCore = Stream.streamCore(stream);
    // The opener already knows how the stream ended, and may rely on no work starting after that.
    if (streamCore.cause !== null) return;
    streamCore.handlerStarted();
    try {
      const input = this.project(stream.payload, stream);
      if (input === undefined) streamCore.handlerSettled();
      else this.#send(streamCore, input);
    } catch (error) {
      streamCore.handlerSettled();
      streamCore.markTaken();
      failAnswer(streamCore, error);
      stopUpload(streamCore);
    }
  }

  override complete(): void {
    if (this.stop()) this.ended();
  }

  /** The source or an answer has ended. */
  ended(): void {
    if (--this.#running === 0) this.to.complete();
  }

  /** Sends the values of an answer. */
  #send(stream: StreamCore, input: Input<unknown>): void {
    const promise = promisedBy(input);
    const settle = (): void => {
      stream.handlerSettled();
    };
    void promise?.then(settle, settle);
    if (this.closed) {
      // `project` has unsubscribed. The work has begun, so the stream may not be refused.
      stream.markTaken();
      stream.cancel();
      releaseInput(input);
      if (promise === null) settle();
    } else {
      this.#running++;
      const values = promise === null ? input : from(promise).pipe(filter((value) => value !== undefined));
      new Answering(this.to, stream, this, promise).run(values, this.overflow);
    }
  }
}

/** Ends an answer with its feed, and stops an upload that still runs. The opener has the error of a feed, and so has the log. */
class Answering extends FeedRelay {
  constructor(
    to: Destination,
    stream: StreamCore,
    private readonly owner: Responding,
    /** A promise keeps running after the stream has ended. */
    private readonly promise: Promise<unknown> | null,
  ) {
    super(to, stream);
  }

  override error(): void {
    this.complete();
  }

  override complete(): void {
    if (!this.stop()) return;
    // First, because an input that reads the upload, such as one behind `take`, completes ahead of its reader.
    this.unsubscribe();
    stopUpload(this.stream);
    this.owner.ended();
  }

  override unsubscribe(): void {
    const isRunning = !this.closed;
    super.unsubscribe();
    if (isRunning && this.promise === null) this.stream.handlerSettled();
  }
}

/**
 * Makes an operator of a remote stream: it sends what the source emits, and emits what the remote sends. Each subscription opens a
 * stream. Unsubscribing resets the stream with CANCEL, and an error of the source resets it with that error. With `retry` each attempt
 * subscribes to the source again; values that a hot source emitted to earlier attempts are lost.
 *
 * @throws TypeError unless `peer` is a peer, and for an unknown option; when it is piped, for an unknown `overflow`
 *
 * @example
 * ```ts
 * clicks$.pipe(through<Rank>(peer, { op: 'rank' })).subscribe(show);
 * ```
 */
export function through<In = unknown>(
  peer: Peer,
  payload?: unknown,
  options: OpenOptions<In> & Pick<InputOptions, 'overflow'> = {},
): OperatorFunction<unknown, In> {
  checkPeer('through', peer, 'open$');
  checkOptions(options, OPEN_NAMES, { overflow: true });
  return (source: Observable<unknown>) => peer.open$<In>(payload, { ...options, input: source });
}
