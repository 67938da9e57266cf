import type { Observer } from 'rxjs';
import { guard, LeanSubscription } from '../rx/subscribers.js';
import type { PullSource } from '../stream/input.js';
import { PulledIterator } from '../stream/iterator.js';
import type { Pull } from '../stream/iterator.js';
import { checkNumber, checkObject } from '../util/check.js';
import { Fifo } from '../util/collections.js';
import { QueueOverflowError } from '../wire/errors.js';
import { checkItem } from './log.js';
import type { Log, Message, TopicItem } from './log.js';
import { atEnd, END, sourceOf } from './log-source.js';
import type { Beginning, End } from './log-source.js';

/**
 * The policy for a subscriber that reads more slowly than messages arrive, once this number of them waits for it:
 *
 * - `'history'`, the default: at 1 000 waiting messages it drops them, and reads them from the history when the subscriber gets there.
 *   It loses none as long as the broker keeps them.
 * - `'latest'` keeps the newest message.
 * - `{ dropOldest: n }` keeps the last `n` messages.
 * - `'error'` fails the subscription with QueueOverflowError at 1 000 waiting messages.
 */
export type TopicOverflow =
  | 'history'
  | 'latest'
  | 'error'
  | {
      /** How many messages stay. */
      readonly dropOldest: number;
    };

/** The number of messages that wait for one subscriber. All subscribers of a process share the messages themselves. */
const PLACES = 1_000;

/** How many messages wait, and the act for one more. */
export interface Waiting {
  readonly places: number;
  readonly beyond: 'history' | 'drop' | 'error';
}

/** @throws TypeError for an unknown policy */
export function waitingBy(overflow: TopicOverflow = 'history'): Waiting {
  if (overflow === 'history' || overflow === 'error') return { places: PLACES, beyond: overflow };
  if (overflow === 'latest') return { places: 1, beyond: 'drop' };
  const { dropOldest } = checkObject('overflow', overflow, "'history', 'latest', 'error' or { dropOldest }");
  return { places: checkNumber('overflow.dropOldest', dropOldest, 1), beyond: 'drop' };
}

type Item<T, C> = TopicItem<T, C>;

/**
 * Reads a log after a place: first its history, then the messages that arrive. It listens before it asks for history, so no message falls
 * between the two. It drops each message that is not newer than the last one, so no message comes twice.
 *
 * Pulls that do not await each other wait in line, as with an async generator.
 */
export class LogReader<T, C, R = Item<T, C>> extends PulledIterator<R> implements Pull<unknown> {
  readonly #live = new Live<T, C>(this);
  /** Messages that have arrived and wait for a pull. */
  #waiting: Fifo<Message<T, C>> | null = null;
  /** Whether messages were dropped that only the history has. */
  #isBehind = true;
  /** The first items or the history, while they are read. */
  #source: PullSource | null = null;
  #isAsked = false;
  #taker: Pull<R> | null = null;
  /** The takers behind {@link #taker}. */
  #line: Fifo<Pull<R>> | null = null;
  #isAdvancing = false;
  #end: End | null = null;

