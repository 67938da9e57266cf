import { isError } from '../../wire/cross-realm.js';
import type { ErrorSerializer } from './hooks.js';

/**
 * The default error serializer: returns the error's name and message.
 *
 * @example
 * ```ts
 * defaultErrorSerializer(new RangeError('too big'));   // { name: 'RangeError', message: 'too big' }
 * defaultErrorSerializer('nope');                      // { name: 'Error', message: 'nope' }
 * ```
 */
export const defaultErrorSerializer: ErrorSerializer = (error) => ({
  name: isError(error) ? error.name : 'Error',
  message: messageOf(error),
});

/** The message of any thrown value. Never throws. */
export function messageOf(error: unknown): string {
  try {
    return isError(error) ? String(error.message) : String(error);
  } catch {
    return 'unknown error';
  }
}
