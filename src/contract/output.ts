import { guard } from '../rx/subscribers.js';
import { report } from '../stream/end.js';
import { observableFrom, pullSource, refuseBytes } from '../stream/input.js';
import type { PullSource, Source } from '../stream/input.js';
import { PulledIterator } from '../stream/iterator.js';
import type { Pull } from '../stream/iterator.js';
import { SharedPayload } from '../stream/payload.js';
import { Stream } from '../stream/stream.js';
import { isThenable, oneLine } from '../util/check.js';
import { RemoteError } from '../wire/errors.js';
import type { AnsweredCall } from './call.js';
import { failure } from './failure.js';
import { isReply } from './procedure.js';
import type { Kind, Procedure } from './procedure.js';
import { checkBy, checkEach, checkOr, isUnchecked } from './validate.js';
import type { Check } from './validate.js';

/** The most characters of the issues in a line of the log. */
const MOST_LOGGED = 2_000;

/** Makes the check of what an answer sends. A {@link SharedPayload} is checked once for all its streams, which still share its bytes. */
export function checkOutput({ kind, output }: Procedure, name: string): Check {
  const check = checkBy(output, `${outputOf(kind)} of '${name}'`);
  if (isUnchecked(check)) return check;
  const known = new WeakMap<SharedPayload, unknown>();
  return (value) => {
    if (!(value instanceof SharedPayload)) return check(value);
    if (known.has(value)) return known.get(value);
    const share = (made: unknown): SharedPayload => (made === value.value ? value : new SharedPayload(made));
    const checked = check(value.value);
    const shared = isThenable(checked) ? Promise.resolve(checked).then(share) : share(checked);
    known.set(value, shared);
    return shared;
  };
}

function outputOf(kind: Kind): string {
  return isReply(kind) ? 'the reply' : 'an item';
}

/**
 * Returns the check of one call's output. A value that does not fit is a fault of this side: its log shows the issues, and the caller
 * gets `INTERNAL` without them, because they may hold parts of the value.
 */
export function checkFor({ name, kind, stream }: AnsweredCall, check: Check): Check {
  if (isUnchecked(check)) return check;
  const refuse = (error: unknown): never => {
    // Any other error is the schema's own, which the log shows like the error of an answer.
    if (!(error instanceof RemoteError)) throw error;
    const fault = new TypeError(oneLine(error.message, MOST_LOGGED));
    // No line of the stack is the program's.
    fault.stack = String(fault);
    report(fault, Stream.streamCore(stream), `'${name}' sends an invalid ${isReply(kind) ? 'reply' : 'item'}`);
    throw failure('INTERNAL', `${outputOf(kind)} of '${name}' does not fit its schema: the answering side's log has the issues`);
  };
  return (value) => checkOr(check, value, refuse);
}

/** Checks items on their way out. Items that would be pulled stay so. */
export function checkItems(items: Source<unknown> | Blob, check: Check): Source<unknown> | Blob {
  if (isUnchecked(check)) return items;
  refuseBytes(items);
  const source = pullSource(Object(items) as object);
  return source === null ? observableFrom(items as Source<unknown>).pipe(checkEach(check)) : new CheckedItems(source, check);
}

/** Items that are pulled and checked one by one. */
class CheckedItems extends PulledIterator<unknown> implements AsyncIterable<unknown> {
  constructor(
    private readonly source: PullSource,
    private readonly check: Check,
  ) {
    super();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  pull(pull: Pull<unknown>): void {
    // The source has not failed by itself, so it still has to be stopped.
    const refuse = (error: unknown): void => {
      guard('ending an input', () => this.source.stop());
      pull.reject(error);
    };
    const pass = (value: unknown): void => {
      pull.resolve({ done: false, value });
    };
    this.source.pull({
      resolve: ({ done, value }) => {
        if (done === true) {
          pull.resolve({ done, value: undefined });
          return;
        }
        let checked: unknown;
        try {
          checked = this.check(value);
        } catch (error) {
          refuse(error);
          return;
        }
        if (isThenable(checked)) Promise.resolve(checked).then(pass, refuse);
        else pass(checked);
      },
      reject: (error) => {
        pull.reject(error);
      },
    });
  }

  override stop(): unknown {
    return this.source.stop();
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }
}