  /**
   * @param place the place of the last item
   * @param project makes an item for the taker
   */
  constructor(
    private readonly log: Log<T, C>,
    private place: C | null,
    private readonly policy: Waiting,
    private readonly begin: Beginning = atEnd,
    private readonly project: (item: Item<T, C>, log: Log<T, C>) => R = asItIs,
  ) {
    super();
    log.live$.subscribe(this.#live);
  }

  /** Passes the next item to `taker`, at once or later. */
  pull(taker: Pull<R>): void {
    if (this.#taker === null) this.#taker = taker;
    else (this.#line ??= new Fifo()).push(taker);
    this.#advance();
  }

  /** Releases the log. Waiting pulls, and later ones, find the end. */
  return(): Promise<IteratorReturnResult<undefined>> {
    this.#release();
    for (let taker = this.#nextTaker(); taker !== null; taker = this.#nextTaker()) taker.resolve(END);
    return Promise.resolve(END);
  }

  /** A message has arrived. */
  arrived(message: Message<T, C>): void {
    if (this.#isBehind) return;
    if (this.#taker !== null && this.#source === null && this.#waiting === null) this.#pass(message);
    else (this.#waiting ??= new Fifo()).push(message);
    this.#advance();
    if (this.#waiting !== null && this.#waiting.length > this.policy.places) this.#overflow();
  }

  #overflow(): void {
    const { beyond, places } = this.policy;
    if (beyond === 'drop') this.#waiting?.shift();
    else if (beyond === 'error') {
      this.#fail(new QueueOverflowError(`more than ${places} messages wait for this subscriber`));
      // A taker may wait for its place, or for the history.
      this.#advance();
    } else {
      this.#waiting = null;
      this.#isBehind = true;
    }
  }

  /** The live messages have ended. */
  ended(end: End): void {
    this.#end ??= end;
    this.#advance();
  }

  /** A loop, because a taker may pull again at once. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#taker !== null && this.#step());
    this.#isAdvancing = false;
  }

  /** Makes the next step for the taker. Returns `false` where it has to wait. */
  #step(): boolean {
    if (this.#source !== null) return this.#ask(this.#source);
    if (this.#isBehind) return this.#open();
    const message = this.#waiting?.shift();
    if (message === undefined) return this.#passEnd();
    if (this.#waiting?.length === 0) this.#waiting = null;
    this.#pass(message);
    return true;
  }

  /** Asks for the first items, or for the history after the place. The live messages wait meanwhile. */
  #open(): boolean {
    const { log, place } = this;
    this.#isBehind = false;
    try {
      this.#source = place === null ? this.begin(log) : sourceOf(log.history(place));
    } catch (error) {
      this.#fail(error);
    }
    return true;
  }

  #ask(source: PullSource): boolean {
    if (this.#isAsked) return false;
    this.#isAsked = true;
    try {
      source.pull(this);
    } catch (error) {
      // An iterable may throw, such as a history whose next message was trimmed.
      this.reject(error);
    }
    return !this.#isAsked;
  }

  /** The source has answered. */
  resolve({ done, value }: IteratorResult<unknown, undefined>): void {
    this.#isAsked = false;
    if (done === true) this.#source = null;
    else this.#pass(value as Item<T, C>);
    this.#advance();
  }

  /** The source has failed. One that was released before is not heard. */
  reject(error: unknown): void {
    if (this.#source === null) return;
    this.#isAsked = false;
    this.#source = null;
    this.#fail(error);
    this.#advance();
  }

  /** Passes an item to the taker, unless it is not newer than the last one. */
  #pass(item: Item<T, C>): void {
    if (this.#taker === null || !this.#isNew(item)) return;
    this.place = item.cursor;
    this.#nextTaker()?.resolve({ done: false, value: this.project(item, this.log) });
  }

  #nextTaker(): Pull<R> | null {
    const taker = this.#taker;
    this.#taker = this.#line?.shift() ?? null;
    return taker;
  }

  /** An error of the order ends the reader: without an order, or a cursor, it would drop messages. */
  #isNew(item: Item<T, C>): boolean {
    const { log, place } = this;
    try {
      const { cursor } = checkItem('log', item);
      if (place === null) return true;
      return log.newer === undefined ? isAfter(cursor, place) : (log.newer(cursor, place) as unknown) === true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** A failed reader has no more items: the taker gets the error, or the next one does. */
  #fail(error: unknown): void {
    this.#release();
    this.#end = { error };
  }

  #passEnd(): boolean {
    if (this.#end === null) return false;
    const end = this.#end;
    this.#end = END;
    this.#release();
    const taker = this.#nextTaker();
    if ('error' in end) taker?.reject(end.error);
    else taker?.resolve(end);
    return true;
  }

  #release(): void {
    const source = this.#source;
    this.#source = null;
    this.#isBehind = false;
    this.#end ??= END;
    this.#waiting = null;
    this.#live.unsubscribe();
    if (source !== null) guard('ending a history', () => source.stop());
  }
}

/** Receives the messages that arrive. */
class Live<T, C> extends LeanSubscription implements Observer<Message<T, C>> {
  constructor(private readonly reader: LogReader<T, C, unknown>) {
    super();
  }

  next(message: Message<T, C>): void {
    if (!this.closed) this.reader.arrived(message);
  }

  error(error: unknown): void {
    this.#ended({ error });
  }

  complete(): void {
    this.#ended(END);
  }

  #ended(end: End): void {
    if (this.closed) return;
    this.unsubscribe();
    this.reader.ended(end);
  }
}

function asItIs<R>(item: unknown): R {
  return item as R;
}

/**
 * The default order of cursors.
 *
 * @throws TypeError for texts such as `'9'` and `'10'`: `>` calls the second one older, so its message would be dropped
 */
function isAfter<C>(a: C, b: C): boolean {
  if (a > b) return true;
  if (typeof a === 'string' && typeof b === 'string' && a.length > b.length)
    throw new TypeError(`log.newer: expected a function, because cursors of several lengths have no order by default: '${b}', '${a}'`);
  return false;
}
