import type { StreamLine } from '../../session/streams/stream-line.js';
import { DeadlineExceededError } from '../../wire/stream-errors.js';
import type { SocketOutlook } from './stream-host.js';

/** Returns the error of a call that missed its deadline. For an unsent call the error names the cause, and a retry is safe. */
export function deadlineError(timeoutMs: number, { id, unsent }: StreamLine, source: SocketOutlook): DeadlineExceededError {
  if (!unsent) return new DeadlineExceededError(timeoutMs, { streamId: id });
  if (id !== null) return new DeadlineExceededError(timeoutMs, { streamId: id, unsent: 'the connection took nothing more' });
  const { reason, error } = source.absence;
  return new DeadlineExceededError(timeoutMs, { unsent: reason, ...(error === null ? {} : { cause: error }) });
}
