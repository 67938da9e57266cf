import { isError } from '../../wire/cross-realm.js';
import type { ErrorSerializer } from '../hooks.js';

/** An error of a system has a text as its code; a DOMException has a number. */
interface CodedError extends Error {
  readonly code?: unknown;
}

/**
 * The default error serializer: returns the error's name and message. Without a message it returns the error's code, or its name again.
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

/**
 * The message of any thrown value, which is never empty; the code or the name of an error without one. Errors inside it may hold secrets.
 * Never throws.
 */
export function messageOf(error: unknown): string {
  try {
    const text = String(isError(error) ? error.message || codeOrName(error) : error);
    if (text) return text;
  } catch {
    // A value that has no text, such as an object without a prototype.
  }
  return 'unknown error';
}

function codeOrName({ code, name }: CodedError): string {
  return typeof code === 'string' ? code : name;
}
