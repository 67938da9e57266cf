import { catchError, concat, defer, EMPTY, filter, finalize, from, mergeMap, Observable } from 'rxjs';
import type { ObservableInput, OperatorFunction } from 'rxjs';
import { checkFunction, checkObject } from '../../wire/check.js';
import { isPromise } from '../../wire/cross-realm.js';
import { failAnswer, stopUpload } from '../stream/answer.js';
import { feed } from '../stream/feed.js';
import type { FeedOptions } from '../stream/feed.js';
import { decline } from '../stream/input.js';
import { checkOverflow } from '../stream/overflow.js';
import type { Overflow } from '../stream/overflow.js';
import { Stream } from '../stream/stream.js';

/**
 * Answers streams with Observables: values become data, completion the end, an error the reset that a handler's would be,
 * and the remote's cancel unsubscribes. Iterables, async iterables and ReadableStreams are pulled as the queue drains.
 *
 * As after a handler, an upload that still goes on when the answer is complete is stopped with NO_ERROR, unless somebody
 * reads it. `project` may return nothing: then it has taken the stream itself, or leaves it to the handler. A promise of nothing,
 * as of an async function that sends by itself, ends the answer when it resolves, as after a handler. Errors of one stream stay
 * with that stream; the operator goes on with the others. Unsubscribing resets what is being answered with CANCEL.
 *
 * Put it directly after `streams$`: a stream that nobody has begun to use when `streams$` has shown it is refused.
 *
 * @param options `overflow` says what becomes of a value that an Observable pushes while the queue is full; default `'buffer'`
 * @throws TypeError for an unknown `overflow`, and for a `project` that is no function
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
  checkObject('options', options);
  const overflow = checkOverflow(options.overflow);
  return (source) =>
    new Observable((subscriber) =>
      source.pipe(mergeMap((stream) => answer(stream, project as Project, overflow, subscriber))).subscribe(subscriber),
    );
}

type Answer<Out> = ObservableInput<Out> | Blob | PromiseLike<void> | void;

type Project = (payload: unknown, stream: Stream) => ObservableInput<unknown> | Blob | void;

function answer(stream: Stream, project: Project, overflow: Overflow, answering: { readonly closed: boolean }): Observable<never> {
  const streamCore = Stream.streamCore(stream);
  // Its opener has been told how it ended, and may count on nothing being done after that.
  if (streamCore.cause !== null) return EMPTY;
  const settle = (): void => {
    streamCore.line.handlerSettled();
  };
  streamCore.line.handlerStarted();
  try {
    const input = project(stream.payload, stream);
    if (input === undefined) {
      settle();
      return EMPTY;
    }
    if (answering.closed) {
      // By `project`: the work has begun, so the stream may not be refused.
      streamCore.markTaken();
      streamCore.discard();
      decline(input);
    }
    const values = isPromise(input) ? from(input).pipe(filter((value) => value !== undefined)) : input;
    const stopped$ = defer(() => {
      stopUpload(streamCore);
      return EMPTY;
    });
    const answered$ = concat(feed(streamCore, values, { overflow }).pipe(catchError(() => EMPTY)), stopped$);
    // A promise goes on when nobody wants it any more.
    if (!isPromise(input)) return answered$.pipe(finalize(settle));
    input.then(settle, settle);
    return answered$;
  } catch (error) {
    settle();
    streamCore.markTaken();
    failAnswer(streamCore, error);
    stopUpload(streamCore);
    return EMPTY;
  }
}
