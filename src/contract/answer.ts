import { EMPTY, Observable, defaultIfEmpty, filter, from, identity, ignoreElements, isObservable, mergeMap, of, take } from 'rxjs';
import type { InteropObservable, MonoTypeOperatorFunction, ObservableInput, OperatorFunction, Subscriber } from 'rxjs';
import { respond } from '../peer/operators/respond.js';
import type { PeerContext } from '../peer/options.js';
import type { Peer } from '../peer/peer.js';
import { stopUpload } from '../stream/answer.js';
import { isCall } from '../stream/end.js';
import { checkOverflow, pump } from '../stream/feed.js';
import type { FeedOptions, Outlet, Overflow } from '../stream/feed.js';
import { adopted, observableFrom, promisedBy } from '../stream/input.js';
import type { NativeObservable, Source } from '../stream/input.js';
import type { SharedPayload } from '../stream/payload.js';
import { hasRoom, whenRoom } from '../stream/sending.js';
import type { StreamCore } from '../stream/stream-core.js';
import { Stream } from '../stream/stream.js';
import { checkBoolean, checkFunction, checkObject, describeReceived, isBlob, isThenable, markHandled, readObject } from '../util/check.js';
import type { Options } from '../util/check.js';
import { ResetCode } from '../wire/codes.js';
import { RemoteError } from '../wire/errors.js';
import { AnsweredCall } from './call.js';
import type { Call } from './call.js';
import type { Refine } from './checked-items.js';
import { TIMEOUT_HEADER, checkEntry, checkProcedure, isProcedure, leaveUnknown } from './contract.js';
import type { Contract, NamesOf } from './contract.js';
import { isReply } from './procedure.js';
import type { ChannelProcedure, Procedure, Received, RequestProcedure, Sent, StreamProcedure, UploadProcedure } from './procedure.js';
import { checkErrors, checkFor, checkItems, checkOutput, refineFor, refineInput } from './output.js';
import type { ErrorChecks } from './output.js';
import { checkBy, checkInTurn, checkOr, isUnchecked } from './validate.js';
import type { Check } from './validate.js';

type Input = Source<unknown> | Blob;
type Sending = Pick<FeedOptions, 'overflow'>;

/** The result of an answer: one reply, or the items. */
export class Outcome {
  constructor(
    private readonly returned: unknown,
    private readonly isReply: boolean,
  ) {}

