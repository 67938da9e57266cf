import { ResetError } from '../../wire/stream-errors.js';
import { resetOf } from './error-reset.js';
import { outboxOf } from './outbox.js';
import { resetPayload } from './sendable.js';
import type { StreamCore } from './stream-core.js';

/** Resets a stream with the error that a handler or an input threw. */
export function resetByError(stream: StreamCore, thrown: unknown): void {
  const { code, reason, payload } = resetOf(thrown, stream.host.options.errorSerializer);
  if (stream.phase === 'closed') return;
  if (!stream.begun && !stream.host.hooks.replyHeaders.empty) outboxOf(stream).sendHeadersOfFailure();
  const streamId = stream.line.id;
  // `throw undefined` must still count as an error.
  const error = thrown ?? new ResetError(code, reason, payload, { streamId });
  stream.line.reset('user', code, reason, { payload, encodedPayload: resetPayload(stream.host, payload, streamId), error });
}
