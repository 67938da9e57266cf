import { Observable } from 'rxjs';
import type { PeerContext } from '../peer/options.js';
import { endedHere } from '../stream/end.js';
import type { CloseCause } from '../stream/end.js';
import type { PullSource } from '../stream/input.js';
import { StreamIterator } from '../stream/iterator.js';
import type { Pull } from '../stream/iterator.js';
import { Stream } from '../stream/stream.js';
import { ResetCode, resetCodeName } from '../wire/codes.js';
import { RemoteError } from '../wire/errors.js';
import type { Metadata } from '../wire/frame.js';
import { CheckedItems } from './checked-items.js';
import type { Kind, Procedure } from './procedure.js';
import { checkBy, checkInTurn, checkOr } from './validate.js';
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
  /**
   * Aborts when the call ends before its answer is complete: the caller has left, its time is up, or the connection is gone. A complete
   * answer, such as the reply to an upload, aborts nothing. The reason is an `AbortError` that says who ended the call; its `cause` is the
   * stream's error.
   *
   * @example
   * ```ts
   * answer(api, { report: (query, { signal }) => fetch(urlOf(query), { signal }).then((response) => response.json()) });
   * // when the caller unsubscribes, signal.reason is AbortError: the caller left: unsubscribed
   * ```
   */
  readonly signal: AbortSignal;
  /** The stream below, for reply headers and trailers. Its items are not checked. */
  readonly stream: Stream;
}

/** A {@link Call} whose parts are made when an answer reads them. */
export class AnsweredCall implements Call<unknown, unknown> {
  readonly kind: Kind;
  readonly #inputCheck: Procedure['input'];
  #input: Inputs<unknown> | null = null;
  #signal: AbortSignal | null = null;

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
    return (this.#signal ??= abandoned(this.stream));
  }
}

/** A signal that aborts when a stream ends before its answer is complete. The stream's own signal aborts at every end. */
function abandoned(stream: Stream): AbortSignal {
  const controller = new AbortController();
  const ended = (): void => {
    const { cause } = stream;
    if (cause !== null && !endedHere(cause)) controller.abort(abortError(cause, stream.signal.reason));
  };
  const { signal } = stream;
  if (signal.aborted) ended();
  else signal.addEventListener('abort', ended, { once: true });
  return controller.signal;
}

function abortError(ending: CloseCause, cause: unknown): Error {
  return Object.assign(new Error(whoEnded(ending), { cause }), { name: 'AbortError' });
}

/** Says in words who ended a call, and why. */
function whoEnded(cause: CloseCause): string {
  if (cause.how === 'ended') return 'the call has ended';
  if (cause.how === 'lost') return `the connection to the caller was lost (${cause.reason.code})`;
  const { by, code, reason } = cause;
  const why = reason === '' ? '' : `: ${reason}`;
  if (code === ResetCode.DEADLINE_EXCEEDED) return `the caller's time is up${why}`;
  if (by === 'remote')
    return code === ResetCode.CANCEL ? `the caller left${why}` : `the caller reset the call (${resetCodeName(code)})${why}`;
  return `this side ended the call (${resetCodeName(code)})${why}`;
}

/** The items of a stream, each checked when it is read. */
class CheckedInputs extends Observable<unknown> implements AsyncIterable<unknown> {
  readonly #stream: Stream;
  readonly #check: Check;

  constructor(stream: Stream, check: Check) {
    super((subscriber) => stream.pipe(checkInTurn((item) => this.#checked(item))).subscribe(subscriber));
    this.#stream = stream;
    this.#check = check;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<unknown> {
    return new CheckedIterator(this.#stream, (item) => this.#checked(item));
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

/** Passes for the iterator of the stream itself, which a call takes as its input only once. */
class CheckedIterator extends StreamIterator<unknown> {
  readonly #items: CheckedItems;

  constructor(stream: Stream, check: Check) {
    super(Stream.streamCore(stream));
    const source: PullSource = {
      pull: (taker) => {
        super.pull(taker);
      },
      stop: () => this.return(),
    };
    this.#items = new CheckedItems(source, check);
  }

  override pull(pull: Pull<unknown>): void {
    this.#items.pull(pull);
  }
}
