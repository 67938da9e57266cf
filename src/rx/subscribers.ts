import { Observable, Subscription, config } from 'rxjs';
import type { Observer, Subscriber, TeardownLogic } from 'rxjs';
import { log } from '../logger.js';
import { isPromise, isThenable } from '../util/check.js';

/** The handlers of an observer. Any of them may be missing, or async. */
export interface Handlers<T> {
  readonly next?: ((value: T) => unknown) | null | undefined;
  readonly error?: ((error: unknown) => unknown) | null | undefined;
  readonly complete?: (() => unknown) | null | undefined;
}

/**
 * Reports an error that no code handles: to `config.onUnhandledError` of rxjs if the program sets it, or else to the log.
 *
 * If the program sets nothing, rxjs would throw the error on a timer. Then a remote could end a Node process by resetting a stream.
 */
function reportUnhandled(message: string, error: unknown): void {
  if (config.onUnhandledError === null) log('error', message, error);
  else
    new Observable((subscriber) => {
      subscriber.error(error);
    }).subscribe();
}

/** Calls the `next` of an observer. No closure is made, because every value passes here. */
export function callNext<T>(handlers: Handlers<T>, value: T): void {
  try {
    watch(handlers.next?.(value));
  } catch (error) {
    reportFailed(error);
  }
}

/** Calls the `error` of an observer, which may have none. */
export function callError(handlers: Handlers<never>, error: unknown): void {
  try {
    if (handlers.error == null) reportUnhandled('a stream failed and its subscriber has no error handler', error);
    else watch(handlers.error(error));
  } catch (failure) {
    reportFailed(failure);
  }
}

/** Calls the `complete` of an observer. */
export function callComplete(handlers: Handlers<never>): void {
  try {
    watch(handlers.complete?.());
  } catch (error) {
    reportFailed(error);
  }
}

/** Reports the rejection of a promise that an async handler returned. */
function watch(result: unknown): void {
  if (isPromise(result)) result.catch(reportFailed);
}

function reportFailed(error: unknown): void {
  reportUnhandled('a subscriber of a stream failed', error);
}

/** Keeps its last teardown in a field: the list of rxjs takes 180 bytes, and most subscriptions have one teardown. */
export class LeanSubscription extends Subscription {
  #last: TeardownLogic = undefined;

  override add(teardown: TeardownLogic): void {
    if (this.closed) super.add(teardown);
    // An operator adds itself, and `subscribe` adds it again. An Observable with a source adds the subscriber to itself.
    else if (teardown && teardown !== this.#last && teardown !== this) {
      super.add(this.#last);
      this.#last = teardown;
    }
  }

  override remove(teardown: Exclude<TeardownLogic, void>): void {
    if (teardown === this.#last) this.#last = undefined;
    else super.remove(teardown);
  }

  override unsubscribe(): void {
    super.add(this.#last);
    this.#last = undefined;
    super.unsubscribe();
  }
}

const NO_HANDLERS: Handlers<unknown> = Object.freeze({});

/**
 * One subscription. It reports an error that a handler throws, so the error affects no other code.
 *
 * In place of rxjs's SafeSubscriber, which also needs a guard around the observer and a list of teardowns. These took a quarter of the
 * memory of an idle stream with its reader.
 */
export class LeanSubscriber<T = unknown> extends LeanSubscription implements Observer<T> {
  #handlers: Handlers<T>;

  constructor(handlers: Handlers<T>) {
    super();
    this.#handlers = handlers;
  }

  next(value: T): void {
    callNext(this.#handlers, value);
  }

  error(error: unknown): void {
    this.#end((handlers) => {
      callError(handlers, error);
    });
  }

  complete(): void {
    this.#end(callComplete);
  }

  override unsubscribe(): void {
    this.#handlers = NO_HANDLERS;
    super.unsubscribe();
  }

  /** Removes the handlers before one of them receives the end: a value that the source emits during that comes too late. */
  #end(receive: (handlers: Handlers<T>) => void): void {
    const handlers = this.#handlers;
    if (handlers === NO_HANDLERS) return;
    this.#handlers = NO_HANDLERS;
    receive(handlers);
    this.unsubscribe();
  }
}

/** Whether an observer is a Subscriber of rxjs, as operators pass it. A Subscriber is part of a chain, which handles thrown errors. */
export function isSubscriber<T>(observer: object): observer is Subscriber<T> {
  // A Subject has `unsubscribe`, but no `add`.
  return 'add' in observer && 'unsubscribe' in observer;
}

/** The first argument of `subscribe`. */
export type ObserverOrNext<T> = Partial<Observer<T>> | ((value: T) => void) | null;

/** Returns the subscriber for the arguments of `subscribe`: the one that an operator passes, or a new one that reports unhandled errors. */
export function subscriberOf<T>(
  observerOrNext?: ObserverOrNext<T>,
  error?: ((error: unknown) => void) | null,
  complete?: (() => void) | null,
): Subscriber<T> | LeanSubscriber<T> {
  const observer =
    typeof observerOrNext === 'object' && observerOrNext !== null ? observerOrNext : { next: observerOrNext, error, complete };
  return isSubscriber<T>(observer) ? observer : new LeanSubscriber(observer);
}

/** An Observable that reports errors which its observers do not handle. For a subscriber that an operator passes, rxjs reports them. */
export class GuardedObservable<T> extends Observable<T> {
  override subscribe(
    observerOrNext?: ObserverOrNext<T>,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    return super.subscribe(subscriberOf(observerOrNext, error, complete));
  }
}

/**
 * Runs a callback of the user and logs an error that it throws. If the callback returns a promise, `guard` does not await it, but logs
 * its rejection. A query that starts at its `then` starts.
 */
export function guard(what: string, callback: () => unknown): void {
  try {
    const result = callback();
    if (isThenable(result))
      result.then(undefined, (error: unknown) => {
        report(what, error);
      });
  } catch (error) {
    report(what, error);
  }
}

/** Completes a subscriber. rxjs throws an error of its teardown here; this logs the error, so that it affects no other code. */
export function completeGuarded(what: string, subscriber: { complete(): void }): void {
  guard(what, () => {
    subscriber.complete();
  });
}

function report(what: string, error: unknown): void {
  log('error', `${what} failed`, error);
}
