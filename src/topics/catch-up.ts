import { isObservable, Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import type { Pull, PulledIterator } from '../stream/iterator.js';
import { checkObject, checkOptions, optionError } from '../util/check.js';
import type { Log, TopicItem } from './log.js';
import { LogReader, waitingBy } from './log-reader.js';
import type { TopicOverflow } from './log-reader.js';
import { beginningAt } from './log-source.js';

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
  return follow(log, after, options);
}

/** {@link catchUp} with a projection of its items. */
export function follow<T, C, R = TopicItem<T, C>>(
  log: Log<T, C>,
  after: C | null | undefined,
  options: CatchUpOptions,
  project?: (item: TopicItem<T, C>, log: Log<T, C>) => R,
): Followed<R> {
  checkOptions(options, { from: true, overflow: true });
  const { from, overflow } = options;
  const policy = waitingBy(overflow);
  const begin = beginningAt(from);
  checkLog(log);
  return new Following(() => new LogReader(log, after ?? null, policy, begin, project));
}

/** @throws TypeError unless `log` is a log. No check of a class, because a log may be one of the user's */
function checkLog<T, C>(log: Log<T, C>): void {
  if (!('live$' in checkObject('log', log, 'a Log'))) throw optionError('log', 'a Log', log);
  if (!isObservable(log.live$)) throw optionError('log.live$', 'an Observable', log.live$);
}

/** An Observable that is also pulled. Each subscription and each iterator has a reader of its own. */
export class Following<R> extends Observable<R> implements Followed<R> {
  constructor(private readonly read: () => PulledIterator<R>) {
    super((subscriber) => {
      const reader = read();
      new Drain(reader, subscriber).pull();
      return () => reader.stop();
    });
  }

  [Symbol.asyncIterator](): AsyncIterator<R, undefined> {
    return this.read();
  }
}

/** Pulls item after item for a subscriber. */
class Drain<R> implements Pull<R> {
  #isPulling = false;
  #isAsked = false;

  constructor(
    private readonly reader: PulledIterator<R>,
    private readonly subscriber: Subscriber<R>,
  ) {}

  /** A loop, because an item may be there at once. */
  pull(): void {
    if (this.#isPulling) return;
    this.#isPulling = true;
    while (!this.#isAsked && !this.subscriber.closed) {
      this.#isAsked = true;
      this.reader.pull(this);
    }
    this.#isPulling = false;
  }

  resolve(result: IteratorResult<R, undefined>): void {
    if (result.done === true) this.subscriber.complete();
    else {
      this.#isAsked = false;
      this.subscriber.next(result.value);
      this.pull();
    }
  }

  reject(error: unknown): void {
    this.subscriber.error(error);
  }
}
