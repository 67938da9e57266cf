import type { Observable, ObservableInput, OperatorFunction } from 'rxjs';
import { respond } from '../peer/operators/respond.js';
import type { PeerContext } from '../peer/base/options.js';
import type { FeedOptions } from '../peer/stream/feed.js';
import type { SharedPayload } from '../peer/stream/shared-payload.js';
import { Stream } from '../peer/stream/stream.js';
import { checkFunction } from '../wire/check.js';
import { isPromise } from '../wire/cross-realm.js';
import { AnsweredCall } from './call.js';
import type { Call } from './call.js';
import { isCall, TIMEOUT_HEADER } from './convention.js';
import { isProcedure } from './contract.js';
import type { Contract, NamesOf } from './contract.js';
import { Next, Outcome } from './outcome.js';
import type { MaybeLater } from './outcome.js';
import type { ChannelProcedure, Procedure, Received, RequestProcedure, Sent, StreamProcedure, UploadProcedure } from './procedure.js';
import { leaveUnknown } from './unknown-name.js';
import { checkBy } from './validate.js';
import type { Check } from './validate.js';

/** One reply: the value itself, a promise of it, or an Observable, of which the first value counts. */
export type Reply<R> = R | PromiseLike<R> | Observable<R>;

/** Many items, also shared ones. Iterables and ReadableStreams are pulled as the queue drains. */
export type Items<T> = ObservableInput<T> | ObservableInput<SharedPayload<T>> | Blob;

/** The answer to one procedure, or the answers of a namespace. */
export type AnswerTo<X, Context> =
  X extends RequestProcedure<infer P, infer R, object>
    ? (payload: Received<P>, call: Call<never, Context>) => Reply<Sent<R>>
    : X extends StreamProcedure<infer P, infer T, object>
      ? (payload: Received<P>, call: Call<never, Context>) => Items<Sent<T>>
      : X extends UploadProcedure<infer P, infer U, infer R, object>
        ? (payload: Received<P>, call: Call<Received<U>, Context>) => Reply<Sent<R>>
        : X extends ChannelProcedure<infer P, infer U, infer T, object>
          ? (payload: Received<P>, call: Call<Received<U>, Context>) => Items<Sent<T>>
          : Answers<X, Context>;

/** An answer for each procedure of a contract, in the contract's own namespaces. */
export type Answers<C, Context = PeerContext> = { readonly [N in keyof C]: AnswerTo<C[N], Context> };

/**
 * Runs around the answers of a contract. `next()` is a cold Observable of the values that the answer sends. It checks the payload
 * and runs the answer when it is subscribed to.
 *
 * An answer that is pulled stays so where `next()` is returned as it is. With operators after it, the answer pushes.
 */
export type Around<Context = PeerContext, Name extends string = string> = (
  call: Call<unknown, Context, Name>,
  next: () => Observable<unknown>,
) => Observable<unknown>;

/** How a contract is answered. */
export interface AnswerOptions<Context = PeerContext, Name extends string = string> extends Pick<FeedOptions, 'overflow'> {
  /** Runs around every answer: the place for access by name, timing, limits and logs. Of a list, the first is the outermost. */
  readonly around?: Around<Context, Name> | readonly Around<Context, Name>[] | undefined;
}

/** A procedure with its answer. */
interface Bound {
  readonly procedure: Procedure;
  readonly checkPayload: Check;
  readonly answer: (payload: unknown, call: AnsweredCall) => unknown;
}

/**
 * Answers the calls of a contract, as an operator over `streams$`. It leaves streams that no contract opened to other operators and to
 * `onStream`. A name that no contract of the peer has fails with `UNKNOWN`, which lists near names and is not retriable.
 *
 * A payload, and each item of {@link Call.input}, is checked before the answer gets it. A call with a wrong value fails
 * with `INVALID`. The issues are its data.
 *
 * @param answers one function for each procedure. Of requests and uploads its result is the reply, of others the items.
 * @throws TypeError for a procedure without an answer, and for an unknown `overflow`
 *
 * @example
 * ```ts
 * peer.streams$
 *   .pipe(answer(api, { square: ({ n }) => n * n, countdown: ({ from }) => interval(100).pipe(map((tick) => from - tick)) }))
 *   .subscribe();
 * ```
 */
export function answer<C extends Contract, Context = PeerContext>(
  api: C,
  answers: Answers<C, Context>,
  options: AnswerOptions<Context, NamesOf<C>> = {},
): OperatorFunction<Stream, never> {
  const table = new Map<string, Bound>();
  bind(table, api, answers, '');
  const { around = [], overflow } = options;
  const arounds = [around].flat() as readonly Around<unknown>[];
  return respond(
    (opened: unknown, stream) => {
      if (!isCall(opened)) return undefined;
      const [name, payload] = opened;
      const bound = table.get(name);
      if (bound !== undefined) return begin(bound, new AnsweredCall(name, bound.procedure, payload, stream), arounds);
      leaveUnknown(stream, name, table.keys());
      return undefined;
    },
    overflow === undefined ? {} : { overflow },
  );
}

function bind(table: Map<string, Bound>, api: Contract, answers: unknown, prefix: string): void {
  for (const [key, value] of Object.entries(api)) {
    const name = prefix + key;
    const given: unknown = (answers as Readonly<Record<string, unknown>> | undefined)?.[key];
    if (!isProcedure(value)) {
      bind(table, value, given, `${name}.`);
      continue;
    }
    checkFunction(`answers.${name}`, given);
    table.set(name, {
      procedure: value,
      checkPayload: checkBy(value.payload, `the payload of '${name}'`),
      answer: given as Bound['answer'],
    });
  }
}

function begin(bound: Bound, call: AnsweredCall, arounds: readonly Around<unknown>[]): ReturnType<Outcome['sendTo']> {
  limit(call.stream);
  const isReply = call.kind === 'request' || call.kind === 'upload';
  const run = (): MaybeLater => {
    const answered = (payload: unknown): Outcome => new Outcome(bound.answer(payload, call), isReply);
    const payload = bound.checkPayload(call.payload);
    return isPromise(payload) ? payload.then(answered) : answered(payload);
  };
  const whole = arounds.reduceRight<() => Observable<unknown>>(
    (next, around) => () => around(call, next),
    () => new Next(run),
  );
  const outcome = arounds.length === 0 ? run() : Next.outcomeOf(whole(), isReply);
  return isPromise(outcome) ? outcome.then((later) => later.sendLaterTo(call.stream)) : outcome.sendTo(call.stream);
}

/** Ends the call when its caller's time is up, also where the caller's reset is held up. */
function limit(stream: Stream): void {
  const timeoutMs = stream.headers[TIMEOUT_HEADER];
  if (typeof timeoutMs === 'number' && timeoutMs > 0) Stream.streamCore(stream).limit(timeoutMs);
}
