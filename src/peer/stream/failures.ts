import { log } from '../../logger.js';
import { isError } from '../../wire/cross-realm.js';
import { isForRemote } from '../../stream/end.js';
import { guard } from '../../rx/guard.js';
import type { HooksToRun } from '../hooks.js';
import type { StreamCore } from './stream-core.js';

/** Errors that the log has shown. */
const logged = new WeakSet();

/** Reports the error of a handler or an answer to the error observers of its peer. Without an observer, logs the error. */
export function report(error: unknown, stream: StreamCore, when = ''): void {
  const { errors }: HooksToRun = stream.host.hooks;
  if (errors.entries.length === 0) logOnce(error, `${stream.label}: a handler failed${when}`);
  for (const { hook } of errors.entries) guard('onError', () => hook(error, stream.facade));
}

/** Returns whether an error concerns this side. Such an error is not meant for the opener, and does not stem from the end of the stream. */
export function isUnexpected(error: unknown, { cause, error: end }: StreamCore): boolean {
  if (isForRemote(error)) return false;
  return cause === null || cause.how === 'ended' || !stemsFrom(error, end);
}

/** Returns whether an error is the end of a stream, or follows from an abort by its signal. */
function stemsFrom(error: unknown, end: unknown): boolean {
  try {
    const seen = new Set<unknown>();
    for (let each = error; each !== undefined && !seen.has(each); each = isError(each) ? each.cause : undefined) {
      if (each === end || (isError(each) && each.name === 'AbortError')) return true;
      seen.add(each);
    }
  } catch {
    // A getter of the error has thrown.
  }
  return false;
}

function logOnce(error: unknown, message: string): void {
  if (typeof error === 'object' && error !== null) {
    if (logged.has(error)) return;
    logged.add(error);
  }
  log('error', message, error);
}
