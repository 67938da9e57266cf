import { from, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { log } from '../../logger.js';
import { isPromise } from '../../wire/cross-realm.js';

/**
 * Runs a callback of the user's where nothing may go wrong by it: what it throws is logged, and a promise that it returns
 * is not awaited but its rejection is logged too.
 */
export function guard(what: string, callback: () => unknown): void {
  try {
    const result = callback();
    if (isPromise(result))
      result.catch((error: unknown) => {
        report(what, error);
      });
  } catch (error) {
    report(what, error);
  }
}

/** Completes a subscriber, at which rxjs throws what the teardown of that one throws: it is logged, and harms nobody else. */
export function completeGuarded(what: string, subscriber: { complete(): void }): void {
  guard(what, () => {
    subscriber.complete();
  });
}

function report(what: string, error: unknown): void {
  log('error', `${what} failed`, error);
}

/** Whether a value would be waited for by `await`. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  return 'then' in value && typeof value.then === 'function';
}

/** What a callback gave, when it is there: at once for a plain value, so that virtual time stays virtual. */
export function observableOf<T>(value: T | PromiseLike<T>): Observable<T> {
  return isThenable(value) ? from(value) : of(value);
}

/** Lets nobody wait for a value: a promise may reject unseen, and anything else that could be waited for is left alone. */
export function disown<T>(value: T): T {
  if (isPromise(value)) value.catch(() => undefined);
  return value;
}

/** @throws TypeError for what a callback gave that could be waited for, where nobody waits */
export function refuseThenable(what: string, result: unknown): void {
  if (!isThenable(result)) return;
  disown(result);
  throw new TypeError(`expected ${what} to work synchronously, got a promise`);
}

/** @throws TypeError for what a callback of the user's gave instead of a boolean; a promise of one is none */
export function booleanOf(what: string, verdict: unknown): boolean {
  if (typeof verdict === 'boolean') return verdict;
  disown(verdict);
  throw new TypeError(`${what}: expected a boolean, got ${isThenable(verdict) ? 'a promise' : typeof verdict}`);
}
