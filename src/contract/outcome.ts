import { EMPTY, filter, from, ignoreElements, isObservable, mergeMap, Observable, of, take, tap } from 'rxjs';
import type { ObservableInput } from 'rxjs';
import { stopUpload } from '../peer/stream/answer.js';
import { observableFrom } from '../stream/input.js';
import { Stream } from '../stream/stream.js';
import { isBlob, isPromise } from '../wire/cross-realm.js';
import { describeReceived } from '../wire/describe-received.js';

type Input = ObservableInput<unknown> | Blob;

/** The result of an answer: one reply, or the items. */
export class Outcome {
  constructor(
    private readonly returned: unknown,
    private readonly isReply: boolean,
  ) {}

  /** The values as an Observable, without the `undefined` of a reply without a value. */
  get values$(): Observable<unknown> {
    return (this.isReply ? replyOf(this.returned) : itemsOf(this.#input())).pipe(filter((value) => value !== undefined));
  }

  /** Sends the values; the result is for `respond`. A reply leaves with the end, in one frame. */
  sendTo(stream: Stream): Input | Promise<void> | undefined {
    const { returned } = this;
    if (!this.isReply) return this.#input();
    const reply = (value: unknown): void => {
      if (stream.cause === null) void stream.reply(value);
    };
    if (isPromise(returned))
      return returned.then((value) => {
        reply(checkOne(value));
      });
    if (isObservable(returned)) return returned.pipe(take(1), tap(reply), ignoreElements());
    reply(returned);
    stopUpload(Stream.streamCore(stream));
    return undefined;
  }

  /** Sends the values to a stream that an answer has taken. */
  sendLaterTo(stream: Stream): Promise<void> {
    return stream.sendAll(this.isReply ? this.values$ : this.#input());
  }

  #input(): Input {
    const { returned } = this;
    if (isPromise(returned)) return returned.then(checkOne);
    return returned === undefined ? EMPTY : (returned as Input);
  }
}

/**
 * Returns what the answer of a stream or a channel has returned.
 *
 * @throws TypeError for one value in the place of items. rxjs throws one too, which names no procedure
 */
export function checkItems(name: string, returned: unknown): unknown {
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
  if (isPromise(returned)) return from(returned.then(checkOne));
  return isObservable(returned) ? returned.pipe(take(1)) : of(returned);
}

function itemsOf(input: Input): Observable<unknown> {
  return isBlob(input) ? from(input.stream()) : observableFrom(input);
}

/** An outcome, or a promise of it where a schema needs time. */
export type MaybeLater = Outcome | Promise<Outcome>;

/** Runs an answer for each subscription. */
export class Next extends Observable<unknown> {
  readonly #run: () => MaybeLater;

  constructor(run: () => MaybeLater) {
    super((subscriber) => {
      const outcome = run();
      const values$ = isPromise(outcome) ? from(outcome).pipe(mergeMap((later) => later.values$)) : outcome.values$;
      return values$.subscribe(subscriber);
    });
    this.#run = run;
  }

  /** The result of a function around an answer. Where it changed nothing, the answer itself runs, so that iterables are pulled. */
  static outcomeOf(answered: Observable<unknown>, isReply: boolean): MaybeLater {
    return #run in answered ? answered.#run() : new Outcome(answered, isReply);
  }
}
