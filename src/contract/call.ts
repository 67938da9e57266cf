import { Observable } from 'rxjs';
import type { PeerContext } from '../peer/options.js';
import type { Stream } from '../stream/stream.js';
import { ResetCode } from '../wire/codes.js';
import { RemoteError } from '../wire/errors.js';
import type { Metadata } from '../wire/frame.js';
import type { Kind, Procedure } from './procedure.js';
import { checkBy, checkEach, checkOr } from './validate.js';
import type { Check } from './validate.js';

/** Inputs of a call, each checked as it arrives. A loop with `for await` holds the sender back; a subscriber takes each as it comes. */
export type Inputs<In> = Observable<In> & AsyncIterable<In>;

/** One call, as its answer and the functions around it see it. */
export interface Call<In = unknown, Context = PeerContext, Name extends string = string> {
  /** The name, with its namespaces: `chat.lines`. */
  readonly name: Name;
  /** The shape of the call. */
  readonly kind: Kind;
  /** The payload as it arrived, before its schema has seen it. */
  readonly payload: unknown;
  /** The caller's inputs. An item that does not fit its schema resets the stream with `INVALID`, which stops the caller's producer. */
  readonly input: Inputs<In>;
  /** The result of `verify` for this caller: `peer.context`. */
  readonly context: Context;
  /** The headers that the caller sent. */
  readonly headers: Readonly<Metadata>;
  /** Aborts when the call ends: when the caller leaves, and when the time is up that the caller's `timeoutMs` allows. */
  readonly signal: AbortSignal;
  /** The stream below, for reply headers and trailers. Its items are not checked. */
  readonly stream: Stream;
}

/** A {@link Call} whose parts are made when an answer reads them. */
export class AnsweredCall implements Call<unknown, unknown> {
  readonly kind: Kind;
  readonly #inputCheck: Procedure['input'];
  #input: Inputs<unknown> | null = null;

  constructor(
    readonly name: string,
    { kind, input }: Procedure,
    readonly payload: unknown,
    readonly stream: Stream,
  ) {
    this.kind = kind;
    this.#inputCheck = input;
  }

  get input(): Inputs<unknown> {
    const schema = this.#inputCheck;
    return (this.#input ??=
      schema === undefined ? this.stream : new CheckedInputs(this.stream, checkBy(schema, `an input of '${this.name}'`)));
  }

  get context(): unknown {
    return this.stream.peer.context;
  }

  get headers(): Readonly<Metadata> {
    return this.stream.headers;
  }

  get signal(): AbortSignal {
    return this.stream.signal;
  }
}

/** The items of a stream, each checked when it is read. */
class CheckedInputs extends Observable<unknown> implements AsyncIterable<unknown> {
  readonly #stream: Stream;
  readonly #check: Check;

  constructor(stream: Stream, check: Check) {
    super((subscriber) => stream.pipe(checkEach((item) => this.#checked(item))).subscribe(subscriber));
    this.#stream = stream;
    this.#check = check;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<unknown> {
    const items = this.#stream[Symbol.asyncIterator]();
    const iterator: AsyncIterableIterator<unknown> = {
      next: async () => {
        const item = await items.next();
        return item.done === true ? item : { done: false, value: await this.#checked(item.value) };
      },
      return: async () => {
        await items.return?.();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /** Resets the stream where an item is invalid, also where the answer would go on without it. */
  #checked(item: unknown): unknown {
    const refuse = (error: unknown): never => {
      if (error instanceof RemoteError) this.#stream.reset(ResetCode.APPLICATION_ERROR, error.reason, error.payload);
      throw error;
    };
    return checkOr(this.#check, item, refuse);
  }
}
