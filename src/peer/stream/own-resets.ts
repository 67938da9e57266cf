import { checkReset } from '../../wire/check.js';
import { ResetCode } from '../../wire/reset-code.js';
import { ResetError } from '../../wire/stream-errors.js';
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
