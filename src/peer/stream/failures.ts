import { log } from '../../logger.js';
import { isError } from '../../wire/cross-realm.js';
import { isForRemote } from './error-reset.js';
import { guard } from '../../rx/guard.js';
import type { Hooks } from '../base/hooks.js';
import type { StreamCore } from './stream-core.js';

/** Errors that the log has shown. */
const logged = new WeakSet();

/** Reports the error of a handler, or of an answer, to the error observers of its peer, or else to the log. */
export function report(error: unknown, stream: StreamCore, when = ''): void {
  const { errors }: Hooks = stream.host.hooks;
  if (errors.empty) logOnce(error, `${stream.label}: a handler failed${when}`);
  for (const observer of errors) guard('onError', () => observer(error, stream.facade));
}

/** Whether an error concerns this side: it is not meant for the opener, and does not stem from the end of the stream. */
export function isUnexpected(error: unknown, { cause, error: end }: StreamCore): boolean {
  if (isForRemote(error)) return false;
  return cause === null || cause.how === 'ended' || !stemsFrom(error, end);
}

/** Whether an error is the end of a stream, or what an abort by its signal led to. */
function stemsFrom(error: unknown, end: unknown): boolean {
  try {
    const seen = new Set<unknown>();
    for (let each = error; each !== undefined && !seen.has(each); each = isError(each) ? each.cause : undefined) {
      if (each === end || (isError(each) && each.name === 'AbortError')) return true;
      seen.add(each);
    }
  } catch {
    // A getter of the error threw.
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
