import { Subscription } from 'rxjs';
import { guard } from '../rx/subscribers.js';
import type { PullSource } from '../stream/input.js';
import type { Pull } from '../stream/iterator.js';
import { Fifo } from '../util/collections.js';
import { QueueOverflowError } from '../wire/errors.js';
import { atEnd } from './beginning.js';
import type { Beginning } from './beginning.js';
import { checkItem } from './log.js';
import type { Log, Message, TopicItem } from './log.js';
import { sourceOf } from './log-source.js';
import type { Waiting } from './overflow.js';

type Item<T, C> = TopicItem<T, C>;

/**
 * Reads a log after a place: first its history, then the messages that arrive. It listens before it asks for history, so no message falls
 * between the two. It drops each message that is not newer than the last one, so no message comes twice.
 */
export class LogReader<T, C> {
  /** Messages that have arrived and wait for a pull. */
  readonly #waiting = new Fifo<Message<T, C>>();
  readonly #live = new Subscription();
  readonly #newer: (a: C, b: C) => boolean;
  /** The place of the last item. */
  #place: C | null;
  /** Whether messages were dropped that only the history has. */
  #isBehind = true;
  /** The first items or the history, while they are read. */
  #source: PullSource | null = null;
  #isAsked = false;
  #taker: Pull<Item<T, C>> | null = null;
  #isAdvancing = false;
  #end: { readonly error: unknown } | null = null;

  constructor(
    private readonly log: Log<T, C>,
    after: C | null,
    private readonly policy: Waiting,
    private readonly begin: Beginning = atEnd,
  ) {
    this.#place = after;
    this.#newer = log.newer === undefined ? isAfter : (a, b) => log.newer?.(a, b) === true;
    this.#live.add(
      log.live$.subscribe({
        next: (message) => {
          this.#arrived(message);
        },
        error: (error: unknown) => {
          this.#ended(error);
        },
        complete: () => {
          this.#ended(null);
        },
      }),
    );
  }

  /** Passes the next item to `taker`, at once or later. One pull at a time. */
  pull(taker: Pull<Item<T, C>>): void {
    this.#taker = taker;
    this.#advance();
  }

  /** Releases the log. Later pulls find the end. */
  stop(): void {
    const source = this.#source;
    this.#source = null;
    this.#taker = null;
    this.#isBehind = false;
    this.#end ??= { error: null };
    this.#waiting.clear();
    this.#live.unsubscribe();
    if (source !== null) guard('ending a history', () => source.stop());
  }

  #arrived(message: Message<T, C>): void {
    if (this.#isBehind) return;
    this.#waiting.push(message);
    this.#advance();
    if (this.#waiting.length > this.policy.places) this.#overflow();
  }

  #overflow(): void {
    const { beyond, places } = this.policy;
    if (beyond === 'drop') this.#waiting.shift();
    else if (beyond === 'error') this.#fail(new QueueOverflowError(`more than ${places} messages wait for this subscriber`));
    else {
      this.#waiting.clear();
      this.#isBehind = true;
    }
  }

  #ended(error: unknown): void {
    this.#end ??= { error };
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
    const message = this.#waiting.shift();
    if (message === undefined) return this.#passEnd();
    this.#pass(message);
    return true;
  }

  /** Asks for the first items, or for the history after the place. The live messages wait meanwhile. */
  #open(): boolean {
    const { log } = this;
    this.#isBehind = false;
    try {
      const place = this.#place;
      this.#source = place === null ? this.begin(log) : sourceOf(log.history(place));
    } catch (error) {
      this.#fail(error);
    }
    return true;
  }

  #ask(source: PullSource): boolean {
    if (this.#isAsked) return false;
    this.#isAsked = true;
    source.pull(this.#answer);
    return !this.#isAsked;
  }

  readonly #answer: Pull<unknown> = {
    resolve: ({ done, value }) => {
      this.#isAsked = false;
      if (done === true) this.#source = null;
      else this.#pass(value as Item<T, C>);
      this.#advance();
    },
    reject: (error) => {
      this.#isAsked = false;
      this.#source = null;
      this.#fail(error);
      this.#advance();
    },
  };

  /** Passes an item to the taker, unless it is not newer than the last one. */
  #pass(item: Item<T, C>): void {
    const taker = this.#taker;
    if (taker === null || !this.#isNew(item)) return;
    this.#place = item.cursor;
    this.#taker = null;
    taker.resolve({ done: false, value: item });
  }

  /** An error of the order ends the reader: without an order, or a cursor, it would drop messages. */
  #isNew(item: Item<T, C>): boolean {
    try {
      const { cursor } = checkItem('log', item);
      return this.#place === null || this.#newer(cursor, this.#place);
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  /** A failed reader has no more items: the taker gets the error, or the next one does. */
  #fail(error: unknown): void {
    const taker = this.#taker;
    this.stop();
    this.#taker = taker;
    this.#end = { error };
  }

  #passEnd(): boolean {
    const taker = this.#taker;
    if (this.#end === null || taker === null) return false;
    const { error } = this.#end;
    this.#end = { error: null };
    this.stop();
    if (error === null) taker.resolve({ done: true, value: undefined });
    else taker.reject(error);
    return false;
  }
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