  /** The values as an Observable, without the `undefined` of a reply without a value. No schema has checked them. */
  valuesFor(stream: StreamCore): Observable<unknown> {
    return this.isReply ? replyOf(this.returned).pipe(filter(isValue)) : itemsOf(awaited(this.#input(identity)), stream);
  }

  /** Sends the checked values; the result is for `respond`. A reply leaves with the end, in one frame. */
  sendTo(stream: Stream, check: Check): Input | Promise<void> | undefined {
    const { returned } = this;
    if (!this.isReply) return this.#input(check);
    const send = (value: unknown): void => {
      if (stream.cause === null) void stream.reply(value);
    };
    const reply = (value: unknown): Promise<void> | undefined => {
      // Nothing leaves an ended stream, so nothing needs a check.
      if (stream.cause !== null) return undefined;
      const checked = check(value);
      if (checked !== value && isThenable(checked)) return Promise.resolve(checked).then(send);
      send(checked);
      return undefined;
    };
    if (isThenable(returned)) return Promise.resolve(returned).then((value) => reply(checkOne(value)));
    if (isObservable(returned))
      return returned.pipe(
        take(1),
        orNothing(check),
        mergeMap((value) => reply(value) ?? EMPTY),
        ignoreElements(),
      );
    const later = reply(returned);
    if (later === undefined) stopUpload(Stream.streamCore(stream));
    return later;
  }

  /** Sends the checked values to a stream that an answer has taken. */
  sendLaterTo(stream: Stream, check: Check, refine: Refine | null, how: Sending): Promise<void> {
    const values = this.isReply
      ? replyOf(this.returned).pipe(orNothing(check), checkInTurn(check), filter(isValue))
      : awaited(this.#input(check));
    return stream.sendAll(refineInput(values, refine), how);
  }

  #input(check: Check): Input {
    const { returned } = this;
    const promised = promisedBy(returned)?.then((value) => (isValue(value) ? check(checkOne(value)) : value));
    return promised ?? (isValue(returned) ? checkItems(returned as Input, check) : EMPTY);
  }
}

/** `undefined` stands for no value. */
function isValue(value: unknown): boolean {
  return value !== undefined;
}

/** Returns promised items as an Observable: a promise of no value has none. `respond` awaits a promise itself. */
function awaited(input: Input): Input {
  const promise = promisedBy(input);
  return promise === null ? input : from(promise).pipe(filter(isValue));
}

/** A schema decides about a reply without a value, too. */
function orNothing(check: Check): MonoTypeOperatorFunction<unknown> {
  return isUnchecked(check) ? identity : defaultIfEmpty<unknown, unknown>(undefined);
}

/**
 * Returns what the answer of a stream or a channel has returned.
 *
 * @throws TypeError for one value in the place of items. rxjs throws one too, which names no procedure
 */
export function checkMany(name: string, returned: unknown): unknown {
  if (returned === undefined || isObservable(returned) || isBlob(returned)) return returned;
  try {
    from(returned as ObservableInput<unknown>);
    return returned;
  } catch {
    throw new TypeError(`the answer to '${name}': expected items, such as an Observable or an iterable, got ${describeReceived(returned)}`);
  }
}

/** A promise of many values would be sent as one value. */
function checkOne(value: unknown): unknown {
  const isMany = typeof value === 'object' && value !== null && (isObservable(value) || Symbol.asyncIterator in value);
  if (isMany) throw new TypeError('an answer: expected a promise of a value, got a promise of many: return from(work).pipe(mergeMap(…))');
  return value;
}

function replyOf(returned: unknown): Observable<unknown> {
  if (isThenable(returned)) return from(Promise.resolve(returned).then(checkOne));
  return isObservable(returned) ? returned.pipe(take(1)) : of(returned);
}

function itemsOf(input: Input, stream: StreamCore): Observable<unknown> {
  const source = Object(input) as object;
  const isPaced = isBlob(input) || Symbol.asyncIterator in source || 'getReader' in source;
  return isPaced ? new Observable((subscriber) => pump(input, new Paced(subscriber, stream), 'buffer')) : observableFrom(input);
}

/**
 * Takes items for the functions around an answer, while the queue of its stream has room. rxjs would read ahead without a bound, and would
 * end an async iterable only at its next item.
 */
class Paced implements Outlet {
  readonly queues = true;
  readonly full = false;

  constructor(
    private readonly to: Subscriber<unknown>,
    private readonly stream: StreamCore,
  ) {}

  get closed(): boolean {
    return this.to.closed;
  }

  get hasRoom(): boolean {
    return hasRoom(this.stream);
  }

  get hasDemand(): boolean {
    return this.hasRoom;
  }

  whenRoom(task: () => void): void {
    whenRoom(this.stream, task);
  }

  whenDemand(task: () => void): void {
    this.whenRoom(task);
  }

  send(value: unknown): void {
    this.to.next(value);
  }

  finish(): void {
    this.to.complete();
  }

  fail(error: unknown): void {
    this.to.error(error);
  }

  overflow(): void {
    // Items that are pulled never overflow.
  }
}

/** An outcome, or a promise of it where a schema needs time. */
export type MaybeLater = Outcome | Promise<Outcome>;

/** Runs an answer for each subscription. */
export class Next extends Observable<unknown> {
  readonly #run: () => MaybeLater;

  constructor(run: () => MaybeLater, stream: StreamCore) {
    super((subscriber) => {
      const outcome = run();
      const valuesOf = (ready: Outcome): Observable<unknown> => ready.valuesFor(stream);
      return (outcome instanceof Outcome ? valuesOf(outcome) : from(outcome).pipe(mergeMap(valuesOf))).subscribe(subscriber);
    });
    this.#run = run;
  }

  /** The result of a function around an answer. Where it changed nothing, the answer itself runs, so that iterables are pulled. */
  static outcomeOf(answered: Observable<unknown>, isReply: boolean): MaybeLater {
    return #run in answered ? answered.#run() : new Outcome(answered, isReply);
  }
}

/** One reply: the value itself, a promise of it, or an Observable, of which the first value counts. */
export type ReplyInput<R> = R | PromiseLike<R> | Observable<R> | InteropObservable<R> | NativeObservable<R>;

/** Many items, also shared ones. Iterables and ReadableStreams are pulled as the queue drains. */
export type Items<T> = Source<T> | Source<SharedPayload<T>> | Blob;

/** The answer to one procedure, or the answers of a namespace. */
export type AnswerTo<X, Context> =
  X extends RequestProcedure<infer P, infer R, object>
    ? (payload: Received<P, X>, call: Call<never, Context>) => ReplyInput<Sent<R, X>>
    : X extends StreamProcedure<infer P, infer T, object>
      ? (payload: Received<P, X>, call: Call<never, Context>) => Items<Sent<T, X>>
      : X extends UploadProcedure<infer P, infer U, infer R, object>
        ? (payload: Received<P, X>, call: Call<Received<U, X>, Context>) => ReplyInput<Sent<R, X>>
        : X extends ChannelProcedure<infer P, infer U, infer T, object>
          ? (payload: Received<P, X>, call: Call<Received<U, X>, Context>) => Items<Sent<T, X>>
          : Answers<X, Context>;

/** An answer for each procedure of a contract, in the contract's own namespaces. */
export type Answers<C, Context = PeerContext> = { readonly [N in keyof C]: AnswerTo<C[N], Context> };

/**
 * Runs around the answers of a contract. `next()` is a cold Observable of the values that the answer sends. It checks the payload
 * and runs the answer when it is subscribed to.
 *
 * An answer that is pulled stays so where `next()` is returned as it is. With operators after it, an async iterable or a topic is read while
 * the queue has room, and any other answer pushes.
 */
export type Around<Context = PeerContext, Name extends string = string> = (
  call: Call<unknown, Context, Name>,
  next: () => Observable<unknown>,
) => Observable<unknown>;

/** How a contract is answered. */
export interface AnswerOptions<Context = PeerContext, Name extends string = string> extends Pick<FeedOptions, 'overflow'> {
  /** Runs around every answer: the place for access by name, timing, limits and logs. Of a list, the first is the outermost. */
  readonly around?: Around<Context, Name> | readonly Around<Context, Name>[] | undefined;
  /**
   * Whether replies, items and the data of declared errors are checked where their procedures have schemas. The caller gets what the
   * schema makes: a field that it does not name stays here. A value that does not fit fails the call with `INTERNAL`, and the log has the
   * issues. `false` sends the values as the answer made them. Default `true`.
   */
  readonly validate?: boolean | undefined;
}

/** Declares the options of {@link answer}. A misspelt `around` would let every call pass. */
const ANSWER_OPTIONS: Options<
  AnswerOptions<unknown>,
  { around: readonly Around<unknown>[]; overflow: Overflow | undefined; validate: boolean }
> = {
  around: [(name, around) => [around].flat().map((one) => checkFunction(name, one)), []],
  validate: [checkBoolean, true],
  overflow: [(_, overflow) => checkOverflow(overflow), undefined],
};

/** A procedure with its answer. */
interface Bound {
  readonly procedure: Procedure;
  readonly checkPayload: Check;
  readonly checkOutput: Check;
  readonly checkErrors: ErrorChecks | null;
  readonly answer: (payload: unknown, call: AnsweredCall) => unknown;
}

/**
 * Answers the calls of a contract, as an operator over `streams$`. It leaves streams that no contract opened to other operators and to
 * `onStream`. A name that no contract of the peer has fails with `UNKNOWN`, which lists near names and is not retriable.
 *
 * A payload, and each item of {@link Call.input}, is checked before the answer gets it. A call with a wrong value fails
 * with `INVALID`. The issues are its data. A reply, each item and the data of a declared error are checked on their way out, unless
 * `validate` is `false`.
 *
 * @param answers one function for each procedure. Of requests and uploads its result is the reply, of others the items.
 * @throws TypeError for an `api` that is no contract, and for a misspelt or wrong schema in it. It also throws one for a procedure
 *   without an answer, and for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { api } from './api.ts';
 *
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
  const { around, overflow, validate } = readObject('options', options as AnswerOptions<unknown>, ANSWER_OPTIONS);
  const table = new Map<string, Bound>();
  bind(table, checkObject('answer', api, 'a contract'), answers, validate, '');
  const names = [...table.keys()];
  const how: Sending = { overflow };
  return respond((opened: unknown, stream) => {
    if (isCall(opened)) {
      const [name, payload] = opened;
      const bound = table.get(name);
      if (bound !== undefined) return begin(bound, new AnsweredCall(name, bound.procedure, payload, stream), around, how);
    }
    leaveUnknown(stream, opened, names);
    return undefined;
  }, how);
}

function bind(table: Map<string, Bound>, api: Contract, answers: unknown, validate: boolean, prefix: string): void {
  for (const [key, value] of Object.entries(api)) {
    const name = prefix + key;
    const entry = checkEntry(name, value);
    const given = memberOf(answers, key);
    if (!isProcedure(entry)) {
      bind(table, entry, given, validate, `${name}.`);
      continue;
    }
    checkProcedure(name, entry);
    const method = checkFunction(`answers.${name}`, given as Bound['answer']);
    table.set(name, {
      procedure: entry,
      checkPayload: checkBy(entry.payload, `the payload of '${name}'`),
      checkOutput: validate ? checkOutput(entry, name) : identity,
      checkErrors: validate ? checkErrors(entry, name) : null,
      answer: method.bind(answers),
    });
  }
}

/** The answers may be an instance of a class. A method that every object inherits, such as `toString`, is no answer. */
function memberOf(answers: unknown, key: string): unknown {
  if (typeof answers !== 'object' || answers === null || (key in Object.prototype && !Object.hasOwn(answers, key))) return undefined;
  return (answers as Readonly<Record<string, unknown>>)[key];
}

function begin(bound: Bound, call: AnsweredCall, arounds: readonly Around<unknown>[], how: Sending): ReturnType<Outcome['sendTo']> {
  limit(call.stream);
  const hasReply = isReply(call.kind);
  const answered = (payload: unknown): Outcome => {
    const returned = adopted(bound.answer(payload, call));
    return new Outcome(hasReply ? returned : checkMany(call.name, returned), hasReply);
  };
  const run = (): MaybeLater => {
    const payload = checkedPayload(bound, call);
    if (!isThenable(payload)) return answered(payload);
    // The caller may leave while a schema takes its time. Then no work may start.
    return Promise.resolve(payload).then((checked) => (call.stream.cause === null ? answered(checked) : new Outcome(undefined, hasReply)));
  };
  const whole = arounds.reduceRight<() => Observable<unknown>>(
    (next, around) => () => checkAround(call.name, around(call, next)),
    () => new Next(run, Stream.streamCore(call.stream)),
  );
  const check = checkFor(call, bound.checkOutput);
  const refine = refineFor(call, bound.checkErrors);
  try {
    const outcome = arounds.length === 0 ? run() : Next.outcomeOf(whole(), hasReply);
    const sent =
      outcome instanceof Outcome
        ? outcome.sendTo(call.stream, check)
        : outcome.then((later) => later.sendLaterTo(call.stream, check, refine, how));
    return sent === undefined ? sent : refineInput(sent, refine);
  } catch (error) {
    if (refine === null) throw error;
    return refine(error);
  }
}

/** Warns of a payload that does not fit, because no caller learns of it after a `notify`. The log shows no part of a payload. */
function checkedPayload({ checkPayload }: Bound, { name, payload, stream }: AnsweredCall): unknown {
  const warn = (error: unknown): never => {
    const { owner, label } = Stream.streamCore(stream);
    if (error instanceof RemoteError) owner.refused(ResetCode.APPLICATION_ERROR, `the payload of '${name}' is invalid`, label);
    throw error;
  };
  return checkOr(checkPayload, payload, warn);
}

function checkAround(name: string, returned: unknown): Observable<unknown> {
  if (isObservable(returned) && !isThenable(returned)) return returned;
  // The work that an async function has begun may still fail.
  markHandled(returned);
  const hint = isThenable(returned) ? 'a promise; return from(work).pipe(mergeMap(next))' : describeReceived(returned);
  throw new TypeError(`around '${name}': expected an Observable, got ${hint}`);
}

/** Ends the call when its caller's time is up, also where the caller's reset is held up. */
function limit(stream: Stream): void {
  const timeoutMs = stream.headers[TIMEOUT_HEADER];
  if (typeof timeoutMs === 'number' && timeoutMs > 0) Stream.streamCore(stream).limit(timeoutMs);
}

/** The `verify` of a server, whatever it reads of the request. */
export type Verify = (request: never) => unknown;

/** A verdict of `verify` that refuses, or accepts without a context. */
type WithoutContext = boolean | number | { readonly status: number; readonly reason: string; readonly headers: readonly unknown[] };

/** The context of the peers that a `verify` accepts: its result, awaited, where it does not refuse. Without `verify` the PeerContext. */
export type ContextOf<V extends Verify> =
  unknown extends ReturnType<V> ? PeerContext : ContextIn<Exclude<Awaited<ReturnType<V>>, WithoutContext>>;

type ContextIn<X> = [X] extends [never] ? PeerContext : X;

/** Options that make a server answer a contract. They have `verify` where `answering` got one. */
export type Answering<V extends Verify> = {
  /** Answers the streams of a peer. */
  readonly onPeer: (peer: Peer) => void;
} & (Verify extends V
  ? unknown
  : {
      /** The `verify` that `answering` got. */
      readonly verify: V;
    });

/** {@link AnswerOptions}, and the source of the context's type. */
export interface AnsweringOptions<V extends Verify, Name extends string> extends AnswerOptions<ContextOf<V>, Name> {
  /** The server's `verify`. Annotate its parameter, so that TypeScript knows the context before it reads the answers. */
  readonly verify?: V | undefined;
}

/**
 * Makes options that have a server answer a contract: spread them into the options of `serve`, `handleUpgrade` or `accept`. The server
 * imports no code of contracts by itself.
 *
 * @returns `onPeer`, and `verify` where the options have it. A server with an `onPeer` of its own, or with two contracts, calls each `onPeer` in
 *   one: a second spread would replace the first
 * @throws TypeError as {@link answer} does
 *
 * @example
 * ```ts
 * const verify = ({ headers }: IncomingMessage) => userOf(headers.cookie) ?? 401;
 * serve({ port: 8080, ...answering(api, { me: (_, { context }) => context.name }, { verify }) });
 * ```
 */
export function answering<C extends Contract, V extends Verify = Verify>(
  api: C,
  answers: Answers<C, ContextOf<V>>,
  { verify, ...options }: AnsweringOptions<V, NamesOf<C>> = {},
): Answering<V> {
  const answered = answer<C, ContextOf<V>>(api, answers, options);
  const onPeer = (peer: Peer): void => {
    peer.streams$.pipe(answered).subscribe();
  };
  return (verify === undefined ? { onPeer } : { onPeer, verify }) as Answering<V>;
}
