import { guard } from '../rx/subscribers.js';
import type { PullSource } from '../stream/input.js';
import { PulledIterator } from '../stream/iterator.js';
import type { Pull } from '../stream/iterator.js';
import { isThenable } from '../util/check.js';
import type { Check } from './validate.js';

/** Throws what the caller gets for an error of an answer, or rejects with it where a schema needs time. */
export type Refine = (error: unknown) => Promise<never>;

function raise(error: unknown): never {
  throw error;
}

/** Items that are pulled and checked one by one. */
export class CheckedItems extends PulledIterator<unknown> implements AsyncIterable<unknown> {
  constructor(
    private readonly source: PullSource,
    private readonly check: Check,
    private readonly refine: Refine = raise,
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
    const fail = (error: unknown): void => {
      try {
        this.refine(error).catch((refined: unknown) => pull.reject(refined));
      } catch (refined) {
        pull.reject(refined);
      }
    };
    const taker: Pull<unknown> = {
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
      reject: fail,
    };
    try {
      this.source.pull(taker);
    } catch (error) {
      fail(error);
    }
  }

  override stop(): unknown {
    return this.source.stop();
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }
}
