import { checkReset } from '../../wire/check.js';
import { ResetCode } from '../../wire/reset-code.js';
import { ResetError } from '../../wire/stream-errors.js';
import { resetOf } from './error-reset.js';
import { resetPayload } from './sendable.js';
import type { StreamCore } from './stream-core.js';

/**
 * Resets a stream on behalf of its user.
 *
 * @throws TypeError for a code that is not an integer, a reason that is not a string, or REFUSED after this side's first frame
 */
export function resetByUser(stream: StreamCore, code: ResetCode, reason: string, payload: unknown): void {
  checkReset('reset', code, reason);
  if (stream.phase === 'closed') return;
  if (code === ResetCode.REFUSED && stream.begun)
    throw new TypeError('reset: expected another code than REFUSED, which vouches that nothing was done, on a stream that has begun');
  const streamId = stream.line.id;
  // For CANCEL the cause alone yields the right error.
  const error = code === ResetCode.CANCEL ? undefined : new ResetError(code, reason, payload ?? null, { streamId });
  stream.markTaken();
  stream.line.reset('user', code, reason, { payload, encodedPayload: resetPayload(stream.host, payload, streamId), error });
}

/** Resets a stream with the error that a handler or an input threw. */
export function resetByError(stream: StreamCore, thrown: unknown): void {
  const { code, reason, payload } = resetOf(thrown, stream.host.options.errorSerializer);
  if (stream.phase === 'closed') return;
  if (!stream.begun && !stream.host.hooks.replyHeaders.empty) stream.outbox.sendHeadersOfFailure();
  const streamId = stream.line.id;
  // `throw undefined` must still count as an error.
  const error = thrown ?? new ResetError(code, reason, payload, { streamId });
  stream.line.reset('user', code, reason, { payload, encodedPayload: resetPayload(stream.host, payload, streamId), error });
}
