import { log, logger } from '../../logger.js';
import { ResetCode } from '../../wire/reset-code.js';
import { messageOf } from '../base/error-serializer.js';
import { isUnexpected, report } from './failures.js';
import { resetByError } from './reset-by-error.js';
import { outboxOf } from './outbox.js';
import type { StreamCore } from './stream-core.js';

/**
 * Ends the answer to a remote stream, unless the handler has ended it. If no reader is left, stops a running upload with NO_ERROR, so that
 * the answer stands.
 */
export function endAnswer(stream: StreamCore): void {
  try {
    if (!stream.line.sealed) outboxOf(stream).acceptLast();
  } catch (error) {
    failAnswer(stream, error);
  }
  stopUpload(stream);
}

/** Stops an upload without a reader. Call it only after the answer has ended. */
export function stopUpload(stream: StreamCore): void {
  if (stream.phase !== 'halfClosedRemote' && !stream.hasReader) stream.line.reset('library', ResetCode.NO_ERROR, '');
}

/** Resets a stream with the error of its handler or its input. After the stream's end the answer stands, and only this side sees the error. */
export function failAnswer(stream: StreamCore, error: unknown): void {
  const { line } = stream;
  const isReported = !line.local && isUnexpected(error, stream);
  const when = line.sealed ? ' after its stream had ended' : '';
  if (!line.sealed) resetByError(stream, error);
  if (isReported) report(error, stream, when);
  else if (logger.isEnabledFor('debug'))
    log('debug', `${stream.label}: ${line.local ? 'an input' : 'a handler'} failed${when}: ${messageOf(error)}`);
}
