import { isObservable, Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import type { Pull } from '../stream/iterator.js';
import { checkObject, optionError } from '../util/check.js';
import { Fifo } from '../util/collections.js';
import { checkOptions } from '../util/check.js';
import type { Log, TopicItem } from './log.js';
import { beginningAt } from './beginning.js';
import { LogReader } from './log-reader.js';
import { waitingBy } from './overflow.js';
import type { TopicOverflow } from './overflow.js';

/** How a log is followed. */
export interface CatchUpOptions {
  /**
   * Where a subscriber without a place begins: at the `'end'`, with new messages only, or at the `'start'`, with every message that the log
   * keeps. Default `'end'`.
   */
  readonly from?: 'end' | 'start' | undefined;
  /** Decides about messages for a subscriber that reads slowly. Default `'history'`. */
  readonly overflow?: TopicOverflow | undefined;
}

/** The items of a log: an Observable, and an async iterable. A stream that answers with it pulls. */
export interface Followed<R> extends Observable<R> {
  /** Returns an iterator that reads item after item. */
  [Symbol.asyncIterator](): AsyncIterator<R, undefined>;
}

/**
 * Follows a log after a place: first its history, then the messages that arrive. Each message comes once and in order.
 *
 * Cold: each subscription reads for itself. The messages that arrive come from one consumer of the process. The first item of a
 * subscription without a place is the bare cursor of the log's end. A subscriber who has received nothing thus has a place too. With
 * `from: 'start'` the kept messages come instead, and the bare cursor only where the log keeps none.
 *
 * As an answer of a stream the result is pulled: it reads on when the stream has room. With operators behind it, it pushes. Then it
 * reads as fast as the broker sends.
 *
 * Errors with {@link CursorLost} where messages after `after` are no longer kept, and with the errors of the log.
 *
 * @param after the cursor of the last item that the subscriber has received; `null` to begin as `from` says
 * @throws TypeError for an unknown `from` or `overflow`
 *
 * @example
 * ```ts
 * const log = memoryLog<string>();
 * catchUp(log, null).subscribe(console.log);   // { cursor: 'k3f:0' }
 * await log.publish('hello');                  // { cursor: 'k3f:1', value: 'hello' }
 * ```
 */
export function catchUp<T, C>(log: Log<T, C>, after: C | null | undefined, options: CatchUpOptions = {}): Followed<TopicItem<T, C>> {
  return follow(log, after, options, (item) => item);
}

/** {@link catchUp} with a projection of its items. */
export function follow<T, C, R>(
  log: Log<T, C>,
  after: C | null | undefined,
  options: CatchUpOptions,
  project: (item: TopicItem<T, C>) => R,
): Following<R> {
  checkOptions(options, { from: true, overflow: true });
  const { from, overflow } = options;
  const policy = waitingBy(overflow);
  const begin = beginningAt(from);
  checkLog(log);
  return new Following(() => new ProjectedReader(new LogReader(log, after ?? null, policy, begin), project));
}

/** @throws TypeError unless `log` is a log. No check of a class, because a log may be one of the user's */
function checkLog<T, C>(log: Log<T, C>): void {
  if (!('live$' in checkObject('log', log, 'a Log'))) throw optionError('log', 'a Log', log);
  if (!isObservable(log.live$)) throw optionError('log.live$', 'an Observable', log.live$);
}

interface Reader<R> {
  pull(taker: Pull<R>): void;
  stop(): void;
}

class ProjectedReader<T, C, R> implements Reader<R> {
  constructor(
    private readonly reader: LogReader<T, C>,
    private readonly project: (item: TopicItem<T, C>) => R,
  ) {}

  pull(taker: Pull<R>): void {
    this.reader.pull({
      resolve: (result) => {
        taker.resolve(result.done === true ? result : { done: false, value: this.project(result.value) });
      },
      reject: (error) => taker.reject(error),
    });
  }

  stop(): void {
    this.reader.stop();
  }
}

/** An Observable that is also pulled. Each subscription and each iterator has a reader of its own. */
export class Following<R> extends Observable<R> implements Followed<R> {
  readonly #read: () => Reader<R>;

  constructor(read: () => Reader<R>) {
    super((subscriber) => {
      const reader = read();
      drain(reader, subscriber);
      return () => reader.stop();
    });
    this.#read = read;
  }

  [Symbol.asyncIterator](): AsyncIterator<R, undefined> {
    return new ReaderIterator(this.#read());
  }
}

/** Pulls an item for each `next()`. Calls that do not await each other wait in line, as for an async generator. */
class ReaderIterator<R> implements AsyncIterator<R, undefined> {
  readonly #takers = new Fifo<Pull<R>>();

  constructor(private readonly reader: Reader<R>) {}

  next(): Promise<IteratorResult<R, undefined>> {
    return new Promise((resolve, reject) => {
      this.#takers.push({ resolve, reject });
      if (this.#takers.length === 1) this.reader.pull(this.#taker);
    });
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    const end = { done: true, value: undefined } as const;
    this.reader.stop();
    for (let taker = this.#takers.shift(); taker !== undefined; taker = this.#takers.shift()) taker.resolve(end);
    return Promise.resolve(end);
  }

  readonly #taker: Pull<R> = {
    resolve: (result) => {
      this.#takers.shift()?.resolve(result);
      this.#pullOn();
    },
    reject: (error) => {
      this.#takers.shift()?.reject(error);
      this.#pullOn();
    },
  };

  #pullOn(): void {
    if (this.#takers.length > 0) this.reader.pull(this.#taker);
  }
}

/** Pulls item after item for a subscriber. A loop, because an item may be there at once. */
function drain<R>(reader: Reader<R>, subscriber: Subscriber<R>): void {
  let isPulling = false;
  let isAsked = false;
  const step = (): void => {
    if (isPulling) return;
    isPulling = true;
    while (!isAsked && !subscriber.closed) {
      isAsked = true;
      reader.pull(taker);
    }
    isPulling = false;
  };
  const taker: Pull<R> = {
    resolve(result) {
      if (result.done === true) {
        subscriber.complete();
        return;
      }
      isAsked = false;
      subscriber.next(result.value);
      step();
    },
    reject(error) {
      subscriber.error(error);
    },
  };
  step();
}
