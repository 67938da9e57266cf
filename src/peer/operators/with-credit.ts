import { EMPTY, Observable, Subject, Subscription, concat, concatMap, defer, isObservable, merge, of, tap } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { checkOverflow, pump } from '../../stream/feed.js';
import type { Outlet, Overflow } from '../../stream/feed.js';
import { observableFrom, releaseInput } from '../../stream/input.js';
import type { Source } from '../../stream/input.js';
import { checkFunction, checkNumber, checkObject, describeReceived, optionError, refuseUnknown } from '../../util/check.js';
import { ProtocolError, QueueOverflowError } from '../../wire/errors.js';

/** Two operators, one for each end of a stream, by which the consumer controls how many items it receives. */
export interface Credit {
  /**
   * The consumer. It opens the stream with credit for `n` items. When half of `n` items are consumed, it grants credit for as many
   * again. If `retry` or `reopenOnReconnect` makes the call again, the new stream begins with credit for `n` items, less the items that
   * still wait for `work`.
   *
   * Errors with the call's errors, and with errors that `open` and `work` throw. Also errors with a ProtocolError at an ungranted item,
   * as from a remote that ignores credit.
   *
   * @throws TypeError unless `open` and `work` are functions
   * @param open makes the call, one stream at a time; its argument must become the call's `input`
   * @param work processes one item at a time; the item is consumed when this completes. Default: an item is consumed when the
   *   subscriber has received it
   */
  grant<T, R = T>(open: (credit$: Observable<number>) => Source<T>, work?: (item: T) => Source<R>): Observable<R>;
  /**
   * The producer. It emits only granted items. It completes with the source, or once all credit is spent and the consumer has ended its
   * side. It pulls one item per credit from iterables and streams.
   *
   * @param grants the stream that the consumer has opened. When the source is done, the operator unsubscribes from it, which would
   *   cancel a stream opened by this side.
   * @param options `overflow` decides about an item that an Observable pushes without credit; default `'buffer'`, here without a limit
   * @throws TypeError for an unknown `overflow`, and unless `grants` is an Observable
   */
  spend(grants: Observable<unknown>, options?: { readonly overflow?: Overflow | undefined }): <T>(source: Source<T>) => Observable<T>;
}

/**
 * Bounds a two-way stream by items, for work whose cost is not its bytes. The consumer grants credit as ordinary data, and the producer
 * emits only granted items. At most `n` items are on their way or unconsumed, even if the socket is lost and the call is made again.
 *
 * @param n a whole number of items, at least 1
 * @throws TypeError for any other `n`
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
      if (!isObservable(grants)) throw optionError('spend', 'the stream of the consumer', grants);
      refuseUnknown('spend', checkObject('spend', options, '{ overflow }'), { overflow: true });
      const overflow = checkOverflow(options.overflow);
      return <T>(source: Source<T>) =>
        new Observable<T>((subscriber) => {
          const available = new AvailableCredit(subscriber, grants);
          // A stream that has ended already, such as the stream of a consumer that grants nothing, needs no source.
          if (available.closed) releaseInput(source);
          else subscriber.add(pump(source, available, overflow));
        });
    },
  };
}

/** The default `work`: it emits the item itself. */
function handOn<T, R>(item: T): Observable<R> {
  return of(item as unknown as R);
}

function granting<T, R>(n: number, open: (credit$: Observable<number>) => Source<T>, work: (item: T) => Source<R>): Observable<R> {
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

/** The credit that a consumer has granted, and the items that it has received. */
class GrantedCredit {
  readonly #more$ = new Subject<number>();
  #unconsumed = 0;
  /** All credit granted on the newest stream. */
  #granted = 0;
  /** Items received on that stream. */
  #received = 0;
  /** The credit of each stream: first the credit that the items of earlier streams leave free, then one grant for each consumed half. */
  readonly credit$ = defer(() => {
    this.#received = 0;
    this.#granted = this.n - this.#unconsumed;
    // Subscribe to `#more$` first: items of the first grant may be consumed at once.
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

/** The credit of a producer. */
class AvailableCredit implements Outlet {
  readonly queues = false;
  readonly #grants = new Subscription();
  #credit = 0;
  /** Whether the consumer has ended its side, and so grants no more credit. */
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

  // Unsubscribe from the consumer's stream first: the code that ends the answer checks whether the stream still has a reader.
  finish(): void {
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
    if (this.#last && this.#credit === 0) this.finish();
  }
}
