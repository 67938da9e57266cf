import { isObservable } from 'rxjs';
import { log } from '../../logger.js';
import { ABSENT } from '../../wire/frame.js';
import { isThenable } from '../base/guard.js';
import type { StreamHandler } from '../hooks.js';
import { endAnswer, failAnswer, stopUpload } from '../stream/answer.js';
import type { StreamCore } from '../stream/stream-core.js';

/** Calls a handler to answer a stream, and `settled` when the handler has finished. */
export function runHandler(handler: StreamHandler, stream: StreamCore, settled?: (failed: boolean) => void): void {
  const answered = (result: unknown): void => {
    if (result !== undefined && !stream.isTaken && stream.cause === null) warnOfResult(handler, result);
    stream.handlerSettled();
    endAnswer(stream);
    settled?.(false);
  };
  const failed = (error: unknown): void => {
    stream.handlerSettled();
    failAnswer(stream, error);
    stopUpload(stream);
    settled?.(true);
  };
  stream.handlerStarted();
  try {
    const { payload } = stream;
    const result = handler(payload === ABSENT ? null : payload, stream.facade);
    // Convert to a promise, because any other thenable may settle twice.
    if (isThenable(result)) Promise.resolve(result).then(answered, failed);
    else answered(result);
  } catch (error) {
    failed(error);
  }
}

/** Handlers already warned about their ignored return value. */
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
