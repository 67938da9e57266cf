import { config, Observable } from 'rxjs';
import { log } from '../logger.js';
import { isPromise } from '../wire/cross-realm.js';

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
