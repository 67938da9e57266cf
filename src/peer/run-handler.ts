import { isObservable } from 'rxjs';
import { log } from '../logger.js';
import { ABSENT } from '../wire/frame.js';
import { ResetCode } from '../wire/reset-code.js';
import { isThenable } from './guard.js';
import type { StreamHandler } from './hooks.js';
import type { StreamCore } from './stream-core.js';

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
    stream.fail(error);
  }
  stopUpload(stream);
}

/** Stops an upload that nobody reads; only where the answer has ended. */
export function stopUpload(stream: StreamCore): void {
  if (stream.phase !== 'halfClosedRemote' && !stream.hasReader) stream.line.reset('library', ResetCode.NO_ERROR, '');
}

/** Resets a stream with what its handler or its input threw. After the stream's end it is only logged: the answer stands. */
export function failAnswer(stream: StreamCore, error: unknown): void {
  if (!stream.line.sealed) {
    log('debug', 'a handler failed, and its stream is reset', error);
    stream.fail(error);
  } else if (stream.cause === null || stream.cause.how === 'ended') log('error', 'a handler failed after its stream had ended', error);
  else log('debug', 'a handler failed after the end of its stream', error);
}
