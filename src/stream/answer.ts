import type { StreamCore } from './stream-core.js';
import { accept, resetPayload, sendHeadersOfFailure } from './sending.js';
import { ResetCode } from '../wire/codes.js';
import { isCall, isUnexpected, report, messageOf, resetOf, undeclared } from './end.js';
import { logger, log } from '../logger.js';
import { ResetError, isMuxError } from '../wire/errors.js';

/**
 * Ends the answer to a remote stream, unless the handler has ended it. If no reader is left, stops a running upload with NO_ERROR, so that
 * the answer stands.
 */
export function endAnswer(stream: StreamCore): void {
  try {
    if (!stream.sealed) accept(stream, undefined, true);
  } catch (error) {
    failAnswer(stream, error);
  }
  stopUpload(stream);
}

/** Stops an upload without a reader. Call it only after the answer has ended. */
export function stopUpload(stream: StreamCore): void {
  if (stream.phase !== 'halfClosedRemote' && !stream.hasReader) stream.reset('library', ResetCode.NO_ERROR, '');
}

/** Resets a stream with the error of its handler or its input. After the stream's end the answer stands, and only this side sees the error. */
export function failAnswer(stream: StreamCore, error: unknown, what = 'a handler'): void {
  const { local, sealed } = stream;
  const isReported = !local && isUnexpected(error, stream);
  const when = sealed ? ' after its stream had ended' : '';
  if (!sealed) resetByError(stream, error);
  if (isReported) report(error, stream, `${what} failed${when}`);
  else if (logger.isEnabledFor('debug'))
    log('debug', `${stream.label}: ${local ? 'an input' : 'a handler'} failed${when}: ${messageOf(error)}`);
}

/** Resets a stream with the error that a handler or an input threw. */
function resetByError(stream: StreamCore, thrown: unknown): void {
  const { owner } = stream;
  const { code, reason, payload: told } = resetOf(thrown, owner.options.errorSerializer);
  const payload = isCall(stream.payload) && !isMuxError(thrown) ? undeclared(told) : told;
  if (stream.hasClosed) return;
  if (!stream.begun) sendHeadersOfFailure(stream);
  // `throw undefined` must still count as an error.
  const error = thrown ?? new ResetError(code, reason, payload, { streamId: stream.id });
  stream.reset('user', code, reason, { payload, encodedPayload: resetPayload(owner, payload, stream.id), error });
}
