import { isObservable } from 'rxjs';
import { log, logger } from '../../logger.js';
import { ABSENT } from '../../wire/frame.js';
import { ResetCode } from '../../wire/reset-code.js';
import { messageOf } from '../base/error-serializer.js';
import { isUnexpected, report } from '../stream/failures.js';
import { isThenable } from '../base/guard.js';
import type { StreamHandler } from '../base/hooks.js';
import type { StreamCore } from '../stream/stream-core.js';

/** Has a handler answer a stream; `settled` is told when it has. */
export function runHandler(handler: StreamHandler, stream: StreamCore, settled?: (failed: boolean) => void): void {
  const answered = (result: unknown): void => {
    if (result !== undefined && !stream.isTaken && stream.cause === null) warnOfResult(handler, result);
    stream.line.handlerSettled();
    endAnswer(stream);
    settled?.(false);
  };
  const failed = (error: unknown): void => {
    stream.line.handlerSettled();
    failAnswer(stream, error);
    stopUpload(stream);
    settled?.(true);
  };
  stream.line.handlerStarted();
  try {
    const { payload } = stream;
    const result = handler(payload === ABSENT ? null : payload, stream.facade);
    // A promise, because any other thenable may settle twice.
    if (isThenable(result)) Promise.resolve(result).then(answered, failed);
    else answered(result);
  } catch (error) {
    failed(error);
  }
}

/** Those of which it was told that what they return goes nowhere. */
const warned = new WeakSet<StreamHandler>();

function warnOfResult(handler: StreamHandler, result: unknown): void {
  if (warned.has(handler)) return;
  warned.add(handler);
  const what = isObservable(result) ? 'an Observable' : `a value (${typeof result})`;
  log(
    'warn',
    `a handler returned ${what} and sent nothing, and what it returns goes nowhere: answer with stream.reply(), stream.sendAll() or respond()`,
  );
}

/**
 * Ends the answer to a stream that the remote opened, if nobody has. Where nobody reads, an upload that still goes on is
 * stopped with NO_ERROR: the answer stands.
 */
function endAnswer(stream: StreamCore): void {
  try {
    if (!stream.line.sealed) stream.outbox.acceptLast();
  } catch (error) {
    failAnswer(stream, error);
  }
  stopUpload(stream);
}

/** Stops an upload that nobody reads; only where the answer has ended. */
export function stopUpload(stream: StreamCore): void {
  if (stream.phase !== 'halfClosedRemote' && !stream.hasReader) stream.line.reset('library', ResetCode.NO_ERROR, '');
}

/** Resets a stream with the error of its handler or its input. After the stream's end the answer stands, and only this side learns of the error. */
export function failAnswer(stream: StreamCore, error: unknown): void {
  const { line } = stream;
  const isReported = !line.local && isUnexpected(error, stream);
  const when = line.sealed ? ' after its stream had ended' : '';
  if (!line.sealed) stream.fail(error);
  if (isReported) report(error, stream, when);
  else if (logger.isEnabledFor('debug'))
    log('debug', `${stream.label}: ${line.local ? 'an input' : 'a handler'} failed${when}: ${messageOf(error)}`);
}
