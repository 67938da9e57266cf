import { isMuxError } from '../wire/errors.js';

/** An error as it may be logged: of one that holds the payload of a reset only the text, because payloads are nobody's but the application's. */
export function loggable(error: unknown): unknown {
  try {
    return isMuxError(error) && 'payload' in error && error.payload !== null ? (error.stack ?? String(error)) : error;
  } catch {
    return error;
  }
}
