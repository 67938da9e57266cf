import { isError } from './cross-realm.js';

/** An error of Node. A name with several addresses fails with an error that has no message. */
interface SystemError extends Error {
  readonly errors?: unknown;
  readonly code?: unknown;
}

/** Returns what an error says: its message without the line break of OpenSSL, what the errors inside say, its code, or its name. */
export function errorText(error: unknown): string {
  if (!isError(error)) return String(error);
  const { message, errors = [], code = error.name }: SystemError = error;
  return message.trim() || [errors].flat().map(errorText).join(', ') || String(code);
}
