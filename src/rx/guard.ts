import { log } from '../logger.js';
import { isPromise } from '../wire/cross-realm.js';

/**
 * Runs a callback of the user and logs an error that it throws. If the callback returns a promise, `guard` does not await it, but logs
 * its rejection.
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

/** Completes a subscriber. rxjs throws an error of its teardown here; this logs the error, so that it affects no other code. */
export function completeGuarded(what: string, subscriber: { complete(): void }): void {
  guard(what, () => {
    subscriber.complete();
  });
}

function report(what: string, error: unknown): void {
  log('error', `${what} failed`, error);
}
