import { concat, concatMap, defer, EMPTY, merge, Observable, of, Subject, Subscription, tap } from 'rxjs';
import type { ObservableInput, Subscriber } from 'rxjs';
import { ProtocolError } from '../../wire/errors.js';
import { QueueOverflowError } from '../../wire/stream-errors.js';
import { checkFunction, checkNumber } from '../../wire/check.js';
import { describeReceived } from '../../wire/describe-received.js';
import { checkOverflow } from '../stream/overflow.js';
import type { Outlet, Overflow } from '../stream/overflow.js';
import { decline, observableFrom } from '../stream/input.js';
import { pump } from '../stream/pump.js';

/** Two operators, one for each end of a stream, by which the consumer says how many items it wants. */
export interface Credit {
  /**
   * The consumer: opens with credit for `n` items, and grants as many again as have been consumed, in steps of half. Where the
   * call is made again, by `retry` or `reopenOnReconnect`, the new stream begins with credit for `n` items less those that still
   * wait for `work`.
   *
   * Errors with what the call errors, with what `open` and `work` throw, and with a ProtocolError at an item more than was
   * granted, as from a remote that does not look at credit.
   *
   * @throws TypeError for an `open` or a `work` that is no function
   * @param open makes the call, one stream at a time; what it is given goes into the call's `input`
   * @param work what is done with an item, one after the other; the item is consumed when this completes. Default: an item
   *   is consumed when the subscriber has been given it
   */
  grant<T, R = T>(open: (credit$: Observable<number>) => ObservableInput<T>, work?: (item: T) => ObservableInput<R>): Observable<R>;
  /**
   * The producer: emits only what has been granted. Completes with the source, or once all credit is spent and the consumer
   * has ended its side. Iterables and streams are pulled, one item per credit.
   *
   * @param grants the stream of the consumer, who has opened it: when the source is done it is let go of, and with a stream that
   *   this side has opened that would be to cancel it
   * @param options `overflow` says what becomes of an item that an Observable pushes without credit; default `'buffer'`,
   *   which here has no limit
   * @throws TypeError for an unknown `overflow`
   */
  spend(
    grants: Observable<unknown>,
    options?: { readonly overflow?: Overflow | undefined },
  ): <T>(source: ObservableInput<T>) => Observable<T>;
}

/**
 * Demand in items on a two-way stream, where bytes are not what costs: the consumer grants credit as ordinary data, and the
 * producer emits what was granted. There are never more than `n` items on their way or unconsumed, also when the socket is
 * lost and the call is made again.
 *
 * @param n a whole number of items, at least 1
 * @throws TypeError for any other
 *
 * @example
 * ```ts
 * const credit = withCredit(16);
 * // the consumer
 * credit.grant((credit$) => peer.open$<Job>({ op: 'jobs' }, { input: credit$ }), (job) => work(job)).subscribe();
 * // the producer
 * peer.streams$.pipe(respond((_, stream) => credit.spend(stream)(jobs()))).subscribe();   // an async generator, or an Observable
 * ```
 */
export function withCredit(n: number): Credit {
  checkNumber('credit', n, 1);
  if (!Number.isInteger(n)) throw new TypeError(`credit: expected a whole number of items, got ${n}`);
  return {
    grant(open, work = handOn) {
      checkFunction('grant.open', open);
      checkFunction('grant.work', work);
      return granting(n, open, work);
    },
    spend(grants, options = {}) {
      const overflow = checkOverflow(options.overflow);
      return <T>(source: ObservableInput<T>) =>
        new Observable<T>((subscriber) => {
          const available = new AvailableCredit(subscriber, grants);
          // What ends at once, as the stream of a consumer that grants nothing, needs nothing of the source.
          if (available.closed) decline(source);
          else subscriber.add(pump(source, available, overflow));
        });
    },
  };
}

/** The work of a consumer that has none: its item is what it emits. */
function handOn<T, R>(item: T): Observable<R> {
  return of(item as unknown as R);
}

function granting<T, R>(
  n: number,
  open: (credit$: Observable<number>) => ObservableInput<T>,
  work: (item: T) => ObservableInput<R>,
): Observable<R> {
  return defer(() => {
    const granted = new GrantedCredit(n);
    const consume$ = defer(() => {
      granted.consume();
      return EMPTY;
    });
    return observableFrom(open(granted.credit$)).pipe(
      tap(() => {
        granted.receive();
      }),
      concatMap((item) => concat(observableFrom(work(item)), consume$)),
    );
  });
}

/** What a consumer has granted, and what has come of it. */
class GrantedCredit {
  readonly #more$ = new Subject<number>();
  #unconsumed = 0;
  /** In all to the newest stream. */
  #granted = 0;
  /** On that stream. */
  #received = 0;
  /** For each stream: what the items of those before it leave free, and then what is consumed. */
  readonly credit$ = defer(() => {
    this.#received = 0;
    this.#granted = this.n - this.#unconsumed;
    // In this order: what the first grant brings may be consumed at once.
    return merge(this.#more$, this.#granted > 0 ? of(this.#granted) : EMPTY);
  });

  constructor(private readonly n: number) {}

  /** @throws ProtocolError for an item that was not granted */
  receive(): void {
    if (++this.#received > this.#granted)
      throw new ProtocolError(`expected no more items than were granted (${this.#granted}), got item ${this.#received}`);
    this.#unconsumed++;
  }

  consume(): void {
    this.#unconsumed--;
    const free = this.n - (this.#granted - this.#received) - this.#unconsumed;
    if (free * 2 < this.n) return;
    this.#granted += free;
    this.#more$.next(free);
  }
}

/** What a producer may still emit. */
class AvailableCredit implements Outlet {
  readonly queues = false;
  readonly #grants = new Subscription();
  #credit = 0;
  /** Whether the consumer grants nothing more. */
  #last = false;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly subscriber: Subscriber<unknown>,
    grants: Observable<unknown>,
  ) {
    subscriber.add(this.#grants);
    this.#grants.add(
      grants.subscribe({
        next: (grant) => {
          this.#take(grant);
        },
        error: (error: unknown) => {
          this.fail(error);
        },
        complete: () => {
          this.#last = true;
          this.#checkSpent();
        },
      }),
    );
  }

  get closed(): boolean {
    return this.subscriber.closed;
  }

  get hasRoom(): boolean {
    return this.#credit > 0;
  }

  get full(): boolean {
    return false;
  }

  whenRoom(task: () => void): void {
    this.#waiting.push(task);
  }

  get hasDemand(): boolean {
    return this.hasRoom;
  }

  whenDemand(task: () => void): void {
    this.whenRoom(task);
  }

  send(item: unknown): void {
    this.#credit--;
    this.subscriber.next(item);
    this.#checkSpent();
  }

  // The consumer's stream is let go of first: whoever ends the answer looks whether somebody still reads.
  complete(): void {
    this.#grants.unsubscribe();
    this.subscriber.complete();
  }

  fail(error: unknown): void {
    this.#grants.unsubscribe();
    this.subscriber.error(error);
  }

  overflow(): void {
    this.fail(new QueueOverflowError('expected credit for the next item, got none (overflow)'));
  }

  #take(grant: unknown): void {
    if (typeof grant !== 'number' || !Number.isInteger(grant) || grant < 1) {
      this.fail(new ProtocolError(`expected credit to be a whole number of items, got ${describeReceived(grant)}`));
      return;
    }
    this.#credit += grant;
    for (const task of this.#waiting.splice(0)) task();
  }

  #checkSpent(): void {
    if (this.#last && this.#credit === 0) this.complete();
  }
}
