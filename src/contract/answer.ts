import { isObservable } from 'rxjs';
import type { Observable, ObservableInput, OperatorFunction } from 'rxjs';
import { warnOfRefusal } from '../peer/base/log-refusal.js';
import { respond } from '../peer/operators/respond.js';
import type { PeerContext } from '../peer/options.js';
import { checkOverflow } from '../peer/stream/overflow.js';
import type { Overflow } from '../peer/stream/overflow.js';
import type { FeedOptions } from '../stream/feed.js';
import type { SharedPayload } from '../stream/shared-payload.js';
import { Stream } from '../stream/stream.js';
import { readObject } from '../util/check.js';
import type { Options } from '../util/check.js';
import { checkFunction, checkObject } from '../wire/check.js';
import { ResetCode } from '../wire/codes.js';
import { isPromise } from '../wire/cross-realm.js';
import { describeReceived } from '../wire/describe-received.js';
import { RemoteError } from '../wire/stream-errors.js';
import { AnsweredCall } from './call.js';
import type { Call } from './call.js';
import { checkProcedure } from './check-procedure.js';
import { checkEntry, isProcedure } from './contract.js';
import type { Contract, NamesOf } from './contract.js';
import { TIMEOUT_HEADER, isCall } from './convention.js';
import { Next, Outcome, checkItems } from './outcome.js';
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

/** Declares the options of {@link answer}. A misspelt `around` would let every call pass. */
const ANSWER_OPTIONS: Options<AnswerOptions<unknown>, { around: readonly Around<unknown>[]; overflow: Overflow | undefined }> = {
  around: [(name, around) => [around].flat().map((one) => checkFunction(name, one)), []],
  overflow: [(_, overflow) => checkOverflow(overflow), undefined],
};

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
 * @throws TypeError for an `api` that is no contract, and for a misspelt or wrong schema in it. It also throws one for a procedure
 *   without an answer, and for a wrong or unknown option.
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
  const { around, overflow } = readObject('options', options as AnswerOptions<unknown>, ANSWER_OPTIONS);
  const table = new Map<string, Bound>();
  bind(table, checkObject('answer', api, 'a contract'), answers, '');
  return respond(
    (opened: unknown, stream) => {
      if (!isCall(opened)) return undefined;
      const [name, payload] = opened;
      const bound = table.get(name);
      if (bound !== undefined) return begin(bound, new AnsweredCall(name, bound.procedure, payload, stream), around);
      leaveUnknown(stream, name, table.keys());
      return undefined;
    },
    overflow === undefined ? {} : { overflow },
  );
}

function bind(table: Map<string, Bound>, api: Contract, answers: unknown, prefix: string): void {
  for (const [key, value] of Object.entries(api)) {
    const name = prefix + key;
    const entry = checkEntry(name, value);
    const given = memberOf(answers, key);
    if (!isProcedure(entry)) {
      bind(table, entry, given, `${name}.`);
      continue;
    }
    checkProcedure(name, entry);
    const method = checkFunction(`answers.${name}`, given as Bound['answer']);
    table.set(name, {
      procedure: entry,
      checkPayload: checkBy(entry.payload, `the payload of '${name}'`),
      answer: method.bind(answers),
    });
  }
}

/** The answers may be an instance of a class. A method that every object inherits, such as `toString`, is no answer. */
function memberOf(answers: unknown, key: string): unknown {
  if (typeof answers !== 'object' || answers === null || (key in Object.prototype && !Object.hasOwn(answers, key))) return undefined;
  return (answers as Readonly<Record<string, unknown>>)[key];
}

function begin(bound: Bound, call: AnsweredCall, arounds: readonly Around<unknown>[]): ReturnType<Outcome['sendTo']> {
  limit(call.stream);
  const isReply = call.kind === 'request' || call.kind === 'upload';
  const answered = (payload: unknown): Outcome => {
    const returned = bound.answer(payload, call);
    return new Outcome(isReply ? returned : checkItems(call.name, returned), isReply);
  };
  const run = (): MaybeLater => {
    const payload = checkedPayload(bound, call);
    if (!isPromise(payload)) return answered(payload);
    // The caller may leave while a schema takes its time. Then no work may start.
    return payload.then((checked) => (call.stream.cause === null ? answered(checked) : new Outcome(undefined, isReply)));
  };
  const whole = arounds.reduceRight<() => Observable<unknown>>(
    (next, around) => () => checkAround(call.name, around(call, next)),
    () => new Next(run),
  );
  const outcome = arounds.length === 0 ? run() : Next.outcomeOf(whole(), isReply);
  return isPromise(outcome) ? outcome.then((later) => later.sendLaterTo(call.stream)) : outcome.sendTo(call.stream);
}

/** Warns of a payload that does not fit, because no caller learns of it after a `notify`. The log shows no part of a payload. */
function checkedPayload({ checkPayload }: Bound, { name, payload, stream }: AnsweredCall): unknown {
  const warn = (error: unknown): never => {
    const { label } = Stream.streamCore(stream);
    if (error instanceof RemoteError) warnOfRefusal(label, ResetCode.APPLICATION_ERROR, `the payload of '${name}' is invalid`);
    throw error;
  };
  try {
    const checked = checkPayload(payload);
    return isPromise(checked) ? checked.catch(warn) : checked;
  } catch (error) {
    return warn(error);
  }
}

function checkAround(name: string, returned: unknown): Observable<unknown> {
  if (isObservable(returned)) return returned;
  const hint = isPromise(returned) ? 'a promise; return from(work).pipe(mergeMap(next))' : describeReceived(returned);
  throw new TypeError(`around '${name}': expected an Observable, got ${hint}`);
}

/** Ends the call when its caller's time is up, also where the caller's reset is held up. */
function limit(stream: Stream): void {
  const timeoutMs = stream.headers[TIMEOUT_HEADER];
  if (typeof timeoutMs === 'number' && timeoutMs > 0) Stream.streamCore(stream).limit(timeoutMs);
}
